import { defined } from '../../../base/json.ts';
import {
  type ActivitySince,
  type AuditRecord,
  type CostRecord,
  DROPPED,
  type FailedHour,
  type ListQuery,
  type MappingActivity,
  NO_ACTIVITY,
  NO_CONVERSATION,
  SUPERSEDED,
  type UnsentRun,
} from '../records.ts';
import { DAY_MS, dayBefore, startOfDay } from './hourly-capacity.ts';
import { both, by, type Dialects, listed } from './statements.ts';
import { STRANGER } from '../request-records.ts';
import { atMost } from './row-queries.ts';
import { EVENT, FAILED_RUN, OUTBOX, RUN } from './rows.ts';
import type { Store } from './store.ts';

/** Lists of what mappings did and cost, and of who changed what; each looks at a bounded number of rows. */

/** Decisions and ended runs that are looked at, the newest. */
const MAX_ROWS = 10_000;

const RECEIVED_AT: Dialects = {
  sqlite: "decision ->> '$.receivedAt'",
  postgres: "(decision::json ->> 'receivedAt')::numeric::bigint",
};
// No index of their own: they would cost every request more than this costs who asks.
const HITS = both`SELECT mapping_id AS "mappingId", count(*) AS hits, max(at) AS "lastHitAt",
    sum(CASE WHEN outcome = 'rejected' THEN 1 ELSE 0 END) AS refusals
  FROM (SELECT mapping_id, outcome, ${RECEIVED_AT} AS at
    FROM decisions ORDER BY seq DESC LIMIT ${MAX_ROWS}) AS newest
  WHERE mapping_id IS NOT NULL AND at > ? GROUP BY mapping_id`;
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
const AUDIT = 'SELECT at, who, source, what, about, changed FROM audit ORDER BY seq DESC LIMIT ?';

/** The newest of each kind. */
const FAILED_HOURS = both`SELECT kind, mapping_id AS "mappingId", place, why, count(*) AS count, min(at) AS "firstAt",
    max(at) AS "lastAt", max(id) AS example
  FROM (SELECT * FROM (
    SELECT 'run' AS kind, mapping_id, runner AS place, coalesce(error_code, '') AS why, ended_at AS at, id FROM runs
    WHERE ${FAILED_RUN} ORDER BY seq DESC LIMIT ?1
  ) AS failed UNION ALL SELECT * FROM (
    SELECT 'run' AS kind, mapping_id, runner AS place, coalesce(error_code, '') AS why, ended_at AS at, id FROM runs
    WHERE state = ${RUN.dead} ORDER BY seq DESC LIMIT ?1
  ) AS dead UNION ALL SELECT * FROM (
    SELECT 'delivery' AS kind, mapping_id, coalesce(recipient, 'callback') AS place, coalesce(error_code, '') AS why,
      ended_at AS at, run_id AS id FROM outbox WHERE state = ${OUTBOX.dead} ORDER BY seq DESC LIMIT ?1
  ) AS unsent UNION ALL SELECT * FROM (
    SELECT 'event' AS kind, mapping_id, '' AS place, coalesce(error_code, '') AS why, created_at AS at, id FROM events
    WHERE state = ${EVENT.dead} ORDER BY seq DESC LIMIT ?1
  ) AS parked) AS work GROUP BY kind, mapping_id, place, why, at / 3600000`;
const openOf = (state: number): Dialects => both`SELECT DISTINCT run_id AS "runId" FROM outbox
  WHERE state = ${state} AND run_id IN ${listed('?')}`;
const OLDEST_DECIDED = both`SELECT count(*) AS count, min(at) AS since,
    sum(CASE WHEN outcome = '${STRANGER}' THEN 0 ELSE 1 END) AS kept
  FROM (SELECT outcome, ${RECEIVED_AT} AS at FROM decisions ORDER BY seq DESC LIMIT ${MAX_ROWS}) AS newest`;
const OLDEST_ENDED = both`SELECT count(*) AS count, min(ended_at) AS since, 0 AS kept
  FROM (SELECT ended_at FROM runs ${by('runs_ended')} WHERE state >= ${RUN.completed} AND ended_at > ?
    ORDER BY ended_at DESC LIMIT ${MAX_ROWS}) AS newest`;

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

/** Mappings that did something in the last 24 hours, by id. Looks at the newest 10,000 decisions and ended runs. */
export function mappingActivity({ sql }: Store, nowMs: number): MappingActivity[] {
  const since = Math.round(nowMs - DAY_MS);
  const answers = sql.allOf<{ readonly mappingId: string; readonly microUsd?: number }>([
    [HITS, since],
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

export function listAudit({ sql }: Store, limit: number): AuditRecord[] {
  return sql.all(AUDIT, atMost(limit));
}

/** What failed or was given up, by its reason and hour, of the newest `limit` of each kind. */
export function failedByHour({ sql }: Store, limit: number): FailedHour[] {
  return sql
    .all<FailedHour>(FAILED_HOURS, atMost(limit))
    .map((hour) => ({ ...hour, place: hour.place.split('\n', 1)[0] ?? '' }));
}

/** Returns the given runs with a delivery or callback that did not go out; what was given up stands last. */
export function findUnsent({ sql }: Store, runIds: readonly string[]): UnsentRun[] {
  if (runIds.length === 0) return [];
  const ids = JSON.stringify(runIds);
  const of = (state: number, end: UnsentRun['end']): UnsentRun[] =>
    sql.all<{ readonly runId: string }>(openOf(state), ids).map(({ runId }) => ({ runId, end }));
  return [...of(OUTBOX.queued, 'sending'), ...of(OUTBOX.active, 'sending'), ...of(OUTBOX.dead, 'unsent')];
}

/** Since when `mappingActivity` has all there was, where `keep` decisions are kept. */
export function activitySince({ sql }: Store, nowMs: number, keep: number): ActivitySince {
  const since = Math.round(nowMs - DAY_MS);
  const [decided, ended] = sql.allOf<ActivityWindow>([[OLDEST_DECIDED], [OLDEST_ENDED, since]]);
  const from = ([looked]: readonly ActivityWindow[] = []): number | undefined => {
    const isCut = looked !== undefined && (looked.count >= MAX_ROWS || (looked.kept ?? 0) >= keep);
    return isCut && looked.since !== null && looked.since > since ? looked.since : undefined;
  };
  return defined({ hits: from(decided), runs: from(ended) });
}

/** How many rows were looked at, of them those that a ring keeps, and the time of the oldest. */
interface ActivityWindow {
  readonly count: number;
  readonly kept: number | null;
  readonly since: number | null;
}
