import type { Settings } from '../../engine/config/config.ts';
import { Gateway } from '../gateway/gateway.ts';
import {
  type Generation,
  type LiveGeneration,
  openLiveGeneration,
  type ReloadResult,
  WrongFilesError,
} from '../generation/generation.ts';
import { MailProcess, ownEndpoint } from '../mail/mail.ts';
import { fetchJson } from '../../base/outgoing/outgoing.ts';
import { Sandbox } from '../../engine/sandbox/sandbox.ts';
import { type RunningServer, type ServerDeps, startServer } from '../server/server.ts';
import {
  findStoreFile,
  openStorage,
  prepareStorage,
  type PreparedStorage,
  type Storage,
} from '../../engine/storage/storage.ts';
import { createHealth, type Health, type Log, type MailboxFigures } from '../../base/telemetry/telemetry.ts';
import { type Looking, type Onlooker, watchedStorage } from './onlooker.ts';
import { keepLive, sayWhatIsKept } from './keeping.ts';
import { keepPruning } from './pruning.ts';
import { servedGeneration } from './served-generation.ts';
import { agentPlace } from './agent-place.ts';
import { type ServedMetrics, startMetrics } from './served-metrics.ts';
import type { ServiceOptions, ServiceRole } from './service-options.ts';
import { logSandboxEvent, sayMissingWalls, sayProofs, watchHealth } from './watch-health.ts';

export type { ConsoleParts, Onlooker } from './onlooker.ts';
export type { ServiceOptions, ServiceRole } from './service-options.ts';

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
  /** Builds a new generation and makes it live; one with any error never goes live. */
  reload(): Promise<ReloadResult>;
  /** Idempotent: stops intake, lets runs end within the grace, closes the store. */
  stop(): Promise<void>;
}

/**
 * Starts everything in the order work flows back: store, gateway, server. What the configuration gets wrong goes to
 * `onFindings` first.
 * @throws Error that says what is wrong and what to do; nothing is left running then
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const opened: Closing[] = [];
  try {
    return serviceOf(await openParts(options, opened), options.log);
  } catch (error) {
    for (const close of opened.toReversed()) await close().catch(() => undefined);
    throw error;
  }
}

function serviceOf(parts: Parts, log: Log): Service {
  const { live, server, failed } = parts;
  return {
    url: server.url,
    get generation() {
      return live.generation;
    },
    tokenWasMade: live.tokenWasMade,
    failed,
    watchedPaths: () => live.generation.watchedPaths,
    reload: () => live.reload(),
    stop: once(async () => {
      await stopParts(parts);
      log.flush();
    }),
  };
}

type Closing = () => Promise<unknown>;

/** What a running service consists of. */
interface Parts extends Wiring {
  readonly sandbox: Sandbox;
  readonly server: RunningServer;
  readonly mail: MailProcess;
  readonly onlooker: Onlooker | undefined;
  readonly failed: Promise<Error>;
  readonly stopWatching: () => void;
  readonly stopPruning: () => void;
}

/** Each part is noted in `opened`, so that it can be closed if a later one does not start. */
async function openParts(options: ServiceOptions, opened: Closing[]): Promise<Parts> {
  const prepared = prepareStorage();
  opened.push(() => prepared.end());
  const reading: Reading = {};
  const evaluating = await openEvaluating(options, opened);
  const wiring = await openPerforming(options, { ...evaluating, prepared, reading }, opened);
  const { live, storage, health } = wiring;
  const { sandbox } = evaluating;
  sayProofs(health, live.generation);
  void sayWhatIsKept(storage, live, options).catch(() => undefined);
  const failed = new Promise<Error>((resolve) => storage.onFailure(resolve));
  const stopWatching = watchHealth(health, { sandbox, storage, failed });
  opened.push(() => Promise.resolve(stopWatching()));
  const intake = await openIntake(options, { ...wiring, reading }, opened);
  const stopPruning = performsWork(options) ? keepPruning(storage, live, options) : (): void => undefined;
  return { ...wiring, ...intake, sandbox, failed, stopWatching, stopPruning };
}

const performsWork = ({ recording }: ServiceOptions): boolean => recording?.performs !== false;

/** The reader of mail is opened last, and asked by parts that are there before it. */
interface Reading {
  mail?: MailProcess;
}

type Evaluating = Pick<Parts, 'health' | 'sandbox' | 'live'>;

/** What evaluates requests. */
async function openEvaluating(options: ServiceOptions, opened: Closing[]): Promise<Evaluating> {
  const { log } = options;
  const health = createHealth({ log });
  const sandbox = new Sandbox({ onEvent: (event) => logSandboxEvent(log, event) });
  opened.push(() => sandbox.stop());
  const live = await openLiveGeneration({ ...options, health }, sandbox);
  sayMissingWalls(log, live);
  return { health, sandbox, live };
}

/** What keeps the work and performs it. */
async function openPerforming(
  options: ServiceOptions,
  given: Evaluating & { readonly prepared: PreparedStorage; readonly reading: Reading },
  opened: Closing[],
): Promise<Wiring> {
  const { live, health, sandbox, prepared, reading } = given;
  const storage = await openStore(live.generation, prepared, options);
  opened.push(() => storage.close());
  const { settings } = live.generation.config;
  const mailboxes = (): readonly MailboxFigures[] => reading.mail?.figures ?? [];
  const metrics = await startMetrics(settings, { storage, sandbox, mailboxes, log: options.log });
  if (metrics !== undefined) opened.push(metrics.stop);
  const gateway = openGateway(options, { live, storage, health, metrics });
  opened.push(() => gateway.stop(0));
  // The command line has changed what is stored.
  storage.onOutsideChange(() => gateway.notifyOutside());
  if (performsWork(options)) await gateway.start();
  return { live, storage, gateway, health, metrics };
}

/** What takes requests and mail. */
async function openIntake(
  options: ServiceOptions,
  { reading, ...wiring }: Wiring & { readonly reading: Reading },
  opened: Closing[],
): Promise<Pick<Parts, 'server' | 'onlooker' | 'mail'>> {
  const looking: Looking = {};
  const onNotice = (): void => reading.mail?.wake();
  const server = await listen(options, { ...wiring, onNotice, looking });
  opened.push(() => server.stop());
  const onlooker = await openOnlooker(options, { ...wiring, server, looking });
  opened.push(async () => onlooker?.stop());
  const mail = followReloads(options, { ...wiring, server, looking });
  reading.mail = mail;
  opened.push(() => mail.stop());
  return { server, onlooker, mail };
}

async function stopParts(parts: Parts): Promise<void> {
  const { live, storage, gateway, metrics, sandbox, server, mail } = parts;
  parts.stopPruning();
  parts.stopWatching();
  const graceMs = live.generation.config.settings.server.stopGraceSeconds * 1000;
  await parts.onlooker?.stop();
  await mail.stop();
  // Side by side: a sender that waits for its run keeps its connection for as long as the run may go on.
  await Promise.all([server.stop(), gateway.stop(graceMs)]);
  await metrics?.stop();
  await live.effects.channels.stop();
  await sandbox.stop();
  await storage.close();
}

interface Served extends Wiring {
  readonly server: RunningServer;
  readonly looking: Looking;
}

async function openOnlooker(
  { openConsole }: ServiceOptions,
  { live, storage, gateway, server, looking }: Served,
): Promise<Onlooker | undefined> {
  const onlooker = await openConsole?.({ url: server.url, storage, live, server, gateway });
  if (onlooker !== undefined) looking.onlooker = onlooker;
  return onlooker;
}

function openGateway(
  { log, role, adviseRun }: ServiceOptions,
  { live, storage, health, metrics }: Omit<Wiring, 'gateway'>,
): Gateway {
  return new Gateway({
    storage,
    configuration: live.effects,
    log,
    health,
    performs: role !== 'front',
    ...(adviseRun && { advise: (run) => adviseRun(run, live.generation.config) }),
    ...(metrics === undefined ? {} : { metrics: metrics.metrics.gateway }),
  });
}

function openStore(
  generation: Generation,
  prepared: PreparedStorage,
  { role = 'all', version = '', log, knownStore }: ServiceOptions,
): Promise<Storage> {
  const { storage } = generation.config.settings;
  const isFile = findStoreFile(storage.url) !== undefined;
  if (role !== 'all' && isFile) throw notShared(role);
  const place = isFile ? undefined : agentPlace(generation.config.settings, log);
  return openStorage(storage.url, {
    mode: 'performer',
    prepared,
    known: knownStore,
    replica: { role, version, leaseMs: storage.leaseSeconds * 1000, ...(place && { place }) },
    onWarning: (message) => log.warn({}, message),
    onNote: (message) => log.info({}, message),
    ...limitsOf(generation.config.settings),
  });
}

/** Beyond these the store takes no more work. */
function limitsOf({ storage: { maxBacklog }, gateway: { events } }: Settings) {
  return {
    maxBacklogRuns: maxBacklog.runs,
    maxBacklogBytes: maxBacklog.bytes,
    maxPendingEvents: events.maxPending,
  };
}

function notShared(role: ServiceRole): Error {
  return new WrongFilesError(
    `--role ${role} needs a store that several services share: set storage.url to postgres://USER:PASSWORD@HOST/DATABASE, or leave --role out`,
  );
}

/** Lets gateway and mailbox follow the live configuration; mail takes the way every request goes. */
function followReloads(
  options: ServiceOptions,
  { live, storage, gateway, server, health, looking }: Served,
): MailProcess {
  const { log, role, readMail: isWanted = false } = options;
  const mail = new MailProcess({
    store: storage,
    endpoint: ownEndpoint((hook) => server.deliver(hook)),
    log,
    health,
  });
  const apply = (): void => {
    const block = live.generation.config.settings.hooks.mail;
    // A worker takes no hooks, and so no mail.
    mail.read(isWanted && role !== 'worker' && block?.run === true ? block : undefined);
  };
  live.onReplaced(() => {
    gateway.reconfigure(live.effects);
    sayProofs(health, live.generation);
    if (performsWork(options)) void keepLive(storage, live, options);
    looking.onlooker?.replaced();
    apply();
  });
  apply();
  return mail;
}

interface Wiring {
  readonly metrics: ServedMetrics | undefined;
  readonly live: LiveGeneration;
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly health: Health;
}

interface Listening extends Wiring {
  /** Mail is said to have come. */
  readonly onNotice: () => void;
  readonly looking: Looking;
}

function listen(
  options: ServiceOptions,
  { live, storage, gateway, health, metrics, onNotice, looking }: Listening,
): Promise<RunningServer> {
  return startServer({
    server: live.generation.config.settings.server,
    generation: servedGeneration(live, options),
    storage: { ...storage, ...watchedStorage(storage, live, looking) },
    log: options.requestLog ?? options.log,
    health,
    // A wake for the next heartbeat makes nothing due.
    onAccepted: (_, actions) => {
      if (actions.some((action) => action.kind !== 'wake' || action.mode === 'now')) gateway.notify();
    },
    onNotice,
    fetchJson: fetchIssuer,
    waitForRun: runWaiter({ gateway, storage }),
    ...(metrics === undefined ? {} : { metrics: metrics.metrics }),
    ...(options.onDecision === undefined ? {} : { onDecision: options.onDecision }),
  });
}

function runWaiter({ gateway, storage }: Pick<Wiring, 'gateway' | 'storage'>): ServerDeps['waitForRun'] {
  return async (runId, ms, signal) =>
    (await gateway.waitForRun(runId, ms, signal)) === undefined ? undefined : storage.findRun(runId);
}

/** An issuer that does not answer within this holds up its own sender only. */
const ISSUER_TIMEOUT_MS = 5_000;

async function fetchIssuer(url: string): Promise<unknown> {
  const { status, body } = await fetchJson(url, {
    method: 'GET',
    signal: AbortSignal.timeout(ISSUER_TIMEOUT_MS),
  });
  if (status !== 200) throw new Error(`the issuer answered ${status}`);
  return body;
}

/** Calls at most once; later calls get the same promise. */
function once(call: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= call());
}
