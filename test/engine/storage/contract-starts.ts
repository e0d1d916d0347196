/** Work that waits until it is known whether the account that caused it may start it (`startedBy`). */
import { describe, expect, test } from 'vitest';
import type { Action, AgentAction, NotifyAction, StartCheck } from '../../../src/base/action.ts';
import type { EventConversation } from '../../../src/base/conversation.ts';
import { findMarks } from '../../../src/base/marks.ts';
import type { StartDecision, Storage } from '../../../src/engine/storage/storage.ts';
import { agent, NOW, origin, wake, work } from '../../support/storage-builders.ts';
import { claim, ids, type Harness } from '../../support/storage-harness.ts';

const question = { account: 'ann', wanted: 'write', sender: 'github', parts: {} } as const;
const startedBy: StartCheck = { question };
const asking: StartCheck = { question, asksOthers: true };
const approve = { channel: 'slack', withinSeconds: 60 };
const error = { code: 'not_allowed', message: 'why' };
const refused = (account = 'ann'): StartDecision => ({ kind: 'refused', account, error, callbacks: [] });

const notify = (): NotifyAction => {
  const { id, name, sessionKey, owner, origin } = agent({});
  const of = { message: 'to people', wakeMode: 'now', summary: 'failures', channel: 'slack' } as const;
  return { kind: 'notify', id, name, sessionKey, owner, origin, ...of };
};

/** An event that goes on with a conversation, and one that begins one. */
const comment = (
  wish: Partial<EventConversation> = {},
  { conversation, ...parts }: Partial<AgentAction> = {},
) =>
  agent({
    sessionKey: 'hook:pull:7',
    owner: 'owner:github',
    conversation: conversation ?? { keySeconds: 3_600, waitSeconds: 0, start: false, ...wish },
    origin: { ...origin, mappingId: 'comments' },
    ...parts,
  });
const opened = (parts: Partial<AgentAction> = {}) =>
  comment({}, { conversation: { keySeconds: 3_600, waitSeconds: 0, keys: ['hook:branch'] }, ...parts });

const idsOf = (actions: readonly Action[]) => actions.map(({ id }) => id);

export function startsContract(name: string, { fresh, again }: Harness): void {
  describe(`${name}: who may start something`, () => {
    /** One of each kind that waits, and one that does not. */
    async function withWaiting(storage: Storage, check = startedBy) {
      const waiting = [
        agent({ startedBy: check, sessionKey: 'hook:one' }),
        agent({ startedBy: check, debounce: { key: 'k', seconds: 5, maxSeconds: 50, nonce: 'n' } }),
        agent({ startedBy: check, approve }),
        { ...wake(), startedBy: check },
        { ...notify(), startedBy: check },
      ];
      const plain = agent({ sessionKey: 'hook:one' });
      await storage.accept(work([...waiting, plain]));
      return { waiting, plain };
    }

    test('nothing of it begins, and all of it survives', async () => {
      const store = await fresh();
      const { waiting, plain } = await withWaiting(store.storage);
      const storage = await again(store);
      expect(ids(await storage.findUndecided(NOW))).toEqual(idsOf(waiting));
      expect(ids(await claim(storage, 9, NOW + 100_000))).toEqual([plain.id]);
      expect(await storage.listEvents({ limit: 9 })).toEqual([]);
      expect(await storage.listOutbox({ limit: 9 })).toEqual([]);
      expect(await storage.findUnbegun(NOW + 100_000)).toEqual([]);
      expect(await storage.retry({ kind: 'all' }, NOW)).toBe(0);
      expect(await storage.backlog()).toMatchObject({ queuedRuns: 5, activeRuns: 1 });
      expect(await storage.verify()).toEqual([]);
    });

    test('of one mapping a thousand wait, or 16 MB, and nobody else has less space for it', async () => {
      const { storage } = await fresh();
      const of = (mappingId: string, message = 'x') =>
        agent({ startedBy, message, origin: { ...origin, mappingId } });
      const thousand = Array.from({ length: 1_000 }, () => of('comments'));
      await storage.accept(work(thousand));
      const full = { code: 'backlog_full', retryAfterSeconds: 10 };
      await expect(storage.accept(work([of('comments')]))).rejects.toMatchObject(full);
      await storage.accept(
        work([agent({ origin: { ...origin, mappingId: 'comments' } }), of('large', 'x'.repeat(9e6))]),
      );
      await expect(storage.accept(work([of('large', 'x'.repeat(9e6))]))).rejects.toMatchObject(full);
      await storage.decideStart([thousand[0]?.id ?? ''], refused(), NOW);
      await storage.accept(work([of('comments')]));
      expect(await storage.verify()).toEqual([]);
    });

    test('what is allowed is stored as if it had just come, in its place in the order of arrival', async () => {
      const { storage } = await fresh();
      const { waiting, plain } = await withWaiting(storage);
      const [run, gathering, asked, event, message] = waiting;
      expect(await storage.decideStart(idsOf(waiting), { kind: 'allowed' }, NOW + 10)).toBe('begun');
      expect(await storage.findUndecided(NOW + 99)).toEqual([]);
      const id = run?.id ?? '';
      expect(ids(await claim(storage, 9, NOW + 20))).toEqual([id]);
      await storage.completeRun({ runId: id, outcome: 'ok', reply: '', nowMs: NOW + 21 });
      expect(ids(await claim(storage, 9, NOW + 22))).toEqual([plain.id]);
      expect(ids(await claim(storage, 9, NOW + 5_010))).toEqual([gathering?.id]);
      expect(await storage.findRun(asked?.id ?? '')).toMatchObject({ approval: { expiresAt: NOW + 60_010 } });
      expect(await storage.listEvents({ limit: 9 })).toMatchObject([{ id: event?.id, kind: 'wake' }]);
      expect(await storage.listOutbox({ limit: 9 })).toMatchObject([
        { delivery: { asks: { runId: asked?.id } } },
        { delivery: { text: 'to people' } },
      ]);
      expect(await storage.findRun(message?.id ?? '')).toMatchObject({ action: { kind: 'notify' } });
      expect(await storage.decideStart(idsOf(waiting), refused(), NOW + 30)).toBe('decided');
      expect(await storage.verify()).toEqual([]);
    });

    test('what is refused ends without a summary, and its dedupe key is free', async () => {
      const { storage } = await fresh();
      const dedupe = { scope: 'a', key: 'k', ttlSeconds: 600 };
      const first = agent({ startedBy, dedupe });
      await storage.accept(work([first]));
      expect(await storage.accept(work([agent({ dedupe })]))).toMatchObject({ duplicate: true });
      const callbacks = [{ url: 'https://example.org', body: '{}' }];
      expect(
        await storage.decideStart([first.id], { ...refused(), callbacks } as StartDecision, NOW + 5),
      ).toBe('refused');
      const ended = { state: 'completed', outcome: 'error', lastError: error, endedAt: NOW + 5 };
      expect(await storage.findRun(first.id)).toMatchObject(ended);
      expect(await storage.listEvents({ limit: 9 })).toEqual([]);
      expect(await storage.listOutbox({ limit: 9 })).toMatchObject([{ callback: callbacks[0] }]);
      const next = agent({ dedupe });
      expect(await storage.accept(work([next]))).toMatchObject({ duplicate: false });
      expect(ids(await claim(storage, 9))).toEqual([next.id]);
      expect(await storage.decideStart([first.id], { kind: 'allowed' }, NOW + 6)).toBe('decided');
      expect(await storage.verify()).toEqual([]);
    });

    test('what is refused frees the dedupe key of a system event and of a notification, too', async () => {
      const { storage } = await fresh();
      for (const action of [wake(), notify()]) {
        const dedupe = { scope: action.kind, key: 'k', ttlSeconds: 600 };
        const first = { ...action, startedBy, dedupe };
        await storage.accept(work([first]));
        expect(await storage.decideStart([first.id], refused(), NOW + 5)).toBe('refused');
        const next = agent({ dedupe });
        expect(await storage.accept(work([next]))).toMatchObject({ duplicate: false });
      }
      expect(await storage.verify()).toEqual([]);
    });

    test('what is refused adds no key to a conversation, and begins none', async () => {
      const { storage } = await fresh();
      const sessions = () => storage.listSessions({ owner: 'owner:github', limit: 9 });
      const stranger = opened({ startedBy });
      await storage.accept(work([stranger]));
      expect(await storage.decideStart([stranger.id], refused(), NOW + 5)).toBe('refused');
      expect(await sessions()).toEqual([]);
      await storage.accept(work([opened()]));
      const second = comment({ keys: ['hook:of a stranger'] }, { startedBy });
      await storage.accept(work([second]));
      expect(await storage.decideStart([second.id], refused(), NOW + 5)).toBe('refused');
      expect((await sessions()).flatMap(({ keys }) => keys)).toHaveLength(2);
      expect(await storage.verify()).toEqual([]);
    });

    test('what is allowed and has no conversation any more ends as such, where all can see it', async () => {
      const store = await fresh();
      const dedupe = { scope: 'comments', key: 'k', ttlSeconds: 600 };
      const late = comment({}, { startedBy, approve, dedupe, sessionKey: 'hook:branch' });
      await store.storage.accept(work([opened()]));
      await store.storage.accept(work([late]));
      await store.storage.accept(work([comment({ end: 'now' })]));
      expect(await store.storage.decideStart([late.id], { kind: 'allowed' }, NOW + 10)).toBe('begun');
      const storage = await again(store);
      const lastError = { code: 'no_conversation', message: 'no conversation has hook:branch' };
      expect(await storage.findRun(late.id)).toMatchObject({ state: 'queued', lastError });
      // One that comes now is none of it, as the event waits for none.
      await storage.accept(work([opened()]));
      expect(ids(await storage.findUnbegun(NOW + 10))).toContain(late.id);
      const ending = { error: lastError, nowMs: NOW + 10 };
      expect(await storage.endUnbegun(late.id, ending)).toBe(true);
      expect(await storage.findRun(late.id)).toMatchObject({
        state: 'completed',
        outcome: 'error',
        lastError,
      });
      expect(await storage.listOutbox({ limit: 9 })).toEqual([]);
      expect(await storage.accept(work([agent({ dedupe })]))).toMatchObject({ duplicate: false });
      expect(await storage.verify()).toEqual([]);
    });

    test('an operator lets one begin that has no conversation: it ends as such, too, once it was refused', async () => {
      const { storage } = await fresh();
      const dedupe = { scope: 'comments', key: 'k', ttlSeconds: 600 };
      const one = comment({}, { startedBy, dedupe });
      await storage.accept(work([one]));
      await storage.decideStart([one.id], refused(), NOW);
      // It has the key that the first no longer has.
      await storage.accept(work([agent({ dedupe })]));
      expect(await storage.retry({ kind: 'ids', ids: [one.id] }, NOW + 1)).toBe(1);
      expect(await storage.findUnbegun(NOW + 1)).toMatchObject([
        { id: one.id, lastError: { code: 'no_conversation' } },
      ]);
      expect(await storage.accept(work([agent({ dedupe })]))).toMatchObject({ duplicate: true });
      expect(await storage.verify()).toEqual([]);
    });

    test('what is allowed and waits for its conversation is asked about once it has come', async () => {
      const { storage } = await fresh();
      const dedupe = { scope: 'comments', key: 'k', ttlSeconds: 600 };
      const early = comment({ waitSeconds: 60 }, { startedBy, approve });
      const alone = comment({ waitSeconds: 60 }, { startedBy, dedupe, sessionKey: 'hook:pull:8' });
      await storage.accept(work([early, alone]));
      for (const { id } of [early, alone])
        expect(await storage.decideStart([id], { kind: 'allowed' }, NOW + 10)).toBe('begun');
      expect(await storage.listOutbox({ limit: 9 })).toEqual([]);
      await storage.accept(work([opened()], { receivedAt: NOW + 20 }));
      expect(await storage.listOutbox({ limit: 9 })).toMatchObject([
        { delivery: { asks: { runId: early.id } } },
      ]);
      const ending = { error: { code: 'no_conversation', message: '' }, nowMs: NOW + 60_010 };
      expect(await storage.endUnbegun(alone.id, { ...ending, nowMs: NOW + 60_009 })).toBe(false);
      expect(await storage.endUnbegun(alone.id, ending)).toBe(true);
      expect(await storage.accept(work([agent({ dedupe })]))).toMatchObject({ duplicate: false });
      expect(await storage.verify()).toEqual([]);
    });

    test('what was refused brings no key by a mark, also where somebody lets it begin', async () => {
      const { storage } = await fresh();
      const first = opened({
        conversation: { keySeconds: 3_600, waitSeconds: 0, agentKeys: ['hook:pull:'] },
      });
      await storage.accept(work([first]));
      const { mark = '' } = (await storage.findAgentAccess(first.id)) ?? {};
      const marks = findMarks(mark, 'sluice-mark');
      const conversation = { keySeconds: 3_600, waitSeconds: 0, marks };
      const copies = [startedBy, asking].map((check) =>
        comment({}, { sessionKey: 'hook:pull:8', conversation, startedBy: check, approve }),
      );
      await storage.accept(work(copies));
      const [plain = '', asked = ''] = idsOf(copies);
      expect(await storage.decideStart([plain], refused('stranger'), NOW)).toBe('refused');
      expect(await storage.decideStart([asked], refused('stranger'), NOW)).toBe('asked');
      expect(await storage.retry({ kind: 'ids', ids: [plain] }, NOW + 1)).toBe(1);
      for (const id of [plain, asked])
        expect(await storage.findRun(id)).toMatchObject({ action: { sessionKey: 'hook:pull:8' } });
      const mine = comment({}, { sessionKey: 'hook:pull:9', conversation, startedBy });
      await storage.accept(work([mine]));
      expect(await storage.decideStart([mine.id], { kind: 'allowed' }, NOW + 2)).toBe('begun');
      expect(await storage.findRun(mine.id)).toMatchObject({
        state: 'completed',
        action: { sessionKey: 'hook:pull:7', conversation: { found: { by: { key: 'hook:pull:9' } } } },
      });
      expect(await storage.verify()).toEqual([]);
    });

    test('a sender that cannot be asked is asked later, and the reason is there', async () => {
      const { storage } = await fresh();
      const { waiting } = await withWaiting(storage);
      await claim(storage, 9);
      expect(await storage.nextDueAt()).toBe(NOW);
      const later: StartDecision = { kind: 'later', retryAt: NOW + 1_000, message: 'GitHub answered 429' };
      expect(await storage.decideStart(idsOf(waiting), later, NOW)).toBe('later');
      expect(await storage.findUndecided(NOW + 999)).toEqual([]);
      expect(ids(await storage.findUndecided(NOW + 1_000))).toEqual(idsOf(waiting));
      const lastError = { code: 'not_asked', message: 'GitHub answered 429' };
      expect(await storage.findRun(waiting[3]?.id ?? '')).toMatchObject({ state: 'queued', lastError });
    });

    test('an operator lets one begin all the same, by its id alone, and drops others', async () => {
      const { storage } = await fresh();
      const { waiting, plain } = await withWaiting(storage, asking);
      const [run, gathering, asked, event, message] = idsOf(waiting) as [
        string,
        string,
        string,
        string,
        string,
      ];
      const one = (id: string) => storage.retry({ kind: 'ids', ids: [id] }, NOW + 1);
      expect(await storage.retry({ kind: 'ids', ids: [run, gathering] }, NOW + 1)).toBe(0);
      expect([await one(event), await one(asked)]).toEqual([1, 1]);
      expect(await storage.listEvents({ limit: 9 })).toMatchObject([{ id: event }]);
      expect(await storage.findRun(asked)).not.toHaveProperty('approval');
      expect(await storage.drop({ kind: 'ids', ids: [message] }, NOW + 2, () => ({}))).toBe(1);
      await storage.decideStart([run], { ...refused(), callbacks: [] } as StartDecision, NOW + 3);
      expect(await storage.retry({ kind: 'all' }, NOW + 4)).toBe(0);
      await storage.completeRun({ runId: plain.id, outcome: 'ok', reply: '', nowMs: NOW + 21 });
      await storage.decideStart([gathering], { kind: 'allowed' }, NOW + 4);
      expect(await storage.verify()).toEqual([]);
    });

    test('people are asked about an account once an hour, and five times for a mapping', async () => {
      const { storage } = await fresh();
      const ask = async (account: string, nowMs = NOW) => {
        const one = agent({ startedBy: asking, approve });
        await storage.accept(work([one]));
        return storage.decideStart([one.id], refused(account), nowMs);
      };
      const strangers = Array.from({ length: 50 }, (_, index) => `stranger-${index}`);
      const became: string[] = [];
      for (const stranger of strangers) became.push(await ask(stranger));
      expect(became).toEqual([...Array<string>(5).fill('asked'), ...Array<string>(45).fill('full')]);
      expect(await storage.listOutbox({ limit: 99 })).toHaveLength(5);
      expect(await ask('Stranger-0', NOW + 3_599_999)).toBe('full');
      expect(await ask('stranger-0', NOW + 3_600_000)).toBe('asked');
      expect(await ask('stranger-0', NOW + 3_600_002)).toBe('full');
      // What lies far ahead was asked under a clock that was set back since.
      expect(await ask('stranger-0', NOW - 4_000_000)).toBe('asked');
      expect(await storage.verify()).toEqual([]);
    });
  });
}
