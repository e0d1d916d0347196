import type { AgentAction } from '../../../src/base/action.ts';
import { describe, expect, test } from 'vitest';
import type { AcceptResult } from '../../../src/engine/storage/storage.ts';
import { agent, completion, DAY_MS, NOW, notification, wake, work } from '../../support/storage-builders.ts';
import { claim, ids, summaries, claimTurn, turnRun, type Harness } from '../../support/storage-harness.ts';

export function acceptContract(
  name: string,
  { fresh, again }: Harness,
  { isShared }: { readonly isShared: boolean },
): void {
  describe(`${name}: accept`, () => {
    test('stores runs and events of one request together and answers in order', async () => {
      const { storage } = await fresh();
      const run = agent({ wakeMode: 'now', model: 'some/model', timeoutSeconds: 1.5 });
      const event = wake({ text: 'raw \u0000 text\n"quoted" 🙂' });
      const warnings = [{ code: 'unknown_field', field: 'foo', message: 'is ignored' }];
      const result = await storage.accept(work([run, event], { warnings }));
      expect(result).toEqual<AcceptResult>({
        accepted: [
          { kind: 'agent', id: run.id, mode: 'now', duplicate: false },
          { kind: 'wake', id: event.id, mode: 'next-heartbeat', duplicate: false },
        ],
        warnings,
        duplicate: false,
      });
      expect(await storage.findRun(run.id)).toEqual({
        id: run.id,
        kind: 'hook',
        action: run,
        state: 'queued',
        attempts: 0,
        acceptedAt: NOW,
        dueAt: NOW,
      });
      expect((await storage.listEvents({ limit: 1 }))[0]).toMatchObject({
        ...event,
        kind: 'wake',
        state: 'pending',
      });
    });

    test('refuses what comes while a thousand requests wait for a commit, however many only read', async () => {
      const { storage } = await fresh();
      const reads = Array.from({ length: 1_000 }, () => storage.findRun('none'));
      const accepted = Array.from({ length: 1_000 }, () => storage.accept(work([agent()])));
      await expect(storage.accept(work([agent()]))).rejects.toMatchObject({ status: 503 });
      expect(await Promise.all(accepted)).toHaveLength(1_000);
      await Promise.all(reads);
      await storage.accept(work([agent()]));
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 1_001 });
    });

    test('stores a notification as a run that has ended, with its delivery, and gives it to no runner', async () => {
      const store = await fresh();
      const notify = notification({ fallback: { channel: 'telegram', to: '7' } });
      const { accepted } = await store.storage.accept(work([notify, agent()]));
      expect(accepted[0]).toEqual({
        kind: 'notify',
        id: notify.id,
        mode: 'next-heartbeat',
        duplicate: false,
      });
      const storage = await again(store);
      expect(await storage.findRun(notify.id)).toMatchObject({
        action: notify,
        state: 'completed',
        outcome: 'ok',
        attempts: 0,
        endedAt: NOW,
      });
      expect(await claim(storage)).toHaveLength(1);
      expect(await storage.claimOutbox({ nowMs: NOW, limit: 10 })).toMatchObject([
        {
          runId: notify.id,
          delivery: {
            channel: 'slack',
            to: 'C0123456',
            text: 'disk is full',
            plain: true,
            fromMain: false,
            fallback: { channel: 'telegram', to: '7' },
          },
        },
      ]);
      expect(await storage.verify()).toEqual([]);
      expect(await summaries(storage)).toEqual([]);
    });

    test('stores the sign that a run was heard, once, and leaves it out where too much waits', async () => {
      const { storage } = await fresh({ maxBacklogRuns: 3 });
      const reaction = { seen: 'eyes', done: '+1', message: '1.2' } as const;
      const heard = (key: string): AgentAction =>
        agent({
          channel: 'slack',
          to: 'C1',
          reaction,
          dedupe: { scope: 'm', key, ttlSeconds: 60 },
        });
      const run = heard('one');
      await storage.accept(work([run]));
      expect(await storage.accept(work([heard('one')]))).toMatchObject({ duplicate: true });
      expect(await storage.listOutbox({ limit: 9 })).toMatchObject([
        {
          kind: 'reaction',
          runId: run.id,
          delivery: { channel: 'slack', to: 'C1', reaction: { emoji: 'eyes', message: '1.2' } },
        },
      ]);
      await storage.accept(work([notification()]));
      await storage.accept(work([notification()]));
      await expect(storage.accept(work([heard('two')]))).resolves.toMatchObject({ duplicate: false });
      expect(await storage.listOutbox({ limit: 9 })).toHaveLength(3);
      await claim(storage);
      await storage.completeRun({
        ...completion(run.id),
        reaction: { channel: 'slack', text: '+1', fromMain: false, reaction: { emoji: '+1' } },
      });
      expect(await storage.listOutbox({ limit: 9, runId: run.id })).toMatchObject([
        { kind: 'reaction', delivery: { text: '+1' } },
        { kind: 'reaction', delivery: { text: 'eyes' } },
      ]);
    });

    test('bounds notifications that wait, with their requests as a whole', async () => {
      const { storage } = await fresh({ maxBacklogRuns: 1 });
      await storage.accept(work([notification()]));
      await expect(storage.accept(work([wake(), notification()]))).rejects.toMatchObject({
        code: 'backlog_full',
      });
      expect(await storage.backlog()).toMatchObject({ queuedOutbox: 1, pendingEvents: 0 });
    });

    test('keeps everything across a restart, in order of arrival, whatever the clock did', async () => {
      const store = await fresh();
      const actions = Array.from({ length: 20 }, () => agent());
      for (const [index, action] of actions.entries()) {
        await store.storage.accept(work([action], { receivedAt: NOW - index * 60_000 }));
      }
      const storage = await again(store);
      expect(ids(await claim(storage, 100, NOW - DAY_MS))).toEqual(ids(actions));
      expect(ids(await storage.listRuns({ limit: 3 }))).toEqual(ids(actions).reverse().slice(0, 3));
    });

    test('is all or nothing for several actions, and a refused request leaves the others alone', async () => {
      const { storage } = await fresh({ maxPendingEvents: 2, maxBacklogRuns: 10 });
      const lost = agent();
      const kept = agent();
      const results = await Promise.allSettled([
        storage.accept(work([wake()])),
        storage.accept(work([lost, wake(), wake()])),
        storage.accept(work([kept])),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(results[1]).toMatchObject({ reason: { name: 'HookError', code: 'events_full' } });
      expect(await storage.findRun(lost.id)).toBeUndefined();
      expect(await storage.findRun(kept.id)).toBeDefined();
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 1, pendingEvents: 1 });
    });

    test('stores many requests that arrive at once, each in its place of arrival, and a repeat among them alone fails', async () => {
      const { storage } = await fresh();
      const runs = Array.from({ length: 100 }, (_, at) =>
        agent({ prompt: `prompt ${at}`, owner: 'mapping:many' }),
      );
      await Promise.all(runs.map((run) => storage.accept(work([run]))));
      const claimed = await claim(storage, 200);
      expect(ids(claimed)).toEqual(ids(runs));
      expect(claimed.map(({ action }) => action)).toEqual(runs);
      const [known, ...fresher] = [runs[7], ...Array.from({ length: 20 }, () => agent())] as AgentAction[];
      const results = await Promise.allSettled(
        [known!, ...fresher].map((run) => storage.accept(work([run]))),
      );
      expect(results.map(({ status }) => status)).toEqual(['rejected', ...fresher.map(() => 'fulfilled')]);
      expect(await storage.backlog()).toMatchObject({ activeRuns: 100, queuedRuns: 20 });
      expect(await storage.verify()).toEqual([]);
    });

    test('refuses a run whose id is already stored, and only that', async () => {
      const { storage } = await fresh();
      const run = agent();
      const results = await Promise.allSettled([
        storage.accept(work([run])),
        storage.accept(work([wake(), run])),
        storage.accept(work([agent()])),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(results[1]).toMatchObject({ reason: { code: 'storage_unavailable' } });
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 2, pendingEvents: 0 });
    });

    test('refuses runs beyond the backlog by count and by bytes, with a time to come back', async () => {
      const few = await fresh({ maxBacklogRuns: 2 });
      await few.storage.accept(work([agent(), agent()]));
      await expect(few.storage.accept(work([agent()]))).rejects.toMatchObject({
        code: 'backlog_full',
        retryAfterSeconds: 10,
      });
      await few.storage.accept(work([wake()]));
      const [run] = await claim(few.storage, 1);
      await few.storage.completeRun(completion(run?.id ?? ''));
      await few.storage.accept(work([agent()]));

      const small = await fresh({ maxBacklogBytes: 2000 });
      await small.storage.accept(work([agent({ prompt: 'x'.repeat(1000) })]));
      await expect(small.storage.accept(work([agent({ prompt: 'x'.repeat(1000) })]))).rejects.toMatchObject({
        code: 'backlog_full',
      });
    });

    test('bounds wakes that wait, never summaries', async () => {
      const { storage } = await fresh({ maxPendingEvents: 1 });
      const run = agent();
      await storage.accept(work([wake(), run]));
      await expect(storage.accept(work([wake()]))).rejects.toMatchObject({ code: 'events_full' });
      await claim(storage);
      expect(await storage.completeRun(completion(run.id))).toBe(true);
      expect(await summaries(storage)).toHaveLength(1);
      await expect(storage.accept(work([wake()]))).rejects.toMatchObject({ code: 'events_full' });
      await claimTurn(storage, 'turn-1');
      await storage.consumeEvents('turn-1', { run: turnRun('turn-1'), nowMs: NOW });
      await storage.accept(work([wake()]));
    });

    test('answers at once when more than 1,000 requests wait', async () => {
      const { storage } = await fresh();
      const results = await Promise.allSettled(
        Array.from({ length: 1005 }, () => storage.accept(work([wake()]))),
      );
      const refused = results.filter((result) => result.status === 'rejected');
      expect(refused).toHaveLength(5);
      expect(refused[0]).toMatchObject({ reason: { code: 'storage_unavailable', retryAfterSeconds: 1 } });
      expect(await storage.backlog()).toMatchObject({ pendingEvents: 1000 });
      await storage.accept(work([wake()]));
    });

    // What waits is bounded before it goes to any store: one of them shows it, as to store so much takes seconds.
    if (!isShared)
      test('answers at once when more than 64 MB wait', async () => {
        const { storage } = await fresh();
        const results = await Promise.allSettled(
          Array.from({ length: 5 }, () => storage.accept(work([agent({ prompt: 'x'.repeat(15_000_000) })]))),
        );
        expect(results.map(({ status }) => status)).toEqual([
          ...Array.from({ length: 4 }, () => 'fulfilled'),
          'rejected',
        ]);
      });
  });

  describe(`${name}: idempotency`, () => {
    const keyed = (key: string, bodySha256 = 'a', parts: Parameters<typeof work>[1] = {}) =>
      work([agent()], { idempotency: { scope: 'agent', key, bodySha256, ttlSeconds: 60 }, ...parts });

    test('gives a repeat the first answer, also across a restart, and starts nothing twice', async () => {
      const store = await fresh();
      const warnings = [{ code: 'unknown_field', message: 'is ignored' }];
      const first = await store.storage.accept(keyed('key-1', 'a', { warnings }));
      expect(await store.storage.accept(keyed('key-1'))).toEqual({ ...first, duplicate: true });
      const storage = await again(store);
      expect(await storage.accept(keyed('key-1'))).toEqual({ ...first, duplicate: true });
      expect(await storage.findIdempotent('agent', 'key-1', NOW)).toEqual({ bodySha256: 'a', result: first });
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 1 });
    });

    test('resolves the same key in one commit: the first wins, another body is refused', async () => {
      const { storage } = await fresh();
      const [first, second, other] = await Promise.allSettled([
        storage.accept(keyed('key-1', 'a')),
        storage.accept(keyed('key-1', 'a')),
        storage.accept(keyed('key-1', 'b')),
      ]);
      expect(first).toMatchObject({ status: 'fulfilled', value: { duplicate: false } });
      expect(second).toMatchObject({ status: 'fulfilled', value: { duplicate: true } });
      expect(other).toMatchObject({
        status: 'rejected',
        reason: { code: 'idempotency_mismatch', status: 422 },
      });
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 1 });
    });

    test('keeps keys of different paths and very long keys apart, and frees them when their time is over', async () => {
      const { storage } = await fresh();
      const long = 'k'.repeat(5000);
      await storage.accept(keyed(long));
      expect(await storage.accept(keyed(`${long}k`))).toMatchObject({ duplicate: false });
      const elsewhere = { scope: 'github', key: long, bodySha256: 'a', ttlSeconds: 60 };
      expect(await storage.accept(keyed(long, 'a', { idempotency: elsewhere }))).toMatchObject({
        duplicate: false,
      });
      expect(await storage.accept(keyed(long))).toMatchObject({ duplicate: true });
      const later = NOW + 60_000;
      expect(await storage.findIdempotent('agent', long, later)).toBeUndefined();
      expect(await storage.accept(keyed(long, 'b', { receivedAt: later }))).toMatchObject({
        duplicate: false,
      });
    });

    test('frees the key of a request that was refused', async () => {
      const { storage } = await fresh({ maxBacklogRuns: 0 });
      await expect(storage.accept(keyed('key-1'))).rejects.toMatchObject({ code: 'backlog_full' });
      expect(await storage.findIdempotent('agent', 'key-1', NOW)).toBeUndefined();
    });

    test('leaves deduped actions out of a batch and names the first ones', async () => {
      const { storage } = await fresh();
      const dedupe = (key: string) => ({ scope: 'mail', key, ttlSeconds: 60 });
      const first = agent({ dedupe: dedupe('m-1') });
      await storage.accept(work([first]));
      const [repeat, fresh1, twin] = [
        agent({ dedupe: dedupe('m-1') }),
        agent({ dedupe: dedupe('m-2') }),
        agent({ dedupe: dedupe('m-2') }),
      ] as const;
      const idempotency = { scope: 'mail', key: 'header', bodySha256: 'a', ttlSeconds: 60 };
      const warnings = [{ code: 'unknown_field', message: 'is ignored' }];
      const batch = work([repeat, fresh1, twin, agent()], { idempotency, warnings });
      const result = await storage.accept(batch);
      expect(result.accepted.map(({ id, duplicate }) => [id, duplicate])).toEqual([
        [first.id, true],
        [fresh1.id, false],
        [fresh1.id, true],
        [batch.actions[3]?.id, false],
      ]);
      expect(result).toMatchObject({ duplicate: false, warnings });
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 3 });
      expect(await storage.findIdempotent('mail', 'header', NOW)).toEqual({ bodySha256: 'a', result });
    });

    test('calls a request a duplicate when every action is one, until the keys expire', async () => {
      const { storage } = await fresh();
      const batch = (receivedAt = NOW) =>
        work([wake({ dedupe: { scope: 'm', key: 'k', ttlSeconds: 0.5 }, mode: 'now' })], { receivedAt });
      const first = await storage.accept(batch());
      expect(await storage.accept(batch(NOW + 499))).toEqual({
        accepted: [{ ...first.accepted[0], duplicate: true }],
        warnings: [],
        duplicate: true,
      });
      expect(await storage.accept(batch(NOW + 500))).toMatchObject({ duplicate: false });
      expect(await storage.backlog()).toMatchObject({ pendingEvents: 2 });
    });
  });
}
