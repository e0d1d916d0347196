import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/engine/storage/storage.ts';
import { agent, agentOf, completion, failure, NOW, wake, work } from '../../support/storage-builders.ts';
import { claim, claimTurn, ids, turnRun, type Harness } from '../../support/storage-harness.ts';

const NOTHING = { runs: [], outbox: [], isTurnTaken: false };
const DELIVERY = { channel: 'slack', to: 'C1', text: 'hi', fromMain: false };
const CALLBACK = { url: 'https://example.org', body: '{}' };

export function replicasContract(
  name: string,
  { fresh, again, beside }: Harness,
  { isShared }: { readonly isShared: boolean },
): void {
  describe(`${name}: who holds what`, () => {
    test('takes over what it does not know of, and leaves alone what it is working on', async () => {
      const { storage } = await fresh();
      const runs = [agent(), agent()];
      await storage.accept(work([...runs, wake()]));
      await claim(storage);
      await claimTurn(storage, 'turn-1');
      const [first, second] = ids(runs);
      const known = { runs: [first ?? ''], outbox: [], isTurnTaken: true };
      expect(await storage.takeOver(known)).toMatchObject({ runs: [{ id: second }], isLeader: true });
      expect(await storage.consumeEvents('turn-1', { run: turnRun('turn-1'), nowMs: NOW })).toBe(true);
      expect((await storage.takeOver()).runs).toHaveLength(2);
      expect(await storage.requeueRun(second ?? '', failure(NOW))).toBe(true);
      expect((await storage.takeOver()).runs).toMatchObject([{ id: first }]);
    });

    test('gives out callbacks alone where that is asked for, and says which runs have ended', async () => {
      const { storage } = await fresh();
      const [done, waiting] = [agent(), agent()] as const;
      await storage.accept(work([done, waiting]));
      await claim(storage, 1);
      await storage.completeRun(completion(done.id, { delivery: DELIVERY, callback: CALLBACK }));
      expect(ids(await storage.findEndedRuns([done.id, waiting.id, 'unknown']))).toEqual([done.id]);
      const callbacks = await storage.claimOutbox({ nowMs: NOW, limit: 9, kind: 'callback' });
      expect(callbacks).toMatchObject([{ kind: 'callback', callback: CALLBACK }]);
      expect(await storage.claimOutbox({ nowMs: NOW, limit: 9 })).toMatchObject([{ kind: 'delivery' }]);
      expect(await storage.verify()).toEqual([]);
    });

    test('keeps how far a recovery is and what is wanted of it, each until it is done', async () => {
      const store = await fresh();
      const { storage } = store;
      expect([await storage.leadRecovery('p'), await storage.leadRecovery('p')]).toEqual([true, true]);
      await storage.wantRecovery('p', 'first');
      await storage.keepRecovery('p', 'at 1');
      expect(await storage.listRecoveries()).toEqual([{ path: 'p', state: 'at 1', wanted: 'first' }]);
      await storage.wantRecovery('p', 'second');
      await storage.keepRecovery('p', 'at 2', 'first');
      expect(await storage.listRecoveries()).toEqual([{ path: 'p', state: 'at 2', wanted: 'second' }]);
      await storage.keepRecovery('p', 'at 3', 'second');
      await storage.keepRecovery('o', '{}');
      const later = await again(store);
      expect(await later.listRecoveries()).toEqual([
        { path: 'o', state: '{}', wanted: '' },
        { path: 'p', state: 'at 3', wanted: '' },
      ]);
    });

    if (isShared) sharedContract({ fresh, beside });
    else
      test('refuses a second performer, with the remedy, and lets the next one in after close', async () => {
        const store = await fresh();
        await expect(beside(store.url)).rejects.toMatchObject({
          name: 'StorageError',
          code: 'locked',
          message: expect.stringContaining('stop it first') as string,
        });
        const storage = await again(store);
        expect(await storage.verify()).toEqual([]);
      });
  });
}

/** Of a store that several services perform from. */
function sharedContract({ fresh, beside }: Pick<Harness, 'fresh' | 'beside'>): void {
  test('two performers take each run once, in the order of its conversation, within the limits of both', async () => {
    const { url, storage } = await fresh();
    const other = await beside(url);
    const lane = [1, 2, 3].map(() => agentOf('many', { sessionKey: 'k' }));
    const single = Array.from({ length: 4 }, () => agentOf('many'));
    await storage.accept(work([...lane, ...single]));
    const options = {
      nowMs: NOW,
      limit: 9,
      limits: { default: { maxRuns: { runs: 3, isKeyed: false } }, byMapping: new Map() },
    };
    const claimed = (
      await Promise.all([storage.claimRuns(options), other.claimRuns(options), storage.claimRuns(options)])
    ).flat();
    expect(ids(claimed).sort()).toEqual([lane[0]!.id, single[0]!.id, single[1]!.id].sort());
    expect(await other.claimRuns(options)).toEqual([]);
    await storage.completeRun(completion(lane[0]!.id));
    await other.completeRun(completion(lane[0]!.id));
    expect(ids(await other.claimRuns(options))).toEqual([lane[1]!.id]);
    expect(await storage.verify()).toEqual([]);
  });

  test('of several services one has the recovery of a path, and another one when it has left', async () => {
    const { url, storage } = await fresh();
    const other = await beside(url);
    expect([await storage.leadRecovery('p'), await other.leadRecovery('p')]).toEqual([true, false]);
    expect(await other.leadRecovery('q')).toBe(true);
    await storage.close();
    expect(await other.leadRecovery('p')).toBe(true);
  });

  test('what one performer holds no other one ends, and one that has left is taken over', async () => {
    const { url, storage } = await fresh();
    const other = await beside(url);
    const [done, run] = [agent(), agent()] as const;
    await storage.accept(work([done, run, wake()]));
    await claim(storage, 2);
    await storage.completeRun(completion(done.id, { callback: CALLBACK }));
    const [entry] = await storage.claimOutbox({ nowMs: NOW, limit: 1 });
    await claimTurn(storage, 'turn-1');
    expect(await storage.takeOver({ runs: [run.id], outbox: [entry!.id], isTurnTaken: true })).toEqual({
      runs: [],
      isLeader: true,
    });

    expect(await other.takeOver(NOTHING)).toEqual({ runs: [], isLeader: false });
    const error = { code: 'x', message: '' };
    expect(await other.completeRun(completion(run.id))).toBe(false);
    expect(await other.requeueRun(run.id, failure(NOW))).toBe(false);
    expect(await other.deadLetterRun(run.id, { error, nowMs: NOW })).toBe(false);
    expect(await other.completeOutbox(entry!.id, { state: 'completed', nowMs: NOW })).toBe(false);
    expect(await claimTurn(other, 'turn-2')).toBeUndefined();
    expect(await other.consumeEvents('turn-1', { nowMs: NOW })).toBe(false);

    const left = new Promise<void>((resolve) => other.lease?.onOtherLeft(resolve));
    await storage.close();
    await left;
    expect(await other.takeOver(NOTHING)).toMatchObject({ runs: [{ id: run.id }], isLeader: true });
    expect(await other.claimOutbox({ nowMs: NOW, limit: 1 })).toMatchObject([{ id: entry!.id, attempts: 2 }]);
    expect(await claimTurn(other, 'turn-2')).toMatchObject({ turnId: 'turn-1' });
    expect(await other.completeRun(completion(run.id))).toBe(true);
    expect(await other.verify()).toEqual([]);
  });

  test('a conversation that an agent keeps on a disk goes to who has that disk, while one lives', async () => {
    const { url, storage } = await fresh();
    const at = (place: string) =>
      beside(url, { replica: { role: 'all', version: '', leaseMs: 20_000, place } });
    const [here, other] = [await at('a'), await at('b')];
    const runs = ['k', 'k', 'k', 'free'].map((sessionKey) => agent({ sessionKey }));
    const end = (storage: Storage, { id, sessionKey, owner }: ReturnType<typeof agent>) => {
      const turns = [{ role: 'assistant' as const, text: 'done', at: NOW }];
      const conversation = { owner, key: sessionKey };
      return storage.completeRun(
        completion(id, { history: { conversation, turns, maxTurns: 5, isOnDisk: true } }),
      );
    };
    const limits = [
      {},
      { limits: { default: { maxRuns: { runs: 9, isKeyed: false } }, byMapping: new Map() } },
    ];
    await storage.accept(work(runs.slice(0, 3)));
    expect(ids(await claim(here))).toEqual([runs[0]?.id]);
    expect(await end(here, runs[0]!)).toBe(true);
    await storage.accept(work([runs[3]!]));
    for (const limit of limits) {
      const claimed = await other.claimRuns({ nowMs: NOW, limit: 9, ...limit });
      expect(ids(claimed)).toEqual(limit === limits[0] ? [runs[3]?.id] : []);
    }
    const same = await at('a');
    expect(ids(await claim(same))).toEqual([runs[1]?.id]);
    expect(await end(same, runs[1]!)).toBe(true);
    await here.close();
    expect(await claim(other)).toEqual([]);
    await same.close();
    expect(ids(await claim(other))).toEqual([runs[2]?.id]);
    expect(await end(other, runs[2]!)).toBe(true);
    expect(await other.verify()).toEqual([]);
  });

  test('an idempotency key and a dedupe key hold for all who accept, and a change is heard by the others', async () => {
    const { url, storage } = await fresh();
    const other = await beside(url);
    const dedupe = { scope: 'm', key: 'same', ttlSeconds: 60 };
    const heard = new Promise<void>((resolve) => other.onOutsideChange(resolve));
    const idempotency = { scope: 'p', key: 'k', bodySha256: 'x', ttlSeconds: 60 };
    const results = await Promise.all(
      [storage, other].flatMap((one) => [
        one.accept(work([agent()], { idempotency })),
        one.accept(work([agent({ dedupe })])),
      ]),
    );
    await heard;
    expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(2);
    expect(new Set(results.map(({ accepted }) => accepted[0]?.id)).size).toBe(2);
    expect(await other.backlog()).toMatchObject({ queuedRuns: 2 });
  });
}
