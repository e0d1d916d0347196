import { HookError } from '../../../base/errors.ts';
import type {
  PreparedQuestion,
  NewRun,
  PreparedAction,
  PreparedAgent,
  PreparedRequest,
  Reservation,
} from '../prepared-request.ts';
import type { AcceptedAction, AcceptResult, NewDelivery } from '../records.ts';
import { insertWake } from './event-rows.ts';
import { insertDelivery } from './outbox-rows.ts';
import { CHECKING } from './rows.ts';
import { insertEnded } from './run-rows.ts';
import { insertRun } from './session-queue.ts';
import type { SqlQuestion } from './statements.ts';
import type { ReservedKey, Store } from './store.ts';
import { type Arrival, arrive } from './waiting-events.ts';
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
  const own = fresh.length === 1 && reservation !== undefined ? [reservation] : [];
  const stored = new Map(fresh.map((action) => [action, insertAction(store, action, own)]));
  placeQuestion(
    store,
    fresh.filter((action) => stored.get(action)?.without === undefined),
  );
  const isPlain =
    fresh.length === actions.length &&
    fresh.every((action) => {
      const { id, without } = stored.get(action) ?? {};
      return id === action.row.id && without === undefined;
    });
  if (isPlain) {
    if (reservation !== undefined) reserve(store, reservation, reservation);
    return null;
  }
  const accepted = withRepeats(actions, repeats, stored);
  const result = JSON.stringify({ accepted, warnings, duplicate: fresh.length === 0 });
  const isNone = accepted.every(({ without }) => without === 'none');
  if (reservation !== undefined && !isNone) reserve(store, reservation, { ...reservation, result });
  return result;
}

/** Asks about the runs of a request, which are stored: once for all of them. */
export function placeQuestion(store: Store, actions: readonly PreparedAction[]): void {
  const asking = actions.find(isAsking);
  if (asking !== undefined) insertQuestion(store, asking.row, asking.ask);
}

/** What each action was accepted as: the one it repeats, or itself. */
function withRepeats(
  actions: readonly PreparedAction[],
  repeats: readonly (AcceptedAction | undefined)[],
  stored: ReadonlyMap<PreparedAction, AcceptedAction>,
): AcceptedAction[] {
  return actions.map((action, index) => {
    const repeated = repeats[index];
    if (repeated !== undefined) return { ...repeated, duplicate: true };
    const { kind, mode, row } = action;
    return stored.get(action) ?? { kind, id: row.id, mode, duplicate: false };
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
    switch (action.checked === undefined ? action.kind : 'agent') {
      case 'wake':
        needed.wakes += 1;
        break;
      case 'notify':
        needed.deliveries += 1;
        break;
      case 'agent':
        needed.runs += 1;
        needed.bytes += (action.checked ?? (action.row as NewRun)).bytes;
    }
  }
  checkSpace(store, needed);
}

type AskingAction = Extract<PreparedAction, { readonly kind: 'agent' }> & { readonly ask: PreparedQuestion };

function isAsking(action: PreparedAction): action is AskingAction {
  return action.kind === 'agent' && action.ask !== undefined && action.checked === undefined;
}

/**
 * Stores an action, and says under which id the sender finds it: an event that joined a run has that run's. `own` is
 * what the request reserves for it alone.
 */
export function insertAction(
  store: Store,
  action: PreparedAction,
  own: readonly Reservation[],
): AcceptedAction {
  const { checked, dedupe, kind, mode } = action;
  const done = { kind, id: action.row.id, mode, duplicate: false };
  let { id } = done;
  let arrival: Arrival = 'came';
  if (checked !== undefined) {
    const { acceptedAt: dueAt } = checked;
    insertRun(store, checked, { key: CHECKING, dueAt, until: dueAt, isLatest: false });
  } else if (action.kind === 'wake') insertWake(store, action.row);
  else if (action.kind === 'notify') insertNotification(store, action.row, action.delivery);
  else if (action.conversation === undefined) id = insertAgent(store, action, action.row);
  else {
    const frees = dedupe === undefined ? own : [...own, dedupe];
    const insert = (row: NewRun): void => void (id = insertAgent(store, action, row));
    arrival = arrive(store, { action: { ...action, conversation: action.conversation }, frees, insert });
  }
  // Where as many messages wait as may, the emoji is left out: it is no reason to refuse an event.
  const hasSpace = store.counters.queuedOutbox < store.limits.maxBacklogRuns;
  const begins = checked === undefined && arrival === 'came';
  if (action.kind === 'agent' && action.seen !== undefined && begins && hasSpace)
    insertDelivery(store, action.seen, { ...action.row, runId: id, nowMs: action.row.acceptedAt });
  if (dedupe !== undefined && arrival !== 'none')
    reserve(store, dedupe, { bodySha256: '', result: JSON.stringify({ ...done, id }) });
  return { ...done, id, ...(arrival !== 'came' && { without: arrival }) };
}

function insertAgent(store: Store, action: PreparedAgent, row: NewRun): string {
  if (action.conversation?.end === 'now') insertEnded(store, row);
  else if (action.gather !== undefined) return gather(store, row, action.gather);
  else if (action.ask !== undefined) insertAsking(store, row, action.ask);
  else insertRun(store, row);
  return row.id;
}

/** Stores a notification, which has ended as it begins, and its delivery: what is left to do is in the outbox. */
function insertNotification(store: Store, run: NewRun, delivery: NewDelivery): void {
  const { id, sessionKey, mappingId, acceptedAt } = run;
  insertEnded(store, run);
  insertDelivery(store, delivery, { runId: id, mappingId, sessionKey, nowMs: acceptedAt });
}
