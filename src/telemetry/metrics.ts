import { createGatewayMetrics, type GatewayMetrics } from './gateway-metrics.ts';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What the metrics are read from; asked at each scrape. */
export interface MetricsSources {
  /** Rejects or takes too long where the store does not answer; the scrape then says so and goes on. */
  readonly backlog: () => Promise<BacklogFigures>;
  /** Absent where no mapping has a transform. */
  readonly transforms?: () => TransformFigures;
  /** The mailboxes that are read; absent where there is none. */
  readonly mailboxes?: () => readonly MailboxFigures[];
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly clock?: () => number;
}

/** How the reading of one mailbox goes. */
export interface MailboxFigures {
  readonly mailbox: string;
  readonly state: string;
  readonly delivered: number;
  readonly setAside: number;
  readonly filtered: number;
}

/** Counts of waiting work; the backlog of the storage port fits. */
export interface BacklogFigures {
  readonly queuedRuns: number;
  readonly activeRuns: number;
  readonly deadRuns: number;
  readonly queuedOutbox: number;
  readonly deadOutbox: number;
  readonly pendingEvents: number;
  readonly deadEvents: number;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly oldestQueuedAt?: number;
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

/** Mapping ids told apart; requests of further ones are counted under `other`, so that series stay bounded. */
const MAX_MAPPINGS = 200;
const STORE_TIMEOUT_MS = 2_000;
const SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const BYTES = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];

/** Makes the metrics, process metrics included. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const observe = requestMetrics(registers);
  const backlog = backlogMetrics(registers, sources.clock ?? Date.now);
  const transforms = sources.transforms === undefined ? undefined : transformMetrics(registers);
  const mailboxes = sources.mailboxes === undefined ? undefined : mailboxMetrics(registers);
  return {
    observeRequest: observe,
    gateway: createGatewayMetrics(registry),
    async render() {
      backlog(await withinTime(sources.backlog, STORE_TIMEOUT_MS));
      if (sources.transforms !== undefined) transforms?.(sources.transforms());
      if (sources.mailboxes !== undefined) mailboxes?.(sources.mailboxes());
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function requestMetrics(registers: Registry[]): (request: ObservedRequest) => void {
  const requests = new Counter({
    name: 'sluice_requests_total',
    help: 'Requests answered, by outcome, status and mapping.',
    labelNames: ['outcome', 'status', 'mapping'],
    registers,
  });
  const bodies = new Histogram({
    name: 'sluice_request_body_bytes',
    help: 'Bytes of request bodies that were read.',
    buckets: BYTES,
    registers,
  });
  const seconds = (name: string, help: string): Histogram =>
    new Histogram({ name, help, buckets: SECONDS, registers });
  const took = seconds('sluice_request_seconds', 'Time from the end of the headers to the answer.');
  const proved = seconds('sluice_proof_seconds', "Time in which senders' proofs were judged.");
  const evaluated = seconds('sluice_evaluate_seconds', 'Time of the evaluation, transforms included.');
  const stored = seconds('sluice_store_seconds', 'Time until accepted work was on disk.');
  const failures = failureMetrics(registers);
  const mappings = new Set<string>();
  const labelOf = (mappingId: string | undefined): string => {
    if (mappingId === undefined) return '';
    if (mappings.size < MAX_MAPPINGS) mappings.add(mappingId);
    return mappings.has(mappingId) ? mappingId : 'other';
  };
  return (request) => {
    const { outcome, status, proofMs, evaluateMs, storeMs } = request;
    requests.inc({ outcome, status, mapping: labelOf(request.mappingId) });
    took.observe(request.tookMs / 1000);
    if (proofMs !== undefined) proved.observe(proofMs / 1000);
    if (request.refusal !== undefined) failures(request.refusal);
    // Probes and refused requests would drown the sizes and times of hooks.
    if (evaluateMs === undefined) return;
    bodies.observe(request.bodyBytes);
    evaluated.observe(evaluateMs / 1000);
    if (storeMs !== undefined) stored.observe(storeMs / 1000);
  };
}

/** Reasons and schemes are words of our own, so the series are bounded. */
function failureMetrics(registers: Registry[]): (refusal: NonNullable<ObservedRequest['refusal']>) => void {
  const auth = new Counter({
    name: 'sluice_auth_failures_total',
    help: 'Requests refused before their proof, by reason.',
    labelNames: ['reason'],
    registers,
  });
  const verify = new Counter({
    name: 'sluice_verify_failures_total',
    help: 'Requests refused on paths with a proof of their own, by scheme and reason.',
    labelNames: ['scheme', 'reason'],
    registers,
  });
  return ({ reason, scheme }) => {
    auth.inc({ reason });
    if (scheme !== undefined) verify.inc({ scheme, reason });
  };
}

function backlogMetrics(
  registers: Registry[],
  clock: () => number,
): (backlog: BacklogFigures | undefined) => void {
  const gauge = (name: string, help: string, labelNames: readonly string[] = []): Gauge =>
    new Gauge({ name, help, labelNames, registers });
  const up = gauge('sluice_store_up', 'Whether the store answered this scrape.');
  const work = gauge('sluice_work', 'Stored work, by kind and state.', ['kind', 'state']);
  const bytes = gauge('sluice_backlog_bytes', 'Bytes of runs that are queued or active.');
  const oldest = gauge('sluice_backlog_oldest_seconds', 'Age of the oldest queued run; 0 where none waits.');
  const oldestDead = gauge(
    'sluice_dead_oldest_seconds',
    'Time since the oldest dead letter (run, delivery, callback or event) was given up; 0 where there is none.',
  );
  const since = (at: number | undefined): number => (at === undefined ? 0 : Math.max(0, clock() - at) / 1000);
  return (backlog) => {
    up.set(backlog === undefined ? 0 : 1);
    if (backlog === undefined) {
      // Old figures would look like fresh ones.
      work.reset();
      bytes.remove();
      oldest.remove();
      oldestDead.remove();
      return;
    }
    work.set({ kind: 'run', state: 'queued' }, backlog.queuedRuns);
    work.set({ kind: 'run', state: 'active' }, backlog.activeRuns);
    work.set({ kind: 'run', state: 'dead' }, backlog.deadRuns);
    work.set({ kind: 'outbox', state: 'queued' }, backlog.queuedOutbox);
    work.set({ kind: 'outbox', state: 'dead' }, backlog.deadOutbox);
    work.set({ kind: 'event', state: 'pending' }, backlog.pendingEvents);
    work.set({ kind: 'event', state: 'dead' }, backlog.deadEvents);
    bytes.set(backlog.bytes);
    oldest.set(since(backlog.oldestQueuedAt));
    oldestDead.set(since(backlog.oldestDeadAt));
  };
}

function transformMetrics(registers: Registry[]): (figures: TransformFigures) => void {
  const calls = new Counter({
    name: 'sluice_transform_calls_total',
    help: 'Transform calls answered, by result.',
    labelNames: ['result'],
    registers,
  });
  const workers = new Gauge({
    name: 'sluice_transform_pool',
    help: 'Worker processes that are ready, and calls that run or wait.',
    labelNames: ['state'],
    registers,
  });
  const spawned = new Counter({
    name: 'sluice_transform_workers_spawned_total',
    help: 'Worker processes started.',
    registers,
  });
  const breakers = new Gauge({
    name: 'sluice_transform_breakers_open',
    help: 'Modules that are not called because they failed too often.',
    registers,
  });
  return (figures) => {
    // The sandbox counts by itself; its totals replace ours.
    calls.reset();
    for (const [result, count] of Object.entries(figures.calls)) calls.inc({ result }, count);
    const total = (pick: (pool: TransformFigures['pools'][number]) => number): number =>
      figures.pools.reduce((sum, pool) => sum + pick(pool), 0);
    workers.set(
      { state: 'ready' },
      total((pool) => pool.ready),
    );
    workers.set(
      { state: 'running' },
      total((pool) => pool.running),
    );
    workers.set(
      { state: 'waiting' },
      total((pool) => pool.waiting),
    );
    spawned.reset();
    spawned.inc(total((pool) => pool.spawned));
    breakers.set(figures.breakers.length);
  };
}

function mailboxMetrics(registers: Registry[]): (mailboxes: readonly MailboxFigures[]) => void {
  const state = new Gauge({
    name: 'sluice_mailbox_state',
    help: '1 for the state each mailbox is in.',
    labelNames: ['mailbox', 'state'],
    registers,
  });
  const messages = new Counter({
    name: 'sluice_mail_messages_total',
    help: 'Messages read, by what became of them.',
    labelNames: ['mailbox', 'result'],
    registers,
  });
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
