import { createGatewayMetrics, type GatewayMetrics } from './gateway-metrics.ts';
import { createMappingLabel, createRegistrar, type Registrar } from './registrar.ts';
import { collectDefaultMetrics, Registry } from '@prometheus-io/client';

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
  /** The mailboxes that are read; absent where there is none. */
  readonly mailboxes?: () => readonly MailboxFigures[];
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
export interface MailboxFigures {
  readonly mailbox: string;
  readonly state: string;
  readonly delivered: number;
  readonly setAside: number;
  readonly filtered: number;
}

/** Counts of waiting work. */
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
  /** Of queued and active runs. */
  readonly bytes: number;
  /** Acceptance time of the oldest queued run. */
  readonly oldestQueuedAt?: number;
  /** When the oldest of the dead runs, outbox entries and events was given up. */
  readonly oldestDeadAt?: number;
}

/** Counts of the sandbox; its own statistics fit. */
export interface TransformFigures {
  /** Calls answered, by `ok` or their failure. */
  readonly calls: Readonly<Record<string, number>>;
  readonly pools: readonly {
    readonly ready: number;
    readonly waiting: number;
    readonly running: number;
    readonly spawned: number;
  }[];
  readonly breakers: readonly { readonly module: string; readonly state: string }[];
}

/** One answered request. */
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

const STORE_TIMEOUT_MS = 2_000;
const SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const BYTES = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];

/** Makes the metrics, process metrics included. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  const registrar = createRegistrar(registry);
  collectDefaultMetrics({ register: registry });
  const observeRequest = requestMetrics(registrar);
  const backlog = backlogMetrics(registrar, sources);
  const transforms = sources.transforms === undefined ? undefined : transformMetrics(registrar);
  const mailboxes = sources.mailboxes === undefined ? undefined : mailboxMetrics(registrar);
  const database = sources.database === undefined ? undefined : databaseMetrics(registrar);
  const render: Metrics['render'] = async () => {
    backlog(await withinTime(sources.backlog, STORE_TIMEOUT_MS));
    if (sources.database !== undefined) database?.(sources.database());
    if (sources.transforms !== undefined) transforms?.(sources.transforms());
    if (sources.mailboxes !== undefined) mailboxes?.(sources.mailboxes());
    return { contentType: registry.contentType, text: await registry.metrics() };
  };
  return { observeRequest, gateway: createGatewayMetrics(registrar), render };
}

function requestMetrics(registrar: Registrar): Metrics['observeRequest'] {
  const requests = registrar.counter(
    'sluice_requests_total',
    'Requests answered, by outcome, status and mapping.',
    ['outcome', 'status', 'mapping'],
  );
  const seconds = timeMetrics(registrar);
  const failures = failureMetrics(registrar);
  const labelOf = createMappingLabel();
  return (request) => {
    const { outcome, status, mappingId, refusal } = request;
    requests.inc({ outcome, status, mapping: labelOf(mappingId) });
    seconds(request);
    if (refusal !== undefined) failures(refusal);
  };
}

/** Times of the steps of a request, and the size of its body. */
function timeMetrics(registrar: Registrar): Metrics['observeRequest'] {
  const help = 'Bytes of request bodies that were read.';
  const bodies = registrar.histogram('sluice_request_body_bytes', help, { buckets: BYTES });
  const seconds = (name: string, text: string) => registrar.histogram(name, text, { buckets: SECONDS });
  const took = seconds('sluice_request_seconds', 'Time from the end of the headers to the answer.');
  const proved = seconds('sluice_proof_seconds', "Time in which senders' proofs were judged.");
  const evaluated = seconds('sluice_evaluate_seconds', 'Time of the evaluation, transforms included.');
  const stored = seconds('sluice_store_seconds', 'Time until accepted work was on disk.');
  return ({ tookMs, proofMs, evaluateMs, storeMs, bodyBytes }) => {
    took.observe(tookMs / 1000);
    if (proofMs !== undefined) proved.observe(proofMs / 1000);
    // Probes and refused requests would drown the sizes and times of hooks.
    if (evaluateMs === undefined) return;
    bodies.observe(bodyBytes);
    evaluated.observe(evaluateMs / 1000);
    if (storeMs !== undefined) stored.observe(storeMs / 1000);
  };
}

/** Reasons and schemes are words of our own, so the series are bounded. */
function failureMetrics(registrar: Registrar): Show<NonNullable<ObservedRequest['refusal']>> {
  const auth = registrar.counter(
    'sluice_auth_failures_total',
    'Requests refused before their proof, by reason.',
    ['reason'],
  );
  const verify = registrar.counter(
    'sluice_verify_failures_total',
    'Requests refused on paths with a proof of their own, by scheme and reason.',
    ['scheme', 'reason'],
  );
  return ({ reason, scheme }) => {
    auth.inc({ reason });
    if (scheme !== undefined) verify.inc({ scheme, reason });
  };
}

function backlogMetrics(
  registrar: Registrar,
  { isStoreWell = () => true, clock = Date.now }: Pick<MetricsSources, 'isStoreWell' | 'clock'>,
): Show<BacklogFigures | undefined> {
  const help = 'Whether the store can take requests and answered this scrape.';
  const up = registrar.gauge('sluice_store_up', help);
  const work = workMetrics(registrar);
  const ages = ageMetrics(registrar, clock);
  return (backlog) => {
    up.set(backlog === undefined || !isStoreWell() ? 0 : 1);
    // Old figures would look like fresh ones.
    if (backlog === undefined) {
      work.remove();
      ages.remove();
      return;
    }
    work.set(backlog);
    ages.set(backlog);
  };
}

type Show<Figures> = (figures: Figures) => void;

/** Figures that are removed where they are not known. */
interface StoreFigures {
  set(backlog: BacklogFigures): void;
  remove(): void;
}

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

function workMetrics(registrar: Registrar): StoreFigures {
  const work = registrar.gauge('sluice_work', 'Stored work, by kind and state.', ['kind', 'state']);
  const bytes = registrar.gauge('sluice_backlog_bytes', 'Bytes of runs that are queued or active.');
  return {
    set: (backlog) => {
      for (const { figure, ...labels } of WORK) work.set(labels, backlog[figure]);
      bytes.set(backlog.bytes);
    },
    remove: () => {
      work.reset();
      bytes.remove();
    },
  };
}

function ageMetrics(registrar: Registrar, clock: () => number): StoreFigures {
  const age = 'Age of the oldest queued run; 0 where none waits.';
  const oldest = registrar.gauge('sluice_backlog_oldest_seconds', age);
  const sinceDeath =
    'Time since the oldest dead letter (run, delivery, callback or event) was given up; 0 where there is none.';
  const oldestDead = registrar.gauge('sluice_dead_oldest_seconds', sinceDeath);
  const since = (at: number | undefined): number => (at === undefined ? 0 : Math.max(0, clock() - at) / 1000);
  return {
    set: ({ oldestQueuedAt, oldestDeadAt }) => {
      oldest.set(since(oldestQueuedAt));
      oldestDead.set(since(oldestDeadAt));
    },
    remove: () => {
      oldest.remove();
      oldestDead.remove();
    },
  };
}

function databaseMetrics(registrar: Registrar): Show<DatabaseFigures> {
  const trips = registrar.counter(
    'sluice_database_round_trips_total',
    'Questions that the database answered.',
  );
  const tripSeconds = registrar.counter(
    'sluice_database_round_trip_seconds_total',
    'Time until the database answered them.',
  );
  const waits = registrar.counter(
    'sluice_database_lock_waits_total',
    'Claims, ends and other transactions that waited for those of other services.',
  );
  const waitSeconds = registrar.counter(
    'sluice_database_lock_wait_seconds_total',
    'Time in which they waited.',
  );
  return ({ roundTrips, roundTripMs, lockWaits, lockWaitMs }) => {
    // The store counts by itself; its totals replace ours.
    for (const counter of [trips, tripSeconds, waits, waitSeconds]) counter.reset();
    trips.inc(roundTrips);
    tripSeconds.inc(roundTripMs / 1000);
    waits.inc(lockWaits);
    waitSeconds.inc(lockWaitMs / 1000);
  };
}

function transformMetrics(registrar: Registrar): Show<TransformFigures> {
  const help = 'Transform calls answered, by result.';
  const calls = registrar.counter('sluice_transform_calls_total', help, ['result']);
  const pools = poolMetrics(registrar);
  const breakers = registrar.gauge(
    'sluice_transform_breakers_open',
    'Modules that are not called because they failed too often.',
  );
  return (figures) => {
    // The sandbox counts by itself; its totals replace ours.
    calls.reset();
    for (const [result, count] of Object.entries(figures.calls)) calls.inc({ result }, count);
    pools(figures.pools);
    breakers.set(figures.breakers.length);
  };
}

function poolMetrics(registrar: Registrar): Show<TransformFigures['pools']> {
  const help = 'Worker processes that are ready, and calls that run or wait.';
  const workers = registrar.gauge('sluice_transform_pool', help, ['state']);
  const spawned = registrar.counter('sluice_transform_workers_spawned_total', 'Worker processes started.');
  return (pools) => {
    const total = (figure: keyof TransformFigures['pools'][number]): number =>
      pools.reduce((sum, pool) => sum + pool[figure], 0);
    for (const state of ['ready', 'running', 'waiting'] as const) workers.set({ state }, total(state));
    spawned.reset();
    spawned.inc(total('spawned'));
  };
}

function mailboxMetrics(registrar: Registrar): Show<readonly MailboxFigures[]> {
  const states = '1 for the state each mailbox is in.';
  const state = registrar.gauge('sluice_mailbox_state', states, ['mailbox', 'state']);
  const results = 'Messages read, by what became of them.';
  const messages = registrar.counter('sluice_mail_messages_total', results, ['mailbox', 'result']);
  return (mailboxes) => {
    state.reset();
    // The readers count by themselves; their totals replace ours.
    messages.reset();
    for (const { mailbox, state: name, delivered, setAside, filtered } of mailboxes) {
      state.set({ mailbox, state: name }, 1);
      messages.inc({ mailbox, result: 'delivered' }, delivered);
      messages.inc({ mailbox, result: 'set_aside' }, setAside);
      messages.inc({ mailbox, result: 'filtered' }, filtered);
    }
  };
}

/** The value, or undefined where it failed or took too long. */
async function withinTime<T>(ask: () => Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([ask(), late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
