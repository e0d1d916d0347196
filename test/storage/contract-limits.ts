import { describe, expect, test } from 'vitest';
import type { LimitRules, Storage } from '../../src/storage/storage.ts';
import { ALL_MAPPINGS } from '../../src/storage/facts.ts';
import { agent, agentOf, completion, failure, NOW, work } from '../support/storage-builders.ts';
import { claim, ids, type Harness } from '../support/storage-harness.ts';

const HOUR_MS = 3_600_000;
const twoPerHour: LimitRules = { byMapping: new Map([['a', { runsPerHour: 2 }]]) };
const onePerSession: LimitRules = { default: { runsPerHourAndSession: 1 }, byMapping: new Map() };

const claimed = async (storage: Storage, limits: LimitRules, nowMs = NOW, limit = 100) =>
  ids(await storage.claimRuns({ nowMs, limit, limits }));

/** Limits of mappings, and pauses: what waits, waits in its order, and nothing else waits with it. */
/** A claim that waits for others begins later: no test is so slow that it waits for longer. */
const LATE_MS = 5_000;
const about = (at: number): unknown => expect.closeTo(at, -4);

export function limitsContract(name: string, { fresh, again, attach }: Harness): void {
  describe(`${name}: limits of mappings and pauses`, () => {
    test('begins as many runs of a mapping as its hour has room for, and holds nobody else', async () => {
      const store = await fresh();
      const [one, two, three, four] = [agentOf('a'), agentOf('a'), agentOf('a'), agentOf('a')];
      const [other, own] = [agentOf('b'), agent()];
      await store.storage.accept(work([one, two, three, four, other, own]));
      expect(await claimed(store.storage, twoPerHour, NOW, 1)).toEqual([one.id]);
      expect(await claimed(store.storage, twoPerHour, NOW + 60_000)).toEqual([two.id, other.id, own.id]);
      for (const { id } of [one, two]) await store.storage.completeRun(completion(id));
      const storage = await again(store);
      expect(await storage.listLimited({ nowMs: NOW + 60_000, rules: twoPerHour })).toEqual([
        { mappingId: 'a', reason: 'runsPerHour', waiting: 2, until: about(NOW + HOUR_MS) },
      ]);
      expect(await claimed(storage, twoPerHour, NOW + HOUR_MS - 1)).toEqual([]);
      // The hour slides: one place is free now, the next a minute later.
      expect(await claimed(storage, twoPerHour, NOW + HOUR_MS + LATE_MS)).toEqual([three.id]);
      expect(await claimed(storage, twoPerHour, NOW + HOUR_MS + 59_999)).toEqual([]);
      expect(await claimed(storage, twoPerHour, NOW + HOUR_MS + 60_000 + LATE_MS)).toEqual([four.id]);
      expect(
        await storage.listLimited({ nowMs: NOW + HOUR_MS + 60_000 + LATE_MS, rules: twoPerHour }),
      ).toEqual([]);
      expect(await storage.verify()).toEqual([]);
    });

    test('limits each conversation of a mapping, in its order', async () => {
      const { storage } = await fresh();
      const talk = (sessionKey: string) => agentOf('a', { sessionKey, owner: 'mapping:a' });
      const [first, second, third] = [talk('x'), talk('x'), talk('x')];
      const [elsewhere, alone] = [talk('y'), agentOf('a')];
      await storage.accept(work([first, second, third, elsewhere, alone]));
      expect(await claimed(storage, onePerSession)).toEqual([first.id, elsewhere.id, alone.id]);
      await storage.completeRun(completion(first.id));
      expect(await claimed(storage, onePerSession)).toEqual([]);
      expect(await storage.listLimited({ nowMs: NOW, rules: onePerSession })).toEqual([
        { mappingId: 'a', reason: 'runsPerHourAndSession', waiting: 2, until: about(NOW + HOUR_MS) },
      ]);
      expect(await claimed(storage, onePerSession, NOW + HOUR_MS + LATE_MS)).toEqual([second.id]);
      expect(await claimed(storage, onePerSession, NOW + 3 * HOUR_MS)).toEqual([]);
      await storage.completeRun(completion(second.id));
      expect(await claimed(storage, onePerSession, NOW + 3 * HOUR_MS)).toEqual([third.id]);
    });

    test('counts what began: not what was put back before, but what a crash or a stop ended', async () => {
      const { storage } = await fresh();
      const runs = [agentOf('a'), agentOf('a'), agentOf('a'), agentOf('a')];
      await storage.accept(work(runs));
      const [one, two] = await claimed(storage, twoPerHour);
      await storage.requeueRun(one ?? '', { ...failure(NOW), isHeld: true });
      expect(await claimed(storage, twoPerHour)).toEqual([one]);
      await storage.requeueRun(two ?? '', { ...failure(NOW), isHeld: true, hasBegun: true });
      expect(await claimed(storage, twoPerHour)).toEqual([]);
      expect(await claimed(storage, twoPerHour, NOW + HOUR_MS + LATE_MS)).toEqual([two, runs[2]?.id]);
    });

    test('lets a run go that is named for a retry, and no other', async () => {
      const { storage } = await fresh();
      const [one, two, three, four] = [agentOf('a'), agentOf('a'), agentOf('a'), agentOf('a')];
      await storage.accept(work([one, two, three, four]));
      expect(await storage.retry({ kind: 'ids', ids: [four.id] }, NOW)).toBe(0);
      expect(await claimed(storage, twoPerHour)).toEqual([one.id, two.id]);
      expect(await storage.retry({ kind: 'mapping', mappingId: 'a' }, NOW)).toBe(0);
      expect(await storage.retry({ kind: 'ids', ids: [four.id] }, NOW)).toBe(1);
      expect(await storage.retry({ kind: 'ids', ids: [four.id] }, NOW)).toBe(0);
      expect(await claimed(storage, twoPerHour)).toEqual([four.id]);
      expect(await storage.listLimited({ nowMs: NOW, rules: twoPerHour })).toMatchObject([{ waiting: 1 }]);
    });

    test('lets as many runs of a key go on as may, and others beside them', async () => {
      const store = await fresh();
      const rules = { byMapping: new Map([['a', { maxRuns: { runs: 1, isKeyed: true } }]]) };
      const of = (key?: string) => agentOf('a', key === undefined ? {} : { maxRuns: { runs: 1, key } });
      const [first, second, third, elsewhere, uncounted, also] = [
        of('x'),
        of('x'),
        of('x'),
        of('y'),
        of(),
        of(),
      ];
      await store.storage.accept(work([first, second, third]));
      // A request of several actions and one of a single one are stored in different ways.
      for (const one of [elsewhere, uncounted, also]) await store.storage.accept(work([one]));
      expect(await claimed(store.storage, rules)).toEqual([first.id, elsewhere.id, uncounted.id, also.id]);
      expect(await claimed(store.storage, rules)).toEqual([]);
      await store.storage.completeRun(completion(first.id));
      const storage = await again(store);
      expect(await claimed(storage, rules, NOW, 1)).toEqual([second.id]);
      const two = { byMapping: new Map([['a', { maxRuns: { runs: 2, isKeyed: true } }]]) };
      expect(await claimed(storage, two)).toEqual([third.id]);
      expect(await storage.verify()).toEqual([]);
    });

    test('pauses a mapping, or everything, until it is resumed', async () => {
      const store = await fresh();
      const [one, two, other] = [agentOf('a'), agentOf('a'), agentOf('b')];
      await store.storage.accept(work([one, two, other]));
      const outside = await attach(store.url);
      expect(await outside.pauseRuns('a', NOW)).toBe(true);
      expect(await outside.pauseRuns('a', NOW + 5)).toBe(false);
      expect(ids(await claim(store.storage))).toEqual([other.id]);
      const storage = await again(store);
      expect(await storage.listPauses()).toEqual([{ mappingId: 'a', since: NOW }]);
      expect(await storage.listLimited({ nowMs: NOW })).toEqual([
        { mappingId: 'a', reason: 'paused', waiting: 2 },
      ]);
      expect(await storage.retry({ kind: 'ids', ids: [one.id] }, NOW)).toBe(0);
      expect(await storage.pauseRuns(ALL_MAPPINGS, NOW + 9)).toBe(true);
      await storage.accept(work([agentOf('b'), agent()]));
      expect(await claim(storage)).toEqual([]);
      expect(await storage.resumeRuns('a')).toBe(1);
      expect(await claim(storage)).toEqual([]);
      expect(await storage.resumeRuns(ALL_MAPPINGS)).toBe(1);
      expect(ids(await claim(storage, 2))).toEqual([one.id, two.id]);
      expect(await claim(storage)).toHaveLength(2);
    });

    test('remembers since when a mapping waits until it has been well for long enough', async () => {
      const store = await fresh();
      const waits = { mappingId: 'a', reason: 'runsPerHour', waiting: 3, until: NOW + 90 } as const;
      expect(await store.storage.markLimited(waits, NOW)).toBe(NOW);
      const storage = await again(store);
      expect(await storage.markLimited(waits, NOW + 50)).toBe(NOW);
      expect(await storage.listMarked(NOW + 49)).toEqual([waits]);
      expect(await storage.listMarked(NOW + 50)).toEqual([]);
      expect(await storage.unmarkLimited(NOW + 50)).toEqual([]);
      expect(await storage.unmarkLimited(NOW + 51)).toEqual(['a']);
      expect(await storage.markLimited(waits, NOW + 60)).toBe(NOW + 60);
    });
  });
}
