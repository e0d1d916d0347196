import type { StartQuestion } from '../../base/action.ts';
import { defined } from '../../base/json.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Settings } from '../../engine/config/config.ts';
import type { Finding } from '../../base/document/document.ts';
import { createRunners, type ExplainStart, type Runner } from '../runners/runners.ts';
import { openChannels, type OpenChannels } from '../channels/channels.ts';
import {
  loadGeneration,
  type Generation,
  type GenerationOptions,
  type LoadedGeneration,
} from './load-generation.ts';
import type { Advise } from './report-findings.ts';
import { approvalLink } from './approval-link.ts';
import { sharedChannel } from './gateway-findings.ts';
import type { LimitRules, NewDelivery, RunLimits } from '../../engine/storage/storage.ts';
import { askPermission, type PermissionAnswer } from '../../engine/senders/senders.ts';
import type { Sandbox } from '../../engine/sandbox/sandbox.ts';
import type { HealthReporter, Log } from '../../base/telemetry/telemetry.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';

/** A start is refused because of the operator's files; the findings were reported before. */
export class WrongFilesError extends Error {
  override readonly name = 'WrongFilesError';
}

export interface LiveOptions {
  readonly configFile: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Overrides of `server.host` and `server.port`. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  /** Changes settings at every load, for a command. */
  readonly adjust?: (settings: Settings) => Settings;
  /** `sluice dev`: makes a hook token where none is set. */
  readonly makeToken?: (host: string) => string;
  /** Says what to do about findings. */
  readonly advise?: Advise;
  /** Says why the command of a runner did not start. */
  readonly explainStart?: ExplainStart;
  /** Findings of the first load and of every reload, warnings included. */
  readonly onFindings?: (findings: readonly Finding[], isLoaded: boolean) => void;
  /** Called with the result of a reload; default: a line in the log. */
  readonly onReload?: (result: ReloadResult) => void;
  /** Where a reload that did not go live is reported, until one does. */
  readonly health?: HealthReporter;
}

/** Requests and deliveries under way end with the generation they began with; what it holds is freed after this time. */
const RELEASE_REPLACED_MS = 60_000;

export type ReloadResult =
  | { readonly kind: 'live'; readonly generation: string; readonly needsRestart: readonly string[] }
  | { readonly kind: 'unchanged' }
  /** `generation` is the id of the one before, which goes on. */
  | { readonly kind: 'rejected'; readonly generation: string; readonly findings: number };

export interface Effects {
  readonly settings: Settings;
  readonly runners: ReadonlyMap<string, Runner>;
  readonly channels: OpenChannels;
  /** Absent where no mapping has a limit. */
  readonly limits?: LimitRules;
  readonly approvalLink: (asked: NonNullable<NewDelivery['asks']>) => string | undefined;
  readonly sharedChannel: string | undefined;
  readonly readReference: Generation['readReference'];
  readonly askPermission: AskPermission;
}

/** The generation that is live: one reference, which a reload swaps whole. */
export interface LiveGeneration {
  readonly generation: Generation;
  readonly effects: Effects;
  readonly tokenWasMade: boolean;
  /** `by`: who or what asked for it, such as a signal, as the audit names it; default: the service. */
  reload(by?: string): Promise<ReloadResult>;
  /** Adds one more that is called after each replacement, in order. */
  onReplaced(listener: (by: string) => void): void;
}

export async function openLiveGeneration(options: LiveOptions, sandbox: Sandbox): Promise<LiveGeneration> {
  const { configFile, env, log, health, makeToken, onFindings, advise } = options;
  const dev = makeToken !== undefined;
  const loading: GenerationOptions = {
    env,
    needSecrets: true,
    dev,
    isServing: !dev,
    mayLoadPlugins: () => true,
    sandbox,
    ...defined({ advise }),
  };
  const load = async (): Promise<LoadedGeneration> => {
    const loaded = await loadGeneration(configFile, loading);
    onFindings?.(loaded.findings, loaded.generation !== undefined);
    return loaded;
  };
  const { generation: first } = await load();
  if (first === undefined)
    throw new WrongFilesError('the configuration, a mapping or a transform has errors');
  let live = goLive(applyOverrides(first, options), options);
  const started = live.generation.config.settings;
  const listeners: ((by: string) => void)[] = [];
  /** Makes the files as they are now live, unless they have an error or nothing has changed. */
  const replace = async (by: string): Promise<ReloadResult> => {
    const next = await load();
    const { generation, effects } = live;
    if (next.generation === undefined)
      return { kind: 'rejected', generation: generation.id, findings: next.findings.length };
    const replacement = applyOverrides(next.generation, options);
    if (isSame(replacement, generation)) {
      replacement.transforms.release();
      return { kind: 'unchanged' };
    }
    const needsRestart = findRestartKeys(started, replacement.config.settings);
    live = goLive(replacement, options);
    const release = (): void => {
      generation.transforms.release();
      void effects.channels.stop();
    };
    setTimeout(release, RELEASE_REPLACED_MS).unref();
    for (const call of listeners) call(by);
    return { kind: 'live', generation: replacement.id, needsRestart };
  };
  return {
    get generation() {
      return live.generation;
    },
    get effects() {
      return live.effects;
    },
    tokenWasMade: first.config.settings.hooks.token === undefined && dev,
    reload: inOrder(async (by: string = 'the service') => {
      const result = await replace(by);
      health?.replace('reload_rejected', result.kind === 'rejected' ? [rejectionOf(result)] : []);
      if (options.onReload === undefined) logReload(log, result);
      else options.onReload(result);
      return result;
    }),
    onReplaced: (call) => void listeners.push(call),
  };
}

/** Secrets are not part of the id: a rotated one is a change all the same. */
function isSame(a: Generation, b: Generation): boolean {
  const secretsOf = ({ config: { settings, secrets } }: Generation): unknown => [settings, secrets];
  return a.id === b.id && isDeepStrictEqual(secretsOf(a), secretsOf(b));
}

/** What a generation brings with it when it goes live; log and health follow it. */
function goLive(
  generation: Generation,
  options: LiveOptions,
): { readonly generation: Generation; readonly effects: Effects } {
  const { health, log } = options;
  const effects = createEffects(generation, options);
  const { config, table } = generation;
  // Mappings of an OpenClaw file that have errors, until a generation without them is live.
  health?.replace(
    'mapping_out',
    table.mappings
      .filter(({ isOut }) => isOut === true)
      .map(({ id }) => ({ name: id, message: 'the mapping has errors: sluice check shows them' })),
  );
  const { hooks, gateway } = config.settings;
  log.adopt(config.settings.log);
  for (const secret of [hooks.token, ...hooks.previousTokens, gateway.token, ...config.secrets]) {
    if (secret !== undefined) log.protect(secret);
  }
  return { generation, effects };
}

function rejectionOf({ findings, generation }: Extract<ReloadResult, { kind: 'rejected' }>) {
  const count = findings === 1 ? '1 finding' : `${findings} findings`;
  return { message: `${count}, which sluice check shows; generation ${generation} stays live` };
}

function logReload(log: Log, result: ReloadResult): void {
  const { kind, ...fields } = result;
  switch (kind) {
    case 'unchanged':
      return log.info({}, 'reloaded: nothing has changed');
    case 'rejected':
      return log.error(fields, 'reload rejected; the old generation stays live');
    case 'live':
      if (result.needsRestart.length === 0) return log.info({ generation: result.generation }, 'reloaded');
      return log.warn(fields, 'reloaded, but some of the changed settings need a restart of the service');
  }
}

/** The command line's address and, where none is set, the token made by `sluice dev`. */
function applyOverrides(
  generation: Generation,
  { listen: overrides = {}, makeToken, adjust }: LiveOptions,
): Generation {
  const { config } = generation;
  const settings = adjust?.(config.settings) ?? config.settings;
  const server = {
    ...settings.server,
    ...defined({ host: overrides.host, port: overrides.port }),
  };
  const { hooks } = settings;
  const token = hooks.token ?? (hooks.enabled ? makeToken?.(server.host) : undefined);
  return {
    ...generation,
    config: { ...config, settings: { ...settings, server, hooks: { ...hooks, ...defined({ token }) } } },
  };
}

function createEffects(
  generation: Generation,
  { env, explainStart }: Pick<LiveOptions, 'env' | 'explainStart'>,
): Effects {
  const { config, channelCatalog, table, readReference } = generation;
  const { settings } = config;
  const { maxRunsPerMapping: runs } = settings.gateway;
  const hourly = settings.hooks.defaults.limits;
  const standard = runs === undefined ? hourly : { ...hourly, maxRuns: { runs, isKeyed: false } };
  const limits = limitRules(standard, table.mappings);
  return {
    settings,
    ...defined({ limits }),
    runners: createRunners(settings, env, { secrets: config.secrets, explainStart }),
    channels: openChannels(channelCatalog, settings.channels),
    approvalLink: (asked) => approvalLink(asked, settings),
    sharedChannel: sharedChannel(settings, table.mappings),
    readReference,
    askPermission: permissionAsker(generation),
  };
}

/** Settings that only a restart applies, and that differ from those the service was started with. */
function findRestartKeys(before: Settings, after: Settings): readonly string[] {
  return Object.entries(READ_AT_START)
    .filter(([, read]) => !isDeepStrictEqual(read(before), read(after)))
    .map(([key]) => key);
}

/** What is read when the service starts, and never again. */
const READ_AT_START: Readonly<Record<string, (settings: Settings) => unknown>> = {
  'server.host': ({ server }) => server.host,
  'server.port': ({ server }) => server.port,
  'server.publicUrl': ({ server }) => server.publicUrl,
  'server.trustedProxies': ({ server }) => server.trustedProxies,
  'server.limits': ({ server }) => server.limits,
  'server.health': ({ server }) => server.health,
  'storage.url': ({ storage }) => storage.url,
  'storage.leaseSeconds': ({ storage }) => storage.leaseSeconds,
  'storage.maxBacklog': ({ storage }) => storage.maxBacklog,
  'gateway.events.maxPending': ({ gateway }) => gateway.events.maxPending,
  metrics: ({ metrics }) => metrics,
  // The console reads its keys and users on each request.
  console: ({ console: { keys: _keys, proxy: _proxy, ...rest } }) => rest,
};

/** Runs calls one after the other, also where one fails. */
function inOrder<Given, Result>(
  call: (given?: Given) => Promise<Result>,
): (given?: Given) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (given) => {
    const next = last.catch(() => undefined).then(() => call(given));
    last = next;
    return next;
  };
}

/** How many runs of each mapping may begin and go on: what it says itself, key by key over the default. */
export function limitRules(
  standard: RunLimits | undefined,
  mappings: readonly Pick<CompiledMapping, 'id' | 'limits' | 'maxRuns'>[],
): LimitRules | undefined {
  const own = mappings.flatMap(({ id, limits, maxRuns }) => {
    if (limits === undefined && maxRuns === undefined) return [];
    const most = maxRuns && { maxRuns: { runs: maxRuns.runs, isKeyed: maxRuns.key !== undefined } };
    return [[id, { ...standard, ...limits, ...most }] as const];
  });
  if (standard === undefined && own.length === 0) return undefined;
  return { byMapping: new Map(own), ...defined({ default: standard }) };
}

type AskPermission = (question: StartQuestion, path: string) => Promise<PermissionAnswer | undefined>;

/** Asks a sender with the token of `startedBy`, of its channel, or of `recover` of the path; a sender that no mapping names any more is not asked. */
const permissionAsker =
  ({ config, table, readReference, recoveries }: Generation): AskPermission =>
  async (question, path) => {
    const rules = table.mappings.flatMap(({ startedBy }) => startedBy?.sender ?? []);
    const sender = rules.find(({ name }) => name === question.sender);
    const recovery = recoveries.get(path);
    const own = recovery?.sender.name === question.sender ? recovery : undefined;
    const { token: ofChannel, baseUrl: api = own?.asked.api.href } =
      config.settings.channels[question.sender] ?? {};
    const reference = question.token ?? (ofChannel === undefined ? own?.settings.token : undefined);
    const token = reference === undefined ? ofChannel : readReference(reference)?.trim();
    if (sender === undefined || typeof token !== 'string') return undefined;
    return askPermission(sender, question, { token, api: typeof api === 'string' ? api : undefined });
  };
