import { ALL_MAPPINGS, type ClaimRunsOptions, pauseOfRunner, type QueuePause } from '../records.ts';
import { type HourlyCapacity, limitsOf } from './hourly-capacity.ts';
import { RUN, RUN_FIELDS, type RunRow } from './rows.ts';
import { DUE, makeDue, type WaitingRun } from './session-queue.ts';
import { both, by, listed, type SqlQuestion, type Sql, type Statements } from './statements.ts';
import type { Store } from './store.ts';

/** Waiting runs made due by one claim; the rest follow with the next. */
const PROMOTED_PER_CLAIM = 1000;

/** Runs that somebody let begin are few; those of an agent that is away must not hide the others. */
const MORE_EXEMPT = 100;

const IN_ORDER = both`SELECT ${RUN_FIELDS} FROM runs ${by('runs_ready_in_order')}
  JOIN run_actions ON run_actions.seq = runs.seq WHERE state = ${RUN.ready} `;
const inOrder = ({ notElsewhere = '' }: Statements): Sql =>
  both`${IN_ORDER}${notElsewhere} ORDER BY runs.seq LIMIT ?`;
const ACTIVE = both`SELECT mapping_id AS "mappingId", runner, max_runs_key AS key, count(*) AS active
  FROM runs ${by('runs_active')} WHERE state = ${RUN.active} GROUP BY mapping_id, runner, max_runs_key`;
const READY = both`FROM runs ${by('runs_ready')} WHERE state = ${RUN.ready}`;
// Two seeks for each queue instead of one comparison of pairs, which would walk through the whole queue.
export const RUN_QUEUES = both`WITH RECURSIVE run_queue(seq, mapping_id, runner) AS (
    SELECT * FROM (SELECT seq, mapping_id, runner ${READY} ORDER BY mapping_id, runner LIMIT 1) AS first
    UNION ALL
    SELECT next.seq, next.mapping_id, next.runner FROM run_queue JOIN runs AS next ON next.seq = coalesce(
      (SELECT seq ${READY} AND mapping_id = run_queue.mapping_id AND runner > run_queue.runner ORDER BY runner LIMIT 1),
      (SELECT seq ${READY} AND mapping_id > run_queue.mapping_id ORDER BY mapping_id, runner LIMIT 1)))
  SELECT mapping_id AS "mappingId", runner FROM run_queue`;
// A conversation has one ready run at most, so no more are passed over than there are conversations at their limit.
const ofQueue = ({ notElsewhere = '' }: Statements): Sql => both`SELECT seq, max_runs_key AS key
  FROM runs ${by('runs_ready')} WHERE state = ${RUN.ready} AND mapping_id = ? AND runner = ? AND exempt = 0
    AND (line IS NULL OR line NOT IN ${listed('?')})
    AND (max_runs_key IS NULL OR max_runs_key NOT IN ${listed('?')}) ${notElsewhere} ORDER BY seq LIMIT ?`;
const exemptRuns = ({
  notElsewhere = '',
}: Statements): Sql => both`SELECT seq, mapping_id AS "mappingId", runner, max_runs_key AS key FROM runs ${by('runs_exempt')}
  WHERE state = ${RUN.ready} AND exempt = 1 ${notElsewhere} ORDER BY seq LIMIT ?`;
const PAUSES = 'SELECT mapping_id AS "mappingId" FROM queue_pauses';

/** Runs that count against the same limits. */
export interface RunQueue {
  readonly mappingId: string;
  readonly runner: string;
}

interface CandidateRun {
  readonly seq: number;
  /** With which others of its mapping it counts. */
  readonly key: string | null;
  readonly queue: RunQueue;
  /** Somebody said that the limits of its mapping do not hold it. */
  readonly isExempt: boolean;
}

/** A run that may begin; with its mapping where limits were looked at, and as a whole where they were not. */
export interface Claimable {
  readonly seq: number;
  readonly mappingId?: string;
  readonly row?: RunRow;
}

/**
 * The next ready runs in order of arrival. Waiting runs whose time has come step into their queues first. Under limits
 * each queue is looked at by itself, so that a full one with thousands of ready runs costs the others nothing.
 */
export function findClaimable(
  store: Store,
  options: ClaimRunsOptions,
  hourly: HourlyCapacity,
): readonly Claimable[] {
  const { limit } = options;
  const isFree = hasNoLimits(options);
  const [due, pauses, ...first] = store.sql.allOf<object>(claimQuestions(store, options)) as [
    WaitingRun[],
    QueuePause[],
    ...object[][],
  ];
  for (const run of due) makeDue(store, run);
  const byOperator = pausedBy(pauses, options.defaultRunner);
  const { worker, defaultRunner } = options;
  const isPaused = (queue: RunQueue): boolean =>
    byOperator(queue) || (worker !== undefined && worker.runner !== (queue.runner || defaultRunner));
  if (pauses.some(({ mappingId }) => mappingId === ALL_MAPPINGS)) return [];
  const isOpen = isFree && pauses.length === 0;
  // What was ready then may stand behind a run that has become due.
  const isStale = due.length > 0 || isOpen !== isFree;
  const answers = isStale
    ? store.sql.allOf<object>(isOpen ? [[inOrder(store.sql), limit]] : queueQuestions(store.sql, limit))
    : first;
  if (isOpen) return (answers[0] as RunRow[]).map((row) => ({ seq: row.seq, row }));
  const [active, exempt, queues] = answers as QueueAnswers;
  const slots = new FreeSlots(options, active);
  const found = [
    ...exempt.map(({ seq, key, ...queue }) => ({ seq, key, queue, isExempt: true })),
    ...inQueues(store.sql, { queues, limit, slots, hourly, isPaused }),
  ];
  return pick(found, { limit, slots, hourly, isPaused });
}

export function claimQuestions({ sql }: Store, options: ClaimRunsOptions): readonly SqlQuestion[] {
  const { nowMs, limit } = options;
  const placing = sql.placeDue?.(nowMs, PROMOTED_PER_CLAIM) ?? [DUE, nowMs, PROMOTED_PER_CLAIM];
  const ready: readonly SqlQuestion[] = hasNoLimits(options)
    ? [[inOrder(sql), limit]]
    : queueQuestions(sql, limit);
  return [placing, [PAUSES], ...ready];
}

/** Says of runs whether their mapping, their runner or all are paused. */
export function pausedBy(
  pauses: readonly Pick<QueuePause, 'mappingId'>[],
  defaultRunner = '',
): (queue: RunQueue) => boolean {
  const paused = new Set(pauses.map(({ mappingId }) => mappingId));
  return ({ mappingId, runner }) =>
    [ALL_MAPPINGS, mappingId, pauseOfRunner(runner === '' ? defaultRunner : runner)].some((each) =>
      paused.has(each),
    );
}

function hasNoLimits({ maxPerRunner, limits, worker }: ClaimRunsOptions): boolean {
  return (maxPerRunner?.size ?? 0) === 0 && limits === undefined && worker === undefined;
}

interface Keyed {
  readonly key: string | null;
}
type ActiveRuns = RunQueue & Keyed & { readonly active: number };
type QueueAnswers = [
  active: ActiveRuns[],
  exempt: (RunQueue & Keyed & { seq: number })[],
  queues: RunQueue[],
];

function queueQuestions(sql: Statements, limit: number): readonly SqlQuestion[] {
  return [[ACTIVE], [exemptRuns(sql), limit + MORE_EXEMPT], [RUN_QUEUES]];
}

/** Candidates of each queue, no more than may begin. */
function inQueues(
  sql: Statements,
  { queues, limit, slots, hourly, isPaused }: Picking & { readonly queues: readonly RunQueue[] },
): CandidateRun[] {
  const open = queues.flatMap((queue) => {
    const { mappingId, runner } = queue;
    if (isPaused(queue)) return [];
    const most = Math.min(limit, slots.left(queue), hourly.left(mappingId));
    if (most <= 0) return [];
    const full = JSON.stringify(hourly.fullLines(mappingId).map(({ line }) => line));
    const fullKeys = JSON.stringify(slots.fullKeys(mappingId));
    return [{ queue, question: [ofQueue(sql), mappingId, runner, full, fullKeys, most] as const }];
  });
  const answers = sql.allOf<Keyed & { seq: number }>(open.map(({ question }) => question));
  return open.flatMap(({ queue }, index) =>
    (answers[index] ?? []).map((found) => ({ ...found, queue, isExempt: false })),
  );
}

interface Picking {
  readonly limit: number;
  readonly slots: FreeSlots;
  readonly hourly: HourlyCapacity;
  readonly isPaused: (queue: RunQueue) => boolean;
}

function pick(
  found: readonly CandidateRun[],
  { limit, slots, hourly, isPaused }: Picking,
): readonly Claimable[] {
  const picked: Claimable[] = [];
  for (const { seq, key, queue, isExempt } of found.toSorted((a, b) => a.seq - b.seq)) {
    const { mappingId } = queue;
    if (picked.length === limit) break;
    if (slots.left(queue, key) <= 0 || isPaused(queue)) continue;
    if (!isExempt && hourly.left(mappingId) <= 0) continue;
    slots.take(queue, key);
    hourly.take(mappingId);
    picked.push({ seq, mappingId });
  }
  return picked;
}

/** How many more runs each mapping, each of its keys and each runner may have. */
class FreeSlots {
  readonly #options: ClaimRunsOptions;
  /** By key within a mapping; those of all its runs are under null. */
  readonly #perMapping = new Map<string, Map<string | null, number>>();
  readonly #perRunner = new Map<string, number>();

  constructor(options: ClaimRunsOptions, active: readonly ActiveRuns[]) {
    this.#options = options;
    for (const queue of active) this.#count(queue, queue.key, queue.active);
  }

  left({ mappingId, runner }: RunQueue, key: string | null = null): number {
    const { maxPerRunner } = this.#options;
    const name = this.#nameOf(runner);
    const { runs = Infinity, isKeyed = false } = limitsOf(this.#options.limits, mappingId)?.maxRuns ?? {};
    const counted = this.#perMapping.get(mappingId)?.get(isKeyed ? key : null) ?? 0;
    const ofMapping = isKeyed && key === null ? Infinity : runs - counted;
    return Math.min(ofMapping, (maxPerRunner?.get(name) ?? Infinity) - (this.#perRunner.get(name) ?? 0));
  }

  /** Keys of the mapping of which no run may begin now. */
  fullKeys(mappingId: string): readonly string[] {
    const { runs = Infinity, isKeyed = false } = limitsOf(this.#options.limits, mappingId)?.maxRuns ?? {};
    if (!isKeyed) return [];
    const counts = [...(this.#perMapping.get(mappingId) ?? [])];
    return counts.flatMap(([key, count]) => (key === null || count < runs ? [] : [key]));
  }

  take(queue: RunQueue, key: string | null): void {
    this.#count(queue, key, 1);
  }

  #count({ mappingId, runner }: RunQueue, key: string | null, by: number): void {
    const name = this.#nameOf(runner);
    const counts = this.#perMapping.get(mappingId) ?? new Map<string | null, number>();
    for (const each of new Set([null, key])) counts.set(each, (counts.get(each) ?? 0) + by);
    this.#perMapping.set(mappingId, counts);
    this.#perRunner.set(name, (this.#perRunner.get(name) ?? 0) + by);
  }

  #nameOf(runner: string): string {
    return runner === '' ? (this.#options.defaultRunner ?? '') : runner;
  }
}
