import { ALL_MAPPINGS, type ClaimRunsOptions, type QueuePause } from '../records.ts';
import type { HourlyRoom } from './hourly-room.ts';
import { RUN } from './states.ts';
import type { Statements } from './statements.ts';
import type { Store } from './store.ts';

const IN_ORDER = `SELECT seq FROM runs INDEXED BY runs_ready_in_order WHERE state = ${RUN.ready} ORDER BY seq LIMIT ?`;
const ACTIVE = `SELECT mapping_id AS mappingId, runner, count(*) AS active FROM runs INDEXED BY runs_active
  WHERE state = ${RUN.active} GROUP BY mapping_id, runner`;
const FIRST_LANE = `SELECT mapping_id AS mappingId, runner FROM runs INDEXED BY runs_ready
  WHERE state = ${RUN.ready} ORDER BY mapping_id, runner LIMIT 1`;
// Two seeks instead of one comparison of pairs, which would walk through the whole lane.
const NEXT_RUNNER = `SELECT mapping_id AS mappingId, runner FROM runs INDEXED BY runs_ready
  WHERE state = ${RUN.ready} AND mapping_id = ? AND runner > ? ORDER BY runner LIMIT 1`;
const NEXT_MAPPING = `SELECT mapping_id AS mappingId, runner FROM runs INDEXED BY runs_ready
  WHERE state = ${RUN.ready} AND mapping_id > ? ORDER BY mapping_id, runner LIMIT 1`;
// A conversation has one ready run at most, so no more are passed over than there are conversations at their limit.
const OF_LANE = `SELECT seq FROM runs INDEXED BY runs_ready
  WHERE state = ${RUN.ready} AND mapping_id = ? AND runner = ? AND exempt = 0
    AND (line IS NULL OR line NOT IN (SELECT value FROM json_each(?))) ORDER BY seq LIMIT ?`;
const EXEMPT = `SELECT seq, mapping_id AS mappingId, runner FROM runs INDEXED BY runs_exempt
  WHERE state = ${RUN.ready} AND exempt = 1 ORDER BY seq LIMIT ?`;
const PAUSES = 'SELECT mapping_id AS mappingId FROM queue_pauses';

/** Runs that count against the same limits. */
interface Lane {
  readonly mappingId: string;
  readonly runner: string;
}

interface Candidate {
  readonly seq: number;
  readonly lane: Lane;
  /** Somebody said that the limits of its mapping do not hold it. */
  readonly isExempt: boolean;
}

/**
 * The next ready runs in order of arrival, with their mappings. Under limits each lane is looked at by itself, so that a full one with
 * thousands of ready runs costs the others nothing.
 */
export function findClaimable(
  store: Store,
  options: ClaimRunsOptions,
  hourly: HourlyRoom,
): readonly number[] {
  const { sql } = store;
  const { limit, maxPerMapping, maxPerRunner, limits } = options;
  const paused = new Set(sql.all<QueuePause>(PAUSES).map(({ mappingId }) => mappingId));
  if (paused.has(ALL_MAPPINGS)) return [];
  const isFree = maxPerMapping === undefined && (maxPerRunner?.size ?? 0) === 0 && limits === undefined;
  if (isFree && paused.size === 0) return sql.all<{ seq: number }>(IN_ORDER, limit).map(({ seq }) => seq);
  const room = new Room(options, sql.all(ACTIVE));
  const found: Candidate[] = sql
    .all<Lane & { seq: number }>(EXEMPT, limit)
    .map(({ seq, ...lane }) => ({ seq, lane, isExempt: true }));
  for (const lane of readyLanes(sql)) {
    const most = Math.min(limit, room.left(lane));
    if (most <= 0 || paused.has(lane.mappingId)) continue;
    for (const { seq } of ofLane(sql, lane, { most, hourly })) found.push({ seq, lane, isExempt: false });
  }
  return pick(found, { limit, room, hourly, paused });
}

function ofLane(
  sql: Statements,
  { mappingId, runner }: Lane,
  { most, hourly }: { readonly most: number; readonly hourly: HourlyRoom },
): readonly { readonly seq: number }[] {
  const atMost = Math.min(most, hourly.left(mappingId));
  if (atMost <= 0) return [];
  const full = hourly.fullLines(mappingId).map(({ line }) => line);
  return sql.all(OF_LANE, mappingId, runner, JSON.stringify(full), atMost);
}

interface Picking {
  readonly limit: number;
  readonly room: Room;
  readonly hourly: HourlyRoom;
  readonly paused: ReadonlySet<string>;
}

function pick(found: readonly Candidate[], { limit, room, hourly, paused }: Picking): readonly number[] {
  const picked: number[] = [];
  for (const { seq, lane, isExempt } of found.toSorted((a, b) => a.seq - b.seq)) {
    if (picked.length === limit) break;
    if (room.left(lane) <= 0 || paused.has(lane.mappingId)) continue;
    if (!isExempt && hourly.left(lane.mappingId) <= 0) continue;
    room.take(lane);
    hourly.take(lane.mappingId);
    picked.push(seq);
  }
  return picked;
}

function* readyLanes(sql: Statements): Generator<Lane> {
  let lane = sql.find<Lane>(FIRST_LANE);
  while (lane !== undefined) {
    yield lane;
    lane = sql.find<Lane>(NEXT_RUNNER, lane.mappingId, lane.runner) ?? sql.find(NEXT_MAPPING, lane.mappingId);
  }
}

/** How many more runs each mapping and each runner may have. */
class Room {
  readonly #options: ClaimRunsOptions;
  readonly #perMapping = new Map<string, number>();
  readonly #perRunner = new Map<string, number>();

  constructor(options: ClaimRunsOptions, active: readonly (Lane & { readonly active: number })[]) {
    this.#options = options;
    for (const lane of active) this.#count(lane, lane.active);
  }

  left({ mappingId, runner }: Lane): number {
    const { maxPerMapping = Infinity, maxPerRunner } = this.#options;
    const name = this.#nameOf(runner);
    // The built-in routes have no mapping that could be limited.
    const ofMapping = mappingId === '' ? Infinity : maxPerMapping - (this.#perMapping.get(mappingId) ?? 0);
    return Math.min(ofMapping, (maxPerRunner?.get(name) ?? Infinity) - (this.#perRunner.get(name) ?? 0));
  }

  take(lane: Lane): void {
    this.#count(lane, 1);
  }

  #count({ mappingId, runner }: Lane, by: number): void {
    const name = this.#nameOf(runner);
    this.#perMapping.set(mappingId, (this.#perMapping.get(mappingId) ?? 0) + by);
    this.#perRunner.set(name, (this.#perRunner.get(name) ?? 0) + by);
  }

  #nameOf(runner: string): string {
    return runner === '' ? (this.#options.defaultRunner ?? '') : runner;
  }
}
