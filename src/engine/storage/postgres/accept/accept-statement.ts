import { newestVersion } from '../../statements/migrations.ts';
import { EVENT, RUN } from '../../statements/rows.ts';
import type { AcceptLimits } from '../../statements/statements.ts';
import type { NewRun, NewWake, PreparedRequest, Reservation } from '../../prepared-request.ts';
import { hasOwnKey, isNamesake, queueOf } from '../../statements/session-queue.ts';
import { escapeText } from '../worker/dialect.ts';

/** A request that is stored without a look at others: all of it is new, or none of it is stored. */
export interface AcceptEntry {
  readonly runs: readonly NewRun[];
  readonly wakes: readonly NewWake[];
  /** What it is known by, with the answer for those who come later. */
  readonly key?: Reservation & { readonly bodySha256: string; readonly result: string };
  /** Keys that have expired by then are free. */
  readonly nowMs: number;
}

/** What a statement has to do: a part costs time also where it has no rows. */
interface AcceptForm {
  readonly isAgain: boolean;
  readonly hasRuns: boolean;
  readonly hasWakes: boolean;
  readonly hasKeys: boolean;
}

/** When the statement came, by the clock of the database. */
const CAME_AT = '(extract(epoch FROM statement_timestamp()) * 1000)::bigint';

/**
 * Stores entries in a transaction of one statement. What they need of others is had without a lock that all writers share:
 * a key by its constraint, which makes who comes with the same one wait; the order in a conversation by the number of the
 * run, as a claim puts what has arrived into its queue; the backlog by the sum of what is counted in slots, which may be
 * passed by what is stored at the same time.
 *
 * It stores nothing where it came later than was meant: who sent it waits no more.
 *
 * Asked again after its answer was lost, it waits for what the server still works on, and leaves out what is there.
 */
function accept({ isAgain, hasRuns, hasWakes, hasKeys }: AcceptForm): string {
  const isOpen = hasKeys ? 'WHERE n IS NULL OR n IN (SELECT n FROM open)' : '';
  const isNew = isAgain ? 'ON CONFLICT (id) DO NOTHING' : '';
  const space = `space AS (
  SELECT one FROM totals WHERE (SELECT version FROM sluice_schema) <= ${newestVersion('postgres')}
    AND $1::json IS NOT NULL AND $2::json IS NOT NULL AND $3::json IS NOT NULL
    AND ($5 = 0 OR queued_runs + active_runs + $5 <= $7 AND run_bytes + $6 <= $8)
    AND ($9 = 0 OR pending_wakes + $9 <= $10) AND ${CAME_AT} <= $11
)`;
  const keys = `keys AS (
  SELECT * FROM json_to_recordset($3::json) AS (n integer, scope text, key text, "bodySha256" text, result text,
    "expiresAt" bigint, "nowMs" bigint)
), taken AS (
  INSERT INTO idempotency AS known (scope, key, body_sha256, result, expires_at)
  SELECT scope, key, "bodySha256", result, "expiresAt" FROM keys, space ORDER BY scope, key
  ON CONFLICT (scope, key) DO UPDATE SET body_sha256 = excluded.body_sha256, result = excluded.result,
    expires_at = excluded.expires_at
  WHERE known.expires_at <= (SELECT min("nowMs") FROM keys)
    ${isAgain ? 'OR known.body_sha256 = excluded.body_sha256 AND known.result = excluded.result' : ''}
  RETURNING scope, key
), open AS (
  SELECT n FROM keys JOIN taken USING (scope, key)
)`;
  const runs = `new_runs AS (
  INSERT INTO runs (id, kind, state, session_key, owner, line, mapping_id, runner, bytes, accepted_at, due_at,
    max_runs_key)
  SELECT id, 'hook', CASE WHEN line IS NULL THEN ${RUN.ready} ELSE ${RUN.waiting} END, "sessionKey", owner, line,
    "mappingId", runner, bytes, "acceptedAt", CASE WHEN line IS NULL THEN "acceptedAt" ELSE 0 END, "maxRunsKey"
  FROM space, ROWS FROM (json_to_recordset($1::json) AS (n integer, id text, "sessionKey" text, owner text, line text,
    "mappingId" text, runner text, bytes bigint, "acceptedAt" bigint, action text, "maxRunsKey" text)) WITH ORDINALITY AS given
  ${isOpen} ORDER BY ordinality ${isNew} RETURNING seq, id, bytes
), actions AS (
  INSERT INTO run_actions (seq, action) SELECT seq, action
  FROM new_runs JOIN json_to_recordset($1::json) AS given (id text, action text) USING (id)
)`;
  const wakes = `new_wakes AS (
  INSERT INTO events (id, kind, state, mode, mapping_id, created_at, origin, text)
  SELECT id, 'wake', ${EVENT.pending}, mode, "mappingId", "createdAt", origin, text
  FROM space, ROWS FROM (json_to_recordset($2::json) AS (n integer, id text, mode text, "mappingId" text,
    "createdAt" bigint, origin text, text text)) WITH ORDINALITY AS given
  ${isOpen} ORDER BY ordinality ${isNew} RETURNING mode, created_at
)`;
  const counted = `counted AS (
  INSERT INTO counter_slots AS slots (slot, queued_runs, run_bytes, pending_wakes, pending_events, heartbeat_at)
  SELECT $4, ${hasRuns ? '(SELECT count(*) FROM new_runs), (SELECT coalesce(sum(bytes), 0) FROM new_runs)' : '0, 0'},
    ${
      hasWakes
        ? `(SELECT count(*) FROM new_wakes), (SELECT count(*) FROM new_wakes),
    (SELECT min(created_at) FROM new_wakes WHERE mode = 'now')`
        : '0, 0, NULL'
    }
  ON CONFLICT (slot) DO UPDATE SET queued_runs = slots.queued_runs + excluded.queued_runs,
    run_bytes = slots.run_bytes + excluded.run_bytes, pending_wakes = slots.pending_wakes + excluded.pending_wakes,
    pending_events = slots.pending_events + excluded.pending_events,
    heartbeat_at = least(slots.heartbeat_at, excluded.heartbeat_at)
)`;
  const parts = [space, hasKeys && keys, hasRuns && runs, hasWakes && wakes, counted].filter(
    (part) => part !== false,
  );
  return `WITH ${parts.join(', ')}
  SELECT (SELECT count(*) FROM space)::integer AS space, ${hasKeys ? '(SELECT json_agg(n) FROM open)' : 'NULL'} AS open,
    ${CAME_AT} AS at`;
}

interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

function statement(form: AcceptForm): NamedStatement {
  return { name: `accept${Object.values(form).map(Number).join('')}`, text: accept(form) };
}

/** Each form as it is asked first and asked again, made once; by its bits: 1 for runs, 2 for wakes, 4 for keys. */
const STATEMENTS = Array.from({ length: 8 }, (_, bits) => {
  const parts = { hasRuns: (bits & 1) > 0, hasWakes: (bits & 2) > 0, hasKeys: (bits & 4) > 0 };
  return {
    first: statement({ isAgain: false, ...parts }),
    again: statement({ isAgain: true, ...parts }),
  };
});

/** The statements that store these entries: the one to ask, and the one to ask after its answer was lost. */
export function acceptStatements(entries: readonly AcceptEntry[]): {
  readonly first: NamedStatement;
  readonly again: NamedStatement;
} {
  let bits = 0;
  for (const { runs, wakes, key } of entries)
    bits |= (runs.length > 0 ? 1 : 0) | (wakes.length > 0 ? 2 : 0) | (key === undefined ? 0 : 4);
  return STATEMENTS[bits]!;
}

/** How many rows are counted in: more than there are connections, so that two seldom wait for each other. */
export const SLOTS = 64;

export function acceptValues(
  entries: readonly AcceptEntry[],
  {
    slot,
    limits,
    notAfter,
  }: { readonly slot: number; readonly limits: AcceptLimits; readonly notAfter: number },
): readonly unknown[] {
  const runs = entries.flatMap((entry, n) =>
    entry.runs.map((run) => ({ ...run, line: lineOf(run), ...keyed(entry, n) })),
  );
  const wakes = entries.flatMap((entry, n) => entry.wakes.map((wake) => ({ ...wake, ...keyed(entry, n) })));
  const keys = entries.flatMap(({ key, nowMs }, n) => (key === undefined ? [] : [{ ...key, nowMs, n }]));
  return [
    jsonOf(runs),
    jsonOf(wakes),
    jsonOf(keys),
    slot,
    runs.length,
    runs.reduce((sum, { bytes }) => sum + bytes, 0),
    limits.maxBacklogRuns,
    limits.maxBacklogBytes,
    wakes.length,
    limits.maxPendingEvents,
    Math.min(Math.round(notAfter), Number.MAX_SAFE_INTEGER),
  ];
}

function keyed({ key }: AcceptEntry, n: number): { readonly n?: number } {
  return key === undefined ? {} : { n };
}

/** The queue that a run stands in. */
export function lineOf(run: NewRun): string | null {
  return hasOwnKey(run) ? null : queueOf(run.owner, run.sessionKey);
}

/** Few texts hold what the database does not: only then each is looked at. */
function jsonOf(rows: readonly object[]): string {
  const json = JSON.stringify(rows);
  return /\\u0000|\u{10FFFF}/u.test(json) ? JSON.stringify(rows.map(textsOf)) : json;
}

function textsOf<Row extends object>(row: Row): Row {
  const changed = Object.entries(row).map(([name, value]) => [
    name,
    typeof value === 'string' ? escapeText(value) : value,
  ]);
  return Object.fromEntries(changed) as Row;
}

/** The entry that a request is; undefined where it needs a look at others. */
export function entryOf({ actions, reservation, receivedAt }: PreparedRequest): AcceptEntry | undefined {
  const runs: NewRun[] = [];
  const wakes: NewWake[] = [];
  let key: AcceptEntry['key'] = reservation;
  for (const action of actions) {
    if (action.kind === 'notify' || action.checked !== undefined) return undefined;
    if (action.kind === 'wake') wakes.push(action.row);
    else if (
      (action.gather ?? action.ask ?? action.seen ?? action.conversation) !== undefined ||
      isNamesake(action.row)
    )
      return undefined;
    else runs.push(action.row);
    const { dedupe, kind, mode, row } = action;
    if (dedupe === undefined) continue;
    if (key !== undefined || actions.length > 1) return undefined;
    const accepted = { kind, id: row.id, mode, duplicate: false };
    key = { ...dedupe, bodySha256: '', result: JSON.stringify(accepted) };
  }
  return { runs, wakes, nowMs: receivedAt, ...(key && { key }) };
}
