import { Gateway } from './gateway/gateway.ts';
import {
  type Generation,
  openLiveGeneration,
  type LiveGeneration,
  type LiveOptions,
  type ReloadResult,
  noticePath,
} from './generation/generation.ts';
import { isBuiltInRoute } from './hook/hook.ts';
import { Sandbox, type SandboxEvent } from './sandbox/sandbox.ts';
import { LiveMail, ownDoor } from './mail/mail.ts';
import {
  type KnownTokens,
  knownTokens,
  startMetricsListener,
  startServer,
  type RunningServer,
  type SeenRequest,
  type ServerGeneration,
} from './server/server.ts';
import { fetchJson } from './outgoing/outgoing.ts';
import {
  KEPT_LIMITS,
  openStorage,
  retentionLimits,
  type Storage,
  type StorageHealth,
} from './storage/storage.ts';
import { removeOldWorkFolders } from './runners/runners.ts';
import {
  codeOf,
  createHealth,
  type MailboxFigures,
  openMetrics,
  type Health,
  type Log,
  type Metrics,
} from './telemetry/telemetry.ts';
import type { KeepRequests, Settings } from './config/config.ts';

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

export interface ServiceOptions extends LiveOptions {
  /** Where the line per request goes; default `log`. */
  readonly requestLog?: Omit<Log, 'child' | 'adopt' | 'protect' | 'flush'>;
  readonly onDecision?: (seen: SeenRequest) => void;
  /** Whether the mailbox of `hooks.mail` is read. */
  readonly readMail?: boolean;
  /** Which requests are kept where the configuration does not say. */
  readonly keepRequests?: KeepRequests;
  /**
   * Every request is taken, whatever its name and the format of its body. Without `performs` nothing becomes of it:
   * no run, no turn of the main session, no delivery, and nothing is removed.
   */
  readonly recording?: { readonly performs: boolean };
  /** Of Sluice, for those who ask which services use a store. */
  readonly version?: string;
  /** What this service does of the work of its store; default all. */
  readonly role?: ServiceRole;
  /** How often `storage.keep` is applied; default every ten minutes. */
  readonly pruneEveryMs?: number;
}

/** `front` takes hooks and performs nothing, `worker` performs and takes no hooks. */
export type ServiceRole = 'front' | 'worker' | 'all';

const PRUNE_EVERY_MS = 10 * 60_000;

/**
 * Starts everything in the order work flows back: store, gateway, server. What the configuration gets wrong goes to
 * `onDiagnostics` first.
 * @throws Error that says what is wrong and what to do; nothing is left running then
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const sandbox = new Sandbox({ onEvent: (event) => logSandboxEvent(options.log, event) });
  const opened: (() => Promise<unknown>)[] = [() => sandbox.stop()];
  const health = createHealth({ log: options.log });
  try {
    const live = await openLiveGeneration({ ...options, health }, sandbox);
    sayMissingWalls(options.log, live, sandbox);
    const { settings } = live.generation.config;
    const storage = await openStore(settings, live.generation.table.mappings, options);
    opened.unshift(() => storage.close());
    const reading: { mail?: LiveMail } = {};
    const mailboxes = (): readonly MailboxFigures[] => reading.mail?.figures ?? [];
    const metrics = await startMetrics(settings, { storage, sandbox, mailboxes, log: options.log });
    if (metrics !== undefined) opened.unshift(metrics.stop);
    const gateway = new Gateway({
      storage,
      configuration: live.effects,
      log: options.log,
      health,
      performs: options.role !== 'front',
      ...(metrics === undefined ? {} : { metrics: metrics.metrics.gateway }),
    });
    opened.unshift(() => gateway.stop(0));
    storage.onOutsideChange(() => gateway.notifyOutside());
    const performs = options.recording?.performs !== false;
    if (performs) await gateway.start();
    sayMissingSecrets(health, live.generation);
    const failed = new Promise<Error>((resolve) => storage.onFailure(resolve));
    const stopWatching = watchHealth(health, { sandbox, storage, failed });
    opened.unshift(() => Promise.resolve(stopWatching()));
    const onNotice = (): void => reading.mail?.wake();
    const server = await listen(options, { live, storage, gateway, health, metrics, onNotice });
    opened.unshift(() => server.stop());
    const reader = followReloads(options, { live, storage, gateway, server, health });
    reading.mail = reader;
    opened.unshift(() => reader.stop());
    const stopPruning = performs ? keepPruning(storage, live, options) : (): void => undefined;
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
        stopPruning();
        stopWatching();
        const graceMs = live.generation.config.settings.server.stopGraceSeconds * 1000;
        await reader.stop();
        // Side by side: a sender that waits for its run keeps its connection for as long as the run may go on.
        await Promise.all([server.stop(), gateway.stop(graceMs)]);
        await metrics?.stop();
        await live.effects.channels.stop();
        await sandbox.stop();
        await storage.close();
        options.log.flush();
      }),
    };
  } catch (error) {
    for (const close of opened) await close().catch(() => undefined);
    throw error;
  }
}

function openStore(
  { storage, gateway, hooks }: Settings,
  mappings: Generation['table']['mappings'],
  { role = 'all', version = '', log }: ServiceOptions,
): Promise<Storage> {
  if (role !== 'all' && storage.url.startsWith('sqlite:')) {
    throw new Error(
      `--role ${role} needs a store that several services share: set storage.url to postgres://USER:PASSWORD@HOST/DATABASE, or leave --role out`,
    );
  }
  const owners = Object.fromEntries(mappings.map(({ id, owner }) => [id, owner]));
  return openStorage(storage.url, {
    owners: { mappings: owners, sharedPrefixes: hooks.sessionKeys.shared },
    mode: 'performer',
    replica: { role, version, leaseMs: storage.leaseSeconds * 1000 },
    onWarning: (message) => log.warn({}, message),
    maxBacklogRuns: storage.maxBacklog.runs,
    maxBacklogBytes: storage.maxBacklog.bytes,
    maxPendingEvents: gateway.events.maxPending,
  });
}

/** Lets gateway and mailbox follow the live configuration; mail takes the way every request goes. */
function followReloads(
  { log, role, readMail: isWanted = false }: ServiceOptions,
  wiring: Omit<Wiring, 'metrics'> & { readonly server: RunningServer },
): LiveMail {
  const { live, storage, gateway, server, health } = wiring;
  // A worker takes no hooks, and so no mail.
  const door = ownDoor((hook) => server.deliver(hook));
  const mail = new LiveMail({ store: storage, door, log, health });
  const apply = (): void => {
    if (isWanted && role !== 'worker') mail.apply(live.generation.config.settings.hooks.mail);
  };
  live.onReplaced(() => {
    gateway.reconfigure(live.effects);
    sayMissingSecrets(health, live.generation);
    apply();
  });
  apply();
  return mail;
}

/** How often the sandbox is asked how it is. */
const WATCH_MS = 1_000;

interface Watched {
  readonly sandbox: Sandbox;
  readonly storage: Storage;
  /** Resolves if the store dies under the service. */
  readonly failed: Promise<Error>;
}

/** Lets store and sandbox report; returns how to end it. */
function watchHealth(health: Health, { sandbox, storage, failed }: Watched): () => void {
  void failed.then(() => {
    const message = 'the store has failed; restart the service';
    health.raise({ code: 'store_cannot_accept', name: 'engine', message });
  });
  const tell = (state: StorageHealth): void => {
    const trouble = state.kind === 'ok' ? [] : [{ name: 'writes', message: state.message }];
    const isReplaced = state.kind === 'unavailable' && state.code === 'replaced';
    health.replace('store_replaced', isReplaced ? trouble : []);
    if (trouble.length === 0 || isReplaced) health.clear({ code: 'store_cannot_accept', name: 'writes' });
    else health.raise({ code: 'store_cannot_accept', ...trouble[0]! });
  };
  tell(storage.health());
  storage.onHealthChange(tell);
  const { lease } = storage;
  lease?.onChange((isHeld) => {
    const message = 'its runs were ended and put back; others take them until the database is reached again';
    health.replace('lease_lost', isHeld ? [] : [{ message }]);
  });
  const look = (): void => {
    const { ok, reason = 'transforms cannot run' } = sandbox.health;
    health.replace('transforms_cannot_run', ok ? [] : [{ message: reason }]);
    health.replace(
      'transform_failing',
      sandbox.stats.breakers.map(({ module }) => ({
        name: module,
        message: 'it failed too often and is tried again after a while; its requests get 503 until then',
      })),
    );
  };
  const timer = setInterval(look, WATCH_MS).unref();
  return () => clearInterval(timer);
}

/** Metrics on a listener of their own; absent where none is configured. */
interface ServedMetrics {
  readonly metrics: Metrics;
  stop(): Promise<void>;
}

async function startMetrics(
  settings: Settings,
  {
    storage,
    sandbox,
    mailboxes,
    log,
  }: {
    readonly storage: Storage;
    readonly sandbox: Sandbox;
    readonly mailboxes: () => readonly MailboxFigures[];
    readonly log: Log;
  },
): Promise<ServedMetrics | undefined> {
  if (settings.metrics === undefined) return undefined;
  const metrics = await openMetrics({
    backlog: () => storage.backlog(),
    transforms: () => sandbox.stats,
    mailboxes,
  });
  const listener = await startMetricsListener({ ...settings.metrics, render: () => metrics.render() });
  log.info({ metricsUrl: `${listener.url}/metrics` }, 'metrics are served');
  return { metrics, stop: () => listener.stop() };
}

interface Wiring {
  readonly metrics: ServedMetrics | undefined;
  readonly live: LiveGeneration;
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly health: Health;
}

/** What opens a door here: tokens, and the secrets with which senders prove themselves. */
function tokensOf({ config, table }: Generation): KnownTokens {
  const { hooks, gateway } = config.settings;
  const ofPaths = table.mappings.flatMap(({ match }) => {
    const { verify, challenge } = match.path === undefined ? {} : table.settingsOf(match.path);
    return [...(verify?.secrets ?? []), challenge?.token];
  });
  return knownTokens([hooks.token, ...hooks.previousTokens, gateway.token, ...ofPaths]);
}

/** What is written wins over what the command serves with, and that over what is kept anyway. */
function keepRequests(written: KeepRequests, defaults: KeepRequests): ServerGeneration['keepRequests'] {
  const {
    which = 'transforms',
    count = KEPT_LIMITS.count,
    bytes = KEPT_LIMITS.bytes,
    days,
  } = { ...defaults, ...written };
  return { which, limits: { count, bytes, ...(days === undefined ? {} : { maxAgeMs: days * 86_400_000 }) } };
}

/** The live generation as the server sees it: made once per generation, as it is asked for on every request. */
function servedGeneration(
  live: LiveGeneration,
  {
    keepRequests: defaults = {},
    recording,
    role,
  }: Pick<ServiceOptions, 'keepRequests' | 'recording' | 'role'>,
): () => ServerGeneration {
  let source: Generation | undefined;
  let served: ServerGeneration | undefined;
  return () => {
    if (served !== undefined && source === live.generation) return served;
    source = live.generation;
    const { id, config, table, evaluate } = source;
    const names = new Set(table.mappings.map(({ match }) => match.path));
    served = {
      id,
      hooks: role === 'worker' ? { ...config.settings.hooks, enabled: false } : config.settings.hooks,
      gatewayToken: config.settings.gateway.token,
      tokens: tokensOf(source),
      canTake: (path) =>
        recording !== undefined ||
        isBuiltInRoute(path) ||
        config.settings.hooks.unmatched === 'skip' ||
        table.canTake(path),
      knowsName: (path) => isBuiltInRoute(path) || names.has(path),
      settingsOf: (path) => table.settingsOf(path),
      noticePath: noticePath(config.settings.hooks.mail),
      keepRequests: keepRequests(config.settings.storage.keepRequests, defaults),
      evaluate: recording?.performs === false ? skippingMisses(evaluate) : (request) => evaluate(request),
      takesAnyFormat: recording !== undefined,
    };
    return served;
  };
}

/** Who only records answers 204 to what no mapping takes yet, so that no sender switches its webhook off. */
function skippingMisses(evaluate: Generation['evaluate']): ServerGeneration['evaluate'] {
  return async (request) => {
    const evaluation = await evaluate(request);
    const { outcome } = evaluation;
    const isMiss = outcome.kind === 'rejected' && outcome.error.code === 'no_mapping_matched';
    return isMiss ? { ...evaluation, outcome: { kind: 'skipped', by: 'unmatched' } } : evaluation;
  };
}

function listen(
  options: ServiceOptions,
  { live, storage, gateway, health, metrics, onNotice }: Wiring & { readonly onNotice: () => void },
): Promise<RunningServer> {
  return startServer({
    server: live.generation.config.settings.server,
    generation: servedGeneration(live, options),
    storage,
    log: options.requestLog ?? options.log,
    health,
    onAccepted: () => gateway.notify(),
    onNotice,
    fetchJson: fetchIssuer,
    waitForRun: async (runId, ms, signal) =>
      (await gateway.waitForRun(runId, ms, signal)) === undefined ? undefined : storage.findRun(runId),
    ...(metrics === undefined ? {} : { metrics: metrics.metrics }),
    ...(options.onDecision === undefined ? {} : { onDecision: options.onDecision }),
  });
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

/** Paths that refuse everything, because none of their secrets is there. */
function sayMissingSecrets(health: Health, { table }: Generation): void {
  const paths = new Set(
    table.mappings.flatMap(({ match }) => (match.path === undefined ? [] : [match.path])),
  );
  const missing = [...paths].filter((path) => {
    const { verify } = table.settingsOf(path);
    return (
      verify !== undefined && verify.secrets.length > 0 && verify.secrets.every((secret) => secret === '')
    );
  });
  const message = 'none of its secrets is set; every request is refused until one is';
  health.replace(
    'not_configured',
    missing.map((name) => ({ name, message })),
  );
}

/** The sandbox runs with the protections a platform has; what is missing is said where a transform is used. */
function sayMissingWalls(log: Log, live: LiveGeneration, sandbox: Sandbox): void {
  if (live.generation.transforms.hashes.size === 0) return;
  const missing = sandbox.protections.filter(({ present }) => !present).map(({ name }) => name);
  if (missing.length > 0) log.warn({ missing }, 'this platform lacks protections of the transform sandbox');
}

/** What operators should know of the processes that run transforms; nothing of a payload is in it. */
function logSandboxEvent(log: Log, event: SandboxEvent): void {
  const { kind, ...fields } = event;
  if (kind === 'breaker-closed' || kind === 'call-replayed') log.info(fields, kind);
  else log.warn(fields, kind);
}

/** Applies `storage.keep` at once, as a service may never live as long as the interval, and then again and again. */
function keepPruning(
  storage: Storage,
  live: LiveGeneration,
  { log, pruneEveryMs }: ServiceOptions,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const prune = async (): Promise<void> => {
    try {
      await storage.prune(retentionLimits(live.generation.config.settings.storage.keep), Date.now());
    } catch {
      if (!isStopped) log.error({}, 'old work could not be removed from the store; trying again later');
    }
    await removeUnusedFolders(live.generation.config.settings, log);
    if (!isStopped) timer = setTimeout(() => void prune(), pruneEveryMs ?? PRUNE_EVERY_MS).unref();
  };
  void prune();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Removes private folders of conversations that were not used for as long as ended work is kept. */
async function removeUnusedFolders({ gateway, storage }: Settings, log: Log): Promise<void> {
  const beforeMs = Date.now() - retentionLimits(storage.keep).maxAgeMs;
  for (const [runner, settings] of Object.entries(gateway.runners)) {
    if ((settings.kind !== 'command' && settings.kind !== 'agent') || settings.privateFolders === undefined)
      continue;
    try {
      for (const folder of await removeOldWorkFolders(settings.privateFolders, beforeMs))
        log.info({ runner, folder }, 'a private folder that was not used any more was removed');
    } catch (error) {
      log.warn({ runner, code: codeOf(error) }, 'a private folder could not be removed; trying again later');
    }
  }
}

/** Calls at most once; later calls get the same promise. */
function once(call: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= call());
}
