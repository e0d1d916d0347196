import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PruneResult, RetentionLimits } from '../../records.ts';
import type { Counters } from './sqlite-counters.ts';
import { EVENT, OUTBOX, RUN } from './sqlite-schema.ts';
import type { SessionTable } from './sqlite-sessions.ts';

/** Time one slice takes at most; accepts wait no longer than this behind one (one row is always finished). */
const SLICE_MS = 4;

export interface PruneSlice {
  readonly removed: PruneResult;
  readonly more: boolean;
}

interface Ended {
  readonly seq: number;
  readonly state: number;
  readonly endedAt: number;
}

/** One slice of retention: the longest ended go first. Called inside a transaction until nothing more is left. */
export function openPrune(
  database: DatabaseSync,
  counters: Counters,
  sessions: SessionTable,
): (limits: RetentionLimits, nowMs: number) => PruneSlice {
  const oldest = (table: string) =>
    database.prepare(
      `SELECT seq, state, ended_at AS endedAt FROM ${table} INDEXED BY ${table}_ended
       WHERE state >= ${table === 'runs' ? 4 : 2} ORDER BY ended_at, seq LIMIT 1`,
    );
  const remove = (table: string) => database.prepare(`DELETE FROM ${table} WHERE seq = ?`);
  const sql = {
    oldestRun: oldest('runs'),
    removeRun: remove('runs'),
    removeAction: remove('run_actions'),
    oldestEntry: oldest('outbox'),
    removeEntry: remove('outbox'),
    oldestEvent: oldest('events'),
    removeEvent: remove('events'),
    nextSummary: database.prepare(
      `SELECT seq, created_at AS createdAt FROM events INDEXED BY events_pending
       WHERE state = 0 AND kind = 'summary' AND seq > ? ORDER BY seq LIMIT 1`,
    ),
    expiredKey: database.prepare(
      `SELECT scope, key FROM idempotency INDEXED BY idempotency_expiry WHERE expires_at <= ?
       ORDER BY expires_at LIMIT 1`,
    ),
    removeKey: database.prepare('DELETE FROM idempotency WHERE scope = ? AND key = ?'),
    idleSession: database.prepare(
      `SELECT key FROM sessions INDEXED BY sessions_used
       WHERE last_used_at < ? AND NOT EXISTS (SELECT 1 FROM runs INDEXED BY runs_in_line WHERE line = key AND state <= 3)
       ORDER BY last_used_at LIMIT 1`,
    ),
  };

  return ({ maxAgeMs, maxRows }, nowMs) => {
    const removed = { runs: 0, events: 0, outbox: 0, keys: 0, sessions: 0 };
    const before = nowMs - maxAgeMs;
    const stopAt = performance.now() + SLICE_MS;
    let steps = 0;
    const isTimeLeft = () => steps++ === 0 || performance.now() < stopAt;

    /** Removes the longest ended rows of a table; true where it came to an end within the slice. */
    function trim(find: StatementSync, isBeyond: () => boolean, forget: (row: Ended) => void): boolean {
      while (isTimeLeft()) {
        const row = find.get() as Ended | undefined;
        if (row === undefined || (row.endedAt >= before && !isBeyond())) return true;
        forget(row);
      }
      return false;
    }

    const trims = [
      () =>
        trim(
          sql.oldestRun,
          () => counters.endedRuns > maxRows,
          ({ seq, state }) => {
            sql.removeRun.run(seq);
            sql.removeAction.run(seq);
            counters.endedRuns -= 1;
            if (state === RUN.dead) counters.deadRuns -= 1;
            removed.runs += 1;
          },
        ),
      () =>
        trim(
          sql.oldestEntry,
          () => counters.endedOutbox > maxRows,
          ({ seq, state }) => {
            sql.removeEntry.run(seq);
            counters.endedOutbox -= 1;
            if (state === OUTBOX.dead) counters.deadOutbox -= 1;
            removed.outbox += 1;
          },
        ),
      () =>
        trim(
          sql.oldestEvent,
          () => counters.endedEvents > maxRows,
          ({ seq, state }) => {
            sql.removeEvent.run(seq);
            counters.endedEvents -= 1;
            if (state === EVENT.dead) counters.deadEvents -= 1;
            removed.events += 1;
          },
        ),
      // Nobody reads summaries where no heartbeat ever comes. Wakes that wait have a limit of their own.
      () => {
        let passed = 0;
        while (isTimeLeft()) {
          const row = sql.nextSummary.get(passed) as { seq: number; createdAt: number } | undefined;
          const isBeyond = counters.pendingEvents - counters.pendingWakes > maxRows;
          if (row === undefined || (row.createdAt >= before && !isBeyond)) return true;
          sql.removeEvent.run(row.seq);
          passed = row.seq;
          counters.pendingEvents -= 1;
          removed.events += 1;
        }
        return false;
      },
      () => {
        while (isTimeLeft()) {
          const row = sql.expiredKey.get(nowMs) as { scope: string; key: string } | undefined;
          if (row === undefined) return true;
          sql.removeKey.run(row.scope, row.key);
          removed.keys += 1;
        }
        return false;
      },
      () => {
        while (isTimeLeft()) {
          const limit = counters.sessions > maxRows ? Number.MAX_SAFE_INTEGER : before;
          const row = sql.idleSession.get(limit) as { key: string } | undefined;
          if (row === undefined) return true;
          sessions.clear(row.key);
          removed.sessions += 1;
        }
        return false;
      },
    ];
    return { removed, more: !trims.every((trimTable) => trimTable()) };
  };
}
