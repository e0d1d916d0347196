import { randomUUID } from 'node:crypto';
import type { NewWake } from '../prepared-request.ts';
import type { SummaryEvent } from '../records.ts';
import { EVENT } from './rows.ts';
import { countMove, type Store } from './store.ts';

/** System events as other operations post, count and take them back. */

const insertion = (
  kind: string,
): string => `INSERT INTO events (id, kind, state, mode, run_id, mapping_id, created_at, origin, text)
  VALUES (?, '${kind}', ${EVENT.pending}, ?, ?, ?, ?, ?, ?)`;
const INSERT_WAKE = insertion('wake');
const INSERT_SUMMARY = insertion('summary');
const WITHDRAW = `DELETE FROM events WHERE run_id = ? AND run_id IS NOT NULL AND state = ${EVENT.pending}`;

export function insertWake(store: Store, wake: NewWake): void {
  const { id, text, mode, mappingId, origin, createdAt } = wake;
  store.sql.post(INSERT_WAKE, id, mode, null, mappingId, createdAt, origin, text);
  store.counters.pendingEvents += 1;
  store.counters.pendingWakes += 1;
  if (mode === 'now') askForHeartbeat(store, createdAt);
}

export function insertSummary(
  store: Store,
  summary: SummaryEvent,
  { runId, nowMs }: { readonly runId: string | null; readonly nowMs: number },
): void {
  const { text, origin, requestHeartbeat } = summary;
  const mode = requestHeartbeat ? 'now' : 'next-heartbeat';
  const { mappingId = '' } = origin;
  const createdAt = Math.round(nowMs);
  store.sql.post(
    INSERT_SUMMARY,
    randomUUID(),
    mode,
    runId,
    mappingId,
    createdAt,
    JSON.stringify(origin),
    text,
  );
  store.counters.pendingEvents += 1;
  if (requestHeartbeat) askForHeartbeat(store, nowMs);
}

/** Takes back a summary of the run that no turn has read yet. */
export function withdrawSummary({ sql, counters }: Store, runId: string): void {
  counters.pendingEvents -= sql.run(WITHDRAW, runId);
}

/** Asks for a heartbeat at a time; an earlier wish stands. */
export function askForHeartbeat({ counters }: Store, atMs: number): void {
  const at = Math.round(atMs);
  counters.heartbeatAt = counters.heartbeatAt === null ? at : Math.min(counters.heartbeatAt, at);
}

/** Moves an event from its state to another in the counters. */
export function countEvent(store: Store, { kind, state: from }: EventHead, to: number): void {
  countMove(store, 'events', { from, to });
  const isPending = (state: number): number => Number(state <= EVENT.claimed);
  if (kind === 'wake') store.counters.pendingWakes += isPending(to) - isPending(from);
}

export interface EventHead {
  readonly seq: number;
  readonly kind: string;
  readonly state: number;
}
