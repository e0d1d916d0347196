import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { AttemptFailure, NewCallback, NewDelivery, OutboxBurial, OutboxResult } from '../../records.ts';
import type { Counters } from './sqlite-counters.ts';
import type { EventTable } from './sqlite-events.ts';
import { OUTBOX_COLUMNS, type OutboxRow } from './sqlite-rows.ts';
import { OUTBOX } from './sqlite-schema.ts';

/** A delivery or callback of a run. */
type NewOutboxEntry = {
  readonly parent: { readonly runId: string; readonly mappingId: string; readonly sessionKey: string };
  readonly nowMs: number;
} & (
  | { readonly kind: 'delivery'; readonly body: NewDelivery }
  | { readonly kind: 'callback'; readonly body: NewCallback }
);

export interface OutboxTable {
  insert(entry: NewOutboxEntry): void;
  claim(options: { readonly nowMs: number; readonly limit: number }): OutboxRow[];
  recordProgress(id: string, chunksSent: number): void;
  complete(id: string, result: OutboxResult): boolean;
  requeue(id: string, failure: AttemptFailure): boolean;
  bury(id: string, burial: OutboxBurial): boolean;
  retry(id: string, nowMs: number): boolean;
  drop(id: string, nowMs: number): boolean;
}

interface Found {
  readonly seq: number;
  readonly state: number;
  readonly runId: string;
  readonly mappingId: string;
  readonly sessionKey: string;
}

/** Deliveries and callbacks, each with its own attempts. */
export function openOutbox(database: DatabaseSync, counters: Counters, events: EventTable): OutboxTable {
  const sql = {
    insert: database.prepare(
      `INSERT INTO outbox (id, kind, run_id, mapping_id, session_key, state, created_at, due_at, body)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?)`,
    ),
    due: database.prepare(
      `SELECT seq FROM outbox INDEXED BY outbox_queued WHERE state = 0 AND due_at <= ?
       ORDER BY due_at, seq LIMIT ?`,
    ),
    activate: database.prepare('UPDATE outbox SET state = 1, attempts = attempts + 1 WHERE seq = ?'),
    record: database.prepare(`SELECT ${OUTBOX_COLUMNS} WHERE seq = ?`),
    progress: database.prepare('UPDATE outbox SET chunks_sent = ? WHERE id = ? AND state = 1'),
    find: database.prepare(
      `SELECT seq, state, run_id AS runId, mapping_id AS mappingId, session_key AS sessionKey
       FROM outbox WHERE id = ?`,
    ),
    end: database.prepare(
      `UPDATE outbox SET state = ?, error_code = ?, error_message = ?, target = ?, ended_at = ? WHERE seq = ?`,
    ),
    wait: database.prepare(
      'UPDATE outbox SET state = 0, due_at = ?, error_code = ?, error_message = ? WHERE seq = ?',
    ),
    hurry: database.prepare('UPDATE outbox SET due_at = ? WHERE seq = ?'),
    revive: database.prepare(
      'UPDATE outbox SET state = 0, due_at = ?, attempts = 0, ended_at = NULL WHERE seq = ?',
    ),
    saveLast: database.prepare(
      `INSERT INTO last_target (one, target, saved_at) VALUES (1, ?, ?)
       ON CONFLICT (one) DO UPDATE SET target = excluded.target, saved_at = excluded.saved_at`,
    ),
  };
  const find = (id: string) => sql.find.get(id) as Found | undefined;

  function insert({ kind, body, parent, nowMs }: NewOutboxEntry): void {
    const { runId, mappingId, sessionKey } = parent;
    const now = Math.round(nowMs);
    sql.insert.run(randomUUID(), kind, runId, mappingId, sessionKey, now, now, JSON.stringify(body));
    counters.queuedOutbox += 1;
  }

  return {
    insert,

    claim({ nowMs, limit }) {
      return (sql.due.all(nowMs, limit) as unknown as { seq: number }[]).map(({ seq }) => {
        sql.activate.run(seq);
        counters.queuedOutbox -= 1;
        return sql.record.get(seq) as unknown as OutboxRow;
      });
    },

    recordProgress(id, chunksSent) {
      sql.progress.run(chunksSent, id);
    },

    complete(id, { state, note, target, lastTarget, nowMs }) {
      const entry = find(id);
      if (entry?.state !== OUTBOX.active) return false;
      const now = Math.round(nowMs);
      sql.end.run(
        state === 'completed' ? OUTBOX.completed : OUTBOX.skipped,
        note?.code ?? null,
        note?.message ?? null,
        target === undefined ? null : JSON.stringify(target),
        now,
        entry.seq,
      );
      counters.endedOutbox += 1;
      if (lastTarget !== undefined) sql.saveLast.run(JSON.stringify(lastTarget), now);
      return true;
    },

    requeue(id, failure) {
      const entry = find(id);
      if (entry?.state !== OUTBOX.active) return false;
      sql.wait.run(Math.round(failure.retryAt), failure.code, failure.message, entry.seq);
      counters.queuedOutbox += 1;
      return true;
    },

    bury(id, { error, summary, fallback, nowMs }) {
      const entry = find(id);
      if (entry?.state !== OUTBOX.active) return false;
      sql.end.run(OUTBOX.dead, error.code, error.message, null, Math.round(nowMs), entry.seq);
      counters.deadOutbox += 1;
      counters.endedOutbox += 1;
      events.insertSummary(summary, undefined, nowMs);
      if (fallback !== undefined) insert({ kind: 'delivery', body: fallback, parent: entry, nowMs });
      return true;
    },

    retry(id, nowMs) {
      const entry = find(id);
      if (entry?.state === OUTBOX.queued) {
        sql.hurry.run(Math.round(nowMs), entry.seq);
      } else if (entry?.state === OUTBOX.dead) {
        sql.revive.run(Math.round(nowMs), entry.seq);
        counters.deadOutbox -= 1;
        counters.endedOutbox -= 1;
        counters.queuedOutbox += 1;
      } else {
        return false;
      }
      return true;
    },

    drop(id, nowMs) {
      const entry = find(id);
      if (entry?.state !== OUTBOX.queued && entry?.state !== OUTBOX.dead) return false;
      const message = 'taken off the queue by the operator';
      sql.end.run(OUTBOX.skipped, 'dropped', message, null, Math.round(nowMs), entry.seq);
      if (entry.state === OUTBOX.dead) {
        counters.deadOutbox -= 1;
      } else {
        counters.queuedOutbox -= 1;
        counters.endedOutbox += 1;
      }
      return true;
    },
  };
}
