import type { Conversation, RetentionLimits } from '../records.ts';
import { REMOVE_CONVERSATION_KEY } from './conversation-rows.ts';
import { REMOVE_GATHERED } from './gathering.ts';
import { dayOf } from './hourly-capacity.ts';
import type { ScopedKey } from './plain-reads.ts';
import { EVENT, OUTBOX, RUN } from './rows.ts';
import { REMOVE_SESSION } from './run-rows.ts';
import { firstOf } from './session-queue.ts';
import { both, by, listed, type SqlQuestion, type Sql } from './statements.ts';
import { countMove, type Store } from './store.ts';

/** The first rows of each table that retention may remove. */

/** Rows of one table that one slice removes at most: an accept waits for half a millisecond behind them. */
const SLICE_ROWS = 12;

const NEXT_SUMMARIES = both`SELECT seq, created_at AS "createdAt" FROM events ${by('events_pending')}
  WHERE state = ${EVENT.pending} AND kind = 'summary' ORDER BY seq LIMIT ${SLICE_ROWS}`;
const EXPIRED_KEYS = both`SELECT scope, key FROM idempotency ${by('idempotency_expiry')} WHERE expires_at <= ?
  ORDER BY expires_at LIMIT ${SLICE_ROWS}`;
const EXPIRED_CONVERSATION_KEYS = both`SELECT owner, key FROM conversation_keys ${by('conversation_keys_expiry')}
  WHERE expires_at <= ? ORDER BY expires_at LIMIT ${SLICE_ROWS}`;
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
interface Slice {
  readonly maxRows: number;
  readonly before: number;
}

interface EndedRow {
  readonly seq: number;
  readonly state: number;
  readonly endedAt: number;
  /** Events of a run that are stored apart from it. */
  readonly gathered: number;
}

interface SummaryRow {
  readonly seq: number;
  readonly createdAt: number;
}

type IdleSession = Conversation & { readonly lastUsedAt: number };

type ExpiredRows = [
  summaries: SummaryRow[],
  keys: ScopedKey[],
  sessions: IdleSession[],
  audit: { readonly seq: number }[],
  days: { readonly day: number }[],
  conversationKeys: Conversation[],
  ...ended: [runs: EndedRow[], outbox: EndedRow[], events: EndedRow[]],
];

/** What a slice asks; `ExpiredRows` is the answer. */
export function pruneQuestions(limits: RetentionLimits, nowMs: number): readonly SqlQuestion[] {
  const { before, maxRows } = sliceOf(limits, nowMs);
  return [
    [NEXT_SUMMARIES],
    [EXPIRED_KEYS, nowMs],
    [IDLE_SESSIONS, before, maxRows],
    [OLD_AUDIT, Math.round(before)],
    [OLD_COSTS, dayOf(nowMs) - COST_DAYS],
    [EXPIRED_CONVERSATION_KEYS, nowMs],
    [oldest('runs', RUN.completed, 'gathered')],
    [oldest('outbox', OUTBOX.completed)],
    [oldest('events', EVENT.consumed)],
  ];
}

function sliceOf({ maxAgeMs, maxRows }: RetentionLimits, nowMs: number): Slice {
  return { maxRows, before: nowMs - maxAgeMs };
}

const SEQS = both`seq IN ${listed('?', 'bigint')}`;
const REMOVE_EVENTS = both`DELETE FROM events WHERE ${SEQS}`;
const REMOVE_AUDIT = both`DELETE FROM audit WHERE ${SEQS}`;
const REMOVE_COSTS = 'DELETE FROM costs WHERE day = ?';
/** An accept over a connection of its own may have taken the key meanwhile. */
const REMOVE_KEY = 'DELETE FROM idempotency WHERE scope = ? AND key = ? AND expires_at <= ?';

/**
 * One slice of retention: the first rows of each table go, where they have to. It is bounded in rows and not in time,
 * as one answer of a distant database takes longer than all the work. Called again until nothing more is left.
 */
export function pruneSlice(store: Store, limits: RetentionLimits, nowMs: number) {
  const slice = sliceOf(limits, nowMs);
  const answers = store.sql.allOf<object>(pruneQuestions(limits, nowMs));
  const [summaries, keys, sessions, audit, days, known, ...ended] = answers as ExpiredRows;
  const [runs = 0, outbox = 0, events = 0] = ENDED.map((kind, index) =>
    pruneEnded(store, slice, { kind, oldest: ended[index] ?? [] }),
  );
  const counts = [
    pruneSummaries(store, slice, summaries),
    pruneKeys(store, keys, nowMs),
    pruneSessions(store, slice, sessions),
  ] as const;
  if (audit.length > 0) store.sql.post(REMOVE_AUDIT, seqsOf(audit));
  for (const { owner, key } of known) store.sql.post(REMOVE_CONVERSATION_KEY, owner, key);
  for (const { day } of days) store.sql.post(REMOVE_COSTS, day);
  return {
    removed: { runs, outbox, events: events + counts[0], keys: counts[1], sessions: counts[2] },
    more: [runs, outbox, events, audit.length, known.length, ...counts].includes(SLICE_ROWS),
  };
}

interface EndedTable {
  readonly table: 'runs' | 'outbox' | 'events';
  readonly ended: 'endedRuns' | 'endedOutbox' | 'endedEvents';
  readonly remove: readonly Sql[];
}

const ENDED: readonly EndedTable[] = [
  {
    table: 'runs',
    ended: 'endedRuns',
    remove: [both`DELETE FROM runs WHERE ${SEQS}`, both`DELETE FROM run_actions WHERE ${SEQS}`],
  },
  { table: 'outbox', ended: 'endedOutbox', remove: [both`DELETE FROM outbox WHERE ${SEQS}`] },
  { table: 'events', ended: 'endedEvents', remove: [REMOVE_EVENTS] },
];

/** Removes the longest ended rows of a table, where they have to go. */
function pruneEnded(
  store: Store,
  slice: Slice,
  { kind, oldest }: { readonly kind: EndedTable; readonly oldest: readonly EndedRow[] },
): number {
  const { sql, counters } = store;
  const rows = oldest.filter(
    ({ endedAt }, index) => endedAt < slice.before || counters[kind.ended] - index > slice.maxRows,
  );
  if (rows.length === 0) return 0;
  const seqs = seqsOf(rows);
  for (const text of kind.remove) sql.post(text, seqs);
  for (const { seq, state, gathered } of rows) {
    if (gathered > 0) sql.post(REMOVE_GATHERED, seq);
    countMove(store, kind.table, { from: state });
  }
  return rows.length;
}

function seqsOf(rows: readonly { readonly seq: number }[]): string {
  return JSON.stringify(rows.map(({ seq }) => seq));
}

/** Nobody reads summaries where no heartbeat ever comes. Wakes that wait have a limit of their own. */
function pruneSummaries({ sql, counters }: Store, slice: Slice, found: readonly SummaryRow[]): number {
  const summaries = counters.pendingEvents - counters.pendingWakes;
  const rows = found.filter(
    ({ createdAt }, index) => createdAt < slice.before || summaries - index > slice.maxRows,
  );
  if (rows.length > 0) sql.post(REMOVE_EVENTS, seqsOf(rows));
  counters.pendingEvents -= rows.length;
  return rows.length;
}

function pruneKeys({ sql }: Store, keys: readonly ScopedKey[], nowMs: number): number {
  for (const { scope, key } of keys) sql.post(REMOVE_KEY, scope, key, nowMs);
  return keys.length;
}

function pruneSessions({ sql, counters }: Store, slice: Slice, found: readonly IdleSession[]): number {
  const rows = found.filter(
    ({ lastUsedAt }, index) => lastUsedAt < slice.before || counters.sessions - index > slice.maxRows,
  );
  for (const { owner, key } of rows) for (const text of REMOVE_SESSION) sql.post(text, owner, key);
  counters.sessions -= rows.length;
  return rows.length;
}
