import { describe, expect, test } from 'vitest';
import type { AgentAction, DebounceKey } from '../../../src/base/action.ts';
import { agent, completion, DAY_MS, failure, NOW, origin, work } from '../../support/storage-builders.ts';
import { claim, type Harness } from '../../support/storage-harness.ts';

const debounce: DebounceKey = { key: 'site', seconds: 10, maxSeconds: 25, nonce: '0123456789abcdef' };

function event(message: string, parts: Partial<AgentAction> = {}): AgentAction {
  return agent({
    message,
    debounce,
    origin: { ...origin, mappingId: 'alerts' },
    ...parts,
  });
}

const at = (seconds: number) => ({ receivedAt: NOW + seconds * 1000 });
const later = (seconds: number) => NOW + seconds * 1000;

/** Events of one key within a time become one run, and each is read exactly once. */
export function gatheringContract(name: string, { fresh, again }: Harness): void {
  describe(`${name}: runs that gather events`, () => {
    test('lets events of one key join the first, whose run begins when no other came', async () => {
      const store = await fresh();
      const [first, second, third] = [event('one'), event('two'), event('three')];
      await store.storage.accept(work([first], at(0)));
      const { accepted } = await store.storage.accept(work([second], at(8)));
      expect(accepted).toEqual([{ kind: 'agent', id: first.id, mode: 'next-heartbeat', duplicate: false }]);
      const storage = await again(store);
      await storage.accept(work([third], at(16)));
      expect(await claim(storage, 10, later(25) - 1)).toEqual([]);
      const [run, ...others] = await claim(storage, 10, later(26));
      expect(others).toEqual([]);
      expect(run).toMatchObject({ id: first.id, action: first, eventCount: 3 });
      expect(run?.events).toEqual([second, third]);
      expect(await storage.findRun(first.id)).toMatchObject({ eventCount: 3, events: [second, third] });
      expect(await storage.verify()).toEqual([]);
    });

    test('begins the run at the latest after maxSeconds, and then another one', async () => {
      const { storage } = await fresh();
      const events = [0, 8, 16, 24].map((second) => ({ second, action: event(`at ${second}`) }));
      for (const { second, action } of events) await storage.accept(work([action], at(second)));
      const [run] = await claim(storage, 10, later(25));
      expect(run?.eventCount).toBe(4);
      const next = event('at 25');
      const { accepted } = await storage.accept(work([next], at(25)));
      expect(accepted[0]?.id).toBe(next.id);
    });

    test('keeps keys and mappings apart, and takes no event once the run may begin', async () => {
      const { storage } = await fresh();
      const first = event('one');
      const others = [
        event('other key', { debounce: { ...debounce, key: 'shop' } }),
        event('other mapping', { origin: { ...origin, mappingId: 'alarms' } }),
      ];
      await storage.accept(work([first, ...others], at(0)));
      expect(await claim(storage, 10, later(10))).toHaveLength(3);
      // It waits for its next attempt, and takes no event any more.
      await storage.requeueRun(first.id, failure(NOW + DAY_MS));
      const late = event('late');
      expect((await storage.accept(work([late], at(12)))).accepted[0]?.id).toBe(late.id);
      expect(await claim(storage, 10, later(30))).toMatchObject([{ id: late.id }]);
    });

    test('gathers the events of one request, and repeats of them have the id of the run', async () => {
      const { storage } = await fresh();
      const dedupe = (key: string) => ({ dedupe: { scope: 'alerts', key, ttlSeconds: 60 } });
      const [one, two] = [event('one', dedupe('1')), event('two', dedupe('2'))];
      const idempotency = { scope: 'alerts', key: 'request', bodySha256: 'x', ttlSeconds: 60 };
      const { accepted } = await storage.accept(work([one, two], { ...at(0), idempotency }));
      expect(accepted.map(({ id }) => id)).toEqual([one.id, one.id]);
      const repeated = await storage.accept(work([one, two], { ...at(1), idempotency }));
      expect(repeated).toMatchObject({ duplicate: true, accepted: [{ id: one.id }, { id: one.id }] });
      const again = await storage.accept(work([event('two', dedupe('2'))], at(2)));
      expect(again).toMatchObject({ duplicate: true, accepted: [{ id: one.id }] });
      expect(await claim(storage, 10, later(10))).toMatchObject([{ eventCount: 2 }]);
    });

    test('begins another run when one reads as much as it may', async () => {
      const { storage } = await fresh();
      const many = Array.from({ length: 205 }, (_, index) => event(`event ${index}`));
      await storage.accept(work(many, at(0)));
      // The full one begins at once.
      expect(await claim(storage, 10, later(1))).toMatchObject([{ id: many[0]?.id, eventCount: 200 }]);
      expect(await claim(storage, 10, later(10))).toMatchObject([{ id: many[200]?.id, eventCount: 5 }]);
      const large = Array.from({ length: 3 }, () => event('x'.repeat(600_000)));
      await storage.accept(work(large, at(100)));
      expect(await claim(storage, 10, later(110))).toHaveLength(3);
    });

    test('holds only the newest event where that is said, however many come', async () => {
      const store = await fresh();
      const latest = { debounce: { ...debounce, keep: 'latest' } } as const;
      const many = Array.from({ length: 205 }, (_, index) => event('x'.repeat(index + 6_000), latest));
      const { accepted } = await store.storage.accept(work(many, at(0)));
      expect(new Set(accepted.map(({ id }) => id))).toEqual(new Set([many[0]?.id]));
      expect(await store.storage.backlog()).toMatchObject({ queuedRuns: 1 });
      const storage = await again(store);
      const newest = event('newest', latest);
      await storage.accept(work([newest], at(5)));
      expect(await storage.verify()).toEqual([]);
      expect(await claim(storage, 10, later(15))).toMatchObject([{ eventCount: 206, events: [newest] }]);
    });

    test('stands in its conversation when it begins, and leaves nothing behind when it is pruned', async () => {
      const { storage } = await fresh();
      const key = { sessionKey: 'site', owner: 'mapping:alerts' } as const;
      const gathered = event('one', key);
      const plain = agent({ ...key, origin: { ...origin, mappingId: 'alerts' } });
      await storage.accept(work([gathered, event('two', key)], at(0)));
      await storage.accept(work([plain], at(1)));
      expect(await claim(storage, 10, later(2))).toMatchObject([{ id: plain.id }]);
      expect(await claim(storage, 10, later(20))).toEqual([]);
      await storage.completeRun(completion(plain.id));
      expect(await claim(storage, 10, later(20))).toMatchObject([{ id: gathered.id, eventCount: 2 }]);
      await storage.completeRun(completion(gathered.id));
      await storage.prune({ maxAgeMs: 1, maxRows: 0 }, NOW + DAY_MS);
      expect(await storage.verify()).toEqual([]);
    });
  });
}
