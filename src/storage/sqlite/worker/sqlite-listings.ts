import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ListQuery, QueueSelection, SessionRecord, SessionTurn } from '../../records.ts';
import {
  EVENT_COLUMNS,
  type EventRow,
  OUTBOX_COLUMNS,
  type OutboxRow,
  RUN_COLUMNS,
  type RunRow,
  stateRange,
} from './sqlite-rows.ts';

/** Rows that `retry` and `drop` look at in one step. */
const STEP_ROWS = 200;

/** Everything that only reads. Called between transactions, so nothing uncommitted is ever seen. */
export function openListings(database: DatabaseSync) {
  const statements = new Map<string, StatementSync>();
  const prepared = (text: string): StatementSync => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const statement = database.prepare(text);
    statements.set(text, statement);
    return statement;
  };
  const all = <Row>(text: string, ...values: SQLInputValue[]) =>
    prepared(text).all(...values) as unknown as Row[];

  /** Newest first. State bounds are literals, so that the partial indexes of the schema can serve them. */
  function list<Row>(
    table: 'runs' | 'outbox' | 'events',
    columns: string,
    query: ListQuery,
    conditions: readonly (readonly [string, string | undefined])[],
  ): Row[] {
    const where: string[] = [];
    const values: SQLInputValue[] = [];
    if (query.state !== undefined) {
      const range = stateRange(table, query.state);
      if (range === undefined) return [];
      const [from, to] = range;
      where.push(from === to ? `state = ${from}` : `state <= ${to}`);
    }
    for (const [column, value] of conditions) {
      if (value === undefined) continue;
      where.push(`${column} = ?`);
      values.push(value);
    }
    const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
    return all<Row>(
      `SELECT ${columns} ${condition} ORDER BY ${table}.seq DESC LIMIT ?`,
      ...values,
      atMost(query.limit),
    );
  }

  /** Ids of a selection's next rows in one table. */
  function select(
    table: 'runs' | 'outbox' | 'events',
    selection: QueueSelection,
    states: string,
    ...values: SQLInputValue[]
  ): string[] {
    const [condition, ...given] = toCondition(selection);
    return all<{ id: string }>(
      `SELECT id FROM ${table} WHERE ${states} AND ${condition} ORDER BY seq LIMIT ?`,
      ...values,
      ...given,
      STEP_ROWS,
    ).map(({ id }) => id);
  }

  return {
    listRuns: (query: ListQuery) =>
      list<RunRow>('runs', RUN_COLUMNS, query, [
        ['mapping_id', query.mappingId],
        ['session_key', query.sessionKey],
      ]),
    listOutbox: (query: ListQuery) =>
      list<OutboxRow>('outbox', OUTBOX_COLUMNS, query, [
        ['mapping_id', query.mappingId],
        ['session_key', query.sessionKey],
        ['run_id', query.runId],
        ['id', query.id],
      ]),
    listEvents: (query: ListQuery) =>
      list<EventRow>('events', EVENT_COLUMNS, query, [
        ['mapping_id', query.mappingId],
        ['id', query.id],
      ]),
    findRun: (runId: string) => all<RunRow>(`SELECT ${RUN_COLUMNS} WHERE id = ?`, runId)[0],
    findInterruptedRuns: () => all<RunRow>(`SELECT ${RUN_COLUMNS} WHERE state = 3 ORDER BY runs.seq`),
    findIdempotent: ({ scope, key, nowMs }: { scope: string; key: string; nowMs: number }) =>
      all<{ bodySha256: string; result: string }>(
        `SELECT body_sha256 AS bodySha256, result FROM idempotency
         WHERE scope = ? AND key = ? AND expires_at > ?`,
        scope,
        key,
        nowMs,
      )[0],
    findHistory: (sessionKey: string) =>
      all<SessionTurn>(
        'SELECT role, text, at FROM session_turns WHERE session_key = ? ORDER BY seq',
        sessionKey,
      ),
    listSessions: (query: ListQuery) =>
      all<SessionRecord>(
        `SELECT key, turns, bytes, created_at AS createdAt, last_used_at AS lastUsedAt FROM sessions
         WHERE ?1 IS NULL OR key = ?1 ORDER BY last_used_at DESC, key LIMIT ?2`,
        query.sessionKey ?? null,
        atMost(query.limit),
      ),
    findLastTarget: () => all<{ target: string }>('SELECT target FROM last_target')[0]?.target,
    listDecisions: (query: ListQuery) =>
      all<{ decision: string }>(
        `SELECT decision FROM decisions WHERE (?1 IS NULL OR mapping_id = ?1) AND (?2 IS NULL OR outcome = ?2)
         ORDER BY seq DESC LIMIT ?3`,
        query.mappingId ?? null,
        query.state ?? null,
        atMost(query.limit),
      ).map(({ decision }) => decision),
    findDecision: (requestId: string) =>
      all<{ decision: string }>(
        'SELECT decision FROM decisions WHERE request_id = ? ORDER BY seq DESC LIMIT 1',
        requestId,
      )[0]?.decision,
    findKeptRequest: (requestId: string) =>
      all<{ requestId: string; receivedAt: number; json: string }>(
        `SELECT request_id AS requestId, received_at AS receivedAt, request AS json FROM kept_requests
         WHERE request_id = ? ORDER BY seq DESC LIMIT 1`,
        requestId,
      )[0],

    /** What `retry` would change next. */
    selectRetry: ({ selection, nowMs }: { selection: QueueSelection; nowMs: number }) => {
      const now = Math.round(nowMs);
      return {
        runs: [
          ...select('runs', selection, 'state = 5'),
          ...select('runs', selection, 'state = 2 AND due_at > ?', now),
        ],
        outbox: [
          ...select('outbox', selection, 'state = 4'),
          ...select('outbox', selection, 'state = 0 AND due_at > ?', now),
        ],
        events: select('events', selection, 'state = 3'),
      };
    },
    /** What `drop` would change next: runs as a whole, since what they post is made from them. */
    selectDrop: (selection: QueueSelection) => ({
      runs: ['state <= 2', 'state = 5']
        .flatMap((states) => select('runs', selection, states))
        .flatMap((id) => all<RunRow>(`SELECT ${RUN_COLUMNS} WHERE id = ?`, id)),
      outbox: ['state = 0', 'state = 4'].flatMap((states) => select('outbox', selection, states)),
      events: (selection.kind === 'ids' ? ['state = 0', 'state = 3'] : ['state = 3']).flatMap((states) =>
        select('events', selection, states),
      ),
    }),
    nextDueAt: () =>
      all<{ at: number | null }>(
        `SELECT min(at) AS at FROM (
           SELECT (SELECT 0 FROM runs INDEXED BY runs_ready_in_order WHERE state = 1 LIMIT 1) AS at
           UNION ALL SELECT (SELECT min(due_at) FROM runs INDEXED BY runs_waiting WHERE state = 2)
           UNION ALL SELECT (SELECT min(due_at) FROM outbox INDEXED BY outbox_queued WHERE state = 0)
           UNION ALL SELECT heartbeat_at FROM counters)`,
      )[0]?.at ?? undefined,
    oldestQueuedAt: () =>
      all<{ at: number }>(
        'SELECT accepted_at AS at FROM runs INDEXED BY runs_queued WHERE state <= 2 ORDER BY seq LIMIT 1',
      )[0]?.at,
  };
}

/** A number SQLite takes as a limit; a negative one would mean none. */
function atMost(limit: number): number {
  return Math.min(Math.max(Math.trunc(limit), 0), Number.MAX_SAFE_INTEGER);
}

function toCondition(selection: QueueSelection): [condition: string, ...values: string[]] {
  switch (selection.kind) {
    case 'ids':
      return ['id IN (SELECT value FROM json_each(?))', JSON.stringify(selection.ids)];
    case 'mapping':
      return ['mapping_id = ?', selection.mappingId];
    case 'all':
      return ['true'];
  }
}
