import { HookError } from '../../../base/errors.ts';
import type { NewRun, PreparedAction, PreparedRequest, Reservation } from '../prepared-request.ts';
import type { AcceptedAction, AcceptResult } from '../records.ts';
import { findReserved, nameOf, reservationQuestion, reserve } from './reservations.ts';
import type { SqlQuestion } from './statements.ts';
import type { ReservedKey, Store } from './store.ts';
import { fits, insertAction, MAX_WAITING, undecidedOf, usedOf } from './waiting-events.ts';
import { isAsking, placeQuestion } from './approvals.ts';

/** What `lookUpReservations` asks. */
export function reservationQuestions(requests: readonly PreparedRequest[]): readonly SqlQuestion[] {
  return wantedBy(requests).map(reservationQuestion);
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
  const { actions, reservation, warnings, receivedAt: nowMs } = request;
  const repeats = findRepeats(store, request);
  const fresh = actions.filter((_, index) => repeats[index] === undefined);
  checkRoomFor(store, fresh);
  const frees = fresh.length === 1 && reservation !== undefined ? [reservation] : [];
  const stored = new Map(fresh.map((action) => [action, insertAction(store, action, { frees })]));
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
    if (reservation !== undefined) reserve(store, reservation, { ...reservation, nowMs });
    return null;
  }
  const accepted = withRepeats(actions, repeats, stored);
  const result = JSON.stringify({ accepted, warnings, duplicate: fresh.length === 0 });
  const isNone = accepted.every(({ without }) => without === 'none');
  if (reservation !== undefined && !isNone) reserve(store, reservation, { ...reservation, result, nowMs });
  return result;
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
  checkUndecided(
    store,
    fresh.flatMap(({ checked }) => checked ?? []),
  );
}

/** @throws HookError where as much of a mapping waits until it is known who may start it as may */
function checkUndecided(store: Store, more: readonly NewRun[]): void {
  for (const [space, rows] of Map.groupBy(more, undecidedOf)) {
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    if (fits(usedOf(store, space), { count: rows.length, bytes })) continue;
    const detail = `${MAX_WAITING} events of the mapping ${space.slice(1)}, or 16 MB of them, wait until its sender says who may start them`;
    throw new HookError('backlog_full', detail, { retryAfterSeconds: 10 });
  }
}
