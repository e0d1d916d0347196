import { HookError } from '../../../base/errors.ts';
import type {
  PreparedQuestion,
  NewRun,
  PreparedAction,
  PreparedRequest,
  Reservation,
} from '../prepared-request.ts';
import type { AcceptedAction, AcceptResult, NewDelivery } from '../records.ts';
import { insertWake } from './event-rows.ts';
import { insertDelivery } from './outbox-rows.ts';
import { RUN } from './rows.ts';
import { insertRun, postAction } from './session-queue.ts';
import type { SqlQuestion } from './statements.ts';
import type { ReservedKey, Store } from './store.ts';
import { gather, insertAsking, insertQuestion } from './waiting-runs.ts';

/** Keys that requests and actions have taken, as accepts find and take them. */

const FIND_RESERVED = `SELECT body_sha256 AS "bodySha256", result, expires_at AS "expiresAt" FROM idempotency
  WHERE scope = ? AND key = ?`;
const RESERVE = `INSERT INTO idempotency (scope, key, body_sha256, result, expires_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (scope, key) DO UPDATE SET body_sha256 = excluded.body_sha256, result = excluded.result,
    expires_at = excluded.expires_at`;

/** What `lookUpReservations` asks. */
export function reservationQuestions(requests: readonly PreparedRequest[]): readonly SqlQuestion[] {
  return wantedBy(requests).map(({ scope, key }) => [FIND_RESERVED, scope, key]);
}

/** Looks up at once what all requests of a transaction will ask for; `reserve` keeps it true. */
export function lookUpReservations(store: Store, requests: readonly PreparedRequest[]): void {
  const needed = wantedBy(requests);
  if (needed.length === 0) return;
  const answers = store.sql.allOf<ReservedKey>(reservationQuestions(requests));
  for (const [index, reservation] of needed.entries()) {
    store.reserved.set(nameOf(reservation), answers[index]?.[0]);
  }
}

function wantedBy(requests: readonly PreparedRequest[]): readonly Reservation[] {
  return requests.flatMap(({ reservation, actions }) => [
    ...(reservation === undefined ? [] : [reservation]),
    ...actions.flatMap(({ dedupe }) => dedupe ?? []),
  ]);
}

function nameOf({ scope, key }: Reservation): string {
  return JSON.stringify([scope, key]);
}

function findReserved(store: Store, reservation: Reservation, nowMs: number): ReservedKey | undefined {
  const name = nameOf(reservation);
  if (!store.reserved.has(name)) {
    const { scope, key } = reservation;
    store.reserved.set(name, store.sql.find<ReservedKey>(FIND_RESERVED, scope, key));
  }
  const reserved = store.reserved.get(name);
  return reserved !== undefined && reserved.expiresAt > nowMs ? reserved : undefined;
}

function reserve(
  { sql, reserved }: Store,
  reservation: Reservation,
  { bodySha256, result }: Pick<ReservedKey, 'bodySha256' | 'result'>,
): void {
  const { scope, key, expiresAt } = reservation;
  reserved.set(nameOf(reservation), { bodySha256, result, expiresAt });
  sql.post(RESERVE, scope, key, bodySha256, result, expiresAt);
}

interface NeededSpace {
  readonly runs: number;
  readonly bytes: number;
  readonly wakes: number;
  /** Deliveries of notifications; space for those of replies is found when the run is accepted. */
  readonly deliveries: number;
}

/** @throws HookError where the store takes no more of what is needed */
function checkSpace({ counters, limits }: Store, { runs, bytes, wakes, deliveries }: NeededSpace): void {
  const { queuedRuns, activeRuns, runBytes, pendingWakes, queuedOutbox } = counters;
  const full = { retryAfterSeconds: 10 };
  if (runs > 0 && queuedRuns + activeRuns + runs > limits.maxBacklogRuns) {
    throw new HookError('backlog_full', 'as many runs wait as storage.maxBacklog allows', full);
  }
  if (runs > 0 && runBytes + bytes > limits.maxBacklogBytes) {
    const detail = 'the waiting runs take as many bytes as storage.maxBacklog allows';
    throw new HookError('backlog_full', detail, full);
  }
  if (deliveries > 0 && queuedOutbox + deliveries > limits.maxBacklogRuns) {
    throw new HookError('backlog_full', 'as many messages wait as storage.maxBacklog allows', full);
  }
  if (wakes > 0 && pendingWakes + wakes > limits.maxPendingEvents) {
    const detail = 'as many system events wait as gateway.events.maxPending allows';
    throw new HookError('events_full', detail, full);
  }
}

/** A notification has ended as it begins: no agent takes a turn, and what is left to do is in the outbox. */
const INSERT_NOTIFICATION = `INSERT INTO runs (id, kind, state, session_key, owner, mapping_id, runner, bytes, accepted_at, due_at,
    ended_at, outcome)
  VALUES (?, 'hook', ${RUN.completed}, ?, ?, ?, ?, ?, ?, ?, ?, 'ok')`;

/**
 * Stores a request. Returns null where everything was new, else the answer as JSON text.
 * @throws HookError `idempotency_mismatch`, `backlog_full`, `events_full`
 */
export function acceptRequest(store: Store, request: PreparedRequest): string | null {
  const { reservation } = request;
  const first = reservation && findReserved(store, reservation, request.receivedAt);
  if (first === undefined) return acceptNew(store, request);
  if (first.bodySha256 !== reservation?.bodySha256) {
    throw new HookError('idempotency_mismatch', 'the first request with this key had another body');
  }
  return JSON.stringify({ ...(JSON.parse(first.result) as AcceptResult), duplicate: true });
}

function acceptNew(store: Store, request: PreparedRequest): string | null {
  const { actions, reservation, warnings } = request;
  const repeats = findRepeats(store, request);
  const fresh = actions.filter((_, index) => repeats[index] === undefined);
  checkRoomFor(store, fresh);
  const ids = new Map(fresh.map((action) => [action, insertAction(store, action)]));
  const asking = fresh.find(isAsking);
  if (asking !== undefined) insertQuestion(store, asking.row, asking.ask);
  const isPlain =
    fresh.length === actions.length && fresh.every((action) => ids.get(action) === action.row.id);
  if (isPlain) {
    if (reservation !== undefined) reserve(store, reservation, reservation);
    return null;
  }
  const accepted = withRepeats(actions, repeats, ids);
  const result = JSON.stringify({ accepted, warnings, duplicate: fresh.length === 0 });
  if (reservation !== undefined) reserve(store, reservation, { ...reservation, result });
  return result;
}

/** What each action was accepted as: the one it repeats, or itself. */
function withRepeats(
  actions: readonly PreparedAction[],
  repeats: readonly (AcceptedAction | undefined)[],
  ids: ReadonlyMap<PreparedAction, string>,
): AcceptedAction[] {
  return actions.map((action, index) => {
    const repeated = repeats[index];
    if (repeated !== undefined) return { ...repeated, duplicate: true };
    const { kind, mode, row } = action;
    return { kind, id: ids.get(action) ?? row.id, mode, duplicate: false };
  });
}

/** For each action the one it repeats: one stored before, or one earlier in the same request. */
function findRepeats(store: Store, request: PreparedRequest): (AcceptedAction | undefined)[] {
  const own = new Map<string, AcceptedAction>();
  return request.actions.map(({ kind, dedupe, mode, row }) => {
    if (dedupe === undefined) return undefined;
    const name = nameOf(dedupe);
    const stored = findReserved(store, dedupe, request.receivedAt);
    const first =
      own.get(name) ?? (stored === undefined ? undefined : (JSON.parse(stored.result) as AcceptedAction));
    if (first === undefined) own.set(name, { kind, id: row.id, mode, duplicate: false });
    return first;
  });
}

function checkRoomFor(store: Store, fresh: readonly PreparedAction[]): void {
  const needed = { runs: 0, bytes: 0, wakes: 0, deliveries: fresh.some(isAsking) ? 1 : 0 };
  for (const action of fresh) {
    switch (action.kind) {
      case 'wake':
        needed.wakes += 1;
        break;
      case 'notify':
        needed.deliveries += 1;
        break;
      case 'agent':
        needed.runs += 1;
        needed.bytes += action.row.bytes;
    }
  }
  checkSpace(store, needed);
}

type AskingAction = Extract<PreparedAction, { readonly kind: 'agent' }> & { readonly ask: PreparedQuestion };

function isAsking(action: PreparedAction): action is AskingAction {
  return action.kind === 'agent' && action.ask !== undefined;
}

/** Returns the id under which the sender finds it: an event that joined a run has that run's. */
function insertAction(store: Store, action: PreparedAction): string {
  const id = insertRow(store, action);
  // Where as many messages wait as may, the sign is left out: it is no reason to refuse an event.
  const hasSpace = store.counters.queuedOutbox < store.limits.maxBacklogRuns;
  if (action.kind === 'agent' && action.seen !== undefined && hasSpace)
    insertDelivery(store, action.seen, { ...action.row, runId: id, nowMs: action.row.acceptedAt });
  const { dedupe, kind, mode } = action;
  if (dedupe === undefined) return id;
  const accepted: AcceptedAction = { kind, id, mode, duplicate: false };
  reserve(store, dedupe, { bodySha256: '', result: JSON.stringify(accepted) });
  return id;
}

function insertRow(store: Store, action: PreparedAction): string {
  if (action.kind === 'agent' && action.gather !== undefined) return gather(store, action.row, action.gather);
  if (action.kind === 'wake') insertWake(store, action.row);
  else if (isAsking(action)) insertAsking(store, action.row, action.ask);
  else if (action.kind === 'agent') insertRun(store, action.row);
  else insertNotification(store, action.row, action.delivery);
  return action.row.id;
}

/** Stores a notification and its delivery. */
function insertNotification(store: Store, run: NewRun, delivery: NewDelivery): void {
  const { sql, counters } = store;
  const { id, sessionKey, owner, mappingId, runner, action, bytes, acceptedAt } = run;
  const times = [acceptedAt, acceptedAt, acceptedAt] as const;
  sql.post(INSERT_NOTIFICATION, id, sessionKey, owner, mappingId, runner, bytes, ...times);
  postAction(sql, action);
  counters.endedRuns += 1;
  insertDelivery(store, delivery, { runId: id, mappingId, sessionKey, nowMs: acceptedAt });
}
