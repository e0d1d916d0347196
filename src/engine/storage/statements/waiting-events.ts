import { type AgentAction, type ConversationKey, conversationKeysOf } from '../../../base/action.ts';
import type {
  NewRun,
  PreparedAgent,
  PreparedConversation,
  PreparedQuestion,
  Reservation,
} from '../prepared-request.ts';
import {
  type Conversation,
  type KeyResult,
  type NewConversationKey,
  NO_CONVERSATION,
  type RunDeadLetter,
} from '../records.ts';
import { endConversation, findKeys, keepKeys, type KnownKey } from './conversation-rows.ts';
import { insertCallback } from './outbox-rows.ts';
import { ASKING, RUN, RUN_FIELDS, type RunHead, type RunRow, UNBEGUN } from './rows.ts';
import { endRuns, findRunHead } from './run-rows.ts';
import { adoptNamesake, insertRun, makeDue, queueOf } from './session-queue.ts';
import { both, by, listed } from './statements.ts';
import type { Store } from './store.ts';
import { insertQuestion, setApproval } from './waiting-runs.ts';

/**
 * To which conversation an event comes, and those that wait for one. A waiting event is a run that no claim takes; it
 * keeps its place in the order of arrival. Once its conversation has one of its keys it steps into its queue there; when
 * its time is over it ends as `no_conversation`.
 */

/** Events of one path that wait at most, and bytes they take: the oldest gives way. */
const MAX_WAITING = 1_000;
const MAX_WAITING_BYTES = 16_777_216;
const MAX_NAMED_CHARS = 500;

const WAIT = `INSERT INTO waiting_events (run_id, path, bytes, frees, asks) VALUES (?, ?, ?, ?, ?)`;
const WAIT_FOR = 'INSERT INTO waited_keys (owner, key, run_id) VALUES (?, ?, ?)';
const NAME = 'UPDATE runs SET error_code = ?, error_message = ? WHERE id = ?';
const SPACE = 'SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM waiting_events WHERE path = ?';
const OLDEST = 'SELECT run_id AS id, bytes, frees FROM waiting_events WHERE path = ? ORDER BY seq LIMIT 100';
const GIVE_WAY = 'UPDATE runs SET due_at = 0, error_message = ? WHERE id = ?';
const FORGET = ['DELETE FROM waiting_events WHERE run_id = ?', 'DELETE FROM waited_keys WHERE run_id = ?'];
const FREES = 'SELECT frees FROM waiting_events WHERE run_id = ?';
const FREE = 'DELETE FROM idempotency WHERE scope = ? AND key = ?';
const WAITING = both`SELECT seq, id, owner, mapping_id AS "mappingId", accepted_at AS "acceptedAt",
    (SELECT action FROM run_actions WHERE run_actions.seq = runs.seq) AS action,
    (SELECT asks FROM waiting_events WHERE run_id = runs.id) AS asks
  FROM runs WHERE id IN (SELECT run_id FROM waited_keys WHERE owner = ? AND key IN ${listed('?')})
    AND state = ${RUN.waiting} AND gather_key = '${UNBEGUN}' ORDER BY seq`;
const SET_ACTION = 'UPDATE run_actions SET action = ? WHERE seq = ?';
const BRING = `UPDATE runs SET line = ?, session_key = ?, gather_key = ?, gather_until = NULL, error_code = NULL,
  error_message = NULL, due_at = ? WHERE seq = ?`;
const UNBEGUN_RUN = `SELECT 1 FROM runs WHERE id = ? AND state = ${RUN.waiting} AND gather_key = '${UNBEGUN}' AND due_at <= ?`;
const CUT_OFF = both`SELECT id FROM runs WHERE id IN ${listed('?')} AND state = ${RUN.active} AND gather_key = '${UNBEGUN}'`;
const DUE_UNBEGUN = both`SELECT ${RUN_FIELDS} FROM runs ${by('runs_waiting')}
  JOIN run_actions ON run_actions.seq = runs.seq
  WHERE state = ${RUN.waiting} AND gather_key IN ('${ASKING}', '${UNBEGUN}') AND due_at <= ? ORDER BY due_at, runs.seq LIMIT 100`;

/** What became of an event: its run has come to a conversation, or it waits for one, or there is none. */
export type Arrival = 'came' | 'waiting' | 'none';

/** An event with a conversation, and what it takes of the store. */
export interface ArrivingEvent {
  readonly action: PreparedAgent & { readonly conversation: PreparedConversation };
  /** Keys by which a repeat is known: free again once it has ended without a conversation. */
  readonly frees: readonly Reservation[];
  /** Stores the run, whose conversation is known. */
  insert(row: NewRun): void;
}

/** Brings an event to its conversation, or lets it wait for one. */
export function arrive(store: Store, { action, frees, insert }: ArrivingEvent): Arrival {
  const { row, conversation } = action;
  const { owner, acceptedAt: nowMs } = row;
  const known = findKeys(store, owner, conversation.keys, nowMs);
  const found = conversation.keys.map((key) => known.find((each) => each.key === key)).find(Boolean);
  if (found === undefined && !conversation.starts) return wait(store, { action, frees, nowMs });
  const joined = join(store, JSON.parse(row.action) as AgentAction, { known, found, nowMs });
  const of = { owner: joined.action.owner, key: joined.action.sessionKey };
  insert({ ...row, sessionKey: of.key, action: JSON.stringify(joined.action) });
  if (conversation.end === 'now') endConversation(store, of, 'now');
  else bringWaiting(store, of, { keys: joined.added, nowMs });
  return 'came';
}

/** The action as one of its conversation, which is known by the keys of the event from now on. */
function join(
  store: Store,
  action: AgentAction,
  {
    known,
    found,
    nowMs,
  }: { readonly known: readonly KnownKey[]; readonly found: KnownKey | undefined; readonly nowMs: number },
): { readonly action: AgentAction; readonly added: readonly ConversationKey[] } {
  const { owner, id, origin, conversation } = action;
  if (conversation === undefined) return { action, added: [] };
  const sessionKey = found?.conversation ?? action.sessionKey;
  const addition = {
    addedBy: `mapping ${origin.mappingId ?? ''}`,
    runId: id,
    nowMs,
    until: nowMs + conversation.keySeconds * 1000,
  };
  const keys = conversationKeysOf(action);
  const { taken, forgotten, added } = keepKeys(
    store,
    { owner, key: sessionKey },
    { keys, known, ...addition },
  );
  const by = found && { key: found.key, addedBy: found.addedBy, until: addition.until };
  const seen = {
    ...(by && { by }),
    ...(taken.length > 0 && { taken }),
    ...(forgotten.length > 0 && { forgotten }),
  };
  return {
    action: { ...action, sessionKey, conversation: { ...conversation, found: seen } },
    added: added.map((key) => ({ key, ...addition })),
  };
}

function wait(
  store: Store,
  { action, frees, nowMs }: Omit<ArrivingEvent, 'insert'> & { readonly nowMs: number },
): Arrival {
  const { row, ask, conversation } = action;
  const { keys, path, waitUntil } = conversation;
  if (waitUntil <= nowMs) return 'none';
  makeSpace(store, path, row.bytes);
  insertWithout(store, row, conversation);
  store.sql.post(
    WAIT,
    row.id,
    path,
    row.bytes,
    JSON.stringify(frees),
    ask === undefined ? null : JSON.stringify(ask),
  );
  for (const key of keys) store.sql.post(WAIT_FOR, row.owner, key, row.id);
  return 'waiting';
}

/** Stores an event that has no conversation, and ends as such when its time is over. */
export function insertWithout(
  store: Store,
  row: NewRun,
  { keys, waitUntil }: Pick<PreparedConversation, 'keys' | 'waitUntil'>,
): void {
  insertRun(store, row, { key: UNBEGUN, dueAt: waitUntil, until: waitUntil, isLatest: false });
  const message = `no conversation has ${keys.join(' or ')}`.slice(0, MAX_NAMED_CHARS);
  store.sql.post(NAME, NO_CONVERSATION, message, row.id);
}

/** Lets the oldest waiting events of a path end where there is no space for one more. */
function makeSpace(store: Store, path: string, needed: number): void {
  const { sql } = store;
  const used = sql.find<{ count: number; bytes: number }>(SPACE, path) ?? { count: 0, bytes: 0 };
  let { count, bytes } = used;
  if (count < MAX_WAITING && bytes + needed <= MAX_WAITING_BYTES) return;
  for (const oldest of sql.all<{ id: string; bytes: number; frees: string }>(OLDEST, path)) {
    if (count < MAX_WAITING && bytes + needed <= MAX_WAITING_BYTES) return;
    count -= 1;
    bytes -= oldest.bytes;
    sql.post(
      GIVE_WAY,
      `it gave way: ${MAX_WAITING} events of this path, or 16 MB of them, wait for a conversation`,
      oldest.id,
    );
    forget(store, oldest.id, oldest.frees);
  }
}

/** The event waits no more. */
export function forgetWaiting({ sql }: Store, runId: string): void {
  for (const text of FORGET) sql.post(text, runId);
}

/** The same, and a repeat of it is no repeat any more. */
function forget(store: Store, runId: string, frees: string | undefined): void {
  forgetWaiting(store, runId);
  free(store, JSON.parse(frees ?? '[]') as readonly Reservation[]);
}

/** What has these keys is no repeat any more. */
export function free(store: Store, reservations: readonly Reservation[]): void {
  for (const { scope, key } of reservations) {
    store.sql.post(FREE, scope, key);
    store.reserved.delete(JSON.stringify([scope, key]));
  }
}

/** A waiting event. */
interface WaitingRow extends Pick<RunHead, 'seq' | 'id' | 'mappingId'> {
  readonly owner: string;
  readonly acceptedAt: number;
  readonly action: string;
  readonly asks: string | null;
}

/** Brings the events to a conversation that wait for keys which it has now; what they bring may be waited for, too. */
function bringWaiting(
  store: Store,
  conversation: Conversation,
  { keys, nowMs }: { readonly keys: readonly ConversationKey[]; readonly nowMs: number },
): void {
  let added = [...keys];
  while (added.length > 0) {
    const rows = store.sql.all<WaitingRow>(
      WAITING,
      conversation.owner,
      JSON.stringify(added.map(({ key }) => key)),
    );
    const next: ConversationKey[] = [];
    for (const row of rows) {
      const waiting = JSON.parse(row.action) as AgentAction;
      const own = conversationKeysOf(waiting);
      const known = findKeys(store, row.owner, own, nowMs);
      const found = own
        .map((key) => known.find((each) => each.key === key && each.conversation === conversation.key))
        .find(Boolean);
      if (found === undefined) continue;
      const joined = join(store, waiting, { known, found, nowMs });
      bring(store, row, { action: joined.action, nowMs });
      if (joined.action.conversation?.end === 'now') return endConversation(store, conversation, 'now');
      next.push(...joined.added);
    }
    added = next;
  }
}

function bring(
  store: Store,
  row: WaitingRow,
  { action, nowMs }: { readonly action: AgentAction; readonly nowMs: number },
): void {
  const { sql } = store;
  const { seq, id, mappingId, acceptedAt } = row;
  const { owner, sessionKey, approve, conversation } = action;
  const queue = queueOf(owner, sessionKey);
  forgetWaiting(store, id);
  sql.post(SET_ACTION, JSON.stringify(action), seq);
  adoptNamesake(store, { id, owner, sessionKey }, queue);
  const asks = row.asks === null ? undefined : (JSON.parse(row.asks) as PreparedQuestion);
  if (conversation?.end === 'now') {
    sql.post(BRING, queue, sessionKey, null, nowMs, seq);
    const head = findRunHead(store, id);
    if (head !== undefined) endRuns(store, [[head, { state: RUN.completed, outcome: 'ok', nowMs }]]);
  } else if (asks !== undefined && approve !== undefined) {
    const expiresAt = nowMs + Math.round(approve.withinSeconds * 1000);
    const { nonce, delivery } = asks;
    sql.post(BRING, queue, sessionKey, ASKING, expiresAt, seq);
    setApproval(store, id, { expiresAt, nonce });
    const asked = delivery.asks && { ...delivery.asks, expiresAt };
    insertQuestion(
      store,
      { id, mappingId, sessionKey, acceptedAt: nowMs },
      { delivery: { ...delivery, ...(asked && { asks: asked }) } },
    );
  } else {
    sql.post(BRING, queue, sessionKey, null, acceptedAt, seq);
    makeDue(store, { seq, queue });
  }
}

/** Makes a conversation known by one more key, for which events may wait. */
export function addConversationKey(store: Store, added: NewConversationKey): KeyResult {
  const { owner, key, addedBy, runId } = added;
  const nowMs = Math.round(added.nowMs);
  const until = Math.round(added.until);
  const known = findKeys(store, owner, [added.conversation, key], nowMs);
  const of = known.find((each) => each.key === added.conversation);
  if (of === undefined) return 'none';
  const conversation = { owner, key: of.conversation };
  const own = known.filter((each) => each.key === key);
  const { taken, added: news } = keepKeys(store, conversation, {
    keys: [key],
    known: own,
    addedBy,
    runId,
    nowMs,
    until,
  });
  if (taken.length > 0) return 'taken';
  if (news.length === 0) return 'known';
  bringWaiting(store, conversation, { keys: [{ key, addedBy, until }], nowMs });
  return 'added';
}

/** Runs that will not begin: not approved in time, or their conversation has ended, or no conversation came. */
export const findUnbegun = ({ sql }: Store, nowMs: number): RunRow[] =>
  sql.all(DUE_UNBEGUN, Math.round(nowMs));

/** Those of some active runs whose conversation has ended: their turns are to be ended. */
export const findCutOff = ({ sql }: Store, runIds: readonly string[]): readonly string[] =>
  sql.all<{ id: string }>(CUT_OFF, JSON.stringify(runIds)).map(({ id }) => id);

/** Ends a run that will not begin as its conversation says; false where it has come to one meanwhile. */
export function endUnbegun(store: Store, runId: string, ending: RunDeadLetter): boolean {
  const run = findRunHead(store, runId);
  const isDue = store.sql.find(UNBEGUN_RUN, runId, Math.round(ending.nowMs)) !== undefined;
  if (run === undefined || !isDue) return false;
  forget(store, runId, store.sql.find<{ frees: string }>(FREES, runId)?.frees);
  endRuns(store, [[run, { ...ending, state: RUN.completed, outcome: 'error' }]]);
  const { callback, nowMs } = ending;
  if (callback !== undefined) insertCallback(store, callback, { ...run, runId, nowMs });
  return true;
}
