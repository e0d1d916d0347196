import type { Conversation, RetentionLimits } from '../records.ts';
import { dayOf } from './cost-rows.ts';
import { both, by, type Sql } from './dialects.ts';
import { firstOf } from './session-queue.ts';
import { EVENT, OUTBOX, RUN } from './rows.ts';
import type { Question } from './statements.ts';

/** The first rows of each table that retention may remove. */

/** Rows of one table that one slice removes at most: an accept waits for half a millisecond behind them. */
export const SLICE_ROWS = 12;

const NEXT_SUMMARIES = both`SELECT seq, created_at AS "createdAt" FROM events ${by('events_pending')}
  WHERE state = ${EVENT.pending} AND kind = 'summary' ORDER BY seq LIMIT ${SLICE_ROWS}`;
const EXPIRED_KEYS = both`SELECT scope, key FROM idempotency ${by('idempotency_expiry')} WHERE expires_at <= ?
  ORDER BY expires_at LIMIT ${SLICE_ROWS}`;
/** The line of a session, also where a run with an owner of its own is looked at. */
const LINE = "sessions.owner || '\n' || sessions.key";
/** All that are idle where there are too many. */
const IDLE_SESSIONS = both`SELECT owner, key, last_used_at AS "lastUsedAt" FROM sessions ${by('sessions_used')}
  WHERE (last_used_at < ? OR (SELECT sessions FROM counters) > ?)
    AND ${{
      sqlite: `NOT EXISTS (SELECT 1 FROM runs INDEXED BY runs_in_line WHERE line = ${LINE} AND state <= ${RUN.active})`,
      postgres: `${firstOf(LINE, RUN.blocked, RUN.active)} IS NULL`,
    }}
  ORDER BY last_used_at LIMIT ${SLICE_ROWS}`;

/** Changes that are kept at most, and days whose costs are. */
const MAX_AUDIT = 10_000;
const COST_DAYS = 400;
const OLD_AUDIT = `SELECT seq FROM (SELECT seq, at FROM audit ORDER BY seq LIMIT ${SLICE_ROWS}) AS first
  WHERE at < ? OR seq <= (SELECT max(seq) FROM audit) - ${MAX_AUDIT}`;
const OLD_COSTS = 'SELECT DISTINCT day FROM costs WHERE day < ?';

/** The longest ended ones first. */
const oldest = (table: 'runs' | 'outbox' | 'events', firstEnded: number, gathered = '0'): Sql =>
  both`SELECT seq, state, ended_at AS "endedAt", ${gathered} AS gathered FROM ${table} ${by(`${table}_ended`)}
  WHERE state >= ${firstEnded} ORDER BY ended_at, seq LIMIT ${SLICE_ROWS}`;

/** What goes: rows that were last in use earlier, or that are more than so many. */
export interface Slice {
  readonly maxRows: number;
  readonly before: number;
}

export interface EndedRow {
  readonly seq: number;
  readonly state: number;
  readonly endedAt: number;
  /** Events of a run that are stored apart from it. */
  readonly gathered: number;
}

export interface SummaryRow {
  readonly seq: number;
  readonly createdAt: number;
}

export type Key = Readonly<Record<'scope' | 'key', string>>;

export type IdleSession = Conversation & { readonly lastUsedAt: number };

export type Found = [
  summaries: SummaryRow[],
  keys: Key[],
  sessions: IdleSession[],
  audit: { readonly seq: number }[],
  days: { readonly day: number }[],
  ...ended: [runs: EndedRow[], outbox: EndedRow[], events: EndedRow[]],
];

/** What a slice asks; `Found` answers it. */
export function pruneQuestions(limits: RetentionLimits, nowMs: number): readonly Question[] {
  const { before, maxRows } = sliceOf(limits, nowMs);
  return [
    [NEXT_SUMMARIES],
    [EXPIRED_KEYS, nowMs],
    [IDLE_SESSIONS, before, maxRows],
    [OLD_AUDIT, Math.round(before)],
    [OLD_COSTS, dayOf(nowMs) - COST_DAYS],
    [oldest('runs', RUN.completed, 'gathered')],
    [oldest('outbox', OUTBOX.completed)],
    [oldest('events', EVENT.consumed)],
  ];
}

export function sliceOf({ maxAgeMs, maxRows }: RetentionLimits, nowMs: number): Slice {
  return { maxRows, before: nowMs - maxAgeMs };
}
