import type { KeptLimits } from '../records.ts';
import { both, listed } from './dialects.ts';
import { type DecisionRow, type KeptRow, MAX_STRANGERS, STRANGER } from './journal.ts';
import type { Store } from './store.ts';

const DECIDE = 'INSERT INTO decisions (request_id, mapping_id, outcome, decision) VALUES (?, ?, ?, ?)';
/** Both rings share the table and its numbers, so the oldest to go is counted among its own kind. */
const forget = (
  kind: '=' | '<>',
): string => `DELETE FROM decisions WHERE outcome ${kind} '${STRANGER}' AND seq <= (
  SELECT seq FROM decisions WHERE outcome ${kind} '${STRANGER}' ORDER BY seq DESC LIMIT 1 OFFSET ?)`;
const FORGET_DECISIONS = forget('<>');
const FORGET_STRANGERS = forget('=');
const FORGET_ALIKE = both`DELETE FROM decisions WHERE outcome = '${STRANGER}'
  AND request_id IN ${listed('?')}`;
const KEEP = 'INSERT INTO kept_requests (request_id, received_at, bytes, request) VALUES (?, ?, ?, ?)';
const KEPT = 'SELECT seq, bytes FROM kept_requests ORDER BY seq DESC';
const FORGET_KEPT = 'DELETE FROM kept_requests WHERE seq <= ?';
const FORGET_OLD = 'DELETE FROM kept_requests WHERE received_at < ?';

/** Forgets all but the newest `keep` of all decisions, where that is given. */
export function recordDecisions({ sql }: Store, decisions: readonly DecisionRow[], keep?: number): void {
  const rows = decisions.map(
    ({ requestId, mappingId, outcome, json }) => [requestId, mappingId, outcome, json] as const,
  );
  sql.postRows(DECIDE, rows);
  if (keep !== undefined) sql.post(FORGET_DECISIONS, keep);
}

/** The same for requests that proved nothing, in a ring of their own; those of `forgotten` ids make room in it. */
export function recordStrangers(
  { sql }: Store,
  strangers: readonly DecisionRow[],
  forgotten: readonly string[],
): void {
  const rows = strangers.map(({ requestId, json }) => [requestId, null, STRANGER, json] as const);
  sql.postRows(DECIDE, rows);
  if (forgotten.length > 0) sql.post(FORGET_ALIKE, JSON.stringify(forgotten));
  sql.post(FORGET_STRANGERS, MAX_STRANGERS);
}

/** Keeps the newest within the limits; their age is counted from the newest, as a store has no clock. */
export function keepRequests({ sql }: Store, requests: readonly KeptRow[], limits: KeptLimits): void {
  for (const { requestId, receivedAt, bytes, json } of requests) {
    sql.post(KEEP, requestId, Math.round(receivedAt), bytes, json);
  }
  let total = 0;
  const first = sql.all<{ seq: number; bytes: number }>(KEPT).find(({ bytes }, index) => {
    total += bytes;
    return index >= limits.count || total > limits.bytes;
  });
  if (first !== undefined) sql.post(FORGET_KEPT, first.seq);
  const newest = requests.at(-1);
  if (newest === undefined || limits.maxAgeMs === undefined) return;
  sql.post(FORGET_OLD, Math.round(newest.receivedAt - limits.maxAgeMs));
}

/** Does nothing: its answer comes after everything handed over before it is on disk. */
export function flush(): void {}
