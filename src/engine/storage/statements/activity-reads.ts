import {
  type AuditRecord,
  type CostRecord,
  type DecidedGroup,
  DROPPED,
  type FailedHour,
  type ListQuery,
  type MappingActivity,
  NO_ACTIVITY,
  NO_CONVERSATION,
  SUPERSEDED,
  type UnsentRun,
} from '../records.ts';
import { STRANGER } from '../request-records.ts';
import { DAY_MS, dayBefore, startOfDay } from './hourly-capacity.ts';
import { both, by, type Dialects, listed } from './statements.ts';
import { atMost } from './row-queries.ts';
import { EVENT, FAILED_RUN, OUTBOX, RUN, type Table } from './rows.ts';
import type { Store } from './store.ts';

/** Lists of what mappings did and cost, and of who changed what; each looks at a bounded number of rows. */

/** Ended runs that are looked at, the newest. */
const MAX_ROWS = 10_000;

const ENDED = both`SELECT mapping_id AS "mappingId", count(*) AS runs,
    sum(CASE WHEN state = ${RUN.dead} OR (outcome IN ('error', 'timeout')
      AND coalesce(error_code, '') NOT IN ('${DROPPED.code}', '${SUPERSEDED.code}', '${NO_CONVERSATION}'))
      THEN 1 ELSE 0 END) AS failed
  FROM (SELECT mapping_id, state, outcome, error_code FROM runs ${by('runs_ended')}
    WHERE state >= ${RUN.completed} AND ended_at > ? ORDER BY ended_at DESC LIMIT ${MAX_ROWS}) AS newest
  GROUP BY mapping_id`;
const ACTIVE = both`SELECT mapping_id AS "mappingId", count(*) AS active FROM runs ${by('runs_active')}
  WHERE state = ${RUN.active} GROUP BY mapping_id`;
const USED = `SELECT mapping_id AS "mappingId", CAST(sum(input_tokens) AS BIGINT) AS "inputTokens",
    CAST(sum(output_tokens) AS BIGINT) AS "outputTokens", CAST(sum(micro_usd) AS BIGINT) AS "microUsd"
  FROM recent_costs WHERE minute > ? GROUP BY mapping_id`;
const COSTS = `SELECT day, mapping_id AS "mappingId", runner, turns, input_tokens AS "inputTokens",
    output_tokens AS "outputTokens", micro_usd AS "microUsd", cost_unknown AS "costUnknown" FROM costs
  WHERE CAST(?1 AS TEXT) IS NULL OR mapping_id = ?1 ORDER BY day DESC, micro_usd DESC, mapping_id, runner LIMIT ?2`;
const AUDIT = both`SELECT at, who, source, what, about, changed FROM audit
  WHERE CAST(?1 AS TEXT) IS NULL OR what IN ${listed('?1')} ORDER BY seq DESC LIMIT ?2`;

/** The newest of one kind by reason and hour, and of each hour the last. */
const failedHours = (kind: FailedHour['kind'], table: Table, [where, place, at]: readonly string[]): string =>
  `SELECT '${kind}' AS kind, hours.mapping_id AS "mappingId", place AS "where", why, count, "firstAt", "lastAt",
    ${table}.${kind === 'delivery' ? 'run_id' : 'id'} AS example, coalesce(${table}.error_message, '') AS message
  FROM (SELECT mapping_id, place, why, count(*) AS count, min(at) AS "firstAt", max(at) AS "lastAt", max(seq) AS newest
    FROM (SELECT seq, mapping_id, ${place} AS place, coalesce(error_code, '') AS why, ${at} AS at FROM ${table}
      WHERE ${where} ORDER BY seq DESC LIMIT ?1) AS failed
    GROUP BY mapping_id, place, why, at / 3600000) AS hours JOIN ${table} ON ${table}.seq = newest`;
const FAILED_HOURS = [
  failedHours('run', 'runs', [FAILED_RUN, 'runner', 'ended_at']),
  failedHours('run', 'runs', [`state = ${RUN.dead}`, 'runner', 'ended_at']),
  failedHours('delivery', 'outbox', [
    `state = ${OUTBOX.dead}`,
    "coalesce(recipient, 'callback')",
    'ended_at',
  ]),
  failedHours('event', 'events', [`state = ${EVENT.dead}`, "''", 'created_at']),
].join(' UNION ALL ');

/** Decisions that are counted together, so that accepts pass between. */
const PART_ROWS = 500;
const PART_END = `SELECT max(seq) AS seq FROM (SELECT seq FROM decisions WHERE seq > ? ORDER BY seq LIMIT ${PART_ROWS}) AS part`;
const FACTS: Dialects = { sqlite: 'decision', postgres: 'decision::jsonb' };
/** The row is read once, and not for each of its parts. */
const ONCE: Dialects = { sqlite: '', postgres: 'OFFSET 0' };
const FACT_AT: Dialects = {
  sqlite: "CAST(facts ->> 'receivedAt' AS INTEGER)",
  postgres: "(facts ->> 'receivedAt')::numeric::bigint",
};
const CODES: Dialects = {
  sqlite: "(SELECT group_concat(value ->> 'code', ' ') FROM json_each(facts, '$.findings'))",
  postgres: "(SELECT string_agg(one ->> 'code', ' ') FROM jsonb_array_elements(facts -> 'findings') AS one)",
};
const DECIDED = both`SELECT path, "mappingId", count, "firstAt", "lastAt",
    CASE WHEN why IS NOT NULL THEN (SELECT decision FROM decisions WHERE seq = newest) END AS refused
  FROM (SELECT path, mapping_id AS "mappingId", why, count(*) AS count, min(at) AS "firstAt", max(at) AS "lastAt",
      max(seq) AS newest
    FROM (SELECT seq, mapping_id, facts ->> 'path' AS path, ${FACT_AT} AS at,
        CASE WHEN outcome NOT IN ('accepted', 'skipped') THEN concat_ws(' ', facts ->> 'code', facts ->> 'status',
          facts -> 'missed', ${CODES}, facts -> 'replays') END AS why
      FROM (SELECT seq, mapping_id, outcome, ${FACTS} AS facts FROM decisions
        WHERE seq > ? AND seq <= ? AND outcome <> '${STRANGER}' ${ONCE}) AS part
    ) AS rows_of_part GROUP BY path, mapping_id, why, at / 300000) AS grouped`;
/** What is being sent, and then what was given up or dropped: an emoji is no reply. */
const UNSENT = both`SELECT DISTINCT run_id AS "runId", CASE WHEN state <= ${OUTBOX.active} THEN 'sending' ELSE 'unsent' END AS "end"
  FROM outbox ${by('outbox_of_run')} WHERE run_id IN ${listed('?')} AND (state IN (${OUTBOX.queued}, ${OUTBOX.active}, ${OUTBOX.dead})
    OR (state = ${OUTBOX.skipped} AND error_code = '${DROPPED.code}' AND body NOT LIKE '%"reaction":{%')) ORDER BY "end"`;
type CostRow = Omit<CostRecord, 'day' | 'usd'> & { readonly day: number; readonly microUsd: number };

const usdOf = (microUsd: number): number => microUsd / 1_000_000;

/** What turns cost by day, mapping and runner: the newest day first, and of a day what cost most. */
export function listCosts(
  { sql }: Store,
  { mappingId, limit }: Pick<ListQuery, 'mappingId' | 'limit'>,
): CostRecord[] {
  return sql.all<CostRow>(COSTS, mappingId ?? null, atMost(limit)).map(({ day, microUsd, ...row }) => ({
    ...row,
    day: new Date(startOfDay(day)).toISOString().slice(0, 10),
    usd: usdOf(microUsd),
  }));
}

/** Mappings that had runs in the last 24 hours, by id. Looks at the newest 10,000 that ended. */
export function mappingActivity({ sql }: Store, nowMs: number): MappingActivity[] {
  const since = Math.round(nowMs - DAY_MS);
  const answers = sql.allOf<{ readonly mappingId: string; readonly microUsd?: number }>([
    [ENDED, since],
    [ACTIVE],
    [USED, dayBefore(nowMs)],
  ]);
  const found = new Map<string, MappingActivity>();
  for (const { mappingId, microUsd, ...counts } of answers.flat()) {
    const usd = microUsd === undefined ? {} : { usd: usdOf(microUsd) };
    found.set(mappingId, { mappingId, ...NO_ACTIVITY, ...found.get(mappingId), ...counts, ...usd });
  }
  return [...found.values()].toSorted((a, b) => (a.mappingId < b.mappingId ? -1 : 1));
}

/** The newest changes; with `whats` only such. */
export function listAudit({ sql }: Store, limit: number, whats?: readonly string[]): AuditRecord[] {
  return sql.all(AUDIT, whats === undefined ? null : JSON.stringify(whats), atMost(limit));
}

/**
 * Counts some hundred decisions after a number, the oldest first; `next` is the number of the last, and absent where there
 * are none. What was refused is counted by all that says why, and what proved nothing is not.
 */
export function countDecided({ sql }: Store, after: number): { groups: DecidedGroup[]; next?: number } {
  const next = sql.find<{ seq: number | null }>(PART_END, after)?.seq ?? undefined;
  return next === undefined ? { groups: [] } : { groups: sql.all(DECIDED, after, next), next };
}

/** What failed or was given up, by its reason and hour, of the newest `limit` of each kind. */
export function failedByHour({ sql }: Store, limit: number): FailedHour[] {
  return sql
    .all<FailedHour>(FAILED_HOURS, atMost(limit))
    .map((hour) => ({ ...hour, where: hour.where.split('\n', 1)[0] ?? '' }));
}

/** Returns the given runs with a delivery or callback that did not go out; what will not go out stands last. */
export function findUnsent({ sql }: Store, runIds: readonly string[]): UnsentRun[] {
  return runIds.length === 0 ? [] : sql.all(UNSENT, JSON.stringify(runIds));
}
