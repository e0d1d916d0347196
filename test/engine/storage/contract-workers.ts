import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/engine/storage/storage.ts';
import {
  agent,
  completion,
  dropEnding,
  failure,
  NOW,
  summary,
  work,
} from '../../support/storage-builders.ts';
import { claim, ids, summaries, type Harness } from '../../support/storage-harness.ts';

const LEASE_MS = 60_000;
const GONE = { code: 'interrupted', message: 'the worker was not heard of' };

const take = (storage: Storage, attempt: string, { nowMs = NOW, runner = 'laptop' } = {}) =>
  storage.claimRuns({
    nowMs,
    limit: 1,
    defaultRunner: 'main',
    worker: { runner, worker: 'w', attempt, until: nowMs + LEASE_MS },
  });

export function workersContract(
  name: string,
  { fresh, again, beside }: Harness,
  { isShared }: { readonly isShared: boolean },
): void {
  const ofLaptop = (parts: Parameters<typeof agent>[0] = {}) => agent({ runner: 'laptop', ...parts });

  describe(`${name}: runs that workers carry`, () => {
    test('gives a worker the first run of its runner only, and the same one where it asks again', async () => {
      const { storage } = await fresh();
      const [other, first, second] = [agent(), ofLaptop({ sessionKey: 'k' }), ofLaptop({ sessionKey: 'k' })];
      await storage.accept(work([other, first, second]));
      const carried = { worker: 'w', attempt: 'a1', until: NOW + LEASE_MS };
      expect(await take(storage, 'a1')).toMatchObject([
        { id: first.id, state: 'active', attempts: 1, carried },
      ]);
      expect(await take(storage, 'a1', { nowMs: NOW + 5 })).toMatchObject([
        { id: first.id, attempts: 1, carried },
      ]);
      expect(await take(storage, 'a2')).toEqual([]);
      expect(await take(storage, 'a3', { runner: 'main' })).toMatchObject([{ id: other.id }]);
      expect(await storage.findRun(second.id)).not.toHaveProperty('carried');
      expect(await storage.verify()).toEqual([]);
    });

    test('gives a worker of another runner nothing of a run, also by the id of its attempt', async () => {
      const { storage } = await fresh();
      const [carried, own] = [ofLaptop(), agent()];
      await storage.accept(work([carried, own]));
      expect(ids(await take(storage, 'a1'))).toEqual([carried.id]);
      expect(ids(await take(storage, 'a1', { runner: 'main' }))).toEqual([own.id]);
      expect(ids(await take(storage, 'a1'))).toEqual([carried.id]);
      expect(ids(await take(storage, 'a1', { runner: 'main' }))).toEqual([own.id]);
      expect(await storage.verify()).toEqual([]);
    });

    test('leaves such a run alone at a start and a take-over, until its lease is over', async () => {
      const store = await fresh();
      const [carried, own] = [ofLaptop(), agent({ runner: 'main' })];
      await store.storage.accept(work([carried, own]));
      await take(store.storage, 'a1');
      await store.storage.claimRuns({ nowMs: NOW, limit: 9, maxPerRunner: new Map([['laptop', 0]]) });
      const storage = await again(store);
      expect(ids((await storage.takeOver()).runs)).toEqual([own.id]);
      expect(await storage.completeRun(completion(carried.id))).toBe(false);
      expect(await storage.takeLapsedRuns(NOW + LEASE_MS - 1)).toEqual([]);
      const lapsed = await storage.takeLapsedRuns(NOW + LEASE_MS);
      expect(lapsed).toMatchObject([{ id: carried.id, state: 'active', carried: { attempt: 'a1' } }]);
      expect((await storage.findRun(carried.id))?.carried).not.toHaveProperty('until');
      expect(await storage.takeLapsedRuns(NOW + LEASE_MS)).toEqual([]);
      // Whoever took it may die, too.
      expect(ids((await storage.takeOver({ runs: [own.id], outbox: [], isTurnTaken: false })).runs)).toEqual([
        carried.id,
      ]);
      expect(await storage.verify()).toEqual([]);
    });

    test('ends a run by its attempt once, and the same end again changes nothing', async () => {
      const { storage } = await fresh();
      const [first, second] = [ofLaptop({ sessionKey: 'k' }), ofLaptop({ sessionKey: 'k' })];
      await storage.accept(work([first, second]));
      await take(storage, 'a1');
      expect(await storage.completeRun(completion(first.id, { attempt: 'other' }))).toBe(false);
      expect(await storage.completeRun(completion(first.id, { attempt: 'a1' }))).toBe(true);
      expect(await storage.completeRun(completion(first.id, { attempt: 'a1', reply: 'again' }))).toBe(false);
      expect(await storage.findRun(first.id)).toMatchObject({
        state: 'completed',
        reply: 'done',
        carried: { worker: 'w', attempt: 'a1', until: 0 },
      });
      expect(await summaries(storage)).toHaveLength(1);
      expect(await storage.renewRun(first.id, { attempt: 'a1', until: NOW, nowMs: NOW })).toBeUndefined();
      expect(await take(storage, 'a2')).toMatchObject([{ id: second.id }]);
      expect(await storage.verify()).toEqual([]);
    });

    test('puts a run back that its worker did not begin, and refuses the end of that attempt then', async () => {
      const { storage } = await fresh();
      const run = ofLaptop();
      await storage.accept(work([run]));
      await take(storage, 'a1');
      const back = { ...failure(NOW), isDelayed: true, attempt: 'a1' };
      expect(await storage.requeueRun(run.id, back)).toBe(true);
      expect(await storage.requeueRun(run.id, back)).toBe(false);
      expect(await storage.completeRun(completion(run.id, { attempt: 'a1' }))).toBe(false);
      expect(await take(storage, 'a2')).toMatchObject([{ id: run.id, attempts: 1 }]);
      const error = { code: 'not_configured', message: '' };
      expect(await storage.deadLetterRun(run.id, { error, nowMs: NOW, attempt: 'a1' })).toBe(false);
      expect(await storage.deadLetterRun(run.id, { error, nowMs: NOW, attempt: 'a2' })).toBe(true);
      expect(await storage.verify()).toEqual([]);
    });

    test('extends a lease, and gives a late worker its run again while no other attempt has begun', async () => {
      const { storage } = await fresh();
      const [first, second] = [ofLaptop({ sessionKey: 'k' }), ofLaptop({ sessionKey: 'k' })];
      await storage.accept(work([first, second]));
      await take(storage, 'a1');
      const renew = (attempt: string, nowMs: number) =>
        storage.renewRun(first.id, { attempt, until: nowMs + LEASE_MS, nowMs });
      expect(await renew('a1', NOW + 50_000)).toEqual({});
      expect(await storage.takeLapsedRuns(NOW + LEASE_MS)).toEqual([]);
      const late = NOW + 120_000;
      expect(ids(await storage.takeLapsedRuns(late))).toEqual([first.id]);
      expect(await storage.requeueRun(first.id, { ...failure(late), nowMs: late, hasBegun: true })).toBe(
        true,
      );
      expect(await renew('a1', late)).toEqual({});
      // Its time begins anew: it may have slept.
      expect(await storage.findRun(first.id)).toMatchObject({
        state: 'active',
        startedAt: late,
        attempts: 1,
      });
      expect(await take(storage, 'a2')).toEqual([]);
      expect(await storage.verify()).toEqual([]);
      expect(ids(await storage.takeLapsedRuns(late + LEASE_MS))).toEqual([first.id]);
      await storage.requeueRun(first.id, { ...failure(late), nowMs: late, hasBegun: true });
      expect(await take(storage, 'a2', { nowMs: late })).toMatchObject([{ id: first.id, attempts: 2 }]);
      expect(await renew('a1', late)).toBeUndefined();
      expect(await storage.completeRun(completion(first.id, { attempt: 'a1' }))).toBe(false);
      expect(await storage.completeRun(completion(first.id, { attempt: 'a2' }))).toBe(true);
      expect(await storage.verify()).toEqual([]);
    });

    test('takes a late end of a run that waits again, or was given up meanwhile', async () => {
      const { storage } = await fresh();
      const [waiting, dead] = [ofLaptop(), ofLaptop()];
      await storage.accept(work([waiting, dead]));
      await take(storage, 'a1');
      await take(storage, 'a2');
      await storage.takeLapsedRuns(NOW + LEASE_MS);
      await storage.requeueRun(waiting.id, { ...failure(NOW), hasBegun: true });
      await storage.deadLetterRun(dead.id, { error: GONE, summary: summary('given up'), nowMs: NOW });
      expect(await summaries(storage)).toHaveLength(1);
      expect(await storage.renewRun(dead.id, { attempt: 'a2', until: NOW, nowMs: NOW })).toEqual({});
      expect(await storage.completeRun(completion(waiting.id, { attempt: 'a1' }))).toBe(true);
      expect(await storage.completeRun(completion(dead.id, { attempt: 'a2' }))).toBe(true);
      expect(await storage.findRun(dead.id)).toMatchObject({
        state: 'completed',
        earlier: [{ error: GONE }],
      });
      // The summary of a run that was given up is not read any more.
      expect((await summaries(storage)).filter(({ state }) => state === 'pending')).toHaveLength(2);
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 0, activeRuns: 0, deadRuns: 0 });
      expect(await storage.verify()).toEqual([]);
    });

    test('lets who took a run over decide about it, though its worker speaks again just then', async () => {
      const { storage } = await fresh();
      const [again, never] = [ofLaptop(), ofLaptop()];
      await storage.accept(work([again, never]));
      await take(storage, 'a1');
      await take(storage, 'a2');
      const late = NOW + LEASE_MS;
      await storage.takeLapsedRuns(late);
      const renew = (runId: string, attempt: string) =>
        storage.renewRun(runId, { attempt, until: late + LEASE_MS, nowMs: late });
      expect(await renew(again.id, 'a1')).toEqual({});
      expect(await renew(never.id, 'a2')).toEqual({});
      const crash = { ...failure(late), nowMs: late, hasBegun: true };
      expect(await storage.requeueRun(again.id, crash)).toBe(true);
      expect(await storage.deadLetterRun(never.id, { error: GONE, nowMs: late })).toBe(true);
      // Both may go on.
      expect(await renew(again.id, 'a1')).toEqual({});
      expect(await storage.findRun(again.id)).toMatchObject({ state: 'active' });
      expect(await storage.completeRun(completion(never.id, { attempt: 'a2' }))).toBe(true);
      expect(await storage.verify()).toEqual([]);
    });

    test('takes no end of a run that an operator dropped, or that began elsewhere', async () => {
      const { storage } = await fresh();
      const [dropped, elsewhere] = [ofLaptop(), ofLaptop()];
      await storage.accept(work([dropped, elsewhere]));
      await take(storage, 'a1');
      await take(storage, 'a2');
      await storage.takeLapsedRuns(NOW + LEASE_MS);
      for (const { id } of [dropped, elsewhere])
        await storage.requeueRun(id, { ...failure(NOW), hasBegun: true });
      expect(await storage.drop({ kind: 'ids', ids: [dropped.id] }, NOW, dropEnding)).toBe(1);
      expect(await storage.completeRun(completion(dropped.id, { attempt: 'a1' }))).toBe(false);
      expect(ids(await claim(storage))).toEqual([elsewhere.id]);
      expect(await storage.completeRun(completion(elsewhere.id, { attempt: 'a2' }))).toBe(false);
      expect(await storage.completeRun(completion(elsewhere.id))).toBe(true);
      expect(await storage.verify()).toEqual([]);
    });

    test('tells a worker that it is to end its run, and extends that lease no more', async () => {
      const { storage } = await fresh();
      const [run, other] = [ofLaptop(), agent()];
      await storage.accept(work([run, other]));
      await take(storage, 'a1');
      expect(await storage.endCarriedRuns([run.id, other.id], 'cancelled')).toBe(1);
      expect(await storage.endCarriedRuns([run.id], 'timeout')).toBe(0);
      const renewed = await storage.renewRun(run.id, {
        attempt: 'a1',
        until: NOW + 9 * LEASE_MS,
        nowMs: NOW,
      });
      expect(renewed).toEqual({ end: 'cancelled' });
      expect(await storage.takeLapsedRuns(NOW + LEASE_MS)).toMatchObject([
        { id: run.id, carried: { end: 'cancelled' } },
      ]);
    });

    test('counts what workers carry against the limits of runners and mappings', async () => {
      const { storage } = await fresh();
      await storage.accept(work([ofLaptop(), ofLaptop()]));
      await take(storage, 'a1');
      const more = await storage.claimRuns({
        nowMs: NOW,
        limit: 1,
        maxPerRunner: new Map([['laptop', 1]]),
        worker: { runner: 'laptop', worker: 'w', attempt: 'a2', until: NOW },
      });
      expect(more).toEqual([]);
    });

    test('lists who takes runs, when each was heard of, and what it carries', async () => {
      const { storage } = await fresh();
      await storage.accept(work([ofLaptop(), ofLaptop(), agent()]));
      await storage.noteWorker({ runner: 'laptop', name: 'w', seenAt: NOW });
      await storage.noteWorker({ runner: 'laptop', name: 'v', seenAt: NOW + 1 });
      await storage.noteWorker({ runner: 'laptop', name: 'w', seenAt: NOW + 2 });
      await take(storage, 'a1');
      expect(await storage.listWorkers('main')).toEqual([
        { runner: 'laptop', name: 'w', seenAt: NOW + 2, runs: 1 },
        { runner: 'laptop', name: 'v', seenAt: NOW + 1, runs: 0 },
      ]);
      expect(await storage.countWaitingFor('laptop', 'main')).toBe(1);
      expect(await storage.countWaitingFor('main', 'main')).toBe(1);
    });

    test('counts what a worker carries for its runner alone: one machine may have one of each', async () => {
      const { storage } = await fresh();
      await storage.accept(work([ofLaptop(), agent()]));
      for (const runner of ['laptop', 'main', 'other']) {
        await storage.noteWorker({ runner, name: 'w', seenAt: NOW });
        const worker = { runner, worker: 'w', attempt: `of-${runner}`, until: NOW + LEASE_MS };
        await storage.claimRuns({ nowMs: NOW, limit: 1, defaultRunner: 'main', worker });
      }
      expect(await storage.listWorkers('main')).toMatchObject([
        { runner: 'laptop', runs: 1 },
        { runner: 'main', runs: 1 },
        { runner: 'other', runs: 0 },
      ]);
    });

    if (!isShared) return;
    test('lets any service renew and end a run, and one of them judge a lease', async () => {
      const { url, storage } = await fresh();
      const other = await beside(url);
      const [run, lapsing] = [ofLaptop(), ofLaptop()];
      await storage.accept(work([run, lapsing]));
      await take(storage, 'a1');
      await take(storage, 'a2');
      await storage.close();
      expect((await other.takeOver({ runs: [], outbox: [], isTurnTaken: false })).runs).toEqual([]);
      expect(await other.renewRun(run.id, { attempt: 'a1', until: NOW + 2 * LEASE_MS, nowMs: NOW })).toEqual(
        {},
      );
      expect(ids(await other.takeLapsedRuns(NOW + LEASE_MS))).toEqual([lapsing.id]);
      expect(await other.completeRun(completion(run.id, { attempt: 'a1' }))).toBe(true);
      expect(await other.verify()).toEqual([]);
    });
  });
}
