import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { recoveryMetrics, type RecoveryFigures } from './recovery-metrics.ts';
import { within } from '../timers/timers.ts';

/** What the metrics are read from; asked at each scrape. */
export interface MetricsSources {
  /** Rejects or takes too long where the store does not answer; the scrape then says so and goes on. */
  readonly backlog: () => Promise<BacklogFigures>;
  /** Whether the store can take requests, as it was last seen; default yes. */
  readonly isStoreWell?: () => boolean;
  /** What was asked of a database so far; absent where the store is a file. */
  readonly database?: (() => DatabaseFigures) | undefined;
  /** Absent where no mapping has a transform. */
  readonly transforms?: () => TransformFigures;
  /** Absent where no mailbox is read. */
  readonly mailboxes?: () => readonly MailboxFigures[];
  /** Absent where no sender is asked for what it could not deliver. */
  readonly recoveries?: () => readonly RecoveryFigures[];
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly clock?: () => number;
}

/** Totals since the start; those of the storage port fit. */
export interface DatabaseFigures {
  readonly roundTrips: number;
  readonly roundTripMs: number;
  readonly lockWaits: number;
  readonly lockWaitMs: number;
}

/** How the reading of one mailbox goes. */
interface MailboxFigures {
  readonly mailbox: string;
  readonly state: string;
  readonly delivered: number;
  readonly setAside: number;
  readonly filtered: number;
}

export interface BacklogFigures {
  readonly queuedRuns: number;
  readonly activeRuns: number;
  readonly deadRuns: number;
  readonly queuedOutbox: number;
  /** Claimed: being sent, or behind an earlier one to the same recipient. */
  readonly activeOutbox: number;
  readonly deadOutbox: number;
  /** Wakes and summaries not yet consumed. */
  readonly pendingEvents: number;
  readonly deadEvents: number;
  /** Bytes of queued and active runs. */
  readonly bytes: number;
  /** Acceptance time of the oldest queued run. */
  readonly oldestQueuedAt?: number;
  /** When the oldest of the dead runs, outbox entries and events was given up. */
  readonly oldestDeadAt?: number;
}

export interface TransformFigures {
  /** Calls answered, by `ok` or their failure. */
  readonly calls: Readonly<Record<string, number>>;
  readonly pools: readonly {
    readonly ready: number;
    readonly waiting: number;
    readonly running: number;
    readonly spawned: number;
  }[];
  /** Breakers that are not closed. */
  readonly breakers: readonly { readonly module: string; readonly state: string }[];
}

export interface ObservedRequest {
  readonly status: number;
  readonly outcome: string;
  readonly mappingId: string | undefined;
  readonly bodyBytes: number;
  readonly proofMs: number | undefined;
  readonly evaluateMs: number | undefined;
  readonly storeMs: number | undefined;
  readonly tookMs: number;
  /** Why the sender was not believed; `scheme` absent where the hook token was asked for. */
  readonly refusal?: { readonly reason: string; readonly scheme?: string };
}

/** The service's metrics, in a registry of their own. */
export interface Metrics {
  readonly gateway: GatewayMetrics;
  observeRequest(request: ObservedRequest): void;
  /** The Prometheus text format, with its Content-Type. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** What the gateway does, as it happens. `mappingId` is absent for the main session and the built-in routes. */
export interface GatewayMetrics {
  /** One attempt at a run, or its end; without `tookMs` no turn was taken (`not-started`, `held`, `dead`). */
  observeRun(run: {
    readonly runner: string;
    readonly mappingId: string | undefined;
    readonly result: string;
    readonly tookMs?: number;
  }): void;
  /** `channel` may be `callback`; `result` is `sent`, `skipped`, `repeated` or `dead`. */
  observeDelivery(delivery: { readonly channel: string; readonly result: string }): void;
  observeHeartbeat(result: 'ok' | 'failed' | 'held'): void;
  /** What a turn used, as its agent says it. */
  observeTokens(tokens: {
    readonly runner: string;
    readonly turn: 'hook' | 'heartbeat';
    readonly mappingId?: string | undefined;
    readonly usage: {
      readonly inputTokens?: number;
      readonly outputTokens?: number;
      readonly costUsd?: number;
    };
  }): void;
  setAway(runners: readonly string[]): void;
  /** Workers that ask for runs, or carry some. */
  setWorkers(workers: readonly { readonly runner: string; readonly runs: number }[]): void;
  /** Runs that wait for a limit of their mapping or a pause although agents are free, and what is paused. */
  setWaiting(
    waiting: readonly { readonly mappingId: string; readonly reason: string; readonly waiting: number }[],
    paused: readonly { readonly mappingId: string; readonly runner?: string }[],
  ): void;
}

const STORE_TIMEOUT_MS = 2_000;
const SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const TURN_SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1_800];
const BYTES = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];

type Make<Metric> = (name: string, registers: Registry[]) => Metric;

const namesIn = (labels: string): string[] => labels.split(' ').filter((name) => name !== '');

/** What a metric says, and the names of its labels. */
const counter =
  (help: string, labels = ''): Make<Counter<string>> =>
  (name, registers) =>
    new Counter({ name, help, labelNames: namesIn(labels), registers });
const gauge =
  (help: string, labels = ''): Make<Gauge<string>> =>
  (name, registers) =>
    new Gauge({ name, help, labelNames: namesIn(labels), registers });
const histogram =
  (help: string, buckets: number[], labels = ''): Make<Histogram<string>> =>
  (name, registers) =>
    new Histogram({ name, help, buckets, labelNames: namesIn(labels), registers });

const register = <Table extends Readonly<Record<string, Make<unknown>>>>(
  registry: Registry,
  table: Table,
): { readonly [Name in keyof Table]: ReturnType<Table[Name]> } =>
  Object.fromEntries(Object.entries(table).map(([name, make]) => [name, make(name, [registry])])) as {
    [Name in keyof Table]: ReturnType<Table[Name]>;
  };

/** Makes the metrics, process metrics included. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const { backlog, database, transforms, mailboxes, recoveries } = sources;
  const showBacklog = backlogMetrics(registry, sources);
  const shown = [
    database && databaseMetrics(registry, database),
    transforms && transformMetrics(registry, transforms),
    mailboxes && mailboxMetrics(registry, mailboxes),
    recoveries && recoveryMetrics(register(registry, OF_RECOVERIES), recoveries),
  ];
  const asked = async (): Promise<BacklogFigures | undefined> => backlog().catch(() => undefined);
  return {
    observeRequest: requestMetrics(registry),
    gateway: gatewayMetrics(registry),
    render: async () => {
      showBacklog(await within(asked(), STORE_TIMEOUT_MS));
      for (const show of shown) show?.();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** Further mappings are counted under `other`, so that series stay bounded. */
const MAX_MAPPINGS = 200;

/** Makes labels of mapping ids; empty where no mapping took part. */
function createMappingLabel(): (mappingId: string | undefined) => string {
  const mappings = new Set<string>();
  return (mappingId) => {
    if (mappingId === undefined) return '';
    if (mappings.size < MAX_MAPPINGS) mappings.add(mappingId);
    return mappings.has(mappingId) ? mappingId : 'other';
  };
}

/** Reasons and schemes are words of our own, so the series are bounded. */
const OF_REQUESTS = {
  sluice_requests_total: counter(
    'Requests answered, by outcome, status and mapping.',
    'outcome status mapping',
  ),
  sluice_request_body_bytes: histogram('Bytes of request bodies that were read.', BYTES),
  sluice_request_seconds: histogram('Time from the end of the headers to the answer.', SECONDS),
  sluice_proof_seconds: histogram("Time in which senders' proofs were judged.", SECONDS),
  sluice_evaluate_seconds: histogram('Time of the evaluation, transforms included.', SECONDS),
  sluice_store_seconds: histogram('Time until accepted work was on disk.', SECONDS),
  sluice_auth_failures_total: counter('Requests without a valid proof, by reason.', 'reason'),
  sluice_verify_failures_total: counter(
    'Requests refused on paths with a proof of their own, by scheme and reason.',
    'scheme reason',
  ),
};

function requestMetrics(registry: Registry): Metrics['observeRequest'] {
  const of = register(registry, OF_REQUESTS);
  const labelOf = createMappingLabel();
  return ({ outcome, status, mappingId, refusal, tookMs, proofMs, evaluateMs, storeMs, bodyBytes }) => {
    of.sluice_requests_total.inc({ outcome, status, mapping: labelOf(mappingId) });
    if (refusal !== undefined) {
      const { reason, scheme } = refusal;
      of.sluice_auth_failures_total.inc({ reason });
      if (scheme !== undefined) of.sluice_verify_failures_total.inc({ scheme, reason });
    }
    of.sluice_request_seconds.observe(tookMs / 1000);
    if (proofMs !== undefined) of.sluice_proof_seconds.observe(proofMs / 1000);
    // Probes and refused requests would drown the sizes and times of hooks.
    if (evaluateMs === undefined) return;
    of.sluice_request_body_bytes.observe(bodyBytes);
    of.sluice_evaluate_seconds.observe(evaluateMs / 1000);
    if (storeMs !== undefined) of.sluice_store_seconds.observe(storeMs / 1000);
  };
}

const OF_THE_BACKLOG = {
  sluice_store_up: gauge('Whether the store can take requests and answered this scrape.'),
  sluice_work: gauge('Stored work, by kind and state.', 'kind state'),
  sluice_backlog_bytes: gauge('Bytes of runs that are queued or active.'),
  sluice_backlog_oldest_seconds: gauge('Age of the oldest queued run; 0 where none waits.'),
  sluice_dead_oldest_seconds: gauge('Time since the oldest dead letter was given up; 0 where there is none.'),
};

const WORK = [
  { kind: 'run', state: 'queued', figure: 'queuedRuns' },
  { kind: 'run', state: 'active', figure: 'activeRuns' },
  { kind: 'run', state: 'dead', figure: 'deadRuns' },
  { kind: 'outbox', state: 'queued', figure: 'queuedOutbox' },
  { kind: 'outbox', state: 'active', figure: 'activeOutbox' },
  { kind: 'outbox', state: 'dead', figure: 'deadOutbox' },
  { kind: 'event', state: 'pending', figure: 'pendingEvents' },
  { kind: 'event', state: 'dead', figure: 'deadEvents' },
] as const;

function backlogMetrics(
  registry: Registry,
  { isStoreWell = () => true, clock = Date.now }: Pick<MetricsSources, 'isStoreWell' | 'clock'>,
): (backlog: BacklogFigures | undefined) => void {
  const { sluice_store_up: up, sluice_work: work, ...of } = register(registry, OF_THE_BACKLOG);
  const since = (at: number | undefined): number => (at === undefined ? 0 : Math.max(0, clock() - at) / 1000);
  return (backlog) => {
    up.set(backlog === undefined || !isStoreWell() ? 0 : 1);
    // Old figures would look like fresh ones.
    if (backlog === undefined) {
      work.reset();
      for (const figure of Object.values(of)) figure.remove();
      return;
    }
    for (const { figure, ...labels } of WORK) work.set(labels, backlog[figure]);
    of.sluice_backlog_bytes.set(backlog.bytes);
    of.sluice_backlog_oldest_seconds.set(since(backlog.oldestQueuedAt));
    of.sluice_dead_oldest_seconds.set(since(backlog.oldestDeadAt));
  };
}

/** Sets a total that something else counts, in place of ours. */
function setTotal(total: Counter<string>, value: number): void {
  total.reset();
  total.inc(value);
}

const OF_THE_DATABASE = {
  sluice_database_round_trips_total: counter('Questions that the database answered.'),
  sluice_database_round_trip_seconds_total: counter('Time until the database answered them.'),
  sluice_database_lock_waits_total: counter('Transactions that waited for those of other services.'),
  sluice_database_lock_wait_seconds_total: counter('Time in which they waited.'),
};

function databaseMetrics(registry: Registry, figures: () => DatabaseFigures): () => void {
  const of = register(registry, OF_THE_DATABASE);
  return () => {
    const { roundTrips, roundTripMs, lockWaits, lockWaitMs } = figures();
    setTotal(of.sluice_database_round_trips_total, roundTrips);
    setTotal(of.sluice_database_round_trip_seconds_total, roundTripMs / 1000);
    setTotal(of.sluice_database_lock_waits_total, lockWaits);
    setTotal(of.sluice_database_lock_wait_seconds_total, lockWaitMs / 1000);
  };
}

const OF_TRANSFORMS = {
  sluice_transform_calls_total: counter('Transform calls answered, by result.', 'result'),
  sluice_transform_pool: gauge('Worker processes that are ready, and calls that run or wait.', 'state'),
  sluice_transform_workers_spawned_total: counter('Worker processes started.'),
  sluice_transform_breakers_open: gauge('Modules that are not called because they failed too often.'),
};

function transformMetrics(registry: Registry, figures: () => TransformFigures): () => void {
  const of = register(registry, OF_TRANSFORMS);
  return () => {
    const { calls, pools, breakers } = figures();
    of.sluice_transform_calls_total.reset();
    for (const [result, count] of Object.entries(calls))
      of.sluice_transform_calls_total.inc({ result }, count);
    const total = (figure: keyof (typeof pools)[number]): number =>
      pools.reduce((sum, pool) => sum + pool[figure], 0);
    for (const state of ['ready', 'running', 'waiting'] as const)
      of.sluice_transform_pool.set({ state }, total(state));
    setTotal(of.sluice_transform_workers_spawned_total, total('spawned'));
    of.sluice_transform_breakers_open.set(breakers.length);
  };
}

const OF_MAILBOXES = {
  sluice_mailbox_state: gauge('1 for the state each mailbox is in.', 'mailbox state'),
  sluice_mail_messages_total: counter('Messages read, by what became of them.', 'mailbox result'),
};

function mailboxMetrics(registry: Registry, figures: () => readonly MailboxFigures[]): () => void {
  const of = register(registry, OF_MAILBOXES);
  return () => {
    for (const metric of Object.values(of)) metric.reset();
    for (const { mailbox, state, delivered, setAside, filtered } of figures()) {
      of.sluice_mailbox_state.set({ mailbox, state }, 1);
      for (const [result, count] of Object.entries({ delivered, set_aside: setAside, filtered }))
        of.sluice_mail_messages_total.inc({ mailbox, result }, count);
    }
  };
}

const OF_RECOVERIES = {
  sluice_recovery_events_total: counter('Events of a sender, by how they were recovered.', 'path result'),
  sluice_recovery_look_age_seconds: gauge('Time since the log of a sender was read to its end.', 'path'),
  sluice_webhook_active: gauge('0 where a sender has switched the webhook off, or is about to.', 'path'),
};

const OF_THE_GATEWAY = {
  sluice_runs_total: counter('Attempts at runs, by runner, mapping and result.', 'runner mapping result'),
  sluice_run_seconds: histogram('Time a turn of an agent took, by runner.', TURN_SECONDS, 'runner'),
  sluice_deliveries_total: counter('Attempts at deliveries and callbacks.', 'channel result'),
  sluice_heartbeats_total: counter('Turns of the main session.', 'result'),
  sluice_tokens_total: counter('Tokens that turns used, where their agent says it.', 'runner turn direction'),
  sluice_cost_usd_total: counter('US dollars that turns cost, where their agent says it.', 'runner mapping'),
  sluice_workers: gauge('Workers that ask for runs of a runner, or carry some.', 'runner'),
  sluice_worker_runs: gauge('Runs that workers carry.', 'runner'),
  sluice_runner_away: gauge('1 for a runner that cannot be reached, so that its runs wait.', 'runner'),
  sluice_mapping_waiting_runs: gauge('Runs that wait for a limit or a pause.', 'mapping reason'),
  sluice_queue_paused: gauge('1 for a mapping that is paused; * stands for all.', 'mapping'),
  sluice_runner_paused: gauge('1 for a runner that is paused.', 'runner'),
};

function gatewayMetrics(registry: Registry): GatewayMetrics {
  const of = register(registry, OF_THE_GATEWAY);
  const labelOf = createMappingLabel();
  return {
    observeRun({ runner, mappingId, result, tookMs }) {
      of.sluice_runs_total.inc({ runner, mapping: labelOf(mappingId), result });
      if (tookMs !== undefined) of.sluice_run_seconds.observe({ runner }, tookMs / 1000);
    },
    observeDelivery: ({ channel, result }) => of.sluice_deliveries_total.inc({ channel, result }),
    observeHeartbeat: (result) => of.sluice_heartbeats_total.inc({ result }),
    observeTokens({ runner, turn, mappingId, usage: { inputTokens = 0, outputTokens = 0, costUsd } }) {
      of.sluice_tokens_total.inc({ runner, turn, direction: 'input' }, inputTokens);
      of.sluice_tokens_total.inc({ runner, turn, direction: 'output' }, outputTokens);
      if (costUsd !== undefined)
        of.sluice_cost_usd_total.inc({ runner, mapping: labelOf(mappingId) }, costUsd);
    },
    setAway(runners) {
      of.sluice_runner_away.reset();
      for (const runner of runners) of.sluice_runner_away.set({ runner }, 1);
    },
    setWorkers(workers) {
      for (const each of [of.sluice_workers, of.sluice_worker_runs]) each.reset();
      for (const { runner, runs } of workers) {
        of.sluice_workers.inc({ runner });
        of.sluice_worker_runs.inc({ runner }, runs);
      }
    },
    setWaiting(waiting, paused) {
      of.sluice_mapping_waiting_runs.reset();
      for (const { mappingId, reason, waiting: runs } of waiting)
        of.sluice_mapping_waiting_runs.inc({ mapping: labelOf(mappingId), reason }, runs);
      of.sluice_queue_paused.reset();
      of.sluice_runner_paused.reset();
      for (const { mappingId, runner } of paused)
        if (runner === undefined) of.sluice_queue_paused.set({ mapping: labelOf(mappingId) }, 1);
        else of.sluice_runner_paused.set({ runner }, 1);
    },
  };
}
