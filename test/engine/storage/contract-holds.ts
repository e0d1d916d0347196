import { describe, expect, test } from 'vitest';
import { agent, agentOf, failure, NOW, wake, work } from '../../support/storage-builders.ts';
import { claim, ids, type Harness } from '../../support/storage-harness.ts';

const HOLD = {
  runner: 'main',
  since: NOW,
  code: 'connection_refused',
  message: 'nobody listens',
  retryAt: NOW + 5_000,
  tries: 1,
} as const;

export function holdsContract(name: string, { fresh, again }: Harness): void {
  describe(`${name}: runners that cannot take runs`, () => {
    test('keeps holds over a restart, the first time of each with its latest reason', async () => {
      const store = await fresh();
      await store.storage.saveHold(HOLD);
      await store.storage.saveHold({ ...HOLD, since: NOW + 9, retryAt: NOW + 20_000, tries: 2, code: 'x' });
      await store.storage.saveHold({ ...HOLD, model: 'local/m', since: NOW + 1, code: 'rate_limited' });
      const storage = await again(store);
      expect(await storage.listHolds('other')).toEqual([
        { ...HOLD, retryAt: NOW + 20_000, tries: 2, code: 'x', waiting: 0 },
        { ...HOLD, model: 'local/m', since: NOW + 1, code: 'rate_limited', waiting: 0 },
      ]);
      expect(await storage.removeHold('main')).toBe(true);
      expect(await storage.removeHold('main')).toBe(false);
      expect(await storage.removeHold('main', 'local/m')).toBe(true);
      expect(await storage.listHolds('main')).toEqual([]);
    });

    test('counts the runs that wait for a runner, by its name or as the default', async () => {
      const { storage } = await fresh();
      await storage.saveHold(HOLD);
      await storage.accept(work([agent({ runner: 'main' }), agent(), agent(), agent({ runner: 'other' })]));
      expect(await storage.listHolds('main')).toMatchObject([{ waiting: 3 }]);
      expect(await storage.listHolds('other')).toMatchObject([{ waiting: 1 }]);
    });

    test('passes a held runner over, and lets one run of it try', async () => {
      const { storage } = await fresh();
      const [first, second, other] = [agent(), agent(), agent({ runner: 'other' })];
      await storage.accept(work([first, second, other]));
      const options = { nowMs: NOW, limit: 10, defaultRunner: 'main' };
      const passed = await storage.claimRuns({ ...options, maxPerRunner: new Map([['main', 0]]) });
      expect(ids(passed)).toEqual([other.id]);
      const tried = await storage.claimRuns({ ...options, maxPerRunner: new Map([['main', 1]]) });
      expect(ids(tried)).toEqual([first.id]);
    });

    test('puts a held run back where it stood, its attempt uncounted', async () => {
      const { storage } = await fresh();
      const [first, second] = [agent({ sessionKey: 'k' }), agent({ sessionKey: 'k' })];
      await storage.accept(work([first, second]));
      expect(ids(await claim(storage))).toEqual([first.id]);
      expect(await storage.requeueRun(first.id, { ...failure(NOW), isDelayed: true })).toBe(true);
      expect(await storage.findRun(first.id)).toMatchObject({ state: 'queued', attempts: 0 });
      expect(await claim(storage)).toMatchObject([{ id: first.id, attempts: 1 }]);
      expect(await storage.verify()).toEqual([]);
    });

    test('tries an agent at once for whom a selected run waits', async () => {
      const { storage } = await fresh();
      await storage.saveHold(HOLD);
      await storage.saveHold({ ...HOLD, runner: 'other', model: 'local/m' });
      const [unnamed, other] = [agentOf('a'), agent({ runner: 'other' })];
      await storage.accept(work([unnamed, agent({ runner: 'third' }), other]));
      const retryTimes = async () =>
        (await storage.listHolds('main')).map(({ runner, retryAt }) => [runner, retryAt - NOW]);
      expect(await storage.retry({ kind: 'mapping', mappingId: 'b' }, NOW, 'main')).toBe(0);
      expect(await storage.retry({ kind: 'mapping', mappingId: 'a' }, NOW, 'main')).toBe(1);
      expect(await retryTimes()).toEqual([
        ['main', 0],
        ['other', 5_000],
      ]);
      expect(await storage.retry({ kind: 'ids', ids: [other.id] }, NOW, 'main')).toBe(1);
      expect(await storage.retry({ kind: 'all' }, NOW, 'main')).toBe(0);
    });

    test('parks no event for turns that were held', async () => {
      const { storage } = await fresh();
      await storage.accept(work([wake()]));
      for (let turn = 0; turn < 8; turn += 1) {
        const turnId = `turn-${turn}`;
        await storage.claimEvents({ turnId, nowMs: NOW, maxEvents: 50, maxBytes: 65_536 });
        expect(await storage.freeEvents(turnId, { ...failure(NOW), isDelayed: true })).toBe(true);
      }
      expect(await storage.listEvents({ limit: 5 })).toMatchObject([{ state: 'pending', attempts: 0 }]);
    });
  });
}
