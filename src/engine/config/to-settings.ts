import { say, quoted } from '../../base/finding.ts';
import { resolve } from 'node:path';
import { defined } from '../../base/json.ts';
import type { Path } from '../../base/document/document.ts';
import type { ConfigFile } from './config-schema.ts';
import { hooksSettings, type SettingsContext } from './hooks-settings.ts';
import { isLoopback } from '../../base/address.ts';
import { resolveModels } from './models.ts';
import type { ConfigReporter } from './reporter.ts';
import { storageUrl } from './storage-url.ts';
import { resolveRunners } from './resolve-runners.ts';
import { type ConsoleSettings, DEFAULT_PORT, type GatewaySettings, type Settings } from './settings.ts';
import { CHANNEL_IDS, channelIdOf, LAST_CHANNEL } from '../../base/action.ts';

const DEFAULT_HEARTBEAT_INSTRUCTIONS =
  'Look at the events below. A run whose reply was sent, as its line says, needs nothing more. If one of them needs something done or said, do it or say it; if nothing needs attention, answer HEARTBEAT_OK and nothing else.';

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
    storage: { ...file.storage, url: storageUrl(file.storage.url, context) },
    ...defined({ metrics: file.metrics }),
    console: checkedConsole(file.console, context.reporter),
    log: file.log,
  };
}

/** A run that never ends holds one of few places: a request chooses its limit only up to here. */
const MAX_TIMEOUT_SECONDS = 3600;

function agentDefaults(
  { agents }: ConfigFile,
  { model, models, aliases }: ReturnType<typeof resolveModels>,
): Settings['agents']['defaults'] {
  const { timeoutSeconds, maxTimeoutSeconds = Math.max(timeoutSeconds, MAX_TIMEOUT_SECONDS) } =
    agents.defaults;
  return { model, models, aliases, timeoutSeconds, maxTimeoutSeconds };
}

/** An OpenClaw file that names no runner says so elsewhere. */
function reportEcho({ runner, runners }: GatewaySettings, { reporter, behaviours }: SettingsContext): void {
  const isMissing = behaviours.findsRunner && reporter.root.at(['gateway', 'runner']).value === undefined;
  if (isMissing || runners[runner]?.kind !== 'echo') return;
  reporter.report('ECHO_RUNNER', ['gateway', 'runner'], {
    severity: 'warning',
    isOfSafety: true,
    isGeneral: true,
    message: say`runs are answered by echo, each with its own message, and no agent reads them: right while you try out mappings`,
    hint: say`for an agent set gateway.runner to {kind: claude} (or codex, gemini, opencode), {kind: command, argv: [...]}, {kind: model, ...} or {kind: forward, ...}`,
  });
}

function serverSettings({ server, gateway }: ConfigFile, reporter: ConfigReporter): Settings['server'] {
  const { workers } = gateway;
  const listeners = [
    { path: ['server', 'host'], host: server.host },
    ...(workers?.listen === undefined
      ? []
      : [{ path: ['gateway', 'workers', 'listen', 'host'], host: workers.listen.host }]),
  ];
  for (const { path, host } of server.trustedProxies.length === 0 ? listeners : []) {
    if (isLoopback(host)) continue;
    reporter.report('EXPOSED_LISTENER', path, {
      severity: 'warning',
      isOfSafety: true,
      message: say`the listener on ${host.slice(0, 80)} can be reached from other machines without TLS`,
      hint: say`listen on 127.0.0.1, or put a proxy with TLS in front of it and name the proxy in server.trustedProxies`,
    });
  }
  return { port: DEFAULT_PORT, ...server };
}

function gatewaySettings(
  { gateway }: ConfigFile,
  context: SettingsContext,
  models: ReturnType<typeof resolveModels>,
): GatewaySettings {
  const { reporter, directory } = context;
  const folders = Object.entries(gateway.workFolders);
  checkCallbackSecret(gateway.callbackSecret, reporter);
  return {
    ...gateway,
    ...resolveRunners(gateway, { ...context, models }),
    ...targetSettings(gateway, reporter),
    workFolders: Object.fromEntries(folders.map(([name, folder]) => [name, resolve(directory, folder)])),
    heartbeat: heartbeatSettings(gateway.heartbeat, models),
  };
}

/** Where messages go that are no reply to a hook, with channels by their ids. */
function targetSettings(
  { main: { channel, to }, alerts }: ConfigFile['gateway'],
  reporter: ConfigReporter,
): Pick<GatewaySettings, 'main' | 'alerts'> {
  const channelAt = (name: string, path: Path): string => resolveChannelId(name, { reporter, path });
  const main = defined({
    channel: channel && channelAt(channel, MAIN_CHANNEL),
    to: to === undefined ? undefined : String(to),
  });
  if (alerts === undefined) return { main };
  return { main, alerts: { ...alerts, channel: channelAt(alerts.channel, ALERTS_CHANNEL) } };
}

function heartbeatSettings(
  { model, activeHours, ...written }: ConfigFile['gateway']['heartbeat'],
  models: ReturnType<typeof resolveModels>,
): GatewaySettings['heartbeat'] {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return {
    instructions: DEFAULT_HEARTBEAT_INSTRUCTIONS,
    ...written,
    ...defined({
      model: model && models.resolve(model),
      activeHours: activeHours && { timeZone, ...activeHours },
    }),
  };
}

const MAIN_CHANNEL: Path = ['gateway', 'main', 'channel'];
const ALERTS_CHANNEL: Path = ['gateway', 'alerts', 'channel'];

/** Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes. */
function checkCallbackSecret(secret: string | undefined, reporter: ConfigReporter): void {
  if (secret === undefined) return;
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const length = Buffer.from(encoded, 'base64').length;
  if (length < 24 || length > 64) {
    reporter.report('INVALID_CALLBACK_SECRET', ['gateway', 'callbackSecret'], {
      message: say`gateway.callbackSecret must be whsec_ followed by 24 to 64 bytes in base64`,
      hint: say`make one with: echo "whsec_$(openssl rand -base64 32)"`,
    });
  }
}

function checkedConsole(written: ConsoleSettings, reporter: ConfigReporter): ConsoleSettings {
  const { enabled, host, publicUrl } = written;
  if (enabled === true && !isLoopback(host) && publicUrl === undefined) {
    reporter.report('EXPOSED_LISTENER', ['console', 'host'], {
      severity: 'warning',
      isOfSafety: true,
      message: say`the console on ${host.slice(0, 80)} can be reached from other machines without TLS`,
      hint: say`listen on 127.0.0.1 and use an SSH tunnel, or put a proxy with TLS in front of it and name its address in console.publicUrl`,
    });
  }
  return written;
}

/** `channels` by id with aliases resolved. An id that is not built in needs a plugin. */
function resolveChannels(file: ConfigFile, reporter: ConfigReporter): Settings['channels'] {
  const channels: Record<string, Settings['channels'][string]> = {};
  const writtenAs = new Map<string, string>();
  for (const [name, settings] of Object.entries(file.channels)) {
    const path: Path = ['channels', name];
    const id = idOf(name);
    const first = writtenAs.get(id);
    if (first !== undefined) {
      const message = `"${name}" and "${first}" are two names of the same channel`;
      reporter.report('DUPLICATE_CHANNEL', path, {
        key: true,
        message: quoted(message),
        hint: say`keep "${id}"`,
      });
      continue;
    }
    writtenAs.set(id, name);
    if (file.plugins.length === 0) reportUnknown(name, { reporter, path, key: true });
    channels[id] = settings;
  }
  return channels;
}

/** A channel's id from a name in the file; a name that no built-in channel has is reported unless plugins may bring it. */
function resolveChannelId(
  name: string,
  options: { readonly reporter: ConfigReporter; readonly path: Path },
): string {
  const hasPlugins = Array.isArray(options.reporter.root.at(['plugins']).value);
  if (!hasPlugins) reportUnknown(name, { ...options, key: false });
  return idOf(name);
}

function idOf(name: string): string {
  return channelIdOf(name.trim().toLowerCase());
}

function reportUnknown(
  name: string,
  { reporter, path, key }: { readonly reporter: ConfigReporter; readonly path: Path; readonly key: boolean },
): void {
  const known: readonly string[] = CHANNEL_IDS;
  const id = idOf(name);
  if (known.includes(id) && id !== LAST_CHANNEL) return;
  reporter.report('UNKNOWN_CHANNEL', path, {
    key,
    message: say`there is no channel "${name.slice(0, 80)}", and no plugin is configured that could add it`,
    facts: { written: name, known, isFixed: true },
  });
}
