import { isDeepStrictEqual } from 'node:util';
import type { Settings } from './config/config.ts';
import type { Diagnostic } from './document/document.ts';
import {
  createRunners,
  dropEnding,
  Gateway,
  openChannels,
  type OpenChannels,
  type Runner,
} from './gateway/gateway.ts';
import { isBuiltInRoute } from './hook/hook.ts';
import { loadGeneration, type Generation, type GenerationOptions } from './generation.ts';
import { Sandbox, type SandboxEvent } from './sandbox/sandbox.ts';
import { startServer, type Readiness, type RunningServer, type SeenRequest } from './server/server.ts';
import { openStorage, type Storage } from './storage/storage.ts';
import type { Log } from './telemetry/telemetry.ts';

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

export type ReloadResult =
  | { readonly kind: 'live'; readonly needsRestart: readonly string[] }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'rejected' };

export interface ServiceOptions {
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Where the line per request goes; default `log`. */
  readonly requestLog?: Omit<Log, 'child' | 'protect' | 'flush'>;
  /** Overrides of `server.host` and `server.port`. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  /** `sluice dev`: makes a hook token where none is set. */
  readonly makeToken?: (host: string) => string;
  readonly onDecision?: (seen: SeenRequest) => void;
  /** Findings of the first load and of every reload, warnings included. */
  readonly onDiagnostics?: (diagnostics: readonly Diagnostic[]) => void;
}

/** How often `storage.keep` is applied. */
const PRUNE_EVERY_MS = 10 * 60_000;
/** Adapters of a replaced configuration may still be sending; they are closed after this time. */
const CLOSE_REPLACED_CHANNELS_MS = 60_000;

/**
 * Starts everything in the order work flows back: store, gateway, server. What the configuration gets wrong goes to
 * `onDiagnostics` first.
 * @throws Error that says what is wrong and what to do; nothing is left running then
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const sandbox = new Sandbox({ onEvent: (event) => logSandboxEvent(options.log, event) });
  const opened: (() => Promise<unknown>)[] = [() => sandbox.stop()];
  try {
    const live = await openGenerations(options, sandbox);
    const { settings } = live.generation.config;
    const storage = await openStore(settings);
    opened.unshift(() => storage.close());
    const gateway = new Gateway({ storage, configuration: live.effects, log: options.log });
    opened.unshift(() => gateway.stop(0));
    storage.onOutsideChange(() => gateway.notify());
    await gateway.start();
    live.onReplaced(() => gateway.reconfigure(live.effects));
    const failed = new Promise<Error>((resolve) => storage.onFailure(resolve));
    const health = watchHealth(live, sandbox, failed);
    const server = await listen(options, { live, storage, gateway, health });
    opened.unshift(() => server.stop());
    const prune = schedulePruning(storage, live, options.log);
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
        clearInterval(prune);
        await server.stop();
        await gateway.stop(live.generation.config.settings.server.stopGraceSeconds * 1000);
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

/** What a generation means for the gateway. */
interface Effects {
  readonly settings: Settings;
  readonly runners: ReadonlyMap<string, Runner>;
  readonly channels: OpenChannels;
}

/** The generation that is live and how it is replaced. */
interface Generations {
  readonly generation: Generation;
  readonly effects: Effects;
  readonly tokenWasMade: boolean;
  /** True after a reload that did not go live, until one does. */
  readonly isStale: boolean;
  reload(): Promise<ReloadResult>;
  onReplaced(listener: () => void): void;
}

async function openGenerations(options: ServiceOptions, sandbox: Sandbox): Promise<Generations> {
  const loading: GenerationOptions = {
    env: options.env,
    needSecrets: true,
    dev: options.makeToken !== undefined,
    sandbox,
  };
  const first = await loadGeneration(options.configFile, loading);
  options.onDiagnostics?.(first.diagnostics);
  if (first.generation === undefined)
    throw new Error('the configuration, a mapping or a transform has errors');
  let generation = applyOverrides(first.generation, options);
  let effects = createEffects(generation, options.env);
  let isStale = false;
  let listener: (() => void) | undefined;
  protectSecrets(options.log, generation);
  const reload = async (): Promise<ReloadResult> => {
    const next = await loadGeneration(options.configFile, loading);
    options.onDiagnostics?.(next.diagnostics);
    isStale = next.generation === undefined;
    if (next.generation === undefined) {
      options.log.error(
        { generation: generation.id, findings: next.diagnostics.length },
        'reload rejected; the old generation goes on',
      );
      return { kind: 'rejected' };
    }
    const replacement = applyOverrides(next.generation, options);
    const isSame = isDeepStrictEqual(replacement.config.settings, generation.config.settings);
    // Secrets are not part of the id: a rotated one is a change all the same.
    if (replacement.id === generation.id && isSame) return { kind: 'unchanged' };
    const needsRestart = findRestartKeys(generation.config.settings, replacement.config.settings);
    const replaced = effects;
    generation = replacement;
    effects = createEffects(generation, options.env);
    protectSecrets(options.log, generation);
    setTimeout(() => void replaced.channels.stop(), CLOSE_REPLACED_CHANNELS_MS).unref();
    listener?.();
    options.log.info({ generation: generation.id, needsRestart }, 'reloaded');
    return { kind: 'live', needsRestart };
  };
  return {
    get generation() {
      return generation;
    },
    get effects() {
      return effects;
    },
    get isStale() {
      return isStale;
    },
    tokenWasMade:
      first.generation.config.settings.hooks.token === undefined && options.makeToken !== undefined,
    reload: inOrder(reload),
    onReplaced: (call) => {
      listener = call;
    },
  };
}

/** The command line's address and, where none is set, the token made by `sluice dev`. */
function applyOverrides(
  generation: Generation,
  { listen: overrides = {}, makeToken }: ServiceOptions,
): Generation {
  const { config } = generation;
  const { settings } = config;
  const server = {
    ...settings.server,
    ...(overrides.host === undefined ? {} : { host: overrides.host }),
    ...(overrides.port === undefined ? {} : { port: overrides.port }),
  };
  const { hooks } = settings;
  const token = hooks.token ?? (hooks.enabled ? makeToken?.(server.host) : undefined);
  return {
    ...generation,
    config: { ...config, settings: { ...settings, server, hooks: { ...hooks, token } } },
  };
}

function createEffects({ config, channelCatalog }: Generation, env: NodeJS.ProcessEnv): Effects {
  const { settings } = config;
  return {
    settings,
    runners: createRunners(settings, env),
    channels: openChannels(channelCatalog, settings.channels),
  };
}

function protectSecrets(log: Log, { config }: Generation): void {
  const { hooks, gateway } = config.settings;
  for (const secret of [hooks.token, ...hooks.previousTokens, gateway.token, ...config.secrets]) {
    if (secret !== undefined) log.protect(secret);
  }
}

/** Settings that only a restart applies. */
function findRestartKeys(before: Settings, after: Settings): readonly string[] {
  const keys: string[] = [];
  if (before.server.host !== after.server.host) keys.push('server.host');
  if (before.server.port !== after.server.port) keys.push('server.port');
  if (JSON.stringify(before.storage) !== JSON.stringify(after.storage)) keys.push('storage');
  return keys;
}

function openStore({ storage, gateway }: Settings): Promise<Storage> {
  return openStorage(storage.url, {
    mode: 'performer',
    maxBacklogRuns: storage.maxBacklog.runs,
    maxBacklogBytes: storage.maxBacklog.bytes,
    maxPendingEvents: gateway.events.maxPending,
    dropEnding: (run) => dropEnding(run, Date.now()),
  });
}

interface Health {
  readiness(): Readiness;
}

function watchHealth(live: Generations, sandbox: Sandbox, failed: Promise<Error>): Health {
  let storeFailed = false;
  void failed.then(() => {
    storeFailed = true;
  });
  return {
    readiness: () => {
      const problems: string[] = [];
      if (storeFailed) problems.push('the store has failed; restart the service');
      if (live.isStale) problems.push('the last reload was rejected; the generation before it is live');
      const { ok, reason } = sandbox.health;
      if (!ok) problems.push(reason ?? 'transforms cannot run');
      return { ready: problems.length === 0, problems };
    },
  };
}

interface Wiring {
  readonly live: Generations;
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly health: Health;
}

function listen(options: ServiceOptions, { live, storage, gateway, health }: Wiring): Promise<RunningServer> {
  return startServer({
    server: live.generation.config.settings.server,
    generation: () => {
      const { id, config, table, evaluate } = live.generation;
      return {
        id,
        hooks: config.settings.hooks,
        canTake: (path) => isBuiltInRoute(path) || table.canTake(path),
        settingsOf: (path) => table.settingsOf(path),
        evaluate: (request) => evaluate(request),
      };
    },
    storage,
    log: options.requestLog ?? options.log,
    readiness: () => health.readiness(),
    onAccepted: () => gateway.notify(),
    waitForRun: async (runId, ms, signal) =>
      (await gateway.waitForRun(runId, ms, signal)) === undefined ? undefined : storage.findRun(runId),
    ...(options.onDecision === undefined ? {} : { onDecision: options.onDecision }),
  });
}

/** What operators should know of the processes that run transforms; nothing of a payload is in it. */
function logSandboxEvent(log: Log, event: SandboxEvent): void {
  const { kind, ...fields } = event;
  if (kind === 'breaker-closed' || kind === 'call-replayed') log.info(fields, kind);
  else log.warn(fields, kind);
}

function schedulePruning(storage: Storage, live: Generations, log: Log): NodeJS.Timeout {
  const prune = async (): Promise<void> => {
    const { days, rows } = live.generation.config.settings.storage.keep;
    try {
      await storage.prune({ maxAgeMs: days * 86_400_000, maxRows: rows }, Date.now());
    } catch {
      log.error({}, 'old work could not be removed from the store; trying again later');
    }
  };
  return setInterval(() => void prune(), PRUNE_EVERY_MS).unref();
}

/** Calls at most once; later calls get the same promise. */
function once(call: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= call());
}

/** Calls one after the other, whatever becomes of the one before. */
function inOrder<Result>(call: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(call, call);
    last = next;
    return next;
  };
}
