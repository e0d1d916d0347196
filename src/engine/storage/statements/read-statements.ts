import type { ConversationKey } from '../../../base/conversation.ts';
import type { MailboxRecord, SetAsideMail } from '../mail-port.ts';
import {
  type Backlog,
  type AwayRunner,
  type KeptFile,
  type KeptGeneration,
  type KeptPart,
  type KeptRequest,
  type LimitedMapping,
  type LimitRules,
  type ListedWorker,
  type ListQuery,
  pauseOfRunner,
  type QueuePause,
  type RunnerHold,
  type SessionRecord,
  type RecoveryRecord,
} from '../records.ts';
import { STRANGER } from '../request-records.ts';
import { type RunQueue, RUN_QUEUES, pausedBy } from './claimable-runs.ts';
import { KEYS_OF } from './conversation-rows.ts';
import { HourlyCapacity } from './hourly-capacity.ts';
import { findBroken } from './invariants.ts';
import { LAPSED, operationOf, PLAIN_READS } from './plain-reads.ts';
import { atMost, listRows } from './row-queries.ts';
import {
  EVENT,
  EVENT_COLUMNS,
  type EventRow,
  MAILBOXES,
  type MailboxRow,
  OUTBOX,
  OUTBOX_COLUMNS,
  type OutboxRow,
  RUN,
  RUN_BY_ID,
  RUN_COLUMNS,
  type RunRow,
  toRecord,
} from './rows.ts';
import { both, by, listed, type Sql, type Statements } from './statements.ts';
import { readCounters, type Store } from './store.ts';
import { withEvents } from './gathering.ts';

/** Everything that only reads. Called between transactions, so nothing uncommitted is ever seen. */

const ENDED = both`SELECT ${RUN_COLUMNS} WHERE state >= ${RUN.completed} AND id IN ${listed('?')}`;
/** Also those of which no turn has ended. */
const SESSIONS = `SELECT owner, key, turns, bytes, "createdAt", "lastUsedAt" FROM (
    SELECT owner, key, turns, bytes, created_at AS "createdAt", last_used_at AS "lastUsedAt" FROM sessions
    UNION ALL SELECT owner, conversation, 0, 0, min(added_at), max(added_at) FROM conversation_keys AS known
      WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.owner = known.owner AND key = conversation)
      GROUP BY owner, conversation) AS found
  WHERE (CAST(?1 AS TEXT) IS NULL OR key = ?1) AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2) ORDER BY "lastUsedAt" DESC, key, owner LIMIT ?3`;
const DECISIONS = `SELECT decision FROM decisions WHERE (CAST(?1 AS TEXT) IS NULL OR mapping_id = ?1) AND (CAST(?2 AS TEXT) IS NULL OR outcome = ?2
  OR (?2 = 'rejected' AND outcome = '${STRANGER}')) ORDER BY seq DESC LIMIT ?3`;
const DECISION = 'SELECT decision FROM decisions WHERE request_id = ? ORDER BY seq DESC LIMIT 1';
const KEPT = `SELECT request_id AS "requestId", received_at AS "receivedAt", kind, path, request AS json FROM kept_requests
  WHERE request_id = ? ORDER BY seq DESC LIMIT 1`;
const NEWEST_KEPT = `SELECT request_id AS "requestId", received_at AS "receivedAt", kind, path, request AS json FROM kept_requests
  WHERE (CAST(?1 AS TEXT) IS NULL OR kind = ?1) ORDER BY seq DESC LIMIT ?2`;
const KEPT_SIZES = `SELECT seq, bytes FROM kept_requests WHERE seq < ? AND received_at >= ? AND received_at < ?
  ORDER BY seq DESC LIMIT 200`;
const KEPT_PART = `SELECT request_id AS "requestId", received_at AS "receivedAt", kind, path, substr(request, 1, ?) AS json
  FROM kept_requests WHERE seq < ? AND seq >= ? AND received_at >= ? AND received_at < ? ORDER BY seq DESC`;
const GENERATION = 'SELECT files FROM generations WHERE id = ?';
const FILES = both`SELECT hash, content FROM generation_files WHERE hash IN ${listed('?')}`;
/** Runs that gather events wait as long as their mapping says, unless they were stored at a later time than it is. */
const nextRetry = (totals: string): Sql => both`SELECT min(at) AS at FROM (
  SELECT (SELECT min(due_at) FROM runs ${by('runs_waiting')} WHERE state = ${RUN.waiting}
    AND (gather_until IS NULL OR attempts > 0 OR accepted_at > ?)) AS at
  UNION ALL SELECT (SELECT min(due_at) FROM outbox ${by('outbox_next')} WHERE state = ${OUTBOX.queued} AND behind = 0)
  UNION ALL SELECT heartbeat_at FROM ${totals}) AS due`;
const HOLDS = `SELECT runner, model, since, code, message, retry_at AS "retryAt", tries FROM runner_holds
  ORDER BY since, runner, model`;
const LISTED_WORKERS = both`SELECT runner, name, seen_at AS "seenAt", (SELECT count(*) FROM runs ${by('runs_active')}
    WHERE state = ${RUN.active} AND worker = name AND worker_until > 0
      AND (runs.runner = workers.runner OR (runs.runner = '' AND workers.runner = ?))) AS runs
  FROM workers ORDER BY runner, seen_at DESC, name`;
const WAITING_FOR = both`SELECT count(*) AS count FROM runs ${by('runs_queued')}
  WHERE state <= ${RUN.waiting} AND runner = ?`;
const OLDEST_QUEUED = both`SELECT accepted_at AS at FROM runs ${by('runs_queued')} WHERE state <= ${RUN.waiting}
  ORDER BY seq LIMIT 1`;
/** The first that arrived of each kind; a heap of dead work costs no more than one. */
const OLDEST_DEAD = both`SELECT min(at) AS at FROM (
  SELECT (SELECT ended_at FROM runs ${by('runs_dead')} WHERE state = ${RUN.dead} ORDER BY seq LIMIT 1) AS at
  UNION ALL SELECT (SELECT ended_at FROM outbox ${by('outbox_dead')} WHERE state = ${OUTBOX.dead}
    ORDER BY seq LIMIT 1)
  UNION ALL SELECT (SELECT ended_at FROM events ${by('events_dead')} WHERE state = ${EVENT.dead}
    ORDER BY seq LIMIT 1)) AS dead`;

export function listRuns({ sql }: Store, query: ListQuery): RunRow[] {
  return listRows(sql, { table: 'runs', columns: RUN_COLUMNS, query }, [
    ['kind', query.kind],
    ['mapping_id', query.mappingId],
    ['session_key', query.sessionKey],
    ['line', query.line],
  ]);
}

export function listOutbox({ sql }: Store, query: ListQuery): OutboxRow[] {
  return listRows(sql, { table: 'outbox', columns: OUTBOX_COLUMNS, query }, [
    ['mapping_id', query.mappingId],
    ['session_key', query.sessionKey],
    ['run_id', query.runId],
    ['id', query.id],
  ]);
}

export function listEvents({ sql }: Store, query: ListQuery): EventRow[] {
  return listRows(sql, { table: 'events', columns: EVENT_COLUMNS, query }, [
    ['mapping_id', query.mappingId],
    ['id', query.id],
  ]);
}

/** All holds, the oldest first, with the runs that wait for each; those without a runner of their own wait for `defaultRunner`. */
export function listHolds(store: Store, defaultRunner: string): readonly AwayRunner[] {
  return store.sql.all<RunnerHold & { model: string }>(HOLDS).map(({ model, ...hold }) => {
    const waiting = countWaitingFor(store, hold.runner, defaultRunner);
    return { ...hold, ...(model === '' ? {} : { model }), waiting };
  });
}

/** How many runs wait for a runner; those without a runner of their own wait for `defaultRunner`. */
export function countWaitingFor({ sql }: Store, runner: string, defaultRunner: string): number {
  const names = runner === defaultRunner ? [runner, ''] : [runner];
  return names.reduce((sum, name) => sum + (sql.find<{ count: number }>(WAITING_FOR, name)?.count ?? 0), 0);
}

/** Whether the lease of a worker was over at a time. */
export const hasLapsedRuns = ({ sql }: Store, nowMs: number): boolean =>
  sql.find(both`SELECT 1 FROM runs ${by('runs_active')} WHERE ${LAPSED} LIMIT 1`, Math.round(nowMs)) !==
  undefined;

/** Workers by runner, the one heard of last first; all of a machine share a name. Runs without a runner are the default's. */
export const listWorkers = ({ sql }: Store, defaultRunner: string): readonly ListedWorker[] =>
  sql.all(LISTED_WORKERS, defaultRunner);

export function findRun({ sql }: Store, runId: string): RunRow | undefined {
  const row = sql.find<RunRow>(RUN_BY_ID, runId);
  return row && withEvents(sql, [row])[0];
}

export function findEndedRuns({ sql }: Store, runIds: readonly string[]): RunRow[] {
  return sql.all(ENDED, JSON.stringify(runIds));
}

export { findAgentAccess, isAgentToken } from './agent-keys.ts';
export { findCutOff, findUnbegun, findUndecided } from './waiting-events.ts';
export { findAsked } from './approvals.ts';
export { oldestAmong } from './row-queries.ts';
export const findReservation = operationOf(PLAIN_READS.findReservation);
export const findConversation = operationOf(PLAIN_READS.findConversation);
/**
 * The earliest time at which claimRuns, claimOutbox or a requested heartbeat has something to do. It lies in the
 * past while claimable runs wait for a free place.
 */
export const nextDueAt = operationOf(PLAIN_READS.nextDueAt);
export const findHeartbeatAt = operationOf(PLAIN_READS.findHeartbeatAt);

export function listSessions({ sql }: Store, query: ListQuery): SessionRecord[] {
  const { sessionKey = null, owner = null } = query;
  const found = sql.all<Omit<SessionRecord, 'keys'>>(SESSIONS, sessionKey, owner, atMost(query.limit));
  const keys = found.map((one) => [KEYS_OF, one.owner, one.key] as const);
  const known = keys.length === 0 ? [] : sql.allOf<ConversationKey>(keys);
  return found.map((one, index) => ({ ...one, keys: known[index] ?? [] }));
}

/** The channel and recipient last used, as JSON text. */
export function findLastTarget({ sql }: Store): string | undefined {
  return sql.find<{ target: string }>('SELECT target FROM last_target')?.target;
}

/** As JSON texts. */
export function listDecisions({ sql }: Store, query: ListQuery): string[] {
  const { mappingId = null, state = null, limit } = query;
  return sql
    .all<{ decision: string }>(DECISIONS, mappingId, state, atMost(limit))
    .map(({ decision }) => decision);
}

/** As JSON text. */
export function findDecision({ sql }: Store, requestId: string): string | undefined {
  return sql.find<{ decision: string }>(DECISION, requestId)?.decision;
}

export function findKeptRequest({ sql }: Store, requestId: string): KeptRequest | undefined {
  return sql.find(KEPT, requestId);
}

/** The newest kept requests, newest first; of one kind, or of both. */
export function listKeptRequests(
  { sql }: Store,
  limit: number,
  kind: KeptRequest['kind'] | null = null,
): readonly KeptRequest[] {
  return sql.all(NEWEST_KEPT, kind, limit);
}

/**
 * Kept requests of a time, newest first, as many as have `maxBytes` together, of a longer one its beginning. `before`
 * is the `next` of the part read last; without `next` there are no more.
 */
export function readKept(
  { sql }: Store,
  { before = Number.MAX_SAFE_INTEGER, from, to, maxBytes }: KeptPart,
): { rows: KeptRequest[]; next?: number } {
  let left = maxBytes;
  const sizes = sql.all<{ seq: number; bytes: number }>(KEPT_SIZES, before, from, to);
  const part = sizes.filter(({ bytes }, index) => (left -= index === 0 ? Math.min(bytes, left) : bytes) >= 0);
  const next = part.at(-1)?.seq;
  if (next === undefined) return { rows: [] };
  return { rows: sql.all(KEPT_PART, maxBytes, before, next, from, to), next };
}

/**
 * As `nextDueAt`, without runs that wait for more events, as `debounce` of their mapping says; those that were accepted
 * after `nowMs` count, as the clock was set back since.
 */
export function nextRetryAt({ sql }: Store, nowMs: number): number | undefined {
  return sql.find<{ at: number | null }>(nextRetry(sql.totals), nowMs)?.at ?? undefined;
}

/** What is claimed is bounded, as each performer holds so many at most. */
const ACTIVE_OUTBOX = both`SELECT CAST(count(*) AS INTEGER) AS count FROM outbox ${by('outbox_active')}
  WHERE state = ${OUTBOX.active}`;

export function backlog({ sql }: Store): Backlog {
  const { queuedRuns, activeRuns, deadRuns, queuedOutbox, deadOutbox, ...more } = readCounters(sql);
  const oldest = sql.find<{ at: number }>(OLDEST_QUEUED);
  const dead = sql.find<{ at: number | null }>(OLDEST_DEAD)?.at ?? undefined;
  return {
    queuedRuns,
    activeRuns,
    deadRuns,
    queuedOutbox,
    activeOutbox: sql.find<{ count: number }>(ACTIVE_OUTBOX)?.count ?? 0,
    deadOutbox,
    pendingEvents: more.pendingEvents,
    deadEvents: more.deadEvents,
    bytes: more.runBytes,
    ...(oldest !== undefined && { oldestQueuedAt: oldest.at }),
    ...(dead !== undefined && { oldestDeadAt: dead }),
  };
}

/** What does not fit together in the rows; empty where all is well. */
export function findBrokenRows({ sql }: Store): readonly string[] {
  return findBroken(sql);
}

/** The files that were live under this id; undefined where they are not kept. */
export function findGeneration({ sql }: Store, id: string): KeptGeneration | undefined {
  const row = sql.find<{ files: string }>(GENERATION, id);
  if (row === undefined) return undefined;
  const files = JSON.parse(row.files) as readonly Omit<KeptFile, 'content'>[];
  const hashes = JSON.stringify(files.map(({ hash }) => hash));
  const contents = new Map(
    sql.all<{ hash: string; content: string }>(FILES, hashes).map(({ hash, content }) => [hash, content]),
  );
  return { id, files: files.map((file) => ({ ...file, content: contents.get(file.hash) ?? '' })) };
}

const PAUSES = 'SELECT mapping_id AS "mappingId", since FROM queue_pauses ORDER BY since, mapping_id';
const MARKED = `SELECT mapping_id AS "mappingId", reason, waiting, free_at AS until FROM limited_mappings
  WHERE last_at > ? ORDER BY mapping_id`;
const WAITING = both`SELECT count(*) AS count FROM runs ${by('runs_queued')}
  WHERE state <= ${RUN.waiting} AND state <= ${RUN.ready} AND mapping_id = ?`;
const OF_RUNNER = both`${WAITING} AND runner = ?`;
const HELD = both`${WAITING} AND exempt = 0`;
const HELD_IN_LINES = both`${HELD} AND line IN ${listed('?')}`;

/** All pauses, the oldest first. */
export function listPauses({ sql }: Store): QueuePause[] {
  const prefix = pauseOfRunner('');
  return sql.all<QueuePause>(PAUSES).map((pause) => {
    const { mappingId } = pause;
    return mappingId.startsWith(prefix) ? { ...pause, runner: mappingId.slice(prefix.length) } : pause;
  });
}

/** What was marked after a time, as it was marked last. */
export function listMarked({ sql }: Store, sinceMs: number): LimitedMapping[] {
  return sql.all<LimitedMapping & { until: number | null }>(MARKED, Math.round(sinceMs)).map((row) => {
    const { until, ...rest } = row;
    return until === null ? rest : { ...rest, until };
  });
}

/** Mappings with runs that are due and wait for a pause or a limit, by their id. */
export function listLimited(
  store: Store,
  {
    nowMs,
    rules,
    defaultRunner,
  }: { readonly nowMs: number; readonly rules?: LimitRules; readonly defaultRunner?: string },
): LimitedMapping[] {
  const { sql } = store;
  const pauses = listPauses(store);
  if (pauses.length === 0 && rules === undefined) return [];
  const isPaused = pausedBy(pauses, defaultRunner);
  const capacity = new HourlyCapacity(sql, rules, nowMs);
  const queues = Map.groupBy(sql.all<RunQueue>(RUN_QUEUES), ({ mappingId }) => mappingId);
  return [...queues].flatMap(([mappingId, ofMapping]): LimitedMapping[] => {
    const paused = ofMapping.filter(isPaused);
    if (paused.length > 0) {
      const counts = paused.map(({ runner }) => count(sql, OF_RUNNER, mappingId, runner));
      return [{ mappingId, reason: 'paused', waiting: counts.reduce((sum, each) => sum + each, 0) }];
    }
    const found = limitedBy(sql, capacity, mappingId);
    return found === undefined || found.waiting === 0 ? [] : [found];
  });
}

function limitedBy(sql: Statements, capacity: HourlyCapacity, mappingId: string): LimitedMapping | undefined {
  if (capacity.left(mappingId) <= 0) {
    const spentUntil = capacity.spentUntil(mappingId);
    const reason = spentUntil === undefined ? 'runsPerHour' : 'usdPerDay';
    const until = spentUntil ?? capacity.freeAt(mappingId);
    const waiting = count(sql, HELD, mappingId);
    return { mappingId, reason, waiting, ...(until === undefined ? {} : { until }) };
  }
  const full = capacity.fullLines(mappingId);
  if (full.length === 0) return undefined;
  const waiting = count(sql, HELD_IN_LINES, mappingId, JSON.stringify(full.map(({ line }) => line)));
  const until = Math.min(...full.map(({ freeAt }) => freeAt));
  return { mappingId, reason: 'runsPerHourAndSession', waiting, until };
}

function count(sql: Statements, text: Sql, ...values: string[]): number {
  return sql.find<{ count: number }>(text, ...values)?.count ?? 0;
}

const SET_ASIDE = `SELECT id, mailbox, identity, state, status, code, reason, sender AS "from", subject,
  size_bytes AS "sizeBytes", received_at AS "receivedAt", set_aside_at AS "setAsideAt", attempts FROM mail_set_aside
  WHERE (CAST(?1 AS TEXT) IS NULL OR mailbox = ?1) AND (CAST(?2 AS TEXT) IS NULL OR state = ?2) ORDER BY seq LIMIT ?3`;

const MAIL_PASSED = `SELECT 1 FROM mail_passed WHERE mailbox = ?1 AND identity = ?2
  UNION ALL SELECT 1 FROM mail_passed WHERE mailbox = ?1 AND fingerprint = ?2 LIMIT 1`;

/** How far the recovery of each path is, and what somebody wants of it. */
export function listRecoveries({ sql }: Store): RecoveryRecord[] {
  return sql.all<RecoveryRecord>('SELECT path, state, wanted FROM recoveries ORDER BY path');
}

export function listMailboxes({ sql }: Store): MailboxRecord[] {
  return sql.all<MailboxRow>(`${MAILBOXES} ORDER BY mailbox`).map(toRecord);
}

/** Asked with an identity or a fingerprint, which have different forms. */
export function isMailPassed({ sql }: Store, mailbox: string, mark: string): boolean {
  return sql.find(MAIL_PASSED, mailbox, mark) !== undefined;
}

/** In the order they were set aside. */
export function listSetAsideMail(
  { sql }: Store,
  query: { readonly limit: number; readonly mailbox?: string; readonly state?: SetAsideMail['state'] },
): SetAsideMail[] {
  return sql.all(SET_ASIDE, query.mailbox ?? null, query.state ?? null, query.limit);
}
