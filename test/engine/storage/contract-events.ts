import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { KEPT_LIMITS } from '../../../src/engine/storage/storage.ts';
import {
  agent,
  agentOf,
  completion,
  failure,
  NOW,
  wake,
  work,
  dropEnding,
  conversation,
  MAIN,
} from '../../support/storage-builders.ts';
import { claim, ids, claimTurn, turnRun, type Harness } from '../../support/storage-harness.ts';

/** A decision that says nothing. */
const PLAIN = {
  receivedAt: NOW,
  path: 'a',
  status: 404,
  outcome: 'rejected',
  actionIds: [],
  tookMs: 1,
  bodyBytes: 1,
} as const;

export function eventsContract(name: string, { fresh, again }: Harness): void {
  describe(`${name}: system events`, () => {
    test('keeps identical events, in order', async () => {
      const { storage } = await fresh();
      await storage.accept(work([wake({ text: 'same' }), wake({ text: 'same' }), wake({ text: 'other' })]));
      const turn = await claimTurn(storage, 'turn-1');
      expect(turn?.events.map(({ text }) => text)).toEqual(['same', 'same', 'other']);
    });

    test('claims so many events and bytes in one turn, at least one, and gives a claim of a dead process again', async () => {
      const store = await fresh();
      const texts = ['x'.repeat(100), 'y'.repeat(30), 'z'.repeat(30), 'w'];
      await store.storage.accept(work(texts.map((text) => wake({ text }))));
      const big = await claimTurn(store.storage, 'turn-1', { maxBytes: 50 });
      expect(big?.events.map(({ text }) => text)).toEqual([texts[0]]);
      const storage = await again(store);
      await storage.takeOver();
      expect(await storage.heartbeatRequested()).toBe(true);
      expect(await claimTurn(storage, 'turn-2')).toEqual(big);
      const delivery = { channel: 'last', text: 'hello', fromMain: true };
      const run = turnRun('turn-1');
      const history = {
        conversation: MAIN,
        turns: [{ role: 'user' as const, text: 'q', at: NOW }],
        maxTurns: 5,
      };
      expect(await storage.consumeEvents('turn-1', { run, delivery, history, nowMs: NOW })).toBe(true);
      expect(await storage.consumeEvents('turn-1', { run, delivery, history, nowMs: NOW })).toBe(false);
      expect(await storage.findRun('turn-1')).toEqual(run);
      expect(await storage.listOutbox({ limit: 5 })).toMatchObject([{ runId: 'turn-1', delivery }]);
      expect((await storage.findConversation(MAIN)).turns).toEqual(history.turns);
      const rest = await claimTurn(storage, 'turn-3', { maxEvents: 2 });
      expect(rest?.events.map(({ text }) => text)).toEqual(texts.slice(1, 3));
      expect(await storage.verify()).toEqual([]);
    });

    test('has no turn where nothing is pending', async () => {
      const { storage } = await fresh();
      const event = wake({ mode: 'now' });
      await storage.accept(work([event]));
      expect(await storage.drop({ kind: 'ids', ids: [event.id] }, NOW, dropEnding)).toBe(1);
      expect(await storage.heartbeatRequested()).toBe(true);
      expect(await claimTurn(storage, 'turn-1')).toBeUndefined();
      expect(await storage.heartbeatRequested()).toBe(false);
      expect(await storage.consumeEvents('turn-1', { run: turnRun('turn-1'), nowMs: NOW })).toBe(false);
      expect(await storage.freeEvents('turn-1', failure(NOW))).toBe(false);
    });

    test('asks for a heartbeat for now and not for next-heartbeat, until it begins, across a restart', async () => {
      const store = await fresh();
      await store.storage.accept(work([wake()]));
      expect(await store.storage.heartbeatRequested()).toBe(false);
      await store.storage.accept(work([wake({ mode: 'now' })]));
      const storage = await again(store);
      expect(await storage.heartbeatRequested()).toBe(true);
      await claimTurn(storage, 'turn-1');
      expect(await storage.heartbeatRequested()).toBe(false);
    });

    test('frees the events of a failed turn, and parks them after five failures', async () => {
      const { storage } = await fresh();
      const event = wake();
      await storage.accept(work([event]));
      for (let attempt = 1; attempt <= 5; attempt += 1) {
        const turn = await claimTurn(storage, `turn-${attempt}`);
        expect(turn?.events[0]).toMatchObject({ id: event.id, attempts: attempt - 1 });
        expect(await storage.freeEvents(`turn-${attempt}`, failure(NOW + attempt))).toBe(true);
        expect(await storage.heartbeatRequested(NOW)).toBe(false);
        expect(await storage.heartbeatRequested(NOW + attempt)).toBe(attempt < 5);
      }
      expect(await claimTurn(storage, 'turn-6')).toBeUndefined();
      expect(await storage.listEvents({ limit: 5, state: 'dead' })).toMatchObject([
        { id: event.id, attempts: 5, lastError: { code: 'connection_refused' } },
      ]);
      expect(await storage.backlog()).toMatchObject({ deadEvents: 1, pendingEvents: 0 });
      expect(await storage.retry({ kind: 'all' }, NOW)).toBe(1);
      expect(await storage.backlog()).toMatchObject({ deadEvents: 0, pendingEvents: 1 });
      expect(await storage.drop({ kind: 'all' }, NOW, dropEnding)).toBe(0);
      expect(await storage.drop({ kind: 'ids', ids: [event.id] }, NOW, dropEnding)).toBe(1);
      expect(await storage.listEvents({ limit: 5, state: 'consumed' })).toHaveLength(1);
      expect(await storage.verify()).toEqual([]);
    });
  });

  describe(`${name}: sessions and listings`, () => {
    test('keeps the last turns of a session, lists and clears it', async () => {
      const { storage } = await fresh();
      for (let turn = 1; turn <= 4; turn += 1) {
        const run = agent({ sessionKey: 'k' });
        await storage.accept(work([run]));
        await claim(storage);
        const turns = [
          { role: 'user' as const, text: `question ${turn}`, at: NOW },
          { role: 'assistant' as const, text: `answer ${turn}`, at: NOW },
        ];
        const history = { conversation: conversation('k'), turns, maxTurns: 3 };
        await storage.completeRun(completion(run.id, { history, nowMs: NOW + turn }));
      }
      expect((await storage.findConversation(conversation('k'))).turns.map(({ text }) => text)).toEqual([
        'answer 3',
        'question 4',
        'answer 4',
      ]);
      expect(await storage.listSessions({ limit: 5 })).toEqual([
        {
          owner: 'request',
          key: 'k',
          turns: 3,
          bytes: 26,
          createdAt: NOW + 1,
          lastUsedAt: NOW + 4,
          keys: [],
        },
      ]);
      expect(await storage.clearSession(conversation('k'))).toBe(true);
      expect(await storage.clearSession(conversation('k'))).toBe(false);
      expect((await storage.findConversation(conversation('k'))).turns).toEqual([]);
    });

    test('lists newest first by state, mapping and session key, at most as many as asked for', async () => {
      const { storage } = await fresh();
      const runs = [agentOf('a'), agentOf('b', { sessionKey: 'k' }), agentOf('a'), agentOf('b')];
      await storage.accept(work(runs));
      await claim(storage, 1);
      const [first, second, third, fourth] = ids(runs);
      expect(ids(await storage.listRuns({ limit: 2 }))).toEqual([fourth, third]);
      expect(ids(await storage.listRuns({ limit: 9, state: 'active' }))).toEqual([first]);
      expect(ids(await storage.listRuns({ limit: 9, state: 'queued', mappingId: 'b' }))).toEqual([
        fourth,
        second,
      ]);
      expect(ids(await storage.listRuns({ limit: 9, sessionKey: 'k' }))).toEqual([second]);
      expect(await storage.listRuns({ limit: 9, state: 'no such state' })).toEqual([]);
      expect(await storage.findRun(randomUUID())).toBeUndefined();
    });

    test('remembers as many decisions as it is told to, and the last 100 requests, at most 16 MB', async () => {
      const store = await fresh();
      const decision = (index: number) => ({
        requestId: `request-${index}`,
        receivedAt: NOW,
        path: 'github',
        status: 404,
        outcome: 'rejected' as const,
        code: 'no_mapping_matched',
        actionIds: [],
        missed: [{ mappingId: 'push', part: 'when', place: 'mappings/a.yaml:3:4' }],
        generation: 'g1',
        tookMs: 0.5,
        bodyBytes: 12,
      });
      for (let index = 0; index < 700; index += 1) store.storage.recordDecision(decision(index), 1000);
      await store.storage.flush();
      for (let index = 700; index < 1500; index += 1) store.storage.recordDecision(decision(index), 1000);
      const storage = await again(store);
      const listed = await storage.listDecisions({ limit: 5000 });
      expect(listed).toHaveLength(1000);
      expect([listed[0], listed[999]]).toEqual([decision(1499), decision(500)]);
      expect(await storage.findDecision('request-1499')).toEqual(decision(1499));
      expect(await storage.findDecision('request-1')).toBeUndefined();

      // Strangers have a ring of their own: however many they are, no decision on others goes.
      for (let index = 2000; index < 2500; index += 1)
        storage.recordStranger(decision(index), `net ${index}`);
      await storage.flush();
      storage.recordDecision(decision(1500), 1000);
      const both = await storage.listDecisions({ limit: 5000 });
      expect(both).toHaveLength(1200);
      expect(both[0]).toEqual(decision(1500));
      expect(await storage.findDecision('request-501')).toEqual(decision(501));
      expect(await storage.findDecision('request-2499')).toEqual(decision(2499));
      expect(await storage.findDecision('request-2299')).toBeUndefined();
      expect(await storage.listDecisions({ limit: 5000, state: 'rejected' })).toHaveLength(1200);

      // A burst of one sender leaves the others what is known of them, between two writes and over several.
      for (let burst = 0; burst < 3; burst += 1) {
        for (let index = 3000 + burst * 300; index < 3300 + burst * 300; index += 1)
          storage.recordStranger(decision(index), 'net burst');
        await storage.flush();
      }
      const after = await storage.listDecisions({ limit: 5000 });
      expect(after).toHaveLength(1200);
      expect(after.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, index) => decision(3899 - index)));
      expect(await storage.findDecision('request-2310')).toEqual(decision(2310));
      expect(await storage.findDecision('request-2309')).toBeUndefined();

      const kept = (index: number, size = 10) => ({
        requestId: `kept-${index}`,
        receivedAt: NOW,
        kind: 'whole' as const,
        path: 'a',
        json: JSON.stringify('x'.repeat(size)),
      });
      const most = { ...KEPT_LIMITS, count: 100 };
      for (let index = 0; index < 150; index += 1) storage.keepRequest(kept(index), most);
      // A twentieth of the room is left for what comes before it is looked again.
      expect(await storage.findKeptRequest('kept-55')).toBeUndefined();
      expect(await storage.findKeptRequest('kept-56')).toEqual(kept(56));
      expect(await storage.findKeptRequest('kept-0')).toEqual(kept(0));
      for (let index = 150; index < 154; index += 1) storage.keepRequest(kept(index), most);
      expect(await storage.listKeptRequests(200)).toHaveLength(99);
      storage.keepRequest(kept(154), most);
      expect(await storage.listKeptRequests(200)).toHaveLength(95);
      for (let index = 200; index < 203; index += 1) {
        storage.keepRequest(kept(index, 7_000_000));
        await storage.flush();
      }
      expect(await storage.findKeptRequest('kept-149')).toBeUndefined();
      expect(await storage.findKeptRequest('kept-200')).toBeUndefined();
      expect(await storage.findKeptRequest('kept-201')).toEqual(kept(201, 7_000_000));
      const limits = { count: 2, bytes: 1000, shapes: { count: 2, bytes: 1000 } };
      for (let index = 300; index < 303; index += 1) storage.keepRequest(kept(index), limits);
      expect(await storage.findKeptRequest('kept-201')).toBeUndefined();
      expect(await storage.findKeptRequest('kept-300')).toBeUndefined();
      expect(await storage.findKeptRequest('kept-301')).toBeUndefined();
      expect(await storage.listKeptRequests(5)).toEqual([kept(302), kept(0)]);
      expect(await storage.listKeptRequests(1)).toEqual([kept(302)]);
      expect(await storage.listKeptRequests(5, 'whole')).toHaveLength(2);
      expect(await storage.listKeptRequests(5, 'shape')).toEqual([]);
      storage.keepRequest({ ...kept(400), receivedAt: NOW + 61_000 }, { ...limits, count: 9 });
      await storage.flush();
      await storage.forgetRequests(NOW + 1);
      expect(await storage.findKeptRequest('kept-302')).toBeUndefined();
      expect(await storage.findKeptRequest('kept-400')).toMatchObject({ requestId: 'kept-400' });
    });

    test('where room is needed, the first and the last of each cause stay', async () => {
      const { storage } = await fresh();
      const limits = { bytes: 1_000, shapes: { bytes: 1_000 } };
      let index = 0;
      const keep = (cause: string, count: number): void => {
        for (let n = 0; n < count; n += 1) {
          index += 1;
          const json = JSON.stringify(`${cause} ${n}`.padEnd(18));
          storage.keepRequest(
            { requestId: `r-${index}`, receivedAt: NOW + index, kind: 'whole', path: 'a', cause, json },
            limits,
          );
        }
      };
      const found = async (): Promise<readonly string[]> =>
        (await storage.listKeptRequests(100)).map(({ json }) => (JSON.parse(json) as string).trim());
      keep('rare', 3);
      await storage.flush();
      // More than there is room for, at once and one after the other.
      keep('flood', 200);
      for (let part = 0; part < 10; part += 1) {
        keep('often', 20);
        // oxlint-disable-next-line no-await-in-loop -- each in a write of its own
        await storage.flush();
      }
      keep('once', 1);
      const edges = ['rare 0', 'rare 2', 'flood 0', 'flood 199', 'often 0', 'often 19', 'once 0'];
      const all = await found();
      expect(all).toEqual(expect.arrayContaining(edges));
      expect(all).not.toContain('rare 1');
      expect(all.length).toBeLessThanOrEqual(50);
      expect(all.length).toBeGreaterThanOrEqual(45);
      // Where those alone are too many, the oldest of them go.
      for (let cause = 0; cause < 60; cause += 1) keep(`c${cause}`, 1);
      const last = await found();
      expect(last[0]).toBe('c59 0');
      expect(last).not.toContain('rare 0');
      expect(last.length).toBeGreaterThanOrEqual(45);
      expect(last.length).toBeLessThanOrEqual(50);
    });

    test('a path that floods takes no more than its own place of kept requests; shapes have a place of their own', async () => {
      const { storage } = await fresh();
      const limits = { count: 21, bytes: 100_000, shapes: { count: 3, bytes: 100_000 } };
      let index = 0;
      const keep = async (path: string, count: number, kind: 'whole' | 'shape' = 'whole'): Promise<void> => {
        for (let n = 0; n < count; n += 1) {
          index += 1;
          storage.keepRequest(
            { requestId: `r-${index}`, receivedAt: NOW + index, kind, path, cause: path, json: `"${index}"` },
            limits,
          );
          // oxlint-disable-next-line no-await-in-loop -- each in a write of its own
          if (n % 3 === 0) await storage.flush();
        }
        await storage.flush();
      };
      const counts = async (): Promise<Record<string, number>> => {
        const all = await storage.listKeptRequests(100);
        const byPath = Map.groupBy(all, ({ path, kind }) => `${kind} ${path}`);
        return Object.fromEntries([...byPath].map(([path, kept]) => [path, kept.length]));
      };
      await keep('quiet', 4);
      await keep('flood', 40);
      expect(await counts()).toEqual({ 'whole flood': 16, 'whole quiet': 4 });
      await keep('other', 9);
      expect(await counts()).toEqual({ 'whole flood': 7, 'whole other': 9, 'whole quiet': 4 });
      await keep('flood', 5, 'shape');
      expect(await counts()).toMatchObject({ 'shape flood': 3, 'whole quiet': 4 });
      // Of one path the oldest go, but for the first.
      const floods = (await storage.listKeptRequests(100)).filter(({ path }) => path === 'flood');
      expect(floods.map(({ receivedAt }) => receivedAt)).toEqual(
        floods.map(({ receivedAt }) => receivedAt).toSorted((a, b) => b - a),
      );
      expect(floods[0]?.receivedAt).toBe(NOW + index);
    });

    test('kept requests are read in parts that have no more bytes than asked, newest first, each once', async () => {
      const { storage } = await fresh();
      for (const [index, length] of [10, 500, 10, 10, 10].entries())
        storage.keepRequest({
          requestId: `r-${index}`,
          receivedAt: NOW + index,
          kind: index === 2 ? 'shape' : 'whole',
          path: 'a',
          json: 'x'.repeat(length),
        });
      const all = { from: 0, to: NOW + 4 };
      const first = await storage.readKept({ ...all, maxBytes: 25 });
      expect(first.rows).toMatchObject([
        { requestId: 'r-3', kind: 'whole', path: 'a', receivedAt: NOW + 3, json: 'x'.repeat(10) },
        { requestId: 'r-2', kind: 'shape' },
      ]);
      const parts: string[] = [];
      for (let before = first.next; before !== undefined;) {
        // oxlint-disable-next-line no-await-in-loop -- one part after the other
        const part = await storage.readKept({ ...all, maxBytes: 25, before });
        parts.push(part.rows.map(({ requestId, json }) => `${requestId} ${json.length}`).join());
        before = part.next;
      }
      expect(parts).toEqual(['r-1 25', 'r-0 10', '']);
      expect((await storage.readKept({ from: NOW + 1, to: NOW + 2, maxBytes: 1e6 })).rows).toHaveLength(1);
    });

    test('a request and its replay name each other, where both are known', async () => {
      const store = await fresh();
      for (const requestId of ['r-1', 'r-2', 'r-3'])
        store.storage.recordDecision({ ...PLAIN, generation: 'g', requestId });
      expect(await store.storage.noteReplay('r-1', 'unknown')).toBe(false);
      expect(await store.storage.noteReplay('unknown', 'r-1')).toBe(false);
      for (const again of ['r-2', 'r-3']) expect(await store.storage.noteReplay('r-1', again)).toBe(true);
      const storage = await again(store);
      const { outcome } = PLAIN;
      expect(await storage.findDecision('r-1')).toEqual({
        ...PLAIN,
        generation: 'g',
        requestId: 'r-1',
        replays: [
          { requestId: 'r-2', outcome },
          { requestId: 'r-3', outcome },
        ],
      });
      expect(await storage.findDecision('r-3')).toEqual({
        ...PLAIN,
        generation: 'g',
        requestId: 'r-3',
        replayOf: 'r-1',
      });
    });

    test('the files of a generation are kept once each, as long as a decision names it', async () => {
      const { storage } = await fresh();
      const DAY = 86_400_000;
      const file = (name: string, hash: string) =>
        ({ folder: 'mappings', name, hash, content: `content of ${hash}` }) as const;
      const first = { id: 'g-first', files: [file('a.yaml', 'h1'), file('b.yaml', 'h2')] };
      const second = { id: 'g-second', files: [file('a.yaml', 'h1'), file('b.yaml', 'h3')] };
      await storage.keepGeneration(first, NOW);
      storage.recordDecision({ ...PLAIN, requestId: 'r-1', generation: 'g-first' });
      await storage.flush();
      await storage.keepGeneration(second, NOW + 2 * DAY);
      expect(await storage.findGeneration('g-first')).toEqual(first);
      expect(await storage.findGeneration('g-second')).toEqual(second);
      // Another decision is all that is kept now.
      storage.recordDecision({ ...PLAIN, requestId: 'r-2', generation: 'g-second' }, 1);
      await storage.flush();
      await storage.keepGeneration(second, NOW + 2 * DAY);
      expect(await storage.findGeneration('g-first')).toBeUndefined();
      expect(await storage.findGeneration('g-second')).toEqual(second);
      // What is live stays, also where nothing comes to it for days.
      await storage.keepGeneration(first, NOW + 2 * DAY);
      await storage.keepGeneration(first, NOW + 4 * DAY);
      expect(await storage.findGeneration('g-first')).toEqual(first);
    });
  });
}
