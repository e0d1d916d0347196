import { type LimitedMapping, type LimitRules, pauseOfRunner, type QueuePause } from '../records.ts';
import { both, by, listed, type Sql } from './dialects.ts';
import { type Lane, LANES, pausedBy } from './claimable-runs.ts';
import { HourlyRoom } from './hourly-room.ts';
import { RUN } from './states.ts';
import type { Statements } from './statements.ts';
import type { Store } from './store.ts';

const PAUSES = 'SELECT mapping_id AS "mappingId", since FROM queue_pauses ORDER BY since, mapping_id';
const MARKED = `SELECT mapping_id AS "mappingId", reason, waiting, free_at AS until FROM limited_mappings
  WHERE last_at > ? ORDER BY mapping_id`;
const WAITING = both`SELECT count(*) AS count FROM runs ${by('runs_queued')}
  WHERE state <= ${RUN.waiting} AND state <= ${RUN.ready} AND mapping_id = ?`;
const OF_RUNNER = both`${WAITING} AND runner = ?`;
const HELD = both`${WAITING} AND exempt = 0`;
const HELD_IN_LINES = both`${HELD} AND line IN ${listed('?')}`;

/** The oldest first. */
export function listPauses({ sql }: Store): QueuePause[] {
  const prefix = pauseOfRunner('');
  return sql.all<QueuePause>(PAUSES).map((pause) => {
    const { mappingId } = pause;
    return mappingId.startsWith(prefix) ? { ...pause, runner: mappingId.slice(prefix.length) } : pause;
  });
}

/** Mappings that were marked as limited since a time, as whoever performs found them last. */
export function listMarked({ sql }: Store, sinceMs: number): LimitedMapping[] {
  return sql.all<LimitedMapping & { until: number | null }>(MARKED, Math.round(sinceMs)).map((row) => {
    const { until, ...rest } = row;
    return until === null ? rest : { ...rest, until };
  });
}

/** Mappings with runs that are due and wait for a pause or for a limit. */
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
  const room = new HourlyRoom(sql, rules, nowMs);
  const lanes = Map.groupBy(sql.all<Lane>(LANES), ({ mappingId }) => mappingId);
  return [...lanes].flatMap(([mappingId, ofMapping]): LimitedMapping[] => {
    const paused = ofMapping.filter(isPaused);
    if (paused.length > 0) {
      const counts = paused.map(({ runner }) => count(sql, OF_RUNNER, mappingId, runner));
      return [{ mappingId, reason: 'paused', waiting: counts.reduce((sum, each) => sum + each, 0) }];
    }
    const found = limitedBy(sql, room, mappingId);
    return found === undefined || found.waiting === 0 ? [] : [found];
  });
}

function limitedBy(sql: Statements, room: HourlyRoom, mappingId: string): LimitedMapping | undefined {
  if (room.left(mappingId) <= 0) {
    const spentUntil = room.spentUntil(mappingId);
    const reason = spentUntil === undefined ? 'runsPerHour' : 'usdPerDay';
    const until = spentUntil ?? room.freeAt(mappingId);
    const waiting = count(sql, HELD, mappingId);
    return { mappingId, reason, waiting, ...(until === undefined ? {} : { until }) };
  }
  const full = room.fullLines(mappingId);
  if (full.length === 0) return undefined;
  const waiting = count(sql, HELD_IN_LINES, mappingId, JSON.stringify(full.map(({ line }) => line)));
  const until = Math.min(...full.map(({ freeAt }) => freeAt));
  return { mappingId, reason: 'runsPerHourAndSession', waiting, until };
}

function count(sql: Statements, text: Sql, ...values: string[]): number {
  return sql.find<{ count: number }>(text, ...values)?.count ?? 0;
}
