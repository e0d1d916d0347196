import { describe, expect, test } from 'vitest';
import {
  agent,
  agentOf,
  completion,
  failure,
  NOW,
  origin,
  summary,
  wake,
  work,
  dropEnding,
} from '../../support/storage-builders.ts';
import { accountFor, runAndKill } from '../../support/storage-crash.ts';
import { claim, ids, summaries, type Harness } from '../../support/storage-harness.ts';

export function lifeContract(
  name: string,
  { fresh, again, attach }: Harness,
  { isShared }: { readonly isShared: boolean },
): void {
  describe(`${name}: life of a store`, () => {
    test('lets another process attach to the store of a performer, which hears of it', async () => {
      const { url, storage } = await fresh();
      const run = agent();
      await storage.accept(work([run, agent()]));
      const heard = new Promise<void>((resolve) => storage.onOutsideChange(resolve));
      const other = await attach(url);
      expect(await other.listRuns({ limit: 5 })).toHaveLength(2);
      expect(await other.drop({ kind: 'ids', ids: [run.id] }, NOW, dropEnding)).toBe(1);
      await heard;
      expect(await storage.findRun(run.id)).toMatchObject({ state: 'completed' });
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 1 });
      await storage.accept(work([agent()]));
      expect(await other.backlog()).toMatchObject({ queuedRuns: 2 });
      expect(await storage.verify()).toEqual([]);
    });

    test('rejects calls after close, and closes twice without complaint', async () => {
      const { storage } = await fresh();
      const accepted = storage.accept(work([wake()]));
      await Promise.all([storage.close(), storage.close()]);
      await expect(accepted).resolves.toMatchObject({ duplicate: false });
      await expect(storage.accept(work([wake()]))).rejects.toMatchObject({ code: 'storage_unavailable' });
      const closed = { name: 'StorageError', code: 'closed' };
      await expect(storage.backlog()).rejects.toMatchObject(closed);
      // Also what is read over a connection of its own, which would be made anew and keep the process.
      await expect(storage.nextDueAt()).rejects.toMatchObject(closed);
    });

    test('keeps its promises through any order of claims, ends, retries and drops', async () => {
      const { storage } = await fresh();
      const random = seeded(7);
      const keys = ['a', 'b', 'c'];
      const accepted: string[] = [];
      const active = new Set<string>();
      for (let step = 0; step < 250; step += 1) {
        const now = NOW + step;
        const [one] = active;
        const choice = random(8);
        if (choice < 3) {
          const run = agent({ sessionKey: keys[random(3)] ?? 'a' });
          accepted.push(run.id);
          await storage.accept(work([run], { receivedAt: now }));
        } else if (choice === 3 || one === undefined) {
          for (const { id } of await claim(storage, 1 + random(3), now)) active.add(id);
        } else if (choice === 4) {
          active.delete(one);
          expect(await storage.completeRun(completion(one, { nowMs: now }))).toBe(true);
        } else if (choice === 5) {
          active.delete(one);
          await storage.requeueRun(one, { ...failure(now + random(20)), nowMs: now });
        } else if (choice === 6) {
          active.delete(one);
          await storage.deadLetterRun(one, {
            error: { code: 'x', message: '' },
            summary: summary(),
            nowMs: now,
          });
        } else {
          const selection = { kind: 'ids' as const, ids: [accepted[random(accepted.length)] ?? ''] };
          if (random(2) === 0) await storage.retry(selection, now);
          else await storage.drop(selection, now, dropEnding);
        }
        const running = await storage.listRuns({ limit: 1000, state: 'active' });
        expect(new Set(running.map(({ action }) => action.sessionKey)).size).toBe(running.length);
      }
      expect(await storage.verify()).toEqual([]);
      for (let round = 0; ; round += 1) {
        await storage.retry({ kind: 'all' }, NOW + 1000 + round);
        for (const { id } of await claim(storage, 100, NOW + 1000 + round)) active.add(id);
        if (active.size === 0) break;
        for (const id of active) await storage.completeRun(completion(id));
        active.clear();
      }
      const ended = await storage.listRuns({ limit: 1000, state: 'completed' });
      expect(ids(ended).sort()).toEqual(accepted.sort());
      const posted = (await summaries(storage)).map(({ runId }) => runId ?? '');
      expect(posted.sort()).toEqual(accepted);
      expect(await storage.verify()).toEqual([]);
    });

    test('holds all that was answered after its process was killed, again and again', async () => {
      const store = await fresh();
      await store.storage.close();
      const said: string[] = [];
      // A file has checkpoints of our own, into which kills are to fall, too.
      for (const [index, lines] of (isShared ? [20, 90] : [40, 333]).entries()) {
        said.push(...(await runAndKill(store.url, `life-${index}`, lines)));
      }
      await accountFor(await again(store), said);
    });

    test('carries the origin of a summary', async () => {
      const { storage } = await fresh();
      const run = agentOf('github');
      await storage.accept(work([run]));
      await claim(storage);
      await storage.completeRun(completion(run.id, { summary: { ...summary(), origin: run.origin } }));
      expect(await storage.listEvents({ limit: 5, mappingId: 'github' })).toMatchObject([
        { origin: { ...origin, mappingId: 'github' } },
      ]);
    });
  });
}

/** Small numbers that are the same in every run (a linear congruential generator). */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}
