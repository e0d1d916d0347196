import type { DatabaseSync } from 'node:sqlite';

/** Decisions kept for `sluice requests`. */
export const MAX_DECISIONS = 1000;
/** Failed requests kept for replay, and their bytes. */
export const MAX_KEPT_REQUESTS = 100;
export const MAX_KEPT_BYTES = 16 * 1024 * 1024;

export interface DecisionWire {
  readonly requestId: string;
  readonly mappingId: string | null;
  readonly outcome: string;
  readonly json: string;
}

export interface KeptWire {
  readonly requestId: string;
  readonly receivedAt: number;
  readonly bytes: number;
  readonly json: string;
}

export interface Journal {
  recordDecisions(decisions: readonly DecisionWire[]): void;
  keepRequests(requests: readonly KeptWire[]): void;
}

/** Two rings: what was decided lately, and requests whose transform failed. */
export function openJournal(database: DatabaseSync): Journal {
  const sql = {
    decide: database.prepare(
      'INSERT INTO decisions (request_id, mapping_id, outcome, decision) VALUES (?, ?, ?, ?)',
    ),
    forgetDecisions: database.prepare(
      'DELETE FROM decisions WHERE seq <= (SELECT max(seq) FROM decisions) - ?',
    ),
    keep: database.prepare(
      'INSERT INTO kept_requests (request_id, received_at, bytes, request) VALUES (?, ?, ?, ?)',
    ),
    kept: database.prepare('SELECT seq, bytes FROM kept_requests ORDER BY seq DESC'),
    forgetKept: database.prepare('DELETE FROM kept_requests WHERE seq <= ?'),
  };
  return {
    recordDecisions(decisions) {
      for (const { requestId, mappingId, outcome, json } of decisions) {
        sql.decide.run(requestId, mappingId, outcome, json);
      }
      sql.forgetDecisions.run(MAX_DECISIONS);
    },
    keepRequests(requests) {
      for (const { requestId, receivedAt, bytes, json } of requests) {
        sql.keep.run(requestId, Math.round(receivedAt), bytes, json);
      }
      let total = 0;
      const kept = sql.kept.all() as unknown as { seq: number; bytes: number }[];
      const first = kept.find(({ bytes }, index) => {
        total += bytes;
        return index >= MAX_KEPT_REQUESTS || total > MAX_KEPT_BYTES;
      });
      if (first !== undefined) sql.forgetKept.run(first.seq);
    },
  };
}
