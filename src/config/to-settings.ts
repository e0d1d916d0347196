import { explainMissingPackages, findMissingPackages } from './optional-package.ts';
import { resolve } from 'node:path';
import { namesMainSession } from '../action.ts';
import { didYouMean, type Path } from '../document/document.ts';
import { resolveChannels, resolveChannelId } from './resolve-channels.ts';
import type { ConfigFile } from './config-schema.ts';
import { resolveMail } from './resolve-mail.ts';
import { resolveModels } from './models.ts';
import type { Reporter } from './reporter.ts';
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
  const isMissing = context.isOpenClaw && context.reporter.root.at(['gateway', 'runner']).value === undefined;
  if (file.hooks.enabled && !context.dev && !isMissing && gateway.runners[gateway.runner]?.kind === 'echo') {
    context.reporter.report('ECHO_RUNNER', ['gateway', 'runner'], {
      severity: 'warning',
      message: 'the runner is echo, which answers with the message itself: no agent runs',
      hint: 'set gateway.runner to {kind: claude} (or codex, gemini, opencode), {kind: command, argv: [...]}, {kind: model, ...} or {kind: forward, ...}',
    });
  }
  return {
    hooks: hooksSettings(file, context),
    server: serverSettings(file, context.reporter),
    gateway,
    agents: {
      defaults: {
        model: models.model,
        models: models.models,
        aliases: models.aliases,
        timeoutSeconds: file.agents.defaults.timeoutSeconds,
      },
    },
    channels: resolveChannels(file, context.reporter),
    plugins: file.plugins.map((name) => (/^\.{0,2}\//.test(name) ? resolve(context.directory, name) : name)),
    storage: {
      url: storageUrl(file.storage.url, context),
      leaseSeconds: file.storage.leaseSeconds,
      keep: file.storage.keep,
      keepRequests: withoutUndefined(file.storage.keepRequests),
      maxBacklog: file.storage.maxBacklog,
    },
    metrics: file.metrics,
    console: consoleSettings(file, context.reporter),
    log: {
      level: file.log.level,
      ...(file.log.format === undefined ? {} : { format: file.log.format }),
    },
  };
}

function hooksSettings({ hooks }: ConfigFile, context: SettingsContext): HooksSettings {
  const { reporter, directory } = context;
  if (!hooks.enabled) {
    reporter.report('HOOKS_DISABLED', ['hooks', 'enabled'], {
      severity: 'warning',
      message: 'hooks are off: every path is answered 404',
      hint: 'set hooks.enabled to true',
    });
  }
  const mail = resolveMail(hooks.mail, context);
  const { allowFromRequest, allowedPrefixes, default: standard } = hooks.sessionKeys;
  if (standard !== undefined && namesMainSession(standard.trim())) {
    reporter.report('MAIN_SESSION_KEY', ['hooks', 'sessionKeys', 'default'], {
      message: 'hooks.sessionKeys.default is the key of the main session, which hooks may not use',
      hint: 'choose another key, such as hook:default, or remove it: then each run has a session of its own',
    });
  }
  if (context.isOpenClaw) checkDefaultKey(hooks.sessionKeys, reporter);
  return {
    enabled: hooks.enabled,
    token: hooks.token,
    previousTokens: hooks.previousTokens,
    path: hooksPath(hooks.path, reporter),
    presets: presetNames(hooks.presets, reporter),
    mappingsDir: resolve(directory, hooks.mappingsDir ?? 'mappings'),
    transformsDir: resolve(
      directory,
      hooks.transformsDir ?? (context.isOpenClaw ? 'hooks/transforms' : 'transforms'),
    ),
    maxBodyBytes: hooks.maxBodyBytes,
    maxBodyBytesByName:
      context.isOpenClaw && hooks.maxBodyBytes < GMAIL_BODY_BYTES ? { gmail: GMAIL_BODY_BYTES } : {},
    limits: hooks.limits,
    queryToken: hooks.queryToken,
    authFailuresPerMinute: hooks.authFailuresPerMinute,
    lenient: hooks.lenient ?? context.isOpenClaw,
    defaults: runDefaults(hooks.defaults),
    unmatched: hooks.unmatched,
    dialect: context.isOpenClaw ? 'openclaw' : 'sluice',
    exposeRuns: hooks.exposeRuns,
    sessionKeys: {
      allowFromRequest,
      allowedPrefixes,
      shared: hooks.sessionKeys.shared,
      ...(hooks.sessionKeys.default === undefined ? {} : { default: hooks.sessionKeys.default }),
    },
    agents: agentsSettings(hooks.agents, context),
    ...(mail === undefined ? {} : { mail }),
  };
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
    reporter.report('UNKNOWN_AGENT', ['hooks', 'agents', 'default'], {
      message: `there is no agent "${standard.slice(0, 80)}" in hooks.agents.runners`,
      hint: `the agents are: ${Object.keys(runners).join(', ') || '(none)'}`,
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
  const { reporter } = context;
  const { heartbeat } = gateway;
  const runners = resolveRunners(gateway, { ...context, models });
  const main = gateway.main.channel;
  return {
    token: gateway.token,
    ...runners,
    maxRuns: gateway.maxRuns,
    maxRunsPerMapping: gateway.maxRunsPerMapping,
    workFolders: Object.fromEntries(
      Object.entries(gateway.workFolders).map(([name, folder]) => [name, resolve(context.directory, folder)]),
    ),
    holdHours: gateway.holdHours,
    heartbeat: {
      everySeconds: heartbeat.everySeconds,
      instructions: heartbeat.instructions ?? DEFAULT_HEARTBEAT_INSTRUCTIONS,
      model: heartbeat.model === undefined ? undefined : models.resolve(heartbeat.model),
      runner: heartbeat.runner,
      activeHours:
        heartbeat.activeHours === undefined
          ? undefined
          : {
              ...heartbeat.activeHours,
              timeZone:
                heartbeat.activeHours.timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
            },
    },
    events: gateway.events,
    main: {
      channel: main === undefined ? undefined : resolveChannelId(main, { reporter, path: MAIN_CHANNEL }),
      to: gateway.main.to === undefined ? undefined : String(gateway.main.to),
    },
    sessions: gateway.sessions,
    ...(gateway.alerts === undefined
      ? {}
      : {
          alerts: {
            ...gateway.alerts,
            channel: resolveChannelId(gateway.alerts.channel, {
              reporter,
              path: ['gateway', 'alerts', 'channel'],
            }),
          },
        }),
    callbackSecret: callbackSecret(gateway.callbackSecret, reporter),
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

function storageUrl(url: string, context: SettingsContext): string {
  const file = /^sqlite:(?!\/\/)(.+)$/.exec(url)?.[1];
  if (file !== undefined) return `sqlite:${resolve(context.directory, file)}`;
  const report = (message: string, hint: string): void =>
    context.reporter.report('INVALID_STORAGE_URL', ['storage', 'url'], { message, hint });
  if (!/^postgres(?:ql)?:/.test(url)) {
    report(
      'storage.url is not the address of a store, expected sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE',
      'write sqlite: and the path of a file, or remove storage.url: the default is sqlite:./.sluice/sluice.db',
    );
  } else if (!isDatabaseUrl(url)) {
    report(
      'storage.url is not the address of a PostgreSQL database, expected postgres://USER:PASSWORD@HOST/DATABASE',
      'characters such as @ / : # in a password are written as %40 %2F %3A %23; keep the address in a variable: url: ${DATABASE_URL}',
    );
  } else if (findMissingPackages(['pg'], import.meta.url).length > 0) {
    report(
      explainMissingPackages('a store in PostgreSQL', ['pg']),
      'install it where Sluice is installed, or use a file: sqlite:FILE',
    );
  }
  return url;
}

/** Whether it names a host, or a socket, and a database. */
function isDatabaseUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, pathname, searchParams } = new URL(url);
  return (hostname !== '' || searchParams.has('host')) && /^\/[^/]/.test(pathname);
}
