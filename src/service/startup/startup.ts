import { hostname } from 'node:os';
import { defined } from '../../base/json.ts';
import { Gateway } from '../gateway/gateway.ts';
import {
  type Generation,
  type LiveGeneration,
  openLiveGeneration,
  type ReloadResult,
  WrongFilesError,
} from '../generation/generation.ts';
import { MailProcess, ownEndpoint } from '../mail/mail.ts';
import { Recovery } from '../recovery/recovery.ts';
import { fetchJson } from '../../base/outgoing/outgoing.ts';
import { MISSING_PROTECTIONS, Sandbox } from '../../engine/sandbox/sandbox.ts';
import { type RunningServer, startMetricsListener, startServer } from '../server/server.ts';
import { findStoreFile, openStorage, type Storage } from '../../engine/storage/storage.ts';
import {
  createHealth,
  type Health,
  openMetrics,
  openTracing,
  type Tracing,
} from '../../base/telemetry/telemetry.ts';
import { keepLive, keepPruning, sayWhatIsKept } from './pruning.ts';
import { servedGeneration } from './served-generation.ts';
import { agentPlace } from './agent-place.ts';
import type { ServiceOptions } from './service-options.ts';
import { sayProofs, watchHealth } from './watch-health.ts';

export type { ConsoleParts, ServiceOptions, ServiceRole } from './service-options.ts';

/** The running service: one server, one store, one gateway, and the generation that is live. */
export interface Service {
  readonly url: string;
  readonly generation: Generation;
  /** True where the hook token came from `makeToken`. */
  readonly tokenWasMade: boolean;
  /** Resolves if the store dies under the service; it can then do nothing but stop. */
  readonly failed: Promise<Error>;
  /** Files and folders whose change makes another generation. */
  watchedPaths(): readonly string[];
  /**
   * Builds a new generation and makes it live; one with any error never goes live. `by`: who or what asked for it, as the
   * audit names it; default: the service.
   */
  reload(by?: string): Promise<ReloadResult>;
  /** Idempotent: stops intake, lets runs end within the grace, closes the store. */
  stop(): Promise<void>;
}

/**
 * Starts everything in the order work flows back: store, gateway, server. What the configuration gets wrong goes to
 * `onFindings` first.
 * @throws Error that says what is wrong and what to do; nothing is left running then
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const opened: Close[] = [];
  try {
    const parts = await openParts(options, opened);
    return await openIntake(options, parts, opened);
  } catch (error) {
    await closeAll(opened, 0).catch(() => undefined);
    throw error;
  }
}

/** Closes an open part, also where a later one does not start. Runs that are under way get the grace. */
type Close = (graceMs: number) => unknown;

/** Closes what was opened last first, all of it; then rejects with the first error. */
async function closeAll(opened: readonly Close[], graceMs: number): Promise<void> {
  const failures: unknown[] = [];
  const note = (error: unknown): unknown => failures.push(error);
  for (const close of opened.toReversed()) await Promise.resolve(graceMs).then(close).catch(note);
  if (failures.length > 0) throw failures[0] as Error;
}

/** The parts that evaluate requests, keep the work and perform it. */
interface ServiceParts {
  readonly health: Health;
  readonly sandbox: Sandbox;
  readonly live: LiveGeneration;
  readonly storage: Storage;
  readonly metrics: Awaited<ReturnType<typeof startMetrics>>;
  readonly tracing: Tracing | undefined;
  readonly gateway: Gateway;
  /** The parts that are opened last, and asked by parts that are there before them. */
  readonly late: { mail?: MailProcess; recovery?: Recovery };
  /** Says where agents add keys, once the service listens. */
  readonly sayKeysUrl: (url: string | undefined) => void;
}

const performsWork = ({ recording }: ServiceOptions): boolean => recording?.performs !== false;

async function openParts(options: ServiceOptions, opened: Close[]): Promise<ServiceParts> {
  const { log, role, adviseRun } = options;
  opened.push(() => log.flush());
  const health = createHealth({ log });
  const sandbox = new Sandbox({
    onEvent: ({ kind, ...fields }) =>
      log[kind === 'breaker-closed' || kind === 'call-replayed' ? 'info' : 'warn'](fields, kind),
  });
  opened.push(() => sandbox.stop());
  const live = await openLiveGeneration({ ...options, health }, sandbox);
  opened.push(() => live.effects.channels.stop());
  if (live.generation.transforms.hashes.size > 0 && MISSING_PROTECTIONS.length > 0)
    log.warn({ missing: MISSING_PROTECTIONS }, 'this platform lacks protections of the transform sandbox');
  const storage = await openStore(live.generation, options);
  opened.push(() => storage.close());
  const late: ServiceParts['late'] = {};
  const metrics = await startMetrics({ live, storage, sandbox, late }, options);
  if (metrics !== undefined) opened.push(metrics.stop);
  const tracing = await openTracing(log);
  const { promise: keysUrl, resolve: sayKeysUrl } = Promise.withResolvers<string | undefined>();
  const gateway = new Gateway({
    storage,
    configuration: live.effects,
    log,
    health,
    performs: role !== 'front',
    keysUrl,
    ...(adviseRun && { advise: (run) => adviseRun(run, live.generation.config) }),
    ...defined({ metrics: metrics?.metrics.gateway, tracing }),
  });
  opened.push((graceMs) => gateway.stop(graceMs));
  // Where the service does not come to listen, no run waits for the address.
  opened.push(() => sayKeysUrl(undefined));
  // The command line has changed what is stored.
  storage.onOutsideChange(() => gateway.notifyOutside());
  if (performsWork(options)) await gateway.start();
  return { health, sandbox, live, storage, metrics, tracing, gateway, late, sayKeysUrl };
}

/** Opens the parts that take requests and mail, and those that look after all of it. */
async function openIntake(options: ServiceOptions, parts: ServiceParts, opened: Close[]): Promise<Service> {
  const { health, sandbox, live, storage, gateway, late } = parts;
  sayProofs(health, live.generation);
  void sayWhatIsKept(storage, live, options).catch(() => undefined);
  const failed = new Promise<Error>((resolve) => storage.onFailure(resolve));
  opened.push(watchHealth(health, sandbox, storage, failed));
  const server = await listen(options, parts);
  // Both stop together: a sender that waits for its run keeps its connection for as long as the run may go on.
  opened.push((graceMs) => Promise.all([server.stop(), gateway.stop(graceMs)]));
  const { url } = server;
  parts.sayKeysUrl(`${localUrl(server.workersUrl ?? url)}/workers/conversation`);
  const console = await options.openConsole?.({ url, storage, live, server, gateway });
  // Mail goes the way of every request.
  const endpoint = ownEndpoint((hook) => server.deliver(hook));
  const mail = (late.mail = new MailProcess({ store: storage, endpoint, log: options.log, health }));
  const recovery = (late.recovery = new Recovery({
    storage,
    generation: () => live.generation,
    deliver: (hook) => server.deliver(hook),
    log: options.log,
    health,
    alert: (path, reason) => gateway.alertOn({ kind: 'webhook', name: path }, reason),
  }));
  opened.push(() => Promise.all([mail.stop(), recovery.stop()]));
  opened.push(() => console?.stop());
  followLive(options, parts);
  if (performsWork(options)) {
    noteLive(parts, 'start');
    opened.push(keepPruning(storage, live, options));
  }
  let stopped: Promise<void> | undefined;
  return {
    url,
    get generation() {
      return live.generation;
    },
    tokenWasMade: live.tokenWasMade,
    failed,
    watchedPaths: () => live.generation.watchedPaths,
    reload: (by) => live.reload(by),
    stop: () =>
      (stopped ??= closeAll(opened, live.generation.config.settings.server.stopGraceSeconds * 1000)),
  };
}

/** Serves metrics on a separate listener; undefined where none is configured. */
async function startMetrics(
  { live, storage, sandbox, late }: Pick<ServiceParts, 'live' | 'storage' | 'sandbox' | 'late'>,
  { log }: ServiceOptions,
) {
  const { metrics: at } = live.generation.config.settings;
  if (at === undefined) return undefined;
  const metrics = await openMetrics({
    backlog: () => storage.backlog(),
    isStoreWell: () => storage.health().kind === 'ok',
    database: storage.databaseUse,
    transforms: () => sandbox.stats,
    mailboxes: () => late.mail?.figures ?? [],
    recoveries: () => late.recovery?.figures() ?? [],
  });
  const listener = await startMetricsListener({ ...at, render: () => metrics.render() });
  log.info({ metricsUrl: `${listener.url}/metrics` }, 'metrics are served');
  return { metrics, stop: () => listener.stop() };
}

function openStore(
  generation: Generation,
  { role = 'all', version = '', log, knownStore }: ServiceOptions,
): Promise<Storage> {
  const { storage, gateway } = generation.config.settings;
  const isFile = findStoreFile(storage.url) !== undefined;
  if (role !== 'all' && isFile)
    throw new WrongFilesError(
      `--role ${role} needs a store that several services share: set storage.url to postgres://USER:PASSWORD@HOST/DATABASE, or leave --role out`,
    );
  const place = isFile ? undefined : agentPlace(generation.config.settings, log);
  return openStorage(storage.url, {
    mode: 'performer',
    known: knownStore,
    replica: { role, version, leaseMs: storage.leaseSeconds * 1000, ...(place && { place }) },
    onWarning: (message) => log.warn({}, message),
    onNote: (message) => log.info({}, message),
    // The store accepts no more work beyond this limit.
    maxBacklogRuns: storage.maxBacklog.runs,
    maxBacklogBytes: storage.maxBacklog.bytes,
    maxPendingEvents: gateway.events.maxPending,
  });
}

/** Has the mailbox read and senders asked as the live configuration says, and all parts follow its reloads, in this order. */
function followLive(options: ServiceOptions, parts: ServiceParts): void {
  const { role, readMail = false, recovers = true } = options;
  const { live, storage, gateway, health, late } = parts;
  const apply = (): void => {
    const block = live.generation.config.settings.hooks.mail;
    // A worker takes no hooks, and so no mail.
    late.mail?.read(readMail && role !== 'worker' && block?.run === true ? block : undefined);
    if (recovers && performsWork(options) && role !== 'worker') late.recovery?.reconfigure();
  };
  live.onReplaced((by) => {
    gateway.reconfigure(live.effects);
    sayProofs(health, live.generation);
    if (performsWork(options)) {
      void keepLive(storage, live, options);
      noteLive(parts, 'reload', by);
    }
    apply();
  });
  apply();
}

/** Notes since when which files are live, so that what changed with them can be seen. */
function noteLive({ storage, live }: ServiceParts, what: 'start' | 'reload', who = 'the service'): void {
  const note = { at: Date.now(), who, source: hostname(), what, about: live.generation.id };
  // A store that cannot write now says so elsewhere.
  void storage.recordAudit({ ...note, changed: 0 }).catch(() => undefined);
}

function listen(
  options: ServiceOptions,
  { live, storage, gateway, health, metrics, tracing, late }: ServiceParts,
): Promise<RunningServer> {
  return startServer({
    server: live.generation.config.settings.server,
    generation: servedGeneration(live, options),
    storage: {
      ...storage,
      addAgentKey: async (...asked) => {
        const answer = await storage.addAgentKey(...asked);
        if (answer.result === 'added') gateway.notify();
        return answer;
      },
      recordDecision: (decision) =>
        storage.recordDecision(decision, live.generation.config.settings.storage.keep.decisions),
    },
    log: options.requestLog ?? options.log,
    health,
    // A wake for the next heartbeat makes nothing due.
    onAccepted: (_, actions) => {
      if (actions.some((action) => action.kind !== 'wake' || action.mode === 'now')) gateway.notify();
    },
    onNotice: () => late.mail?.wake(),
    recovered: (path, event) => late.recovery?.recovered(path, event),
    fetchJson: fetchIssuer,
    waitForRun: async (runId, ms, signal) =>
      (await gateway.waitForRun(runId, ms, signal)) === undefined ? undefined : storage.findRun(runId),
    answerWorker: (asked) => gateway.answerWorker(asked),
    workersAt: live.generation.config.settings.gateway.workers?.listen,
    ...defined({ metrics: metrics?.metrics, tracing, onDecision: options.onDecision }),
  });
}

/** The address as a process of this machine calls it: who listens on all addresses has none of its own. */
const localUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');

/** How long an issuer may take to answer; it delays its own senders only. */
const ISSUER_TIMEOUT_MS = 5_000;

async function fetchIssuer(url: string): Promise<unknown> {
  const { status, body } = await fetchJson(url, {
    method: 'GET',
    signal: AbortSignal.timeout(ISSUER_TIMEOUT_MS),
  });
  if (status !== 200) throw new Error(`the issuer answered ${status}`);
  return body;
}
