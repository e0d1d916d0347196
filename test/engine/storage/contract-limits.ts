import { describe, expect, test } from 'vitest';
import type { LimitRules, Storage } from '../../../src/engine/storage/storage.ts';
import { ALL_MAPPINGS, pauseOfRunner } from '../../../src/engine/storage/facts.ts';
import {
  agent,
  agentOf,
  completion,
  DAY_MS,
  dropEnding,
  failure,
  NOW,
  work,
} from '../../support/storage-builders.ts';
import { claim, ids, type Harness } from '../../support/storage-harness.ts';

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

    test('does not count runs that nobody approved', async () => {
      const { storage } = await fresh();
      const approve = { channel: 'slack', withinSeconds: 60 };
      const asked = [agentOf('a', { approve }), agentOf('a', { approve })];
      const [one, two, three] = [agentOf('a'), agentOf('a'), agentOf('a')];
      await storage.accept(work(asked));
      for (const { id } of asked)
        await storage.decideApproval(id, { decision: 'denied', by: 'link', nowMs: NOW });
      expect(await claimed(storage, twoPerHour)).toEqual([]);
      expect(await storage.findUnbegun(NOW)).toMatchObject(asked.map(({ id }) => ({ id })));
      for (const { id } of asked)
        await storage.deadLetterRun(id, { error: { code: 'denied', message: '' }, nowMs: NOW });
      await storage.accept(work([one, two, three]));
      expect(await claimed(storage, twoPerHour)).toEqual([one.id, two.id]);
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
      await storage.requeueRun(one ?? '', { ...failure(NOW), isDelayed: true });
      expect(await claimed(storage, twoPerHour)).toEqual([one]);
      await storage.requeueRun(two ?? '', { ...failure(NOW), isDelayed: true, hasBegun: true });
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
      expect(await storage.retry({ kind: 'ids', ids: [three.id, four.id] }, NOW)).toBe(0);
      expect(await storage.retry({ kind: 'ids', ids: [four.id] }, NOW)).toBe(1);
      expect(await storage.retry({ kind: 'ids', ids: [four.id] }, NOW)).toBe(0);
      expect(await claimed(storage, twoPerHour)).toEqual([four.id]);
      expect(await storage.listLimited({ nowMs: NOW, rules: twoPerHour })).toMatchObject([{ waiting: 1 }]);
      // Once, and not for each attempt that follows.
      const ended = { outcome: 'error', reply: '' } as const;
      const failure = { code: 'exit_1', message: '', retryAt: NOW, nowMs: NOW, hasBegun: true, ended };
      expect(await storage.requeueRun(four.id, failure)).toBe(true);
      expect(await claimed(storage, twoPerHour)).toEqual([]);
    });

    test('counts one run that is named, although it failed, its agent is away, and its mapping is at a limit', async () => {
      const { storage } = await fresh();
      const [one, two, three] = [agentOf('a'), agentOf('a'), agentOf('a')];
      await storage.accept(work([one, two]));
      await claimed(storage, twoPerHour);
      await storage.deadLetterRun(one.id, { error: { code: 'exit_1', message: '' }, nowMs: NOW });
      expect(await storage.retry({ kind: 'ids', ids: [one.id] }, NOW)).toBe(1);
      expect(await claimed(storage, twoPerHour)).toEqual([one.id]);
      await storage.accept(work([three]));
      const hold = { runner: 'main', since: NOW, code: 'x', message: '', retryAt: NOW + 5_000, tries: 1 };
      await storage.saveHold(hold);
      const selection = { kind: 'ids', ids: [three.id] } as const;
      const job = { selection, nowMs: NOW, defaultRunner: 'main' };
      expect(await storage.planWork('retry', job)).toMatchObject({ runs: 1, leftOut: [] });
      expect(await storage.retry(selection, NOW, 'main')).toBe(1);
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

    test('begins runs of a mapping while it has spent less in the day, whatever process it was', async () => {
      const store = await fresh();
      const rules: LimitRules = { byMapping: new Map([['a', { usdPerDay: 0.5 }]]) };
      const runs = Array.from({ length: 6 }, () => agentOf('a'));
      const [other] = [agentOf('b')];
      await store.storage.accept(work([...runs, other]));
      const [one, two, three, four, five] = runs.map(({ id }) => id) as [
        string,
        string,
        string,
        string,
        string,
      ];
      expect(await claimed(store.storage, rules, NOW, 2)).toEqual([one, two]);
      const usage = { inputTokens: 5, outputTokens: 2, costUsd: 0.3 };
      await store.storage.completeRun(completion(one, { usage, runner: 'writer' }));
      // What ends twice is counted once.
      expect(await store.storage.completeRun(completion(one, { usage, runner: 'writer' }))).toBe(false);
      expect(await claimed(store.storage, rules, NOW, 1)).toEqual([three]);
      // A turn that is taken again has cost something, too.
      const ended = { outcome: 'error', reply: '' } as const;
      await store.storage.requeueRun(two, {
        ...failure(NOW),
        ended,
        hasBegun: true,
        usage,
        runner: 'writer',
      });
      const storage = await again(store);
      expect(await claimed(storage, rules)).toEqual([other.id]);
      const until = Math.ceil(NOW / DAY_MS) * DAY_MS;
      expect(await storage.listLimited({ nowMs: NOW, rules })).toEqual([
        { mappingId: 'a', reason: 'usdPerDay', waiting: expect.any(Number), until },
      ]);
      await storage.markLimited({ mappingId: 'a', reason: 'usdPerDay', waiting: 4, until }, NOW);
      expect(await storage.retry({ kind: 'ids', ids: [five] }, NOW)).toBe(1);
      expect(await claimed(storage, rules)).toEqual([five]);
      expect(await claimed(storage, rules, until - 1)).toEqual([]);
      expect((await claimed(storage, rules, until))[0]).toBe(two);
      expect(await storage.listCosts({ limit: 9 })).toEqual([
        {
          day: '2027-01-15',
          mappingId: 'a',
          runner: 'writer',
          turns: 2,
          costUnknown: 0,
          inputTokens: 10,
          outputTokens: 4,
          usd: 0.6,
        },
      ]);
      expect(await storage.listCosts({ limit: 9, mappingId: 'b' })).toEqual([]);
      expect(four).not.toBe(five);
      expect(await storage.verify()).toEqual([]);
    });

    test('pauses a runner, and those that wait for the default one with it', async () => {
      const store = await fresh();
      const [named, unnamed, other] = [
        agentOf('a', { runner: 'x' }),
        agentOf('a'),
        agentOf('b', { runner: 'y' }),
      ];
      await store.storage.accept(work([named, unnamed, other]));
      const outside = await attach(store.url);
      expect(await outside.pauseRuns(pauseOfRunner('x'), NOW)).toBe(true);
      const storage = await again(store);
      const options = { nowMs: NOW, limit: 9, defaultRunner: 'x' };
      expect(ids(await storage.claimRuns(options))).toEqual([other.id]);
      expect(await storage.listPauses()).toEqual([{ mappingId: 'runner x', runner: 'x', since: NOW }]);
      expect(await storage.listLimited({ nowMs: NOW, defaultRunner: 'x' })).toEqual([
        { mappingId: 'a', reason: 'paused', waiting: 2 },
      ]);
      expect(ids(await storage.claimRuns({ ...options, defaultRunner: 'y' }))).toEqual([unnamed.id]);
      expect(await storage.resumeRuns(pauseOfRunner('x'))).toBe(1);
      expect(ids(await storage.claimRuns(options))).toEqual([named.id]);
    });

    test('says what mappings did in the last day, and who changed what', async () => {
      const { storage } = await fresh();
      const [one, two, three] = [agentOf('a'), agentOf('a'), agentOf('b')];
      await storage.accept(work([one, two, three]));
      await claim(storage);
      const error = { code: 'exit_1', message: '' };
      await storage.completeRun(completion(one.id, { outcome: 'error', error, nowMs: NOW - 1 }));
      await storage.completeRun(
        completion(three.id, { usage: { inputTokens: 3, costUsd: 0.25 }, runner: 'x', nowMs: NOW - 1 }),
      );
      const nothing = {
        runs: 0,
        failed: 0,
        active: 0,
        inputTokens: 0,
        outputTokens: 0,
        usd: 0,
      };
      expect(await storage.mappingActivity(NOW)).toMatchObject([
        {
          ...nothing,
          mappingId: 'a',
          runs: 1,
          failed: 1,
          active: 1,
        },
        { ...nothing, mappingId: 'b', runs: 1, inputTokens: 3, usd: 0.25 },
      ]);
      // Whatever day it was: what ended within 24 hours counts, and nothing else.
      const usage = { outputTokens: 2, costUsd: 1 };
      for (const [ago, sum] of [
        [DAY_MS - 120_000, 1.25],
        [DAY_MS + 120_000, 1.25],
        [3 * 3_600_000, 2.25],
      ] as const) {
        const turn = agentOf('b');
        await storage.accept(work([turn]));
        await claim(storage);
        await storage.completeRun(completion(turn.id, { usage, runner: 'x', nowMs: NOW - ago }));
        const [, b] = await storage.mappingActivity(NOW);
        expect(b).toMatchObject({ mappingId: 'b', usd: sum, inputTokens: 3 });
      }
      const change = { who: 'ana', source: '127.0.0.1', what: 'retry', about: one.id, changed: 1 };
      await storage.recordAudit({ ...change, at: NOW - 2 * DAY_MS });
      await storage.recordAudit({ ...change, at: NOW, what: 'drop' });
      const limits = { maxAgeMs: DAY_MS, maxRows: 100 };
      expect(await storage.listAudit(9)).toMatchObject([{ what: 'drop' }, change]);
      expect(await storage.listAudit(9, ['retry', 'pause'])).toMatchObject([change]);
      await storage.prune(limits, NOW);
      expect(await storage.listAudit(9)).toEqual([{ ...change, at: NOW, what: 'drop' }]);
      expect(await storage.listCosts({ limit: 9 })).toHaveLength(2);
      await storage.prune(limits, NOW + 401 * DAY_MS);
      expect(await storage.listCosts({ limit: 9 })).toEqual([]);
    });

    test('pages through runs, and finds those of a conversation', async () => {
      const { storage } = await fresh();
      const talk = () => agentOf('a', { sessionKey: 'x', owner: 'mapping:a' });
      const runs = [talk(), agentOf('a'), talk(), talk()];
      await storage.accept(work(runs));
      const [one, , two, three] = runs.map(({ id }) => id);
      const talkOf = (parts: { readonly limit: number; readonly before?: string }) =>
        storage.listRuns({ line: 'mapping:a\nx', ...parts }).then(ids);
      expect(await talkOf({ limit: 2 })).toEqual([three, two]);
      expect(await talkOf({ limit: 2, before: two ?? '' })).toEqual([one]);
      expect(ids(await storage.listRuns({ limit: 9, mappingId: 'a', among: 2 }))).toEqual([three, two]);
      expect(ids(await storage.listRuns({ limit: 9, mappingId: 'a', among: 1, before: two ?? '' }))).toEqual([
        runs[1]?.id,
      ]);
    });

    test('says where a list goes on that looked at some of the rows only, also behind a gap', async () => {
      const { storage } = await fresh();
      const runs = Array.from({ length: 6 }, (_, index) => agentOf(index === 0 ? 'rare' : 'a'));
      await storage.accept(work(runs));
      const known = ids(runs);
      const pages = async (among: number): Promise<readonly string[][]> => {
        const found: string[][] = [];
        for (let before: string | undefined, page = 0; page < 9; page += 1) {
          const query = { among, ...(before !== undefined && { before }) };
          // oxlint-disable-next-line no-await-in-loop -- one page after the other
          found.push(ids(await storage.listRuns({ ...query, limit: 9, mappingId: 'rare' })));
          // oxlint-disable-next-line no-await-in-loop
          before = await storage.oldestAmong('runs', query);
          if (before === undefined) break;
        }
        return found;
      };
      expect(await pages(2)).toEqual([[], [], [known[0]]]);
      expect(await pages(6)).toEqual([[known[0]]]);
      // What is dropped and pruned leaves a gap that is longer than what is looked at.
      await storage.drop({ kind: 'ids', ids: known.slice(1, 5) }, NOW, dropEnding);
      await storage.prune({ maxAgeMs: 1, maxRows: 1_000 }, NOW + 10);
      expect(ids(await storage.listRuns({ limit: 9 }))).toEqual([known[5], known[0]]);
      expect(await pages(2)).toEqual([[], [known[0]]]);
      expect(await storage.oldestAmong('outbox', { among: 2 })).toBeUndefined();
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
