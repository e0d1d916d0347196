import {
  type DecisionRow,
  type KeptRow,
  MAX_DECISIONS,
  MAX_KEPT_BYTES,
  MAX_KEPT_REQUESTS,
} from '../journal.ts';
import type { Store } from './store.ts';

const DECIDE = 'INSERT INTO decisions (request_id, mapping_id, outcome, decision) VALUES (?, ?, ?, ?)';
const FORGET_DECISIONS = 'DELETE FROM decisions WHERE seq <= (SELECT max(seq) FROM decisions) - ?';
const KEEP = 'INSERT INTO kept_requests (request_id, received_at, bytes, request) VALUES (?, ?, ?, ?)';
const KEPT = 'SELECT seq, bytes FROM kept_requests ORDER BY seq DESC';
const FORGET_KEPT = 'DELETE FROM kept_requests WHERE seq <= ?';

export function recordDecisions({ sql }: Store, decisions: readonly DecisionRow[]): void {
  for (const { requestId, mappingId, outcome, json } of decisions) {
    sql.run(DECIDE, requestId, mappingId, outcome, json);
  }
  sql.run(FORGET_DECISIONS, MAX_DECISIONS);
}

export function keepRequests({ sql }: Store, requests: readonly KeptRow[]): void {
  for (const { requestId, receivedAt, bytes, json } of requests) {
    sql.run(KEEP, requestId, Math.round(receivedAt), bytes, json);
  }
  let total = 0;
  const first = sql.all<{ seq: number; bytes: number }>(KEPT).find(({ bytes }, index) => {
    total += bytes;
    return index >= MAX_KEPT_REQUESTS || total > MAX_KEPT_BYTES;
  });
  if (first !== undefined) sql.run(FORGET_KEPT, first.seq);
}

/** Does nothing: its answer comes after everything handed over before it is on disk. */
export function flush(): void {}
