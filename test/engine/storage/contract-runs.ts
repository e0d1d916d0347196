import type { AgentAction } from '../../../src/base/action.ts';
import { describe, expect, test } from 'vitest';
import {
  agent,
  agentOf,
  completion,
  failure,
  NOW,
  summary,
  wake,
  work,
  conversation,
} from '../../support/storage-builders.ts';
import { claim, ids, summaries, type Harness } from '../../support/storage-harness.ts';

export function runsContract(name: string, { fresh, again }: Harness): void {
  describe(`${name}: runs`, () => {
    test('claims in order of arrival, one active run per session key', async () => {
      const { storage } = await fresh();
      const [a1, a2, b1, a3] = [
        agent({ sessionKey: 'a' }),
        agent({ sessionKey: 'a' }),
        agent({ sessionKey: 'b' }),
        agent({ sessionKey: 'a' }),
      ] as const;
      await storage.accept(work([a1, a2, b1, a3]));
      const claimed = await claim(storage);
      expect(ids(claimed)).toEqual([a1.id, b1.id]);
      expect(claimed[0]).toMatchObject({ state: 'active', attempts: 1, action: a1 });
      // A claim that waits for others begins later.
      expect((claimed[0]?.startedAt ?? 0) - NOW).toSatisfy((ms: number) => ms >= 0 && ms < 10_000);
      expect(await claim(storage)).toEqual([]);
      await storage.completeRun(completion(a1.id));
      expect(ids(await claim(storage))).toEqual([a2.id]);
      await storage.deadLetterRun(a2.id, {
        error: { code: 'x', message: 'y' },
        summary: summary(),
        nowMs: NOW,
      });
      expect(ids(await claim(storage))).toEqual([a3.id]);
    });

    test('holds a run that names the own key of another one back until that has ended', async () => {
      const { storage } = await fresh();
      const own = agent();
      const named = [agent({ sessionKey: own.sessionKey }), agent({ sessionKey: own.sessionKey })];
      await storage.accept(work([own]));
      expect(ids(await claim(storage))).toEqual([own.id]);
      await storage.accept(work(named));
      expect(await claim(storage)).toEqual([]);
      await storage.requeueRun(own.id, failure(NOW + 1));
      expect(ids(await claim(storage))).toEqual([named[0]?.id]);
      expect(await claim(storage, 10, NOW + 1)).toEqual([]);
      await storage.completeRun(completion(named[0]?.id ?? ''));
      expect(ids(await claim(storage))).toEqual([own.id]);
      expect(await storage.verify()).toEqual([]);
    });

    test('two owners of one key have conversations of their own: neither waits for the other, nor reads it', async () => {
      const { storage } = await fresh();
      const [first, second] = [1, 2].map(() => agent({ sessionKey: 'k', owner: 'mapping:agent' })) as [
        AgentAction,
        AgentAction,
      ];
      const other = agent({ sessionKey: 'k', owner: 'request' });
      await storage.accept(work([first, second, other]));
      expect(ids(await claim(storage))).toEqual([first.id, other.id]);
      const turns = [{ role: 'assistant' as const, text: 'of the mapping', at: NOW }];
      const history = { conversation: conversation('k', 'mapping:agent'), turns, maxTurns: 5 };
      await storage.completeRun(completion(first.id, { history }));
      expect(ids(await claim(storage))).toEqual([second.id]);
      expect(await storage.findConversation(conversation('k', 'request'))).toEqual({
        turns: [],
        hasKeyOnlyId: false,
      });
      expect(await storage.findConversation(history.conversation)).toEqual({ turns, hasKeyOnlyId: false });
      expect(await storage.listSessions({ limit: 5, owner: 'request' })).toEqual([]);
      expect(await storage.clearSession(conversation('k', 'request'))).toBe(false);
      expect(await storage.clearSession(history.conversation)).toBe(true);
      expect(await storage.findRun(first.id)).toMatchObject({ action: { owner: 'mapping:agent' } });
      expect(await storage.verify()).toEqual([]);
    });

    test("the own key of a run is its owner's: another one that names it waits for nobody", async () => {
      const { storage } = await fresh();
      const run = agent({ owner: 'mapping:a' });
      const named = agent({ sessionKey: run.sessionKey, owner: 'request' });
      await storage.accept(work([run, named]));
      expect(ids(await claim(storage))).toEqual([run.id, named.id]);
      expect(await storage.verify()).toEqual([]);
    });

    test('lets later runs of a key overtake a head that waits for its retry, which then is next', async () => {
      const { storage } = await fresh();
      const [first, second, third] = [1, 2, 3].map(() => agent({ sessionKey: 'a' })) as [
        ReturnType<typeof agent>,
        ReturnType<typeof agent>,
        ReturnType<typeof agent>,
      ];
      await storage.accept(work([first, second, third]));
      await claim(storage);
      expect(await storage.requeueRun(first.id, failure(NOW + 1000))).toBe(true);
      expect(await storage.findRun(first.id)).toMatchObject({
        state: 'queued',
        attempts: 1,
        dueAt: NOW + 1000,
        lastError: { code: 'connection_refused', message: 'nobody listens' },
      });
      expect(ids(await claim(storage, 10, NOW + 1))).toEqual([second.id]);
      expect(await storage.nextDueAt()).toBe(NOW + 1000);
      expect(await claim(storage, 10, NOW + 1000)).toEqual([]);
      await storage.completeRun(completion(second.id));
      const [next] = await claim(storage, 10, NOW + 1000);
      expect(next).toMatchObject({ id: first.id, attempts: 2 });
      await storage.completeRun(completion(first.id));
      expect(ids(await claim(storage))).toEqual([third.id]);
      expect(await storage.verify()).toEqual([]);
    });

    test('puts a run that is due again before later ones of its key that were not claimed yet', async () => {
      const { storage } = await fresh();
      const [first, second] = [agent({ sessionKey: 'a' }), agent({ sessionKey: 'a' })] as const;
      await storage.accept(work([first, second]));
      await claim(storage);
      await storage.requeueRun(first.id, failure(NOW + 10));
      expect(ids(await claim(storage, 10, NOW + 10))).toEqual([first.id]);
      await storage.requeueRun(first.id, failure(NOW));
      expect(ids(await claim(storage))).toEqual([first.id]);
      expect(await storage.verify()).toEqual([]);
    });

    test('holds to the limits per mapping and per runner without holding up the others', async () => {
      const { storage } = await fresh();
      const many = Array.from({ length: 10 }, () => agentOf('many'));
      const slow = Array.from({ length: 3 }, () => agentOf('other', { runner: 'slow' }));
      const builtIn = [agent(), agent(), agent()];
      await storage.accept(work([...many, ...slow, ...builtIn]));
      const limits = { default: { maxRuns: { runs: 2, isKeyed: false } }, byMapping: new Map() };
      const options = { nowMs: NOW, limit: 6, limits, maxPerRunner: new Map([['slow', 1]]) };
      expect(ids(await storage.claimRuns(options))).toEqual([
        ...ids(many.slice(0, 2)),
        slow[0]?.id,
        ...ids(builtIn),
      ]);
      expect(await storage.claimRuns(options)).toEqual([]);
      await storage.completeRun(completion(slow[0]?.id ?? ''));
      await storage.completeRun(completion(many[1]?.id ?? ''));
      expect(ids(await storage.claimRuns(options))).toEqual([many[2]?.id, slow[1]?.id]);
      expect(await storage.claimRuns({ ...options, limit: 0 })).toEqual([]);
    });

    test('completes a run with history, summary, delivery and callback in one step, once', async () => {
      const store = await fresh();
      const { storage } = store;
      const run = agentOf('github', { sessionKey: 'a', wakeMode: 'now' });
      await storage.accept(work([run]));
      await claim(storage);
      await storage.recordProcess(run.id, { pgid: 4711, startTicks: '123456789012345678' });
      expect((await storage.takeOver()).runs).toMatchObject([
        { id: run.id, process: { pgid: 4711, startTicks: '123456789012345678' } },
      ]);
      const delivery = {
        channel: 'slack',
        to: 'C1',
        text: 'done',
        fromMain: false,
        fallback: { channel: 'last' },
      };
      const callback = { url: 'https://example.org/cb', body: '{"ok":true}' };
      const full = completion(run.id, {
        reply: 'done',
        usage: { inputTokens: 3, outputTokens: 5 },
        history: {
          conversation: conversation('a'),
          turns: [
            { role: 'user', text: 'question', at: NOW },
            { role: 'assistant', text: 'done', at: NOW + 1 },
          ],
          maxTurns: 10,
        },
        summary: summary('Hook Hook: done', true),
        delivery,
        callback,
      });
      const results = await Promise.all([storage.completeRun(full), storage.completeRun(full)]);
      expect(results).toEqual([true, false]);
      expect(
        await storage.deadLetterRun(run.id, {
          error: { code: 'x', message: '' },
          summary: summary(),
          nowMs: NOW,
        }),
      ).toBe(false);
      expect(await storage.requeueRun(run.id, failure(NOW))).toBe(false);
      const reopened = await again(store);
      expect(await reopened.findRun(run.id)).toMatchObject({
        state: 'completed',
        outcome: 'ok',
        reply: 'done',
        endedAt: NOW,
        usage: { inputTokens: 3, outputTokens: 5 },
      });
      expect(await reopened.findRun(run.id)).not.toHaveProperty('process');
      expect(await summaries(reopened)).toMatchObject([
        { text: 'Hook Hook: done', mode: 'now', runId: run.id },
      ]);
      expect((await reopened.findConversation(conversation('a'))).turns).toEqual(full.history?.turns);
      const outbox = await reopened.listOutbox({ limit: 10, mappingId: 'github' });
      expect(outbox).toMatchObject([
        { kind: 'callback', runId: run.id, callback },
        { kind: 'delivery', runId: run.id, delivery },
      ]);
      expect(await reopened.heartbeatRequested()).toBe(true);
      expect(await reopened.verify()).toEqual([]);
    });

    test('keeps the outcome and the error of a run that failed', async () => {
      const { storage } = await fresh();
      const run = agent();
      await storage.accept(work([run]));
      await claim(storage);
      const error = { code: 'exit_code', message: 'ended with code 2' };
      await storage.completeRun(completion(run.id, { outcome: 'error', reply: '', error }));
      expect(await storage.findRun(run.id)).toMatchObject({ outcome: 'error', reply: '', lastError: error });
    });

    test('gives a run up with its summary and its callback, and a retry takes back a summary nobody has read', async () => {
      const { storage } = await fresh();
      const run = agent();
      await storage.accept(work([run]));
      await claim(storage);
      const error = { code: 'not_configured', message: 'there is no runner' };
      const deadLetter = {
        error,
        summary: summary('Hook Hook (dead): no'),
        callback: { url: 'https://example.org', body: '{}' },
        nowMs: NOW,
      };
      expect(await storage.deadLetterRun(run.id, deadLetter)).toBe(true);
      expect(await storage.deadLetterRun(run.id, deadLetter)).toBe(false);
      expect(await storage.completeRun(completion(run.id))).toBe(false);
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 0, activeRuns: 0, deadRuns: 1, bytes: 0 });
      expect(await storage.findRun(run.id)).toMatchObject({ state: 'dead', lastError: error, endedAt: NOW });
      expect(await storage.listOutbox({ limit: 5 })).toMatchObject([{ kind: 'callback' }]);

      expect(await storage.retry({ kind: 'ids', ids: [run.id] }, NOW + 5)).toBe(1);
      expect(await summaries(storage)).toEqual([]);
      expect(await claim(storage)).toMatchObject([{ id: run.id, attempts: 1 }]);
      await storage.completeRun(completion(run.id));
      expect(await summaries(storage)).toHaveLength(1);
      expect(await storage.verify()).toEqual([]);
    });

    test('finds runs that a process left active, and they are claimed again only after they were put back', async () => {
      const store = await fresh();
      const [lost, next] = [agent({ sessionKey: 'a' }), agent({ sessionKey: 'a' })] as const;
      await store.storage.accept(work([lost, next]));
      await claim(store.storage);
      const storage = await again(store);
      expect((await storage.takeOver()).runs).toMatchObject([{ id: lost.id, state: 'active', attempts: 1 }]);
      expect(await claim(storage)).toEqual([]);
      await storage.requeueRun(lost.id, failure(NOW, 'interrupted'));
      expect((await storage.takeOver()).runs).toEqual([]);
      expect(await claim(storage)).toMatchObject([{ id: lost.id, attempts: 2 }]);
    });

    test('says when something is due next', async () => {
      const { storage } = await fresh();
      expect(await storage.nextDueAt()).toBeUndefined();
      const run = agent();
      await storage.accept(work([run]));
      expect(await storage.nextDueAt()).toBeLessThanOrEqual(NOW);
      await claim(storage);
      expect(await storage.nextDueAt()).toBeUndefined();
      await storage.requeueRun(run.id, failure(NOW + 500.4));
      expect(await storage.nextDueAt()).toBe(NOW + 500);
      await storage.accept(work([wake({ mode: 'now' })], { receivedAt: NOW + 250 }));
      expect(await storage.nextDueAt()).toBe(NOW + 250);
    });

    test('says when something is due that does not wait for more events', async () => {
      const { storage } = await fresh();
      const debounce = { key: 'k', seconds: 7200, maxSeconds: 72_000, nonce: 'n' };
      const origin = { requestId: 'r', path: 'p', mappingId: 'm', trusted: false };
      await storage.accept(work([agent({ debounce, origin })]));
      expect(await storage.nextDueAt()).toBeGreaterThanOrEqual(NOW + 7_200_000);
      expect(await storage.nextRetryAt(NOW)).toBeUndefined();
      // Stored under a clock that was set back since.
      expect(await storage.nextRetryAt(NOW - 60_000)).toBe(await storage.nextDueAt());
    });
  });
}
