import { randomBytes } from 'node:crypto';
import type { Action, AgentAction } from '../../../base/action.ts';
import {
  type NewRun,
  prepareAction,
  type PreparedAction,
  type PreparedAgent,
  type PreparedConversation,
  type Reservation,
} from '../prepared-request.ts';
import {
  type AcceptedAction,
  type AgentKeyAnswer,
  type KeyResult,
  type NewConversationKey,
  NO_CONVERSATION,
  type RunDeadLetter,
  type StartDecision,
  type StartResult,
} from '../records.ts';
import { addKeyByToken, adoptMarked } from './agent-keys.ts';
import { insertAsking, placeQuestion } from './approvals.ts';
import { addKey, endConversation, findKeys, join } from './conversation-rows.ts';
import { insertWake } from './event-rows.ts';
import { gather } from './gathering.ts';
import { takeQuestion } from './hourly-capacity.ts';
import { insertDelivery } from './outbox-rows.ts';
import { free, reserve } from './reservations.ts';
import { ASKING, CHECKING, RUN, RUN_FIELDS, type RunHead, type RunRow, UNBEGUN } from './rows.ts';
import { countRun, endRuns, HEAD_FIELDS, insertEnded } from './run-rows.ts';
import { insertRun } from './session-queue.ts';
import { both, by, listed } from './statements.ts';
import type { Store } from './store.ts';

/*
 * What an event becomes: work, or something that waits. A waiting event is a run that no claim takes, under a key that no
 * event has, also where it becomes a system event or a notification:
 *   permission    until it is known whether the account that caused it may start it (`startedBy`)
 *   conversation  until a conversation has one of its keys; when its time is over, it ends as `no_conversation`
 * What it waited for has come: it is stored anew, as what it becomes then, in its place in the order of arrival. Else it
 * ends, and the keys by which a repeat of it is known are free again.
 */

/**
 * Events that wait at most, and bytes they take: of a path for a conversation, where the oldest gives way, and of a mapping
 * until it is known who may start them, where a further one is refused. Anybody may cause them.
 */
export const MAX_WAITING = 1_000;
const MAX_WAITING_BYTES = 16_777_216;
const MAX_NAMED_CHARS = 500;

const WAIT = 'INSERT INTO waiting_events (run_id, path, bytes, frees) VALUES (?, ?, ?, ?)';
const WAIT_FOR = 'INSERT INTO waited_keys (owner, key, run_id) VALUES (?, ?, ?)';
const NAME = 'UPDATE runs SET error_code = ?, error_message = ? WHERE id = ?';
const SPACE = 'SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM waiting_events WHERE path = ?';
const OLDEST = 'SELECT run_id AS id, bytes, frees FROM waiting_events WHERE path = ? ORDER BY seq LIMIT 100';
const GIVE_WAY = 'UPDATE runs SET due_at = 0, error_message = ? WHERE id = ?';
const FORGET = ['DELETE FROM waiting_events WHERE run_id = ?', 'DELETE FROM waited_keys WHERE run_id = ?'];
const FIND = `SELECT ${HEAD_FIELDS}, accepted_at AS "acceptedAt", due_at AS "dueAt", error_code AS code,
    gather_key AS "waitsFor", (SELECT action FROM run_actions WHERE run_actions.seq = runs.seq) AS action,
    (SELECT frees FROM waiting_events WHERE run_id = runs.id) AS frees
  FROM runs WHERE id = ?`;
const WAITING_FOR = both`SELECT id FROM runs WHERE id IN (SELECT run_id FROM waited_keys WHERE owner = ? AND key IN ${listed('?')})
  ORDER BY seq`;
const REMOVE = ['DELETE FROM run_actions WHERE seq = ?', 'DELETE FROM runs WHERE seq = ?'];
const MOVE_ACTION = 'UPDATE run_actions SET seq = ?1 WHERE seq = (SELECT seq FROM runs WHERE id = ?2)';
/** A claim puts it into its queue, before those that came after it. */
const TAKE_PLACE = `UPDATE runs SET seq = ?1, accepted_at = ?2, due_at = CASE WHEN state < ${RUN.waiting} THEN 0 ELSE due_at END,
  state = CASE WHEN state < ${RUN.waiting} THEN ${RUN.waiting} ELSE state END WHERE id = ?3`;
const ASK_LATER = `UPDATE runs SET due_at = ?, error_code = 'not_asked', error_message = ? WHERE seq = ?`;
const CUT_OFF = both`SELECT id FROM runs WHERE id IN ${listed('?')} AND state = ${RUN.active} AND gather_key = '${UNBEGUN}'`;
const due = (...keys: readonly string[]) => both`SELECT ${RUN_FIELDS} FROM runs ${by('runs_waiting')}
  JOIN run_actions ON run_actions.seq = runs.seq
  WHERE state = ${RUN.waiting} AND gather_key IN ('${keys.join("', '")}') AND due_at <= ? ORDER BY due_at, runs.seq LIMIT 100`;
const UNBEGUN_RUNS = due(ASKING, UNBEGUN);
const UNDECIDED = due(CHECKING);

/** How an event comes. */
interface Arriving {
  /** Keys of its request by which a repeat is known: free again where it waits and ends. */
  readonly frees?: readonly Reservation[];
  /** True where it was accepted before, so that it is never left out. */
  readonly isKept?: true;
  /** Gets the keys for which others may wait, where somebody sees to these. */
  readonly news?: string[];
}

/**
 * Stores what an event becomes, and says under which id the sender finds it: an event that joined a run has that run's.
 */
export function insertAction(store: Store, action: PreparedAction, how: Arriving = {}): AcceptedAction {
  const { checked, dedupe, kind, mode } = action;
  const frees = [...(how.frees ?? []), ...(dedupe === undefined ? [] : [dedupe])];
  let stored: StoredEvent = { id: action.row.id };
  if (checked !== undefined) {
    const { acceptedAt: dueAt } = checked;
    wait(store, checked, { for: CHECKING, until: dueAt, path: undecidedOf(checked), frees });
  } else if (action.kind === 'wake') insertWake(store, action.row);
  else if (action.kind === 'notify') insertNotification(store, action);
  else if (action.conversation === undefined) stored = { id: insertAgent(store, action, action.row) };
  else stored = arrive(store, { ...action, conversation: action.conversation }, { ...how, frees });
  const { without } = stored;
  const done = { kind, id: stored.id, mode, duplicate: false };
  // Where as many messages wait as may, the emoji is left out: it is no reason to refuse an event.
  const hasSpace = store.counters.queuedOutbox < store.limits.maxBacklogRuns;
  const begins = checked === undefined && without === undefined;
  if (action.kind === 'agent' && action.seen !== undefined && begins && hasSpace)
    insertDelivery(store, action.seen, { ...action.row, runId: done.id, nowMs: action.row.acceptedAt });
  const nowMs = action.kind === 'wake' ? action.row.createdAt : action.row.acceptedAt;
  if (dedupe !== undefined && without !== 'none')
    reserve(store, dedupe, { bodySha256: '', result: JSON.stringify(done), nowMs });
  return { ...done, ...(without && { without }) };
}

/** What `hasEnded` needs no turn. */
function insertAgent(store: Store, action: PreparedAgent, row: NewRun, hasEnded = false): string {
  if (hasEnded) insertEnded(store, row);
  else if (action.gather !== undefined) return gather(store, row, action.gather);
  else if (action.ask !== undefined) insertAsking(store, row, action.ask);
  else insertRun(store, row);
  return row.id;
}

/** Stores a notification, which has ended as it begins, and its delivery: what is left to do is in the outbox. */
function insertNotification(
  store: Store,
  { row, delivery }: Extract<PreparedAction, { readonly kind: 'notify' }>,
): void {
  insertEnded(store, row);
  insertDelivery(store, delivery, { ...row, runId: row.id, nowMs: row.acceptedAt });
}

/** The run that an event has, or has joined, and why it has no turn. */
type StoredEvent = Pick<AcceptedAction, 'id' | 'without'>;

/** Brings an event to its conversation, or lets it wait for one. */
function arrive(
  store: Store,
  action: PreparedAgent & { readonly conversation: PreparedConversation },
  { frees = [], isKept, news }: Arriving,
): StoredEvent {
  const { row, conversation } = action;
  const { id, owner, acceptedAt: nowMs } = row;
  const { keys, path, marks, start, end, waitUntil: until } = conversation;
  const [key = ''] = keys;
  const markNot = marks && adoptMarked(store, marks, { owner, key, nowMs });
  const isOwn = marks !== undefined && markNot === undefined;
  if (!isOwn && conversation.isOwn === true) return { id, without: 'none' };
  const known = findKeys(store, owner, keys, nowMs);
  const found = keys.map((key) => known.find((each) => each.key === key)).find(Boolean);
  if (found === undefined && start === false) {
    const isInTime = until > nowMs;
    if (!isInTime && isKept !== true) return { id, without: 'none' };
    makeSpace(store, path, row.bytes);
    wait(store, row, { for: UNBEGUN, until, path, frees });
    const why = `no conversation has ${keys.join(' or ')}`.slice(0, MAX_NAMED_CHARS);
    store.sql.post(NAME, NO_CONVERSATION, why, id);
    if (isInTime) for (const key of keys) store.sql.post(WAIT_FOR, owner, key, id);
    return { id, without: isInTime ? 'waiting' : 'none' };
  }
  const joined = join(store, JSON.parse(row.action) as AgentAction, { keys, known, found, nowMs, markNot });
  const of = { owner: joined.action.owner, key: joined.action.sessionKey };
  const joining = { ...row, sessionKey: of.key, action: JSON.stringify(joined.action) };
  const runId = insertAgent(store, action, joining, isOwn || end === 'now');
  const added = isOwn ? [key, ...joined.added] : joined.added;
  if (end === 'now' || (isOwn && end)) endConversation(store, of, end);
  else if (news !== undefined) news.push(...added);
  else bringWaiting(store, owner, added, nowMs);
  return { id: runId, ...(isOwn && { without: 'own' }) };
}

interface Waiting {
  readonly for: typeof CHECKING | typeof UNBEGUN;
  readonly until: number;
  /** Whose space it takes. */
  readonly path: string;
  readonly frees: readonly Reservation[];
}

function wait(store: Store, row: NewRun, { for: key, until, path, frees }: Waiting): void {
  insertRun(store, row, { key, dueAt: until, until, isLatest: false });
  store.sql.post(WAIT, row.id, path, row.bytes, JSON.stringify(frees));
}

interface Space {
  count: number;
  bytes: number;
}

/** What is taken of a space. */
export const usedOf = ({ sql }: Store, path: string): Space =>
  sql.find<Space>(SPACE, path) ?? { count: 0, bytes: 0 };

export const fits = (used: Space, more: Space): boolean =>
  used.count + more.count <= MAX_WAITING && used.bytes + more.bytes <= MAX_WAITING_BYTES;

/** Lets the oldest waiting events of a path end where there is no space for one more. */
function makeSpace(store: Store, path: string, bytes: number): void {
  const { sql } = store;
  const used = usedOf(store, path);
  const more = { count: 1, bytes };
  if (fits(used, more)) return;
  for (const oldest of sql.all<{ id: string; bytes: number; frees: string }>(OLDEST, path)) {
    if (fits(used, more)) return;
    used.count -= 1;
    used.bytes -= oldest.bytes;
    const why = `it gave way: ${MAX_WAITING} events of this path, or 16 MB of them, wait for a conversation`;
    sql.post(GIVE_WAY, why, oldest.id);
    forgetWaiting(store, oldest.id, oldest.frees);
  }
}

/** Whose space an event takes until it is known who may start it: no path is called so. */
export const undecidedOf = ({ mappingId }: NewRun): string => `?${mappingId}`;

/** The event waits no more; with what it frees, a repeat of it is no repeat any more. */
export function forgetWaiting(store: Store, runId: string, frees?: string | null): void {
  for (const text of FORGET) store.sql.post(text, runId);
  for (const key of JSON.parse(frees ?? '[]') as readonly Reservation[]) free(store, key);
}

/** An event that waits, or has waited; what is no run keeps beside it what it becomes. */
interface WaitingEvent extends RunHead {
  readonly acceptedAt: number;
  readonly dueAt: number;
  readonly code: string | null;
  readonly waitsFor: string | null;
  readonly action: string;
  readonly frees: string | null;
}

const findEvent = ({ sql }: Store, runId: string): WaitingEvent | undefined => sql.find(FIND, runId);

const waitsFor = (event: WaitingEvent | undefined, key: string): event is WaitingEvent =>
  event?.state === RUN.waiting && event.waitsFor === key;

const actionOf = ({ action }: WaitingEvent): AgentAction & { readonly becomes?: Action } =>
  JSON.parse(action) as AgentAction;

interface Beginning extends Pick<Arriving, 'news'> {
  readonly nowMs: number;
  /** False where nobody is asked about it, though its mapping has `approve`. */
  readonly asks?: boolean;
  /** True where its account may not start it. Then marks in its text add no keys, either. */
  readonly isRefused?: true;
}

/** Stores waiting events as what they become now. */
function begin(
  store: Store,
  events: readonly WaitingEvent[],
  { nowMs, asks = true, isRefused, news }: Beginning,
): void {
  const nonce = randomBytes(16).toString('hex');
  const placed = events.flatMap((event) => {
    const { seq, id, acceptedAt, frees } = event;
    for (const remove of REMOVE) store.sql.post(remove, seq);
    forgetWaiting(store, id);
    countRun(store, event);
    const waiting = actionOf(event);
    const { startedBy: _, dedupe: _key, ...action } = waiting.becomes ?? waiting;
    if (!asks && 'approve' in action) delete action.approve;
    if (isRefused && 'conversation' in action && action.conversation) {
      const { marks: _marks, ...wish } = action.conversation;
      action.conversation = wish;
    }
    const prepared = prepareAction(action, nowMs, nonce);
    const kept = JSON.parse(frees ?? '[]') as readonly Reservation[];
    const { without } = insertAction(store, prepared, { frees: kept, isKept: true, ...(news && { news }) });
    store.sql.post(MOVE_ACTION, seq, id);
    store.sql.post(TAKE_PLACE, seq, acceptedAt, id);
    return without === undefined ? [prepared] : [];
  });
  placeQuestion(store, placed);
}

/** Brings the events to a conversation that wait for keys which it has now; what they bring may be waited for, too. */
function bringWaiting(store: Store, owner: string, keys: readonly string[], nowMs: number): void {
  const news: string[] = [];
  if (keys.length === 0) return;
  for (const { id } of store.sql.all<{ id: string }>(WAITING_FOR, owner, JSON.stringify(keys))) {
    const event = findEvent(store, id);
    if (!waitsFor(event, UNBEGUN)) continue;
    begin(store, [event], { nowMs, news });
    if (actionOf(event).conversation?.end === 'now') return;
  }
  bringWaiting(store, owner, news, nowMs);
}

/** Makes a conversation known by one more key, for which events may wait. */
export function addConversationKey(store: Store, wanted: NewConversationKey): KeyResult {
  const [nowMs, until] = [Math.round(wanted.nowMs), Math.round(wanted.until)];
  const result = addKey(store, { ...wanted, nowMs, until });
  if (result === 'added') bringWaiting(store, wanted.owner, [wanted.key], nowMs);
  return result;
}

/** The same for an agent: by the token of its run, until the turn ends, and with keys of the beginnings that it may add. */
export function addAgentKey(store: Store, token: string, key: string, atMs: number): AgentKeyAnswer {
  const nowMs = Math.round(atMs);
  const { owner, ...answer } = addKeyByToken(store, token, { key, nowMs });
  if (owner !== undefined && answer.result === 'added') bringWaiting(store, owner, [key], nowMs);
  return answer;
}

/** Runs that will not begin: not approved in time, or their conversation has ended, or no conversation came. */
export const findUnbegun = ({ sql }: Store, nowMs: number): RunRow[] =>
  sql.all(UNBEGUN_RUNS, Math.round(nowMs));

/** Work of which it is to be found out now whether the account that caused it may start it. */
export const findUndecided = ({ sql }: Store, nowMs: number): RunRow[] =>
  sql.all(UNDECIDED, Math.round(nowMs));

/** Finds which of some active runs have a conversation that has ended: their turns are to be ended. */
export const findCutOff = ({ sql }: Store, runIds: readonly string[]): readonly string[] =>
  sql.all<{ id: string }>(CUT_OFF, JSON.stringify(runIds)).map(({ id }) => id);

/** Ends a run that will not begin as its conversation says; false where it has come to one meanwhile. */
export function endUnbegun(store: Store, runId: string, ending: RunDeadLetter): boolean {
  const event = findEvent(store, runId);
  if (!waitsFor(event, UNBEGUN) || event.dueAt > Math.round(ending.nowMs)) return false;
  end(store, event, ending);
  return true;
}

function end(store: Store, event: WaitingEvent, ending: RunDeadLetter): void {
  forgetWaiting(store, event.id, event.frees);
  endRuns(store, [[event, { ...ending, state: RUN.completed, outcome: 'error' }]]);
}

/** Decides about the work of one mapping and one request; nothing where that was done before. */
export function decideStart(
  store: Store,
  runIds: readonly string[],
  decision: StartDecision,
  atMs: number,
): StartResult {
  const events = runIds.map((id) => findEvent(store, id)).filter((event) => waitsFor(event, CHECKING));
  const [first] = events;
  if (first === undefined) return 'decided';
  const nowMs = Math.round(atMs);
  const asks = actionOf(first).startedBy?.asksOthers === true;
  switch (decision.kind) {
    case 'later':
      for (const { seq } of events)
        store.sql.post(ASK_LATER, Math.round(decision.retryAt), decision.message, seq);
      return 'later';
    case 'allowed':
      begin(store, events, { nowMs, asks: !asks });
      return 'begun';
    case 'refused': {
      const { account, error, callbacks } = decision;
      if (asks && takeQuestion(store.sql, first, { account, nowMs })) {
        begin(store, events, { nowMs, isRefused: true });
        return 'asked';
      }
      for (const [index, event] of events.entries()) {
        const callback = callbacks[index];
        end(store, event, { error, nowMs, ...(callback && { callback }) });
      }
      return asks ? 'full' : 'refused';
    }
  }
}

/** Lets work begin all the same, as an operator wants it; false where nobody asks, or has asked, whether it may. */
export function beginUnasked(store: Store, runId: string, nowMs: number): boolean {
  const event = findEvent(store, runId);
  if (event?.code !== 'not_allowed' && !waitsFor(event, CHECKING)) return false;
  begin(store, [event], { nowMs: Math.round(nowMs), asks: false, isRefused: true });
  return true;
}
