import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { AttemptFailure, ClaimEventsOptions, SummaryEvent } from '../../records.ts';
import type { Counters } from './sqlite-counters.ts';
import { EVENT_COLUMNS, type EventRow } from './sqlite-rows.ts';
import { EVENT } from './sqlite-schema.ts';

/** Failed turns after which an event is parked. */
const MAX_FAILURES = 5;

/** A wake as `accept` hands it to the engine. */
export interface NewWake {
  readonly id: string;
  readonly text: string;
  readonly mode: string;
  readonly mappingId: string;
  readonly origin: string;
  readonly createdAt: number;
}

export interface EventTable {
  insertWake(wake: NewWake): void;
  insertSummary(summary: SummaryEvent, runId: string | undefined, nowMs: number): void;
  /** Takes back a summary of the run that no turn has read yet. */
  withdrawSummary(runId: string): void;
  claim(options: ClaimEventsOptions): { turnId: string; events: EventRow[] } | undefined;
  /** Returns how many events the turn had claimed. */
  consume(turnId: string, nowMs: number): number;
  free(turnId: string, failure: AttemptFailure): boolean;
  requestHeartbeat(atMs: number): void;
  retry(id: string, nowMs: number): boolean;
  drop(id: string, nowMs: number): boolean;
}

/** System events of the main session, in the order they came in. */
export function openEvents(database: DatabaseSync, counters: Counters): EventTable {
  const sql = {
    insert: database.prepare(
      `INSERT INTO events (id, kind, state, mode, run_id, mapping_id, created_at, origin, text)
       VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?)`,
    ),
    withdraw: database.prepare('DELETE FROM events WHERE run_id = ? AND run_id IS NOT NULL AND state = 0'),
    claimed: database.prepare(
      `SELECT ${EVENT_COLUMNS} INDEXED BY events_claimed WHERE state = 1 ORDER BY seq`,
    ),
    pending: database.prepare(
      `SELECT ${EVENT_COLUMNS} INDEXED BY events_pending WHERE state = 0 ORDER BY seq LIMIT ?`,
    ),
    claim: database.prepare('UPDATE events SET state = 1, turn_id = ? WHERE seq = ?'),
    consume: database.prepare(
      'UPDATE events INDEXED BY events_claimed SET state = 2, ended_at = ? WHERE state = 1 AND turn_id = ?',
    ),
    free: database.prepare(
      `UPDATE events SET state = ?, attempts = attempts + 1, turn_id = NULL, ended_at = ?, error_code = ?,
         error_message = ? WHERE seq = ?`,
    ),
    find: database.prepare('SELECT seq, state, kind FROM events WHERE id = ?'),
    revive: database.prepare('UPDATE events SET state = 0, attempts = 0, ended_at = NULL WHERE seq = ?'),
    end: database.prepare('UPDATE events SET state = 2, ended_at = ? WHERE seq = ?'),
  };
  type Found = { readonly seq: number; readonly state: number; readonly kind: string } | undefined;

  function requestHeartbeat(atMs: number): void {
    const at = Math.round(atMs);
    counters.heartbeatAt = counters.heartbeatAt === null ? at : Math.min(counters.heartbeatAt, at);
  }

  /** Counts `by` events of a kind in (or out of) those not yet consumed. */
  function countPending(kind: string, by: number): void {
    counters.pendingEvents += by;
    if (kind === 'wake') counters.pendingWakes += by;
  }

  return {
    requestHeartbeat,

    insertWake({ id, text, mode, mappingId, origin, createdAt }) {
      sql.insert.run(id, 'wake', mode, null, mappingId, createdAt, origin, text);
      countPending('wake', 1);
      if (mode === 'now') requestHeartbeat(createdAt);
    },

    insertSummary(summary, runId, nowMs) {
      const { text, origin, requestHeartbeat: now } = summary;
      sql.insert.run(
        randomUUID(),
        'summary',
        now ? 'now' : 'next-heartbeat',
        runId ?? null,
        origin.mappingId ?? '',
        Math.round(nowMs),
        JSON.stringify(origin),
        text,
      );
      countPending('summary', 1);
      if (now) requestHeartbeat(nowMs);
    },

    withdrawSummary(runId) {
      countPending('summary', -Number(sql.withdraw.run(runId).changes));
    },

    claim({ turnId, maxEvents, maxBytes }) {
      const left = sql.claimed.all() as unknown as EventRow[];
      const before = left[0]?.turnId;
      // A request that came in meanwhile stays: it is for the events behind these.
      if (typeof before === 'string') {
        return { turnId: before, events: left.filter((event) => event.turnId === before) };
      }
      counters.heartbeatAt = null;
      const events: EventRow[] = [];
      let bytes = 0;
      for (const row of sql.pending.all(maxEvents) as unknown as EventRow[]) {
        bytes += Buffer.byteLength(row.text);
        if (events.length > 0 && bytes > maxBytes) break;
        sql.claim.run(turnId, row.seq);
        events.push({ ...row, state: EVENT.claimed, turnId });
      }
      return events.length === 0 ? undefined : { turnId, events };
    },

    consume(turnId, nowMs) {
      const rows = (sql.claimed.all() as unknown as EventRow[]).filter((event) => event.turnId === turnId);
      if (rows.length === 0) return 0;
      sql.consume.run(Math.round(nowMs), turnId);
      for (const { kind } of rows) countPending(kind, -1);
      counters.endedEvents += rows.length;
      return rows.length;
    },

    free(turnId, failure) {
      const rows = (sql.claimed.all() as unknown as EventRow[]).filter((event) => event.turnId === turnId);
      for (const { seq, kind, attempts } of rows) {
        const dead = attempts + 1 >= MAX_FAILURES;
        const endedAt = dead ? Math.round(failure.nowMs) : null;
        sql.free.run(dead ? EVENT.dead : EVENT.pending, endedAt, failure.code, failure.message, seq);
        if (dead) {
          countPending(kind, -1);
          counters.deadEvents += 1;
          counters.endedEvents += 1;
        }
      }
      if (rows.length > 0 && counters.pendingEvents > 0) requestHeartbeat(failure.retryAt);
      return rows.length > 0;
    },

    retry(id, nowMs) {
      const event = sql.find.get(id) as Found;
      if (event?.state !== EVENT.dead) return false;
      sql.revive.run(event.seq);
      countPending(event.kind, 1);
      counters.deadEvents -= 1;
      counters.endedEvents -= 1;
      requestHeartbeat(nowMs);
      return true;
    },

    drop(id, nowMs) {
      const event = sql.find.get(id) as Found;
      if (event?.state !== EVENT.dead && event?.state !== EVENT.pending) return false;
      sql.end.run(Math.round(nowMs), event.seq);
      if (event.state === EVENT.dead) {
        counters.deadEvents -= 1;
      } else {
        countPending(event.kind, -1);
        counters.endedEvents += 1;
      }
      return true;
    },
  };
}
