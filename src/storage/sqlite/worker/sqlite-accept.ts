import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Action, Warning } from '../../../action.ts';
import { HookError } from '../../../errors.ts';
import type { AcceptedAction, AcceptedWork, AcceptResult } from '../../records.ts';
import type { Counters } from './sqlite-counters.ts';
import type { EventTable, NewWake } from './sqlite-events.ts';
import type { NewRun, RunTable } from './sqlite-runs.ts';

/** One accepted request on its way to the engine, its parts already text. */
export interface AcceptWire {
  readonly receivedAt: number;
  readonly actions: readonly ActionWire[];
  readonly warnings: readonly Warning[];
  /** From the Idempotency-Key header, with the answer to store where nothing is deduped. */
  readonly reservation?: Reservation & { readonly bodySha256: string; readonly result: string };
}

interface Reservation {
  readonly scope: string;
  readonly key: string;
  readonly expiresAt: number;
}

type ActionWire = { readonly dedupe?: Reservation; readonly mode: 'now' | 'next-heartbeat' } & (
  { readonly kind: 'wake'; readonly row: NewWake } | { readonly kind: 'agent'; readonly row: NewRun }
);

export interface AcceptLimits {
  readonly maxBacklogRuns: number;
  readonly maxBacklogBytes: number;
  readonly maxPendingEvents: number;
}

/** Longer keys are stored as their hash; the first character tells the two apart. */
const MAX_KEY_LENGTH = 128;

/** Scope and key of a header reservation as they are stored. */
export function headerKey(scope: string, key: string): { readonly scope: string; readonly key: string } {
  return { scope: `header:${scope}`, key: storedKey(key) };
}

function storedKey(key: string): string {
  if (key.length <= MAX_KEY_LENGTH) return `=${key}`;
  return `#${createHash('sha256').update(key).digest('hex')}`;
}

/** The answer where nothing is deduped: what nearly every request gets. */
export function freshResult(work: AcceptedWork): AcceptResult {
  return {
    accepted: work.actions.map((action) => ({
      kind: action.kind,
      id: action.id,
      mode: action.kind === 'wake' ? action.mode : action.wakeMode,
      duplicate: false,
    })),
    warnings: work.warnings,
    duplicate: false,
  };
}

export function toAcceptWire(work: AcceptedWork, result: AcceptResult): AcceptWire {
  const receivedAt = Math.round(work.receivedAt);
  const actions = work.actions.map((action) => toActionWire(action, receivedAt));
  const { idempotency, warnings } = work;
  if (idempotency === undefined) return { receivedAt, actions, warnings };
  const reservation = {
    ...headerKey(idempotency.scope, idempotency.key),
    expiresAt: expiry(receivedAt, idempotency.ttlSeconds),
    bodySha256: idempotency.bodySha256,
    result: JSON.stringify(result),
  };
  return { receivedAt, actions, warnings, reservation };
}

/**
 * A request that became one run and has no key, as nearly all do. It goes to the engine as a tuple: an object's copy
 * for another thread takes the names of its properties along, which cost more than what they name.
 */
export type SoleRunWire = readonly [
  id: string,
  sessionKey: string,
  mappingId: string,
  runner: string,
  action: string,
  bytes: number,
  acceptedAt: number,
];

/** The tuple of a request that is no more than one run. */
export function findSoleRun({ actions, reservation }: AcceptWire): SoleRunWire | undefined {
  const [action] = actions;
  if (actions.length !== 1 || action?.kind !== 'agent') return undefined;
  if (action.dedupe !== undefined || reservation !== undefined) return undefined;
  const { id, sessionKey, mappingId, runner, action: json, bytes, acceptedAt } = action.row;
  return [id, sessionKey, mappingId, runner, json, bytes, acceptedAt];
}

/** About what a request costs while it waits. */
export function wireBytes(wire: AcceptWire): number {
  let bytes = 200;
  for (const action of wire.actions) {
    bytes += action.kind === 'agent' ? action.row.bytes : action.row.text.length + 200;
  }
  return bytes;
}

function toActionWire(action: Action, receivedAt: number): ActionWire {
  const mappingId = action.origin.mappingId ?? '';
  const dedupe = action.dedupe && {
    scope: `action:${action.dedupe.scope}`,
    key: storedKey(action.dedupe.key),
    expiresAt: expiry(receivedAt, action.dedupe.ttlSeconds),
  };
  if (action.kind === 'wake') {
    const { id, text, mode } = action;
    const row = { id, text, mode, mappingId, origin: JSON.stringify(action.origin), createdAt: receivedAt };
    return { kind: 'wake', mode, row, ...(dedupe && { dedupe }) };
  }
  const json = JSON.stringify(action);
  const row = {
    id: action.id,
    sessionKey: action.sessionKey,
    mappingId,
    runner: action.runner ?? '',
    action: json,
    bytes: json.length,
    acceptedAt: receivedAt,
  };
  return { kind: 'agent', mode: action.wakeMode, row, ...(dedupe && { dedupe }) };
}

function expiry(receivedAt: number, ttlSeconds: number): number {
  return Math.min(receivedAt + Math.round(ttlSeconds * 1000), Number.MAX_SAFE_INTEGER);
}

interface AcceptParts {
  readonly counters: Counters;
  readonly limits: AcceptLimits;
  readonly events: EventTable;
  readonly runs: RunTable;
}

type Stored =
  { readonly bodySha256: string; readonly result: string; readonly expiresAt: number } | undefined;

/** The accept step inside a transaction; both throw HookError `idempotency_mismatch`, `backlog_full`, `events_full`. */
export interface AcceptStep {
  /** Returns null where everything was new, else the answer as JSON text. */
  accept(wire: AcceptWire): string | null;
  acceptSoleRun(wire: SoleRunWire): null;
}

export function openAccept(database: DatabaseSync, parts: AcceptParts): AcceptStep {
  const { counters, limits, events, runs } = parts;
  const sql = {
    find: database.prepare(
      `SELECT body_sha256 AS bodySha256, result, expires_at AS expiresAt FROM idempotency
       WHERE scope = ? AND key = ?`,
    ),
    reserve: database.prepare(
      `INSERT INTO idempotency (scope, key, body_sha256, result, expires_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (scope, key) DO UPDATE SET body_sha256 = excluded.body_sha256, result = excluded.result,
         expires_at = excluded.expires_at`,
    ),
  };

  function findReserved({ scope, key }: Reservation, nowMs: number): Stored {
    const stored = sql.find.get(scope, key) as Stored;
    return stored !== undefined && stored.expiresAt > nowMs ? stored : undefined;
  }

  /** For each action the one it repeats: one stored before, or one earlier in the same request. */
  function findRepeats(wire: AcceptWire): (AcceptedAction | undefined)[] {
    const own = new Map<string, AcceptedAction>();
    return wire.actions.map(({ kind, dedupe, mode, row }) => {
      if (dedupe === undefined) return undefined;
      const name = JSON.stringify([dedupe.scope, dedupe.key]);
      const stored = findReserved(dedupe, wire.receivedAt);
      const first =
        own.get(name) ?? (stored === undefined ? undefined : (JSON.parse(stored.result) as AcceptedAction));
      if (first === undefined) own.set(name, { kind, id: row.id, mode, duplicate: false });
      return first;
    });
  }

  function checkRoom(newRuns: number, newBytes: number, newWakes: number): void {
    const { queuedRuns, activeRuns, runBytes, pendingWakes } = counters;
    const full = { retryAfterSeconds: 10 };
    if (newRuns > 0 && queuedRuns + activeRuns + newRuns > limits.maxBacklogRuns) {
      throw new HookError('backlog_full', 'as many runs wait as storage.maxBacklog allows', full);
    }
    if (newRuns > 0 && runBytes + newBytes > limits.maxBacklogBytes) {
      const detail = 'the waiting runs take as many bytes as storage.maxBacklog allows';
      throw new HookError('backlog_full', detail, full);
    }
    if (newWakes > 0 && pendingWakes + newWakes > limits.maxPendingEvents) {
      const detail = 'as many system events wait as gateway.events.maxPending allows';
      throw new HookError('events_full', detail, full);
    }
  }

  function checkRoomFor(fresh: readonly ActionWire[]): void {
    let newRuns = 0;
    let newBytes = 0;
    for (const action of fresh) {
      if (action.kind === 'wake') continue;
      newRuns += 1;
      newBytes += action.row.bytes;
    }
    checkRoom(newRuns, newBytes, fresh.length - newRuns);
  }

  function insert(action: ActionWire): void {
    if (action.kind === 'wake') events.insertWake(action.row);
    else runs.insert(action.row);
    const { dedupe, kind, mode, row } = action;
    if (dedupe === undefined) return;
    const accepted: AcceptedAction = { kind, id: row.id, mode, duplicate: false };
    sql.reserve.run(dedupe.scope, dedupe.key, '', JSON.stringify(accepted), dedupe.expiresAt);
  }

  function reserveHeader(wire: AcceptWire, result: string | undefined): void {
    const { reservation } = wire;
    if (reservation === undefined) return;
    const { scope, key, bodySha256, expiresAt } = reservation;
    sql.reserve.run(scope, key, bodySha256, result ?? reservation.result, expiresAt);
  }

  function accept(wire: AcceptWire): string | null {
    const { reservation, actions } = wire;
    const first = reservation && findReserved(reservation, wire.receivedAt);
    if (first !== undefined) {
      if (first.bodySha256 !== reservation?.bodySha256) {
        throw new HookError('idempotency_mismatch', 'the first request with this key had another body');
      }
      return JSON.stringify({ ...(JSON.parse(first.result) as AcceptResult), duplicate: true });
    }
    const repeats = findRepeats(wire);
    const fresh = actions.filter((_, index) => repeats[index] === undefined);
    checkRoomFor(fresh);
    for (const action of fresh) insert(action);
    if (fresh.length === actions.length) {
      reserveHeader(wire, undefined);
      return null;
    }
    const accepted = actions.map(({ kind, mode, row }, index) => {
      const repeated = repeats[index];
      return repeated ? { ...repeated, duplicate: true } : { kind, id: row.id, mode, duplicate: false };
    });
    const result = JSON.stringify({ accepted, warnings: wire.warnings, duplicate: fresh.length === 0 });
    reserveHeader(wire, result);
    return result;
  }

  return {
    accept,
    acceptSoleRun([id, sessionKey, mappingId, runner, action, bytes, acceptedAt]) {
      checkRoom(1, bytes, 0);
      runs.insert({ id, sessionKey, mappingId, runner, action, bytes, acceptedAt });
      return null;
    },
  };
}
