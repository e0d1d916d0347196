import type { DatabaseSync } from 'node:sqlite';
import type { ClaimRunsOptions } from '../../records.ts';
import type { Counters } from './sqlite-counters.ts';
import { RUN } from './sqlite-schema.ts';

export interface RunHead {
  readonly seq: number;
  readonly state: number;
  readonly sessionKey: string;
  /** The line it stands in: its session key, or null where it has that key for itself. */
  readonly line: string | null;
  readonly mappingId: string;
  readonly bytes: number;
}

/** What a session key of its own starts with; the run's id follows. */
const OWN_KEY_PREFIX = 'hook:';

/** Whether a run has its session key for itself, as long as no sender names it. */
export function hasOwnKey(id: string, sessionKey: string): boolean {
  return sessionKey === OWN_KEY_PREFIX + id;
}

/** The waiting line of every session key: who is ready, who is behind whom. */
export function openLine(database: DatabaseSync, counters: Counters) {
  const sql = {
    head: database.prepare(
      `SELECT seq, state FROM runs INDEXED BY runs_in_line
       WHERE line = ? AND state IN (1, 3) AND state <= 3`,
    ),
    nextBlocked: database.prepare(
      `SELECT seq FROM runs INDEXED BY runs_in_line WHERE line = ? AND state = 0 AND state <= 3
       ORDER BY seq LIMIT 1`,
    ),
    adopt: database.prepare(
      'UPDATE runs SET line = session_key WHERE id = ? AND session_key = ? AND line IS NULL',
    ),
    setState: database.prepare('UPDATE runs SET state = ? WHERE seq = ?'),
    due: database.prepare(
      `SELECT seq, line FROM runs INDEXED BY runs_waiting
       WHERE state = 2 AND due_at <= ? ORDER BY due_at, seq LIMIT ?`,
    ),
    inOrder: database.prepare(
      'SELECT seq FROM runs INDEXED BY runs_ready_in_order WHERE state = 1 ORDER BY seq LIMIT ?',
    ),
    active: database.prepare(
      `SELECT mapping_id AS mappingId, runner, count(*) AS active FROM runs INDEXED BY runs_active
       WHERE state = 3 GROUP BY mapping_id, runner`,
    ),
    // Two seeks instead of one comparison of pairs, which would walk through the whole lane.
    nextRunner: database.prepare(
      `SELECT mapping_id AS mappingId, runner FROM runs INDEXED BY runs_ready
       WHERE state = 1 AND mapping_id = ? AND runner > ? ORDER BY runner LIMIT 1`,
    ),
    nextMapping: database.prepare(
      `SELECT mapping_id AS mappingId, runner FROM runs INDEXED BY runs_ready
       WHERE state = 1 AND mapping_id > ? ORDER BY mapping_id, runner LIMIT 1`,
    ),
    firstLane: database.prepare(
      `SELECT mapping_id AS mappingId, runner FROM runs INDEXED BY runs_ready
       WHERE state = 1 ORDER BY mapping_id, runner LIMIT 1`,
    ),
    ofLane: database.prepare(
      `SELECT seq FROM runs INDEXED BY runs_ready WHERE state = 1 AND mapping_id = ? AND runner = ?
       ORDER BY seq LIMIT ?`,
    ),
  };
  interface Lane {
    readonly mappingId: string;
    readonly runner: string;
  }

  const headOf = (line: string) =>
    sql.head.get(line) as { readonly seq: number; readonly state: number } | undefined;

  /** State of a run that joins a line at its end. */
  function join(line: string | null): number {
    if (line === null) return RUN.ready;
    // Somebody names the key that a run has for itself: from now on that run stands in line too.
    if (line.startsWith(OWN_KEY_PREFIX)) sql.adopt.run(line.slice(OWN_KEY_PREFIX.length), line);
    return headOf(line) === undefined ? RUN.ready : RUN.blocked;
  }

  /** Lets the next run of a line step up where none is ready or active. */
  function advance(line: string | null): void {
    if (line === null || headOf(line) !== undefined) return;
    const next = sql.nextBlocked.get(line) as { readonly seq: number } | undefined;
    if (next !== undefined) sql.setState.run(RUN.ready, next.seq);
  }

  /** Puts a waiting run back into its line, before those that came after it. */
  function makeDue(seq: number, line: string | null): void {
    const first = line === null ? undefined : headOf(line);
    if (first === undefined) {
      sql.setState.run(RUN.ready, seq);
    } else if (first.state === RUN.ready && first.seq > seq) {
      sql.setState.run(RUN.blocked, first.seq);
      sql.setState.run(RUN.ready, seq);
    } else {
      sql.setState.run(RUN.blocked, seq);
    }
  }

  function promote(nowMs: number, limit: number): void {
    const due = sql.due.all(nowMs, limit) as unknown as { seq: number; line: string | null }[];
    for (const { seq, line } of due) makeDue(seq, line);
  }

  /**
   * The next ready runs in order of arrival. Under limits each lane (mapping and runner) is looked at by itself, so
   * that a full one with thousands of ready runs costs the others nothing.
   */
  function pick(options: ClaimRunsOptions): number[] {
    const room = openRoom(options, sql.active.all() as unknown as (Lane & { active: number })[]);
    if (room === undefined) {
      return (sql.inOrder.all(options.limit) as unknown as { seq: number }[]).map(({ seq }) => seq);
    }
    const found: { readonly seq: number; readonly lane: Lane }[] = [];
    let lane = sql.firstLane.get() as Lane | undefined;
    while (lane !== undefined) {
      const here = lane;
      const most = Math.min(options.limit, room.left(here));
      if (most > 0) {
        const rows = sql.ofLane.all(here.mappingId, here.runner, most) as unknown as { seq: number }[];
        for (const { seq } of rows) found.push({ seq, lane: here });
      }
      lane = (sql.nextRunner.get(here.mappingId, here.runner) ?? sql.nextMapping.get(here.mappingId)) as
        Lane | undefined;
    }
    const picked: number[] = [];
    for (const { seq, lane: from } of found.sort((a, b) => a.seq - b.seq)) {
      if (picked.length === options.limit) break;
      if (room.left(from) <= 0) continue;
      room.take(from);
      picked.push(seq);
    }
    return picked;
  }

  /** Moves a run from its state to another in the counters. */
  function count(run: RunHead, to: number): void {
    for (const [state, by] of [
      [run.state, -1],
      [to, 1],
    ] as const) {
      if (state <= RUN.waiting) counters.queuedRuns += by;
      if (state === RUN.active) counters.activeRuns += by;
      if (state <= RUN.active) counters.runBytes += by * run.bytes;
      if (state >= RUN.completed) counters.endedRuns += by;
      if (state === RUN.dead) counters.deadRuns += by;
    }
  }

  return { join, advance, makeDue, promote, pick, count };
}

/** How many more runs each mapping and each runner may have; undefined where nothing is limited. */
function openRoom(
  options: ClaimRunsOptions,
  active: readonly { readonly mappingId: string; readonly runner: string; readonly active: number }[],
) {
  const { maxPerMapping, maxPerRunner, defaultRunner = '' } = options;
  if (maxPerMapping === undefined && (maxPerRunner?.size ?? 0) === 0) return undefined;
  const perMapping = new Map<string, number>();
  const perRunner = new Map<string, number>();
  const add = (map: Map<string, number>, key: string, by: number) => map.set(key, (map.get(key) ?? 0) + by);
  const named = (runner: string) => (runner === '' ? defaultRunner : runner);
  for (const lane of active) {
    add(perMapping, lane.mappingId, lane.active);
    add(perRunner, named(lane.runner), lane.active);
  }
  // The built-in routes have no mapping that could be limited.
  const most = (mappingId: string) => (mappingId === '' ? Infinity : (maxPerMapping ?? Infinity));
  return {
    left: ({ mappingId, runner }: { readonly mappingId: string; readonly runner: string }) =>
      Math.min(
        most(mappingId) - (perMapping.get(mappingId) ?? 0),
        (maxPerRunner?.get(named(runner)) ?? Infinity) - (perRunner.get(named(runner)) ?? 0),
      ),
    take(lane: { readonly mappingId: string; readonly runner: string }) {
      add(perMapping, lane.mappingId, 1);
      add(perRunner, named(lane.runner), 1);
    },
  };
}
