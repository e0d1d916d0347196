import assert from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { DROPPED, type QueueSelection, type Storage } from '../../../src/engine/storage/storage.ts';
import {
  agent,
  agentOf,
  completion,
  DAY_MS,
  failure,
  NOW,
  summary,
  wake,
  work,
  dropEnding,
  conversation,
} from '../../support/storage-builders.ts';
import { claim, ids, summaries, claimTurn, turnRun, type Harness } from '../../support/storage-harness.ts';

const DECIDED = {
  path: 'a',
  status: 202,
  outcome: 'accepted',
  mappingId: 'a',
  actionIds: [],
  generation: 'g',
  tookMs: 1,
  bodyBytes: 0,
} as const;

export function queueContract(name: string, { fresh, again }: Harness): void {
  describe(`${name}: queue`, () => {
    async function withDead(storage: Storage, mappingId: string, count: number) {
      const runs = Array.from({ length: count }, () => agentOf(mappingId));
      await storage.accept(work(runs));
      await claim(storage, count);
      const error = { code: 'x', message: '' };
      for (const { id } of runs) await storage.deadLetterRun(id, { error, summary: summary(), nowMs: NOW });
      return ids(runs);
    }

    test('retries all, those of a mapping, or some by id, dead or waiting', async () => {
      const { storage } = await fresh();
      const a = await withDead(storage, 'a', 3);
      const b = await withDead(storage, 'b', 2);
      const waiting = agentOf('b');
      await storage.accept(work([waiting]));
      await claim(storage);
      await storage.requeueRun(waiting.id, failure(NOW + DAY_MS));
      expect(await storage.backlog()).toMatchObject({ deadRuns: 5, oldestDeadAt: NOW });
      expect(await storage.retry({ kind: 'ids', ids: [a[1] ?? '', 'unknown'] }, NOW)).toBe(1);
      expect(await storage.retry({ kind: 'mapping', mappingId: 'b' }, NOW)).toBe(3);
      expect(ids(await claim(storage)).sort()).toEqual([a[1] ?? '', ...b, waiting.id].sort());
      expect(await storage.retry({ kind: 'all' }, NOW)).toBe(2);
      expect(await storage.retry({ kind: 'all' }, NOW)).toBe(0);
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 2, deadRuns: 0, activeRuns: 4 });
      expect(await storage.backlog()).not.toHaveProperty('oldestDeadAt');
      expect(await storage.verify()).toEqual([]);
    });

    /** One run that has ended in some way. */
    async function ended(storage: Storage, change: Partial<Parameters<typeof storage.completeRun>[0]>) {
      const run = agentOf('a', { sessionKey: 'k' });
      await storage.accept(work([run]));
      await claim(storage);
      await storage.completeRun({ ...completion(run.id), ...change });
      return run.id;
    }
    const failed = { outcome: 'error', reply: 'half', error: { code: 'exit_1', message: 'no key' } } as const;
    const timedOut = { outcome: 'timeout', reply: '', error: { code: 'timeout', message: '' } } as const;

    test('begins a failed run anew, keeps how it ended, and takes back its unread summary', async () => {
      const { storage } = await fresh();
      const id = await ended(storage, { ...failed, summary: summary() });
      expect(await summaries(storage)).toHaveLength(1);
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 0, bytes: 0 });
      expect(await storage.selectRetry({ kind: 'all' }, { nowMs: NOW })).toMatchObject({ runs: [id] });
      expect(await storage.retry({ kind: 'ids', ids: [id] }, NOW)).toBe(1);
      expect(await storage.retry({ kind: 'ids', ids: [id] }, NOW)).toBe(0);
      expect(await summaries(storage)).toEqual([]);
      const end = { endedAt: NOW, attempts: 1, outcome: 'error', error: failed.error, reply: 'half' };
      const waiting = await storage.findRun(id);
      expect(waiting).toMatchObject({
        state: 'queued',
        attempts: 0,
        lastError: failed.error,
        earlier: [end],
      });
      expect(waiting).not.toHaveProperty('outcome');
      expect(waiting).not.toHaveProperty('reply');
      expect(await claim(storage)).toMatchObject([{ id, attempts: 1, earlier: [end] }]);
      await storage.completeRun({ ...completion(id), summary: summary() });
      expect(await storage.findRun(id)).toMatchObject({ outcome: 'ok', earlier: [end] });
      expect(await summaries(storage)).toHaveLength(1);
      expect(await storage.retry({ kind: 'ids', ids: [id] }, NOW)).toBe(0);
      expect(await storage.verify()).toEqual([]);
    });

    test('puts a run back whose turn failed, and keeps how each turn ended', async () => {
      const store = await fresh();
      const run = agentOf('a', { sessionKey: 'k' });
      await store.storage.accept(work([run]));
      await claim(store.storage);
      const back = {
        code: 'exit_1',
        message: 'no key',
        hasBegun: true,
        ended: { outcome: 'error', reply: 'half' },
      } as const;
      expect(await store.storage.requeueRun(run.id, { ...back, retryAt: NOW + 60_000, nowMs: NOW + 5 })).toBe(
        true,
      );
      const end = { endedAt: NOW + 5, attempts: 1, outcome: 'error', error: failed.error, reply: 'half' };
      const storage = await again(store);
      expect(await storage.findRun(run.id)).toMatchObject({ state: 'queued', attempts: 1, earlier: [end] });
      expect(await claim(storage, 1, NOW + 59_999)).toEqual([]);
      expect(await claim(storage, 1, NOW + 60_000)).toMatchObject([
        { id: run.id, attempts: 2, earlier: [end] },
      ]);
      await storage.completeRun({ ...completion(run.id), ...timedOut });
      expect(await storage.retry({ kind: 'ids', ids: [run.id] }, NOW)).toBe(1);
      expect(await storage.findRun(run.id)).toMatchObject({
        earlier: [end, { attempts: 2, outcome: 'timeout' }],
      });
      expect(await storage.verify()).toEqual([]);
    });

    test('holds a run until somebody approves it: the first answer in time counts', async () => {
      const store = await fresh();
      const approve = { channel: 'slack', to: 'C1', withinSeconds: 60 };
      const [run, denied, late, plain] = [
        agentOf('a', { approve, sessionKey: 'k' }),
        agentOf('a', { approve }),
        agentOf('a', { approve }),
        agentOf('a', { sessionKey: 'k' }),
      ];
      for (const one of [run, denied, late, plain]) await store.storage.accept(work([one]));
      const expiresAt = NOW + 60_000;
      const asked = await store.storage.listOutbox({ limit: 9, runId: run.id });
      expect(asked).toMatchObject([
        { delivery: { text: '', plain: true, asks: { runId: run.id, expiresAt } } },
      ]);
      expect(await store.storage.findRun(run.id)).toMatchObject({ state: 'queued', approval: { expiresAt } });
      expect(ids(await claim(store.storage, 9, expiresAt - 1))).toEqual([plain.id]);
      expect(await store.storage.retry({ kind: 'all' }, NOW)).toBe(0);
      expect(await store.storage.nextRetryAt(NOW)).toBe(NOW);
      await store.storage.completeRun(completion(plain.id));
      const storage = await again(store);
      const by = { by: 'link', nowMs: NOW + 5 } as const;
      const approval = { expiresAt, decision: 'approved', by: 'link', at: NOW + 5 };
      expect(await storage.decideApproval(run.id, { ...by, decision: 'approved' })).toMatchObject({
        approval,
        isFirst: true,
      });
      const second = { decision: 'denied', by: 'command', nowMs: NOW + 6 } as const;
      expect(await storage.decideApproval(run.id, second)).toMatchObject({ approval, isFirst: false });
      expect(await storage.decideApproval(denied.id, second)).toMatchObject({ isFirst: true });
      expect(await storage.decideApproval(late.id, { ...second, nowMs: expiresAt })).toMatchObject({
        approval: { expiresAt },
        isFirst: false,
      });
      expect(await storage.decideApproval(plain.id, second)).toBeNull();
      expect(await storage.decideApproval('unknown', second)).toBeNull();
      const deadLetter = { error: { code: 'not_approved', message: '' }, nowMs: expiresAt };
      expect(await storage.deadLetterRun(run.id, deadLetter)).toBe(false);
      // Denied since it was found without an answer: it is given up for that.
      expect(await storage.deadLetterRun(denied.id, deadLetter)).toBe(false);
      // What nobody approved waits for no claim, so nothing can keep it from being given up.
      await storage.pauseRuns('a', NOW);
      const refused = { id: denied.id, approval: { decision: 'denied', by: 'command' } };
      expect(await storage.findUnbegun(NOW + 10)).toMatchObject([refused]);
      await storage.resumeRuns('a');
      expect(await claim(storage, 9, NOW + 10)).toMatchObject([{ id: run.id, approval }]);
      expect(await claim(storage, 9, expiresAt)).toEqual([]);
      const unanswered = { id: late.id, approval: { expiresAt } };
      expect(await storage.findUnbegun(expiresAt)).toMatchObject([refused, unanswered]);
      expect(await storage.deadLetterRun(late.id, deadLetter)).toBe(true);
      expect(await storage.retry({ kind: 'all' }, expiresAt)).toBe(0);
      // Whoever runs it by hand has approved it.
      expect(await storage.retry({ kind: 'ids', ids: [late.id] }, expiresAt)).toBe(1);
      expect(await storage.findRun(late.id)).not.toHaveProperty('approval');
      expect(await storage.verify()).toEqual([]);
    });

    test('asks once about all runs of a request, and the answer is about all that still wait', async () => {
      const { storage } = await fresh();
      const approve = { channel: 'slack', withinSeconds: 60 };
      const dedupe = { scope: 'a', key: 'k', ttlSeconds: 600 };
      await storage.accept(work([agentOf('a', { dedupe })]));
      // The first is a repeat, and makes no run.
      const made = [
        agentOf('a', { approve, dedupe }),
        agentOf('a', { approve }),
        agentOf('a', { approve }),
        agentOf('a', { approve }),
      ];
      const other = agentOf('a', { approve });
      await storage.accept(work(made));
      await storage.accept(work([other]));
      const [, first, second, third] = made.map(({ id }) => id);
      const questions = await storage.listOutbox({ limit: 9 });
      expect(questions.map(({ runId }) => runId).toSorted()).toEqual(
        expect.arrayContaining([first, other.id]),
      );
      const asks = questions.find(({ runId }) => runId === first)?.delivery?.asks;
      assert(first !== undefined && second !== undefined && third !== undefined && asks !== undefined);
      expect(ids(await storage.findAsked(asks))).toEqual([first, second, third]);
      expect(await storage.findAsked({ ...asks, nonce: '' })).toEqual([]);
      await storage.drop({ kind: 'ids', ids: [first] }, NOW, () => ({}));
      const answer = { decision: 'approved', by: 'link', nowMs: NOW + 5 } as const;
      expect(await storage.decideApproval(third, answer)).toMatchObject({ isFirst: true, runs: 2 });
      expect(await storage.decideApproval(second, answer)).toMatchObject({ isFirst: false, runs: 0 });
      expect(await storage.findAsked(asks)).toEqual([]);
      expect(ids(await claim(storage, 9, NOW + 5))).toEqual(expect.arrayContaining([second, third]));
      expect(await storage.findRun(other.id)).not.toHaveProperty('approval.decision');
    });

    test('begins failed runs anew by their error or all of them, but none that was dropped', async () => {
      const { storage } = await fresh();
      const [exit, late] = [await ended(storage, failed), await ended(storage, timedOut)];
      await ended(storage, {});
      const dropped = await ended(storage, { ...failed, error: DROPPED });
      const [dead] = await withDead(storage, 'b', 1);
      const select = (selection: QueueSelection) => storage.selectRetry(selection, { nowMs: NOW });
      expect(await select({ kind: 'all', errorCode: 'exit_1' })).toMatchObject({ runs: [exit] });
      expect(await select({ kind: 'mapping', mappingId: 'a' })).toMatchObject({ runs: [exit, late] });
      expect(await storage.retry({ kind: 'mapping', mappingId: 'b', errorCode: 'exit_1' }, NOW)).toBe(0);
      expect(await storage.retry({ kind: 'all', errorCode: 'timeout' }, NOW)).toBe(1);
      expect(await storage.retry({ kind: 'all' }, NOW)).toBe(2);
      expect(await storage.retry({ kind: 'ids', ids: [dropped] }, NOW)).toBe(0);
      expect(ids(await claim(storage)).sort()).toEqual([exit, dead ?? ''].sort());
      expect(await storage.verify()).toEqual([]);
    });

    test('of several begins neither what was denied nor what waits for a limit, says so, and goes oldest first', async () => {
      const { storage } = await fresh();
      const approve = { channel: 'slack', to: 'C1', withinSeconds: 60, text: 'May it begin?' };
      const denied = [agentOf('a', { approve }), agentOf('a', { approve })];
      const asked = agentOf('a', { approve });
      const failing = [agentOf('a'), agentOf('b'), agentOf('a')];
      await storage.accept(work([...denied, asked, ...failing]));
      for (const { id } of denied)
        await storage.deadLetterRun(id, { error: { code: 'denied', message: '' }, nowMs: NOW });
      await claim(storage);
      const [first, second, third] = ids(failing);
      // The one that came in the middle was given up, the others have failed.
      await storage.deadLetterRun(second ?? '', { error: { code: 'spawn_failed', message: '' }, nowMs: NOW });
      for (const id of [third, first]) await storage.completeRun({ ...completion(id ?? ''), ...failed });
      const plan = (selection: QueueSelection, nowMs = NOW) =>
        storage.planWork('retry', { selection, nowMs });
      const refused = { reason: 'refused', count: 2 };
      expect(await plan({ kind: 'all' })).toEqual({
        runs: 3,
        outbox: 0,
        events: 0,
        ids: [first, second, third],
        leftOut: [refused, { reason: 'asking', count: 1 }, { reason: 'due', count: 1 }],
      });
      expect(await storage.selectRetry({ kind: 'all' }, { nowMs: NOW })).toMatchObject({
        runs: [first, second, third],
      });
      expect(await plan({ kind: 'all', of: 'runs', state: 'dead' })).toMatchObject({
        runs: 1,
        leftOut: [refused],
      });
      expect(await plan({ kind: 'all', of: 'runs', until: NOW - 1 })).toMatchObject({ runs: 0, leftOut: [] });
      const both = { kind: 'ids', ids: ids(denied) } as const;
      expect(await plan(both)).toMatchObject({ runs: 0, leftOut: [refused] });
      expect(await plan({ kind: 'ids', ids: [first ?? '', 'unknown'] })).toMatchObject({
        runs: 1,
        leftOut: [{ reason: 'other', count: 1 }],
      });
      expect(await storage.retry(both, NOW)).toBe(0);
      expect(await storage.retry({ kind: 'all', errorCode: 'denied' }, NOW)).toBe(0);
      expect(await storage.planWork('approve', { selection: { kind: 'all' }, nowMs: NOW })).toMatchObject({
        ids: [asked.id],
      });
      expect(await storage.retry({ kind: 'all', of: 'runs' }, NOW)).toBe(3);
      expect(ids(await claim(storage))).toEqual([first, second, third]);
      // Alone, by its id, whoever asks has seen what it is.
      expect(await plan({ kind: 'ids', ids: [denied[0]?.id ?? ''] })).toMatchObject({ runs: 1, leftOut: [] });
      expect(await storage.retry({ kind: 'ids', ids: [denied[0]?.id ?? ''] }, NOW)).toBe(1);
      expect(await storage.verify()).toEqual([]);
    });

    test('tells all that somebody has to look at, and which runs have something to send', async () => {
      const { storage } = await fresh();
      const delivery = { channel: 'slack', to: 'C1', text: 'reply', fromMain: false };
      const bad = await ended(storage, failed);
      await ended(storage, { ...failed, error: DROPPED });
      const [dead = ''] = await withDead(storage, 'b', 1);
      const [sent, waits] = [await ended(storage, { delivery }), await ended(storage, { delivery })];
      const unsent = async (...of: readonly string[]) =>
        (await storage.findUnsent(of)).map(({ runId, end }) => `${runId} ${end}`).toSorted();
      expect(await unsent(sent, waits, bad)).toEqual([`${sent} sending`, `${waits} sending`].toSorted());
      const entries = await storage.claimOutbox({ nowMs: NOW, limit: 1 });
      const error = { code: 'forbidden', message: 'not_in_channel' };
      for (const { id } of entries) await storage.deadLetterOutbox(id, { error, nowMs: NOW });
      expect(await unsent(sent, waits)).toEqual([`${sent} unsent`, `${waits} sending`].toSorted());
      // An emoji that the operator drops is no reply.
      const reaction = { ...delivery, text: 'eyes', reaction: { emoji: 'eyes' } } as const;
      const heard = await ended(storage, { reaction });
      const left = await storage.listOutbox({ limit: 9, state: 'queued' });
      await storage.drop({ kind: 'ids', ids: ids(left) }, NOW, () => ({}));
      expect(await unsent(sent, waits, heard)).toEqual([`${sent} unsent`, `${waits} unsent`].toSorted());
      const failures = await storage.failedByHour(10);
      const told = failures.map(({ kind, where, why, count, example, message }) => [
        kind,
        where,
        why,
        count,
        example,
        message,
      ]);
      expect(told).toHaveLength(3);
      expect(told).toEqual(
        expect.arrayContaining([
          ['run', '', 'exit_1', 1, bad, failed.error.message],
          ['run', '', expect.any(String), 1, dead, expect.any(String)],
          ['delivery', 'slack', 'forbidden', 1, sent, 'not_in_channel'],
        ]),
      );
      for (const { firstAt, lastAt } of failures) expect(firstAt).toBeLessThanOrEqual(lastAt);
    });

    test('counts the decisions on senders with a proof, part by part, by path and by why they were refused', async () => {
      const { storage } = await fresh();
      const missed = [{ mappingId: 'a', part: 'when', leaf: '{"==":[1,2]}', why: 'different' }] as const;
      const refused = { outcome: 'rejected', status: 404, code: 'no_mapping_matched', missed } as const;
      const findings = (line: number) => [{ code: 'not_json', facts: { line } }];
      for (let index = 0; index < 1_200; index += 1) {
        const at = { requestId: `r-${index}`, receivedAt: NOW + index };
        if (index % 3 === 0) storage.recordDecision({ ...DECIDED, ...at, path: 'taken', mappingId: 'a' });
        else if (index % 3 === 1) storage.recordDecision({ ...DECIDED, ...at, path: 'missed', ...refused });
        // What a finding says of each differs, and they are refused alike.
        else
          storage.recordDecision({
            ...DECIDED,
            ...at,
            path: 'broken',
            outcome: 'rejected',
            findings: findings(index),
          });
      }
      storage.recordStranger(
        { ...DECIDED, requestId: 's', receivedAt: NOW, path: 'missed', ...refused },
        'net',
      );
      await storage.flush();
      type Groups = Awaited<ReturnType<typeof storage.countDecided>>['groups'];
      const parts: Groups[] = [];
      for (let after: number | undefined = 0; after !== undefined;) {
        const part: Awaited<ReturnType<typeof storage.countDecided>> = await storage.countDecided(after);
        parts.push(part.groups);
        after = part.next;
      }
      expect(parts.length).toBeGreaterThan(3);
      const groups = parts.flat().toSorted((a, b) => a.firstAt - b.firstAt);
      const countOf = (path: string) =>
        groups.filter((group) => group.path === path).reduce((sum, { count }) => sum + count, 0);
      expect(['taken', 'missed', 'broken'].map(countOf)).toEqual([400, 400, 400]);
      const times = new Set(groups.map(({ firstAt }) => Math.floor(firstAt / 300_000)));
      expect(groups.length).toBeLessThanOrEqual(3 * times.size * parts.length);
      const [first] = groups.filter(({ path }) => path === 'taken');
      expect(first).toMatchObject({ firstAt: NOW, mappingId: 'a', refused: null });
      const last = groups.findLast(({ path }) => path === 'missed');
      expect(last?.lastAt).toBe(NOW + 1_198);
      expect(JSON.parse(last?.refused ?? '')).toMatchObject({ requestId: 'r-1198', missed });
      // What somebody took again is told apart from the others.
      await storage.noteReplay('r-1198', 'r-1197');
      const { groups: newest } = await storage.countDecided(1_150);
      expect(newest.filter(({ path }) => path === 'missed')).toHaveLength(2);
    });

    test('begins a run once, however soon it ends again', async () => {
      const { storage } = await fresh();
      const id = await ended(storage, { ...failed, nowMs: NOW + 1 });
      expect(await storage.retry({ kind: 'ids', ids: [id] }, NOW)).toBe(0);
      expect(await storage.retry({ kind: 'ids', ids: [id] }, NOW + 1)).toBe(1);
    });

    test('puts a run that is begun anew before those of its conversation that came after it', async () => {
      const { storage } = await fresh();
      const id = await ended(storage, failed);
      const next = agentOf('a', { sessionKey: 'k' });
      await storage.accept(work([next]));
      expect(await storage.retry({ kind: 'ids', ids: [id] }, NOW)).toBe(1);
      expect(ids(await claim(storage))).toEqual([id]);
      await storage.completeRun(completion(id));
      expect(ids(await claim(storage))).toEqual([next.id]);
      expect(await storage.verify()).toEqual([]);
    });

    test('keeps the last ten ends of a run', async () => {
      const { storage } = await fresh();
      const id = await ended(storage, failed);
      for (let at = NOW + 1; at <= NOW + 12; at += 1) {
        await storage.retry({ kind: 'ids', ids: [id] }, at);
        await claim(storage);
        await storage.completeRun({ ...completion(id), ...failed, nowMs: at });
      }
      const { earlier = [] } = (await storage.findRun(id)) ?? {};
      expect(earlier.map(({ endedAt }) => endedAt - NOW)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    });

    test('drops queued and dead runs, never active ones, each with one summary', async () => {
      const { storage } = await fresh();
      const dead = await withDead(storage, 'a', 1);
      const [active, second, third] = [1, 2, 3].map(() => agentOf('a', { sessionKey: 'k', name: 'Mail' }));
      await storage.accept(work([active, second, third].flatMap((action) => action ?? [])));
      await claim(storage);
      expect(await storage.drop({ kind: 'mapping', mappingId: 'a' }, NOW, dropEnding)).toBe(3);
      expect(await storage.findRun(second?.id ?? '')).toMatchObject({
        state: 'completed',
        outcome: 'error',
        lastError: { code: 'dropped' },
      });
      const posted = await summaries(storage);
      expect(posted.map(({ runId }) => runId ?? '').sort()).toEqual(
        [...dead, second?.id ?? '', third?.id ?? ''].sort(),
      );
      expect(posted.at(-1)?.text).toMatch(/^Hook \w+ \(dropped\): /);
      expect(await storage.completeRun(completion(active?.id ?? ''))).toBe(true);
      expect(await storage.completeRun(completion(second?.id ?? ''))).toBe(false);
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 0, activeRuns: 0, deadRuns: 0, bytes: 0 });
      expect(await storage.verify()).toEqual([]);
    });

    test('drops a ready run so that the next of its key steps up, and posts what it was told to', async () => {
      const { storage } = await fresh();
      const [first, second] = [
        agent({ sessionKey: 'k', message: 'one' }),
        agent({ sessionKey: 'k' }),
      ] as const;
      await storage.accept(work([first, second]));
      const dropped = await storage.drop({ kind: 'ids', ids: [first.id] }, NOW, (run) => ({
        summary: summary(`gone: ${run.action.message}`, true),
        callback: { url: 'https://example.org/cb', body: '{}' },
      }));
      expect(dropped).toBe(1);
      expect(await summaries(storage)).toMatchObject([{ text: 'gone: one', runId: first.id }]);
      expect(await storage.heartbeatRequested()).toBe(true);
      expect(await storage.listOutbox({ limit: 5 })).toMatchObject([{ kind: 'callback', runId: first.id }]);
      expect(ids(await claim(storage))).toEqual([second.id]);
    });

    test('drops and retries a backlog far larger than one step', async () => {
      const { storage } = await fresh();
      const runs = Array.from({ length: 900 }, (_, index) => agent({ sessionKey: `k${index % 3}` }));
      await storage.accept(work(runs));
      expect(await storage.drop({ kind: 'all' }, NOW, dropEnding)).toBe(900);
      expect(await summaries(storage)).toHaveLength(900);
      expect(await storage.verify()).toEqual([]);
    });

    test('removes what ended by age and by number, whatever still waits stays', async () => {
      const { storage } = await fresh();
      const [old, recent, queued, namesake] = [
        agent({ sessionKey: 'old' }),
        agent(),
        agent({ sessionKey: 'busy' }),
        // Another conversation, of another owner.
        agent({ sessionKey: 'old', owner: 'mapping:other' }),
      ] as const;
      const history = (key: string) => ({
        conversation: conversation(key),
        turns: [{ role: 'user' as const, text: 'hello', at: NOW }],
        maxTurns: 5,
      });
      await storage.accept(work([old, recent]));
      await storage.accept(
        work([queued, namesake], { idempotency: { scope: 's', key: 'k', bodySha256: '', ttlSeconds: 1 } }),
      );
      await claim(storage, 2);
      const callback = { url: 'https://example.org', body: '{}' };
      await storage.completeRun(completion(old.id, { history: history('old'), callback }));
      await storage.completeRun(completion(recent.id, { history: history('busy'), nowMs: NOW + 2 * DAY_MS }));
      const [entry] = await storage.claimOutbox({ nowMs: NOW, limit: 1 });
      await storage.completeOutbox(entry?.id ?? '', { state: 'completed', nowMs: NOW });
      await claimTurn(storage, 'turn-1', { maxEvents: 1 });
      await storage.consumeEvents('turn-1', { run: turnRun('turn-1'), nowMs: NOW });

      const keep = { maxAgeMs: DAY_MS, maxRows: 1000 };
      expect(await storage.prune(keep, NOW + 2 * DAY_MS)).toEqual({
        runs: 2,
        events: 1,
        outbox: 1,
        keys: 1,
        sessions: 1,
      });
      expect(ids(await storage.listRuns({ limit: 10 }))).toEqual([namesake.id, queued.id, recent.id]);
      expect((await storage.findConversation(conversation('old'))).turns).toEqual([]);
      expect((await storage.findConversation(conversation('busy'))).turns).toHaveLength(1);
      expect(await storage.listSessions({ limit: 5 })).toHaveLength(1);
      expect(await storage.prune({ ...keep, maxRows: 0 }, NOW + 2 * DAY_MS)).toMatchObject({ runs: 1 });
      expect(ids(await storage.listRuns({ limit: 10 }))).toEqual([namesake.id, queued.id]);
      expect(await storage.verify()).toEqual([]);
    });

    test('removes summaries that no turn ever reads by age and by number, never a wake that waits', async () => {
      const { storage } = await fresh();
      const runs = Array.from({ length: 6 }, () => agent());
      const waiting = wake();
      await storage.accept(work([waiting, ...runs]));
      await claim(storage, 6);
      for (const [day, { id }] of runs.entries()) {
        await storage.completeRun(completion(id, { nowMs: NOW + day * DAY_MS }));
      }
      const left = async () => (await storage.listEvents({ limit: 10 })).map(({ kind }) => kind);
      expect(await storage.prune({ maxAgeMs: 3 * DAY_MS, maxRows: 1000 }, NOW + 5 * DAY_MS)).toMatchObject({
        events: 2,
      });
      expect(await left()).toEqual(['summary', 'summary', 'summary', 'summary', 'wake']);
      await storage.prune({ maxAgeMs: 100 * DAY_MS, maxRows: 1 }, NOW + 90 * DAY_MS);
      expect(await left()).toEqual(['summary', 'wake']);
      expect(await storage.backlog()).toMatchObject({ pendingEvents: 2 });
      expect(await storage.verify()).toEqual([]);
    });
  });

  describe(`${name}: outbox`, () => {
    /** Deliveries of runs, in this order, to these recipients. */
    async function deliveries(storage: Storage, recipients: readonly (string | undefined)[]) {
      const runs = recipients.map(() => agentOf('a'));
      await storage.accept(work(runs));
      await claim(storage, runs.length);
      for (const [index, { id }] of runs.entries()) {
        const to = recipients[index];
        const delivery = {
          channel: 'slack',
          text: `${index}`,
          fromMain: false,
          ...(to === undefined ? {} : { to }),
        };
        await storage.completeRun({ ...completion(id), delivery });
      }
    }
    const textsOf = (entries: readonly { readonly delivery?: { readonly text: string } }[]) =>
      entries.map(({ delivery }) => delivery?.text);

    test('gives of each recipient only the first that has not ended, in the order of arrival', async () => {
      const { storage } = await fresh();
      await deliveries(storage, ['x', 'x', 'y', 'x', 'y']);
      const take = async (nowMs = NOW) => await storage.claimOutbox({ nowMs, limit: 10 });
      const [first, other] = await take();
      expect(textsOf([first!, other!])).toEqual(['0', '2']);
      expect(await take()).toEqual([]);
      // One that waits for its next attempt lets nobody pass; another recipient goes on.
      await storage.requeueOutbox(first!.id, failure(NOW + 1000));
      await storage.completeOutbox(other!.id, { state: 'completed', nowMs: NOW });
      expect(textsOf(await take())).toEqual(['4']);
      expect(await storage.nextDueAt()).toBe(NOW + 1000);
      const [again] = await take(NOW + 1000);
      expect(again).toMatchObject({ id: first!.id, attempts: 2 });
      expect(await storage.listOutbox({ limit: 9, state: 'queued' })).toMatchObject([
        { isBehind: true },
        { isBehind: true },
      ]);
      // Given up, it frees the next; begun anew by somebody it goes first again.
      const error = { code: 'x', message: '' };
      await storage.deadLetterOutbox(again!.id, { error, nowMs: NOW });
      const [second] = await take();
      expect(second?.delivery?.text).toBe('1');
      await storage.retry({ kind: 'ids', ids: [again!.id] }, NOW);
      await storage.requeueOutbox(second!.id, failure(NOW));
      expect(textsOf(await take())).toEqual(['0']);
      expect(await storage.verify()).toEqual([]);
      // Dropped, too.
      await storage.completeOutbox(first!.id, { state: 'completed', nowMs: NOW });
      await storage.drop({ kind: 'ids', ids: [second!.id] }, NOW, (run) => dropEnding(run));
      expect(textsOf(await take())).toEqual(['3']);
      expect(await storage.verify()).toEqual([]);
    });

    test('counts no attempt of which nothing was sent, and learns whom a delivery is for', async () => {
      const { storage } = await fresh();
      await deliveries(storage, [undefined, 'x', undefined]);
      const take = async () => await storage.claimOutbox({ nowMs: NOW, limit: 10 });
      const [unknown, known] = await take();
      expect(textsOf([unknown!, known!])).toEqual(['0', '1']);
      expect(await storage.putBackOutbox(known!.id, NOW)).toBe(true);
      expect(await storage.addressOutbox(unknown!.id, 'slack\nx')).toBe(true);
      // What is first to nobody now is the next unknown one, which stands behind both.
      const [next, ...more] = await take();
      expect([next?.delivery?.text, more]).toEqual(['2', []]);
      expect(await storage.addressOutbox(next!.id, 'slack\nx')).toBe(false);
      await storage.completeOutbox(unknown!.id, { state: 'completed', nowMs: NOW });
      expect(await take()).toMatchObject([{ id: known!.id, attempts: 1 }]);
      await storage.completeOutbox(known!.id, { state: 'completed', nowMs: NOW });
      expect(await take()).toMatchObject([{ id: next!.id, attempts: 1 }]);
      expect(await storage.verify()).toEqual([]);
    });

    async function withDelivery(storage: Storage, parts: { fallback?: { channel: string } } = {}) {
      const run = agent();
      await storage.accept(work([run]));
      await claim(storage);
      const delivery = { channel: 'slack', to: 'C1', text: 'reply', fromMain: false, ...parts };
      await storage.completeRun(completion(run.id, { delivery }));
      const [entry] = await storage.claimOutbox({ nowMs: NOW, limit: 10 });
      if (entry === undefined) throw new Error('the delivery was claimed');
      return { entry, run, delivery };
    }

    test('claims an entry once, keeps its progress through a retry, and records where it went', async () => {
      const { storage } = await fresh();
      const { entry, delivery } = await withDelivery(storage);
      expect(entry).toMatchObject({ state: 'active', attempts: 1, chunksSent: 0, delivery });
      expect(await storage.claimOutbox({ nowMs: NOW, limit: 10 })).toEqual([]);
      const target = { channel: 'slack', to: 'C1' };
      await storage.recordProgress(entry.id, { chunksSent: 2, target });
      expect(await storage.requeueOutbox(entry.id, failure(NOW + 1000))).toBe(true);
      expect(await storage.claimOutbox({ nowMs: NOW + 999, limit: 10 })).toEqual([]);
      expect(await storage.claimOutbox({ nowMs: NOW + 1000, limit: 10 })).toMatchObject([
        { id: entry.id, attempts: 2, chunksSent: 2, target, lastError: { code: 'connection_refused' } },
      ]);
      const result = { state: 'completed' as const, target, nowMs: NOW };
      expect(await storage.completeOutbox(entry.id, result)).toBe(true);
      expect(await storage.completeOutbox(entry.id, result)).toBe(false);
      expect(await storage.listOutbox({ limit: 1 })).toMatchObject([
        { state: 'completed', target: result.target, endedAt: NOW },
      ]);
      expect(await storage.findLastTarget()).toBeUndefined();
    });

    test('gives entries of a dead process out again at once, with their progress', async () => {
      const store = await fresh();
      const { entry } = await withDelivery(store.storage);
      await store.storage.recordProgress(entry.id, { chunksSent: 1, target: { channel: 'slack', to: 'C1' } });
      const storage = await again(store);
      await storage.takeOver();
      expect(await storage.backlog()).toMatchObject({ queuedOutbox: 1, activeOutbox: 0 });
      expect(await storage.claimOutbox({ nowMs: 0, limit: 10 })).toMatchObject([
        { id: entry.id, attempts: 2, chunksSent: 1 },
      ]);
      expect(await storage.backlog()).toMatchObject({ queuedOutbox: 0, activeOutbox: 1 });
      expect(await storage.verify()).toEqual([]);
    });

    test('gives an entry up with a summary line and its fallback, and skips one with a note', async () => {
      const { storage } = await fresh();
      const { entry, run, delivery } = await withDelivery(storage);
      const deadLetter = {
        error: { code: 'chat_not_found', message: 'no such chat' },
        summary: summary('Hook Hook (delivery failed): no such chat'),
        fallback: { ...delivery, channel: 'telegram' },
        nowMs: NOW,
      };
      expect(await storage.deadLetterOutbox(entry.id, deadLetter)).toBe(true);
      expect(await storage.deadLetterOutbox(entry.id, deadLetter)).toBe(false);
      expect((await summaries(storage)).map(({ text }) => text)).toEqual([
        'Hook Hook: done',
        'Hook Hook (delivery failed): no such chat',
      ]);
      const [fallback] = await storage.claimOutbox({ nowMs: NOW, limit: 10 });
      expect(fallback).toMatchObject({ runId: run.id, delivery: { channel: 'telegram' } });
      const note = { code: 'no_recipient', message: 'nobody to send to' };
      await storage.completeOutbox(fallback?.id ?? '', { state: 'skipped', note, nowMs: NOW });
      expect(await storage.listOutbox({ limit: 5, state: 'skipped' })).toMatchObject([{ lastError: note }]);
      expect(await storage.backlog()).toMatchObject({ deadOutbox: 1, queuedOutbox: 0 });

      expect(await storage.retry({ kind: 'ids', ids: [entry.id] }, NOW)).toBe(1);
      expect(await storage.backlog()).toMatchObject({ deadOutbox: 0, queuedOutbox: 1 });
      expect(await storage.drop({ kind: 'all' }, NOW, dropEnding)).toBe(1);
      expect(await storage.backlog()).toMatchObject({ deadOutbox: 0, queuedOutbox: 0 });
      expect(await storage.verify()).toEqual([]);
    });

    test('keeps the last target that somebody set, until a delivery is sent that came up after it', async () => {
      const store = await fresh();
      const moved = { channel: 'telegram', to: '42' };
      const complete = (id: string) =>
        store.storage.completeOutbox(id, { state: 'completed', lastTarget: moved, nowMs: NOW });
      for (const to of ['C1', 'C2']) {
        const { entry } = await withDelivery(store.storage);
        await store.storage.saveLastTarget({ channel: 'slack', to }, NOW);
        await complete(entry.id);
        expect(await store.storage.findLastTarget()).toEqual({ channel: 'slack', to });
      }
      const { entry } = await withDelivery(store.storage);
      await complete(entry.id);
      expect(await (await again(store)).findLastTarget()).toEqual(moved);
    });

    test('moves the last target with deliveries of the main session, across a restart', async () => {
      const store = await fresh();
      await store.storage.saveLastTarget({ channel: 'slack', to: 'C1' }, NOW);
      const { entry } = await withDelivery(store.storage);
      const lastTarget = { channel: 'telegram', to: '42' };
      await store.storage.completeOutbox(entry.id, { state: 'completed', lastTarget, nowMs: NOW });
      const storage = await again(store);
      expect(await storage.findLastTarget()).toEqual(lastTarget);
    });
  });
}
