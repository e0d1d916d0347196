import type { ClaimRunsOptions } from '../records.ts';
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
const OF_LANE = `SELECT seq FROM runs INDEXED BY runs_ready
  WHERE state = ${RUN.ready} AND mapping_id = ? AND runner = ? ORDER BY seq LIMIT ?`;

/** Runs that count against the same limits. */
interface Lane {
  readonly mappingId: string;
  readonly runner: string;
}

/**
 * The next ready runs in order of arrival. Under limits each lane is looked at by itself, so that a full one with
 * thousands of ready runs costs the others nothing.
 */
export function findClaimable({ sql }: Store, options: ClaimRunsOptions): readonly number[] {
  const { limit, maxPerMapping, maxPerRunner } = options;
  if (maxPerMapping === undefined && (maxPerRunner?.size ?? 0) === 0) {
    return sql.all<{ seq: number }>(IN_ORDER, limit).map(({ seq }) => seq);
  }
  const room = new Room(options, sql.all(ACTIVE));
  const found: { readonly seq: number; readonly lane: Lane }[] = [];
  for (const lane of readyLanes(sql)) {
    const most = Math.min(limit, room.left(lane));
    if (most <= 0) continue;
    const rows = sql.all<{ seq: number }>(OF_LANE, lane.mappingId, lane.runner, most);
    for (const { seq } of rows) found.push({ seq, lane });
  }
  const picked: number[] = [];
  for (const { seq, lane } of found.sort((a, b) => a.seq - b.seq)) {
    if (picked.length === limit) break;
    if (room.left(lane) <= 0) continue;
    room.take(lane);
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
