import { describe, expect, test } from 'vitest';
import type { AgentAction } from '../../../src/base/action.ts';
import type { EventConversation } from '../../../src/base/conversation.ts';
import { findMarks } from '../../../src/base/marks.ts';
import type { Storage } from '../../../src/engine/storage/storage.ts';
import {
  agent,
  completion,
  DAY_MS,
  dropEnding,
  failure,
  NOW,
  origin,
  work,
} from '../../support/storage-builders.ts';
import { claim, ids, type Harness } from '../../support/storage-harness.ts';

const OWNER = 'owner:github';
const PULL = 'hook:github:o/r:7';
const BRANCH = 'hook:github:o/r:branch:fix';
const WISH: EventConversation = { keySeconds: 30 * 86_400, waitSeconds: 900 };

function event(
  sessionKey: string,
  wish: Partial<EventConversation> = {},
  parts: Partial<AgentAction> = {},
): AgentAction {
  const conversation = { ...WISH, ...wish };
  return agent({
    sessionKey,
    owner: OWNER,
    conversation,
    origin: { ...origin, path: 'github', mappingId: 'pulls' },
    ...parts,
  });
}

const goesOn = { start: false } as const;
const at = (seconds: number) => ({ receivedAt: NOW + seconds * 1000 });
const later = (seconds: number) => NOW + seconds * 1000;
const accept = async (storage: Storage, action: AgentAction, seconds = 0) =>
  (await storage.accept(work([action], at(seconds)))).accepted[0];
const addKey = (storage: Storage, key: string, seconds = 0, conversation = PULL) =>
  storage.addConversationKey({
    owner: OWNER,
    conversation,
    key,
    addedBy: 'operator',
    runId: '',
    nowMs: later(seconds),
    until: later(seconds + 86_400),
  });
const keysOf = async (storage: Storage, seconds = 0) =>
  (await storage.listSessions({ owner: OWNER, limit: 9 })).flatMap(({ key: conversation, keys }) =>
    keys.flatMap(({ key, until }) => (until > later(seconds) ? [`${key} -> ${conversation}`] : [])),
  );
const ended = (code: string, nowMs: number) => ({ error: { code, message: '' }, nowMs });

export function conversationsContract(name: string, { fresh, again, beside }: Harness): void {
  describe(`${name}: conversations of several mappings`, () => {
    test('brings events to the conversation that has one of their keys, in their order', async () => {
      const store = await fresh();
      const { storage } = store;
      const first = event(PULL, { keys: [BRANCH] });
      expect(await accept(storage, first)).toEqual({
        kind: 'agent',
        id: first.id,
        mode: 'next-heartbeat',
        duplicate: false,
      });
      const comment = event(PULL, goesOn);
      const check = event(BRANCH, goesOn);
      const other = event('hook:github:o/other:7', {}, { owner: 'owner:other' });
      for (const each of [comment, check, other]) await accept(storage, each, 1);
      const reopened = await again(store);
      expect(ids(await claim(reopened, 9, later(2)))).toEqual([first.id, other.id]);
      const run = await reopened.findRun(check.id);
      expect(run?.action).toMatchObject({
        sessionKey: PULL,
        conversation: { found: { by: { key: BRANCH, addedBy: 'mapping pulls' } } },
      });
      for (const each of [first, comment, check]) {
        expect(await reopened.completeRun(completion(each.id, { nowMs: later(3) }))).toBe(true);
        await claim(reopened, 9, later(4));
      }
      expect(await keysOf(reopened)).toEqual([`${PULL} -> ${PULL}`, `${BRANCH} -> ${PULL}`]);
      expect(await reopened.verify()).toEqual([]);
    });

    test('begins no conversation where an event may not, and stores nothing of it without a wait', async () => {
      const { storage } = await fresh();
      const dedupe = { scope: 'pulls', key: 'one', ttlSeconds: 60 };
      const none = event(PULL, { ...goesOn, waitSeconds: 0 }, { dedupe });
      const idempotency = { scope: 'github', key: 'delivery', bodySha256: 'x', ttlSeconds: 60 };
      const result = await storage.accept(work([none], { idempotency }));
      expect(result.accepted).toMatchObject([{ without: 'none', duplicate: false }]);
      expect(await storage.findRun(none.id)).toBeUndefined();
      expect(await storage.findIdempotent('github', 'delivery', NOW)).toBeUndefined();
      // What decides is the store, so the same event comes once there is a conversation.
      await accept(storage, event(PULL));
      const again = await storage.accept(work([{ ...none, id: agent().id }], { idempotency }));
      expect(again.accepted[0]).not.toHaveProperty('without');
      expect(again.duplicate).toBe(false);
    });

    test('lets an event wait for its key, and brings it in its order of arrival', async () => {
      const store = await fresh();
      const { storage } = store;
      const early = event(BRANCH, goesOn);
      expect(await accept(storage, early)).toMatchObject({ id: early.id, without: 'waiting' });
      const first = event(PULL);
      const second = event(PULL, goesOn);
      await accept(storage, first, 1);
      await accept(storage, second, 2);
      expect(ids(await claim(storage, 9, later(3)))).toEqual([first.id]);
      expect(await storage.findRun(early.id)).toMatchObject({
        state: 'queued',
        lastError: { code: 'no_conversation' },
      });
      const reopened = await again(store);
      expect(await addKey(reopened, BRANCH, 4)).toBe('added');
      expect(await addKey(reopened, BRANCH, 4)).toBe('known');
      const run = await reopened.findRun(early.id);
      expect(run).toMatchObject({
        action: { sessionKey: PULL, conversation: { found: { by: { key: BRANCH, addedBy: 'operator' } } } },
      });
      expect(run).not.toHaveProperty('lastError');
      await reopened.takeOver();
      await reopened.requeueRun(first.id, failure(later(5)));
      // It came before all others of its conversation.
      for (const each of [early, first, second]) {
        expect(ids(await claim(reopened, 9, later(7)))).toEqual([each.id]);
        await reopened.completeRun(completion(each.id, { nowMs: later(7) }));
      }
      expect(await reopened.verify()).toEqual([]);
    });

    test('ends an event whose time is over, and takes a repeat of it as a new one', async () => {
      const { storage } = await fresh();
      const dedupe = { scope: 'pulls', key: 'one', ttlSeconds: 86_400 };
      const waiting = event(PULL, goesOn, { dedupe });
      await accept(storage, waiting);
      const repeat = event(PULL, goesOn, { dedupe });
      expect(await accept(storage, repeat, 1)).toMatchObject({ id: waiting.id, duplicate: true });
      expect(await storage.nextDueAt()).toBe(later(900));
      expect(await storage.findUnbegun(later(900) - 1)).toEqual([]);
      expect(await storage.endUnbegun(waiting.id, ended('no_conversation', later(899)))).toBe(false);
      expect(await claim(storage, 9, later(900))).toEqual([]);
      expect(await storage.retry({ kind: 'all' }, later(900))).toBe(0);
      expect(ids(await storage.findUnbegun(later(900)))).toEqual([waiting.id]);
      expect(await storage.endUnbegun(waiting.id, ended('no_conversation', later(900)))).toBe(true);
      expect(await storage.findRun(waiting.id)).toMatchObject({
        state: 'completed',
        lastError: { code: 'no_conversation' },
      });
      expect(await storage.failedByHour(9)).toEqual([]);
      const redelivered = event(PULL, goesOn, { dedupe });
      expect(await accept(storage, redelivered, 901)).toMatchObject({
        id: redelivered.id,
        without: 'waiting',
      });
      expect(await storage.drop({ kind: 'ids', ids: [redelivered.id] }, later(902), dropEnding)).toBe(1);
      expect(await addKey(storage, PULL, 903)).toBe('none');
      expect(await storage.verify()).toEqual([]);
    });

    test('leaves a key that has expired to the event that took it since', async () => {
      const { storage } = await fresh();
      const dedupe = { scope: 'pulls', key: 'one', ttlSeconds: 60 };
      const [first, second, third] = [90, 900, 900].map((waitSeconds) =>
        event(PULL, { ...goesOn, waitSeconds }, { dedupe }),
      ) as [AgentAction, AgentAction, AgentAction];
      await accept(storage, first);
      expect(await accept(storage, second, 61)).toMatchObject({ id: second.id, duplicate: false });
      expect(await storage.endUnbegun(first.id, ended('no_conversation', later(90)))).toBe(true);
      expect(await accept(storage, third, 100)).toMatchObject({ id: second.id, duplicate: true });
    });

    test('takes the first of a key, and tells the second', async () => {
      const { storage } = await fresh();
      await accept(storage, event(PULL, { keys: [BRANCH] }));
      const issue = event('hook:github:o/r:8', { keys: ['issue'] });
      await accept(storage, issue);
      expect(await addKey(storage, BRANCH, 0, 'issue')).toBe('taken');
      const both = event('hook:github:o/r:8', { keys: [BRANCH, 'new'] });
      await accept(storage, both);
      expect((await storage.findRun(both.id))?.action).toMatchObject({
        sessionKey: 'hook:github:o/r:8',
        conversation: { found: { taken: [BRANCH] } },
      });
      expect(await keysOf(storage)).toContain(`new -> hook:github:o/r:8`);
      expect(await keysOf(storage)).toContain(`${BRANCH} -> ${PULL}`);
    });

    test('knows a conversation by 50 further keys, and by each as long as it says', async () => {
      const { storage } = await fresh();
      await accept(storage, event(PULL, { keySeconds: 60 }));
      const names = Array.from({ length: 51 }, (_, index) => `key-${String(index).padStart(2, '0')}`);
      for (const key of names) await addKey(storage, key);
      const keys = await keysOf(storage);
      expect(keys).toHaveLength(51);
      expect(keys).not.toContain(`key-00 -> ${PULL}`);
      const last = event(PULL, { keys: ['key-51'], keySeconds: 60 });
      await accept(storage, last, 30);
      expect((await storage.findRun(last.id))?.action).toMatchObject({
        conversation: { found: { forgotten: ['key-01'] } },
      });
      // Named at 30, it is known until 90.
      expect(await keysOf(storage, 89)).toContain(`key-51 -> ${PULL}`);
      expect(await keysOf(storage, 90)).not.toContain(`key-51 -> ${PULL}`);
      await storage.prune({ maxAgeMs: DAY_MS, maxRows: 100 }, later(2 * 86_400));
      expect(await keysOf(storage)).toEqual([]);
    });

    test('lets the oldest waiting event of a path give way', async () => {
      const { storage } = await fresh();
      const wait = (index: number, parts: Partial<AgentAction> = {}) => event(`key ${index}`, goesOn, parts);
      const oldest = wait(0, { dedupe: { scope: 'pulls', key: 'old', ttlSeconds: 900 } });
      await accept(storage, oldest);
      const many = Array.from({ length: 999 }, (_, index) => wait(index + 1));
      await storage.accept(work(many));
      const otherPath = wait(0, { origin: { ...origin, path: 'gitlab', mappingId: 'pulls' } });
      await accept(storage, otherPath);
      expect(await storage.findUnbegun(later(1))).toEqual([]);
      await accept(storage, wait(1000));
      const [gaveWay, ...others] = await storage.findUnbegun(later(1));
      expect(others).toEqual([]);
      expect(gaveWay).toMatchObject({ id: oldest.id, lastError: { code: 'no_conversation' } });
      expect(gaveWay?.lastError?.message).toMatch(/^it gave way: 1000 events/);
      const again = wait(0, { dedupe: { scope: 'pulls', key: 'old', ttlSeconds: 900 } });
      expect(await accept(storage, again)).toMatchObject({ id: again.id, duplicate: false });
      expect(await storage.endUnbegun(oldest.id, ended('no_conversation', later(1)))).toBe(true);
      expect(await storage.verify()).toEqual([]);
    });

    test('ends a conversation with a run, and supersedes what has not begun', async () => {
      const { storage } = await fresh();
      const [first, queued] = [event(PULL), event(PULL, goesOn)];
      await accept(storage, first);
      await claim(storage, 9);
      const closed = event(PULL, { ...goesOn, end: 'after' });
      const late = event(PULL, goesOn);
      for (const each of [queued, closed, late]) await accept(storage, each, 1);
      for (const each of [first, queued]) {
        await storage.completeRun(completion(each.id));
        await claim(storage, 9, later(2));
      }
      const ends = { owner: OWNER, key: PULL } as const;
      expect(await storage.completeRun(completion(closed.id, { ends, nowMs: later(3) }))).toBe(true);
      expect(await keysOf(storage)).toEqual([]);
      expect(await claim(storage, 9, later(4))).toEqual([]);
      expect(await storage.findUnbegun(later(4))).toMatchObject([
        { id: late.id, lastError: { code: 'superseded' } },
      ]);
      expect(await storage.endUnbegun(late.id, ended('superseded', later(4)))).toBe(true);
      expect(await storage.findRun(late.id)).toMatchObject({
        state: 'completed',
        lastError: { code: 'superseded' },
      });
      expect(await accept(storage, event(PULL, goesOn), 5)).toMatchObject({ without: 'waiting' });
      expect(await storage.verify()).toEqual([]);
    });

    test('ends a conversation at once, with the turn that is under way', async () => {
      const store = await fresh();
      const { storage } = store;
      const [first, queued] = [event(PULL), event(PULL, goesOn)];
      await accept(storage, first);
      expect(await claim(storage)).toHaveLength(1);
      await accept(storage, queued, 1);
      const merged = event(PULL, { ...goesOn, end: 'now' });
      expect(await accept(storage, merged, 2)).toMatchObject({ id: merged.id, duplicate: false });
      expect(await storage.findRun(merged.id)).toMatchObject({ state: 'completed', outcome: 'ok' });
      expect(await storage.findCutOff([first.id, queued.id, merged.id])).toEqual([first.id]);
      expect(ids(await storage.findUnbegun(later(2)))).toEqual([queued.id]);
      // The process that has the turn dies: it is not begun again.
      const reopened = await again(store);
      const { runs } = await reopened.takeOver();
      expect(ids(runs)).toEqual([first.id]);
      await reopened.requeueRun(first.id, failure(later(3), 'interrupted'));
      expect(await claim(reopened, 9, later(9))).toEqual([]);
      expect(new Set(ids(await reopened.findUnbegun(later(9))))).toEqual(new Set([first.id, queued.id]));
      const next = event(PULL);
      await accept(reopened, next, 10);
      expect(ids(await claim(reopened, 9, later(11)))).toEqual([next.id]);
      expect(await reopened.verify()).toEqual([]);
    });

    test('ends at once with an event that waited, and what comes behind it begins nothing', async () => {
      const { storage } = await fresh();
      const merged = event(PULL, { ...goesOn, end: 'now' });
      const comment = event(PULL, goesOn);
      await accept(storage, merged);
      await accept(storage, comment, 1);
      const opened = event(PULL);
      await accept(storage, opened, 2);
      expect(await claim(storage, 9, later(3))).toEqual([]);
      expect(await storage.findRun(merged.id)).toMatchObject({ state: 'completed', outcome: 'ok' });
      expect(ids(await storage.findUnbegun(later(3)))).toEqual([opened.id]);
      expect(await storage.findRun(comment.id)).toMatchObject({ lastError: { code: 'no_conversation' } });
      expect(await storage.verify()).toEqual([]);
    });

    test('asks about a run that is to be approved once it has a conversation', async () => {
      const { storage } = await fresh();
      const approve = { channel: 'slack', to: 'C1', withinSeconds: 600 };
      const asked = event(BRANCH, goesOn, { approve });
      await accept(storage, asked);
      expect(await storage.listOutbox({ limit: 9 })).toEqual([]);
      await accept(storage, event(PULL), 1);
      await addKey(storage, BRANCH, 60);
      expect(await storage.findRun(asked.id)).toMatchObject({ approval: { expiresAt: later(660) } });
      expect(await storage.listOutbox({ limit: 9 })).toMatchObject([
        { runId: asked.id, delivery: { asks: { expiresAt: later(660) } } },
      ]);
      const yes = { decision: 'approved', by: 'command', nowMs: later(61) } as const;
      expect(await storage.decideApproval(asked.id, yes)).toMatchObject({ isFirst: true, runs: 1 });
      expect(await storage.verify()).toEqual([]);
    });

    test('keeps no key of an event that nobody approved', async () => {
      const { storage } = await fresh();
      const approve = { channel: 'slack', to: 'C1', withinSeconds: 600 };
      await accept(storage, event(PULL));
      const denied = event(PULL, { keys: [BRANCH] }, { approve });
      const unanswered = event('hook:github:o/r:8', { keys: ['hook:github:o/r:branch:other'] }, { approve });
      const approved = event('hook:github:o/r:9', {}, { approve });
      for (const asked of [denied, unanswered, approved]) await accept(storage, asked, 1);
      const answer = { by: 'link', nowMs: later(2) } as const;
      await storage.decideApproval(denied.id, { decision: 'denied', ...answer });
      await storage.decideApproval(approved.id, { decision: 'approved', ...answer });
      await storage.deadLetterRun(denied.id, ended('denied', later(3)));
      await storage.deadLetterRun(unanswered.id, ended('not_approved', later(700)));
      const waiting = event(BRANCH, goesOn);
      expect(await accept(storage, waiting, 701)).toMatchObject({ without: 'waiting' });
      expect(await accept(storage, event('hook:github:o/r:8', goesOn), 702)).toMatchObject({
        without: 'waiting',
      });
      expect(await accept(storage, event(PULL, goesOn), 703)).not.toHaveProperty('without');
      expect(await accept(storage, event('hook:github:o/r:9', goesOn), 704)).not.toHaveProperty('without');
      expect(await storage.verify()).toEqual([]);
    });

    /** A run whose agent may add keys, under way, and what its agent is given. */
    async function withAgent(storage: Storage, key = PULL) {
      const run = event(key, { agentKeys: ['hook:github:o/r:'] });
      await accept(storage, run);
      await claim(storage, 9, later(1));
      const access = await storage.findAgentAccess(run.id);
      return { run, token: access?.token ?? '', marks: findMarks(access?.mark ?? '', 'sluice-mark') };
    }
    const opened = (key: string, marks: EventConversation['marks'], wish: Partial<EventConversation> = {}) =>
      event(key, { ...(marks && { marks }), ...wish });

    test('adds the key of what an agent opened by its mark, which the first object keeps', async () => {
      const store = await fresh();
      const { run, marks } = await withAgent(store.storage);
      expect(marks).toMatchObject([{ runId: run.id }]);
      const early = event('hook:github:o/r:8', goesOn);
      expect(await accept(store.storage, early, 2)).toMatchObject({ without: 'waiting' });
      const own = opened('hook:github:o/r:8', marks, { keys: ['hook:github:o/r:branch:x'] });
      expect(await accept(store.storage, own, 3)).toMatchObject({ id: own.id, without: 'own' });
      // Sent again, it is the same; of a second object nothing is added.
      expect(await accept(store.storage, opened('hook:github:o/r:8', marks), 4)).toMatchObject({
        without: 'own',
      });
      const second = opened('hook:github:o/r:9', marks);
      expect(await accept(store.storage, second, 5)).not.toHaveProperty('without');
      const storage = await again(store);
      const addedBy = `agent in run ${run.id}`;
      expect(await storage.findRun(own.id)).toMatchObject({
        state: 'completed',
        outcome: 'ok',
        action: { sessionKey: PULL, conversation: { found: { by: { addedBy } } } },
      });
      expect(await storage.findRun(second.id)).toMatchObject({
        action: {
          sessionKey: 'hook:github:o/r:9',
          conversation: { found: { markNot: 'hook:github:o/r:8 used it first' } },
        },
      });
      expect(await storage.findRun(early.id)).toMatchObject({ action: { sessionKey: PULL } });
      expect(await keysOf(storage)).toContain(`hook:github:o/r:branch:x -> ${PULL}`);
      expect(await storage.listAudit(9)).toMatchObject([
        { who: addedBy, source: 'mark', what: 'add key', about: OWNER, changed: 1 },
      ]);
      expect(await storage.verify()).toEqual([]);
    });

    test('believes no mark that was forged, altered, is of another owner or of a conversation that has ended', async () => {
      const { storage } = await fresh();
      const { run, token, marks } = await withAgent(storage);
      const [mark] = marks as [{ runId: string; mac: string }];
      const other = await withAgent(storage, 'hook:github:o/r:70');
      const forged = [
        { ...mark, mac: 'A'.repeat(32) },
        { ...mark, runId: other.run.id },
        // A proof of another purpose, made with the same secret.
        { ...mark, mac: token.split('/')[2] ?? '' },
      ];
      for (const each of forged) {
        const stranger = opened('hook:github:o/r:9', [each]);
        await accept(storage, stranger, 2);
        expect((await storage.findRun(stranger.id))?.action).toMatchObject({
          sessionKey: 'hook:github:o/r:9',
          conversation: { found: { markNot: 'it was not made here' } },
        });
      }
      const ignored = opened('hook:github:o/r:10', forged, { ...goesOn, isOwn: true });
      expect(await accept(storage, ignored, 2)).toMatchObject({ without: 'none' });
      const elsewhere = { ...opened('hook:github:o/r:11', marks), owner: 'owner:other' as const };
      await accept(storage, elsewhere, 2);
      const beyond = opened('hook:github:other/r:1', marks);
      await accept(storage, beyond, 2);
      await accept(storage, event(PULL, { ...goesOn, end: 'now' }), 3);
      const late = opened('hook:github:o/r:12', marks);
      await accept(storage, late, 4);
      const whys = await Promise.all(
        [elsewhere, beyond, late].map(async ({ id }) => (await storage.findRun(id))?.action),
      );
      expect(whys).toMatchObject(
        [
          { conversation: { found: { markNot: /of another owner/ } } },
          { conversation: { found: { markNot: /may add no such key/ } } },
          { conversation: { found: { markNot: 'its conversation has ended' } } },
        ].map(({ conversation: { found } }) => ({
          conversation: { found: { markNot: expect.stringMatching(found.markNot) as string } },
        })),
      );
      expect((await keysOf(storage)).filter((each) => each.endsWith(`> ${PULL}`))).toEqual([]);
      expect(await storage.findAgentAccess(event(PULL).id)).toBeNull();
      expect(run.id).not.toBe(other.run.id);
      expect(await storage.verify()).toEqual([]);
    });

    test('takes keys from an agent until its turn ends, for its own conversation only', async () => {
      const { storage } = await fresh();
      const { run, token } = await withAgent(storage);
      const other = await withAgent(storage, 'hook:github:o/r:70');
      const add = (key: string, by = token) => storage.addAgentKey(by, key, later(2));
      const waits = event('hook:github:o/r:8', goesOn);
      await accept(storage, waits, 2);
      expect(await add('hook:github:o/r:8')).toEqual({ result: 'added' });
      expect(await add('hook:github:o/r:8')).toEqual({ result: 'known' });
      expect(await storage.findRun(waits.id)).toMatchObject({ action: { sessionKey: PULL } });
      expect(await add('hook:github:o/r:8', other.token)).toEqual({ result: 'taken' });
      expect(await add('hook:gitlab:o/r:1')).toEqual({ result: 'not_allowed', may: ['hook:github:o/r:'] });
      const [, attempt, mac] = token.split('/');
      const wrong = [`${other.run.id}/${attempt}/${mac}`, `${run.id}/2/${mac}`, `${token}A`, ''];
      for (const each of wrong) {
        expect(await storage.isAgentToken(each)).toBe(false);
        expect(await add('hook:github:o/r:9', each)).toEqual({ result: 'over' });
      }
      expect(await storage.isAgentToken(token)).toBe(true);
      await storage.completeRun(completion(run.id));
      expect(await add('hook:github:o/r:9')).toEqual({ result: 'over' });
      expect(await storage.listAudit(9)).toMatchObject([{ source: 'command', changed: 1 }]);
      expect(await storage.verify()).toEqual([]);
    });

    test('takes fifty keys from the agent of one run, so that it cannot fill the audit', async () => {
      const { storage } = await fresh();
      const { token } = await withAgent(storage);
      const add = (number: number) => storage.addAgentKey(token, `hook:github:o/r:${number}`, later(2));
      for (let number = 100; number < 150; number += 1)
        expect(await add(number)).toEqual({ result: 'added' });
      expect(await add(150)).toEqual({ result: 'full' });
      expect(await storage.listAudit(100)).toHaveLength(50);
      expect(await storage.verify()).toEqual([]);
    });

    test('decides the same where several open the store', async () => {
      const { url, storage } = await fresh();
      const other = await beside(url).catch(() => storage);
      const events = Array.from({ length: 20 }, () => event(BRANCH, goesOn));
      await accept(storage, event(PULL));
      const accepted = await Promise.all([
        ...events.map((each, index) => accept(index % 2 === 0 ? storage : other, each, 1)),
        addKey(other, BRANCH, 1),
      ]);
      expect(accepted).toHaveLength(21);
      const runs = await Promise.all(events.map(({ id }) => storage.findRun(id)));
      expect(runs.map((run) => run?.action.sessionKey)).toEqual(events.map(() => PULL));
      expect(await storage.verify()).toEqual([]);
    });
  });
}
