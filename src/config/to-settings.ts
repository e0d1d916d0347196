import { resolve } from 'node:path';
import { namesMainSession } from '../action.ts';
import { didYouMean, type Path } from '../document/document.ts';
import { resolveChannels, resolveChannelId } from './resolve-channels.ts';
import type { ConfigFile } from './config-schema.ts';
import { resolveMail } from './resolve-mail.ts';
import { resolveModels } from './models.ts';
import type { Reporter } from './reporter.ts';
import { storageUrl } from './storage-url.ts';
import { resolveRunners } from './resolve-runners.ts';
import {
  type ConsoleSettings,
  type StorageSettings,
  DEFAULT_PORT,
  type GatewaySettings,
  type HooksSettings,
  type ServerSettings,
  type Settings,
} from './settings.ts';

export interface SettingsContext {
  readonly reporter: Reporter;
  /** Directory of the file. */
  readonly directory: string;
  /** The service's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isOpenClaw: boolean;
  readonly dev: boolean;
}

/** Built-in presets; `gmail` is `mail` answering on `/gmail` too. */
const PRESETS: readonly string[] = ['mail', 'gmail'];

/** What the main session is told where the file says nothing. */
const DEFAULT_HEARTBEAT_INSTRUCTIONS =
  'Look at the events below. A run whose reply was sent, as its line says, needs nothing more. If one of them needs something done or said, do it or say it; if nothing needs attention, answer HEARTBEAT_OK and nothing else.';

/** What an OpenClaw gateway takes on its gmail path: 100 mails of 20,000 bytes, escaped, with their metadata. */
const GMAIL_BODY_BYTES = 100 * (3 * 20_000 + 8192);

/** Fills in what depends on other keys or on the file's place, and reports what a schema cannot see. */
export function toSettings(file: ConfigFile, context: SettingsContext): Settings {
  const models = resolveModels(file, context.reporter);
  const gateway = gatewaySettings(file, context, models);
  if (file.hooks.enabled && !context.dev) reportEcho(gateway, context);
  return {
    hooks: hooksSettings(file, context),
    server: serverSettings(file, context.reporter),
    gateway,
    agents: { defaults: agentDefaults(file, models) },
    channels: resolveChannels(file, context.reporter),
    plugins: file.plugins.map((name) => (/^\.{0,2}\//.test(name) ? resolve(context.directory, name) : name)),
    storage: storageSettings(file, context),
    metrics: file.metrics,
    console: consoleSettings(file, context.reporter),
    log: {
      level: file.log.level,
      ...(file.log.format === undefined ? {} : { format: file.log.format }),
    },
  };
}

function agentDefaults(
  { agents }: ConfigFile,
  { model, models, aliases }: ReturnType<typeof resolveModels>,
): Settings['agents']['defaults'] {
  return { model, models, aliases, timeoutSeconds: agents.defaults.timeoutSeconds };
}

function storageSettings({ storage }: ConfigFile, context: SettingsContext): Settings['storage'] {
  return {
    url: storageUrl(storage.url, context),
    leaseSeconds: storage.leaseSeconds,
    keep: storage.keep,
    keepRequests: withoutUndefined(storage.keepRequests),
    maxBacklog: storage.maxBacklog,
  };
}

/** An OpenClaw file that names no runner says so elsewhere. */
function reportEcho({ runner, runners }: GatewaySettings, { reporter, isOpenClaw }: SettingsContext): void {
  const isMissing = isOpenClaw && reporter.root.at(['gateway', 'runner']).value === undefined;
  if (isMissing || runners[runner]?.kind !== 'echo') return;
  reporter.report('ECHO_RUNNER', ['gateway', 'runner'], {
    severity: 'warning',
    message: 'the runner is echo, which answers with the message itself: no agent runs',
    hint: 'set gateway.runner to {kind: claude} (or codex, gemini, opencode), {kind: command, argv: [...]}, {kind: model, ...} or {kind: forward, ...}',
  });
}

function hooksSettings({ hooks }: ConfigFile, context: SettingsContext): HooksSettings {
  const { reporter, directory, isOpenClaw } = context;
  if (!hooks.enabled) {
    reporter.report('HOOKS_DISABLED', ['hooks', 'enabled'], {
      severity: 'warning',
      message: 'hooks are off: every path is answered 404',
      hint: 'set hooks.enabled to true',
    });
  }
  const mail = resolveMail(hooks.mail, context);
  checkSessionKeys(hooks.sessionKeys, context);
  const { transformsDir = isOpenClaw ? 'hooks/transforms' : 'transforms' } = hooks;
  return {
    enabled: hooks.enabled,
    token: hooks.token,
    previousTokens: hooks.previousTokens,
    path: hooksPath(hooks.path, reporter),
    presets: presetNames(hooks.presets, reporter),
    mappingsDir: resolve(directory, hooks.mappingsDir ?? 'mappings'),
    transformsDir: resolve(directory, transformsDir),
    maxBodyBytes: hooks.maxBodyBytes,
    maxBodyBytesByName:
      isOpenClaw && hooks.maxBodyBytes < GMAIL_BODY_BYTES ? { gmail: GMAIL_BODY_BYTES } : {},
    limits: hooks.limits,
    queryToken: hooks.queryToken,
    authFailuresPerMinute: hooks.authFailuresPerMinute,
    lenient: hooks.lenient ?? isOpenClaw,
    defaults: runDefaults(hooks.defaults),
    unmatched: hooks.unmatched,
    dialect: isOpenClaw ? 'openclaw' : 'sluice',
    exposeRuns: hooks.exposeRuns,
    sessionKeys: sessionKeySettings(hooks.sessionKeys),
    agents: agentsSettings(hooks.agents, context),
    ...(mail === undefined ? {} : { mail }),
  };
}

function sessionKeySettings({
  default: standard,
  ...keys
}: ConfigFile['hooks']['sessionKeys']): HooksSettings['sessionKeys'] {
  return standard === undefined ? keys : { ...keys, default: standard };
}

function checkSessionKeys(
  keys: ConfigFile['hooks']['sessionKeys'],
  { reporter, isOpenClaw }: SettingsContext,
): void {
  const { default: standard } = keys;
  if (standard !== undefined && namesMainSession(standard.trim())) {
    reporter.report('MAIN_SESSION_KEY', ['hooks', 'sessionKeys', 'default'], {
      message: 'hooks.sessionKeys.default is the key of the main session, which hooks may not use',
      hint: 'choose another key, such as hook:default, or remove it: then each run has a session of its own',
    });
  }
  if (isOpenClaw) checkDefaultKey(keys, reporter);
}

/** There a default key outside the allowed prefixes keeps the gateway from starting; here, too. */
function checkDefaultKey(
  { default: key, allowedPrefixes }: ConfigFile['hooks']['sessionKeys'],
  reporter: Reporter,
): void {
  const prefixes = allowedPrefixes
    .map((prefix) => prefix.trim().toLowerCase())
    .filter((prefix) => prefix !== '');
  const written = (key ?? 'hook:').toLowerCase();
  if (prefixes.length === 0 || prefixes.some((prefix) => written.startsWith(prefix))) return;
  reporter.report('SESSION_KEY_PREFIX', ['hooks', 'sessionKeys', 'allowedPrefixes'], {
    message:
      key === undefined
        ? 'the allowed prefixes lack "hook:", with which generated session keys begin'
        : `the default session key "${key.slice(0, 80)}" begins with none of the allowed prefixes`,
    hint:
      key === undefined
        ? 'add "hook:", or set a default session key'
        : 'add its prefix, or choose another default',
  });
}

function runDefaults({ limits, ...rest }: ConfigFile['hooks']['defaults']): HooksSettings['defaults'] {
  return limits === undefined ? rest : { ...rest, limits };
}

/** The agents a hook may name; every name has to lead somewhere. */
function agentsSettings(
  { runners, default: standard, allowed }: ConfigFile['hooks']['agents'],
  { reporter }: SettingsContext,
): HooksSettings['agents'] {
  if (standard !== undefined && !Object.hasOwn(runners, standard)) {
    const near = didYouMean(standard, Object.keys(runners));
    reporter.report('UNKNOWN_AGENT', ['hooks', 'agents', 'default'], {
      message: `there is no agent "${standard.slice(0, 80)}" in hooks.agents.runners`,
      hint:
        near === undefined
          ? `the agents are: ${Object.keys(runners).join(', ') || '(none)'}`
          : `did you mean "${near}"?`,
      replace: near === undefined ? undefined : { from: standard, to: near },
    });
  }
  return {
    runners,
    ...(standard === undefined ? {} : { default: standard }),
    ...(allowed === undefined ? {} : { allowed }),
  };
}

/** The path with a leading slash and no trailing ones. */
function hooksPath(written: string, reporter: Reporter): string {
  const path = `/${written.replaceAll(/^\/+|\/+$/g, '')}`;
  const problem = hooksPathProblem(path);
  if (problem !== undefined) {
    reporter.report('INVALID_HOOKS_PATH', ['hooks', 'path'], {
      message: `hooks.path ${problem}`,
      hint: 'choose a path such as /hooks',
    });
  }
  return path;
}

function hooksPathProblem(path: string): string | undefined {
  if (path === '/') return 'must not be the root: hooks need a path such as /hooks';
  if (path.length > 200) return 'is longer than 200 characters';
  // RFC 3986, section 3.3: what a path segment can hold without being read as something else.
  if (!/^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/.test(path))
    return 'has an empty part, or a character that is not allowed in the path of a URL';
  if (/\/\.{1,2}(?:\/|$)/.test(path)) return 'must not have . or .. as a part';
  return undefined;
}

function presetNames(names: readonly string[], reporter: Reporter): readonly string[] {
  for (const [index, name] of names.entries()) {
    if (PRESETS.includes(name)) continue;
    const near = didYouMean(name, PRESETS);
    reporter.report('UNKNOWN_PRESET', ['hooks', 'presets', index], {
      message: `there is no preset "${name.slice(0, 80)}"`,
      hint: near === undefined ? `the presets are: ${PRESETS.join(', ')}` : `did you mean "${near}"?`,
      replace: near === undefined ? undefined : { from: name, to: near },
    });
  }
  return [...new Set(names)];
}

function serverSettings({ server }: ConfigFile, reporter: Reporter): ServerSettings {
  if (!isLoopback(server.host) && server.trustedProxies.length === 0) {
    reporter.report('EXPOSED_LISTENER', ['server', 'host'], {
      severity: 'warning',
      message: `the listener on ${server.host.slice(0, 80)} can be reached from other machines without TLS`,
      hint: 'listen on 127.0.0.1, or put a proxy with TLS in front of it and name the proxy in server.trustedProxies',
    });
  }
  const { publicUrl, port = DEFAULT_PORT, ...rest } = server;
  return { ...rest, port, health: server.health, ...(publicUrl === undefined ? {} : { publicUrl }) };
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

function gatewaySettings(
  { gateway }: ConfigFile,
  context: SettingsContext,
  models: ReturnType<typeof resolveModels>,
): GatewaySettings {
  const { reporter, directory } = context;
  const { alerts, main, workFolders } = gateway;
  const channelAt = (channel: string, path: Path): string => resolveChannelId(channel, { reporter, path });
  return {
    token: gateway.token,
    ...resolveRunners(gateway, { ...context, models }),
    maxRuns: gateway.maxRuns,
    maxRunsPerMapping: gateway.maxRunsPerMapping,
    workFolders: Object.fromEntries(
      Object.entries(workFolders).map(([name, folder]) => [name, resolve(directory, folder)]),
    ),
    holdHours: gateway.holdHours,
    heartbeat: heartbeatSettings(gateway.heartbeat, models),
    events: gateway.events,
    main: {
      channel: main.channel === undefined ? undefined : channelAt(main.channel, MAIN_CHANNEL),
      to: main.to === undefined ? undefined : String(main.to),
    },
    sessions: gateway.sessions,
    ...(alerts === undefined
      ? {}
      : { alerts: { ...alerts, channel: channelAt(alerts.channel, ['gateway', 'alerts', 'channel']) } }),
    callbackSecret: callbackSecret(gateway.callbackSecret, reporter),
  };
}

function heartbeatSettings(
  { everySeconds, instructions, model, runner, activeHours }: ConfigFile['gateway']['heartbeat'],
  models: ReturnType<typeof resolveModels>,
): GatewaySettings['heartbeat'] {
  const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return {
    everySeconds,
    instructions: instructions ?? DEFAULT_HEARTBEAT_INSTRUCTIONS,
    model: model === undefined ? undefined : models.resolve(model),
    runner,
    activeHours:
      activeHours === undefined ? undefined : { ...activeHours, timeZone: activeHours.timeZone ?? ownZone },
  };
}

const MAIN_CHANNEL: Path = ['gateway', 'main', 'channel'];

/** Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes. */
function callbackSecret(secret: string | undefined, reporter: Reporter): string | undefined {
  if (secret === undefined) return undefined;
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const length = Buffer.from(encoded, 'base64').length;
  if (length < 24 || length > 64) {
    reporter.report('INVALID_CALLBACK_SECRET', ['gateway', 'callbackSecret'], {
      message: 'gateway.callbackSecret must be whsec_ followed by 24 to 64 bytes in base64',
      hint: 'make one with: echo "whsec_$(openssl rand -base64 32)"',
    });
  }
  return secret;
}

function consoleSettings({ console: written }: ConfigFile, reporter: Reporter): ConsoleSettings {
  const { enabled, host, port, publicUrl } = written;
  if (enabled === true && !isLoopback(host) && publicUrl === undefined) {
    reporter.report('EXPOSED_LISTENER', ['console', 'host'], {
      severity: 'warning',
      message: `the console on ${host.slice(0, 80)} can be reached from other machines without TLS`,
      hint: 'listen on 127.0.0.1 and use an SSH tunnel, or put a proxy with TLS in front of it and name its address in console.publicUrl',
    });
  }
  return {
    host,
    ...(enabled === undefined ? {} : { enabled }),
    ...(port === undefined ? {} : { port }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
  };
}

function withoutUndefined(keep: ConfigFile['storage']['keepRequests']): StorageSettings['keepRequests'] {
  return Object.fromEntries(Object.entries(keep).filter(([, value]) => value !== undefined));
}
