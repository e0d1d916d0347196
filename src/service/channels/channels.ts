import { channelIdOf } from '../../base/action.ts';
import type {
  ChannelAdapter,
  ChannelLookup,
  ChannelModule,
  ChannelSettings,
  SettingsProblem,
} from './channel.ts';
import { explainMissingPackages, findMissingPackages } from '../../engine/config/config.ts';
import { within } from '../../base/timers/timers.ts';
import { loadPlugin } from './plugin.ts';

export { pluginFiles } from './plugin.ts';
import { discord } from './discord.ts';
import { email } from './email.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { imessage } from './imessage.ts';
import { mattermost } from './mattermost.ts';
import { msteams } from './msteams.ts';
import { signal } from './signal.ts';
import { slack } from './slack.ts';
import { telegram } from './telegram.ts';
import { whatsapp } from './whatsapp.ts';

export type {
  ChannelAdapter,
  ChannelCheck,
  ChannelLookup,
  ChannelMessage,
  ChannelModule,
  ChannelSettings,
  SendResult,
} from './channel.ts';
export { chunkText } from './chunk.ts';

export interface ChannelCatalog {
  readonly modules: ReadonlyMap<string, ChannelModule>;
  /** Where a module's `packages` are looked up: the file or URL it was loaded from, by channel id. */
  readonly origins: ReadonlyMap<string, string>;
  readonly problems: readonly PluginProblem[];
  /** True where plugins were not loaded, which may bring more channels. */
  readonly isPartial?: boolean;
}

export interface PluginProblem {
  readonly spec: string;
  readonly message: string;
}

export interface ChannelProblem {
  readonly channel: string;
  /** The key under `channels.<id>`; absent where the finding is about the whole channel. */
  readonly key?: string;
  readonly message: string;
  /** Where the key is no setting of the channel: the keys that are. */
  readonly known?: readonly string[];
  /** True where the settings are right, but the package is not installed here. */
  readonly lacksPackage?: true;
}

/** A module that does not open, or an adapter that does not stop, within this time is not waited for. */
const OPEN_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 5_000;

type ConfiguredChannels = Readonly<Record<string, ChannelSettings>>;

const BUILT_IN: readonly ChannelModule[] = [
  whatsapp,
  telegram,
  discord,
  slack,
  signal,
  imessage,
  msteams,
  mattermost,
  github,
  gitlab,
  email,
];
/**
 * The built-in channels and the plugins (paths relative to `configDir`, or package names). Never rejects: a plugin that
 * cannot be loaded is left out and becomes a problem.
 */
export async function loadChannelCatalog(
  plugins: readonly string[],
  configDir: string,
): Promise<ChannelCatalog> {
  const modules = new Map(BUILT_IN.map((module) => [module.id, module]));
  const origins = new Map(BUILT_IN.map((module) => [module.id, import.meta.url]));
  const problems: PluginProblem[] = [];
  for (const spec of plugins) {
    try {
      const { module, url } = await loadPlugin(spec, configDir);
      if (modules.has(module.id))
        throw new Error(`channel plugin ${spec}: channel "${module.id}" exists already`);
      modules.set(module.id, module);
      origins.set(module.id, url);
    } catch (error) {
      problems.push({ spec, message: (error as Error).message });
    }
  }
  return { modules, origins, problems };
}

/** The built-in channels, and in place of plugins that are not loaded all other channels that are configured. */
export function catalogWithoutPlugins(configured: ConfiguredChannels): ChannelCatalog {
  const builtIn = new Map(BUILT_IN.map((module) => [module.id, module]));
  const catalog = { modules: builtIn, origins: new Map<string, string>(), problems: [], isPartial: true };
  return withChannels(catalog, Object.keys(configured), 'its plugin is not loaded');
}

/** Adds channels of which only the name is known: their settings and recipients are not judged. */
export function withChannels(catalog: ChannelCatalog, ids: readonly string[], why: string): ChannelCatalog {
  const open = (): Promise<never> => Promise.reject(new Error(why));
  const named = ids.map((id): readonly [string, ChannelModule] => [
    id,
    { id, settingsProblems: () => [], recipientProblem: () => undefined, open },
  ]);
  return { ...catalog, modules: new Map([...named, ...catalog.modules]) };
}

export const knownChannels = ({ modules, isPartial }: ChannelCatalog): ReadonlySet<string> | 'any' =>
  isPartial === true ? 'any' : new Set(modules.keys());

export function findChannelModule(catalog: ChannelCatalog, channel: string): ChannelModule | undefined {
  return catalog.modules.get(channelIdOf(channel));
}

/**
 * What is wrong with a recipient on a channel, in one sentence; undefined where it will do or the channel is unknown
 * or `last`. Cheap: loads no SDK.
 */
export function recipientProblem(catalog: ChannelCatalog, channel: string, to: string): string | undefined {
  const module = findChannelModule(catalog, channel);
  return module && judgeRecipient(module, to);
}

/** A plugin is somebody else's code: what it throws is a finding about it, never the end of a check or a request. */
function judgeRecipient(module: ChannelModule, to: string): string | undefined {
  try {
    const problem: unknown = module.recipientProblem(to);
    return typeof problem === 'string' ? problem : undefined;
  } catch (error) {
    return `the module of the channel failed on it (${nameOf(error)})`;
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function judgeSettings(module: ChannelModule, settings: ChannelSettings): Omit<ChannelProblem, 'channel'>[] {
  try {
    const given: readonly { readonly [Key in keyof SettingsProblem]?: unknown }[] =
      module.settingsProblems(settings);
    const problems: Omit<ChannelProblem, 'channel'>[] = given.map(({ key, message, known }) => ({
      key: String(key),
      message: String(message),
      ...(Array.isArray(known) ? { known: known.map(String) } : {}),
    }));
    const { to } = settings;
    if ((typeof to !== 'string' && typeof to !== 'number') || problems.some(({ key }) => key === 'to'))
      return problems;
    const message = judgeRecipient(module, String(to));
    return message === undefined ? problems : [...problems, { key: 'to', message }];
  } catch (error) {
    return [{ message: `the module of the channel failed on its settings (${nameOf(error)})` }];
  }
}

/** The settings that a channel cannot be without; none of an unknown one. */
export function requiredSettings(catalog: ChannelCatalog, channel: string): readonly string[] {
  const module = findChannelModule(catalog, channel);
  return module === undefined ? [] : [...new Set(judgeSettings(module, {}).flatMap(({ key }) => key ?? []))];
}

/** Findings about `channels`, without a network: unknown ids, wrong or missing keys, packages to be installed. */
export function channelProblems(catalog: ChannelCatalog, channels: ConfiguredChannels): ChannelProblem[] {
  const problems: ChannelProblem[] = [];
  for (const [channel, settings] of Object.entries(channels)) {
    const module = findChannelModule(catalog, channel);
    if (!module) {
      const known = [...catalog.modules.keys()].join(', ');
      problems.push({ channel, message: `there is no channel "${channel}"; the channels are: ${known}` });
      continue;
    }
    // The value behind a reference is not known yet; an unknown key is one all the same.
    const known = judgeSettings(module, settings).filter(
      (each) => each.key === undefined || each.known !== undefined || !isReference(settings[each.key]),
    );
    problems.push(...known.map((problem) => ({ channel, ...problem })));
    const message = explainMissing(catalog, module);
    if (message !== undefined) problems.push({ channel, message, lacksPackage: true });
  }
  return problems;
}

/** Configured channels, each opened when it is first needed and kept until `stop`; a failed opening is tried again. */
export interface OpenChannels extends ChannelLookup {
  readonly ids: readonly string[];
  stop(): Promise<void>;
}

/** Makes the configured channels available; nothing is loaded or connected yet. */
export function openChannels(
  catalog: ChannelCatalog,
  channels: ConfiguredChannels,
  { openTimeoutMs = OPEN_TIMEOUT_MS }: { readonly openTimeoutMs?: number } = {},
): OpenChannels {
  const opened = new Map<string, Promise<ChannelAdapter>>();
  const settingsOf = (channel: string): ChannelSettings | undefined =>
    Object.hasOwn(channels, channel) ? channels[channel] : undefined;
  const open = async (module: ChannelModule, settings: ChannelSettings): Promise<ChannelAdapter> => {
    // A plugin that throws at once fails as one that rejects: after this opening is kept, which is then forgotten.
    const opening = Promise.resolve().then(() => module.open(settings));
    try {
      const adapter = await within(opening, openTimeoutMs);
      const problem = adapterProblem(adapter);
      if (problem === undefined && adapter !== undefined) return adapter;
      throw new Error(`channel ${module.id}: ${problem}`);
    } catch (error) {
      opened.delete(module.id);
      // Nobody has what opens too late, or is no adapter.
      void opening.then((adapter) => adapter.stop?.()).catch(() => undefined);
      const missing = explainMissing(catalog, module);
      throw missing === undefined ? error : new Error(missing, { cause: error });
    }
  };
  return {
    ids: Object.keys(channels),
    find: async (channel) => {
      const module = findChannelModule(catalog, channel);
      const settings = module && settingsOf(module.id);
      if (!module || !settings) return undefined;
      const opening = opened.get(module.id) ?? open(module, settings);
      opened.set(module.id, opening);
      return opening;
    },
    stop: async () => {
      const stopping = [...opened.values()].map(async (opening) => (await opening).stop?.());
      opened.clear();
      await within(Promise.allSettled(stopping), STOP_TIMEOUT_MS);
    },
  };
}

/** What an opened channel lacks to be an adapter: a plugin may return anything. */
function adapterProblem(adapter: unknown): string | undefined {
  if (typeof adapter !== 'object' || adapter === null) return 'its "open" gave no adapter in time';
  const { maxChars, check, send } = adapter as Partial<Record<keyof ChannelAdapter, unknown>>;
  if (!Number.isSafeInteger(maxChars) || (maxChars as number) < 1)
    return 'the "maxChars" of its adapter must be a whole number above 0';
  if (typeof check !== 'function' || typeof send !== 'function')
    return 'its adapter must have the functions "check" and "send"';
  return undefined;
}

/** Whether a value is still a reference, as checks without secrets leave it: its form says nothing about its content. */
export function isReference(value: unknown): boolean {
  return typeof value === 'string' && /\$\{\w+\}|^\{file: .+\}$/.test(value);
}

/** What to install where packages of a module are missing from where the module looks for them; else undefined. */
function explainMissing(catalog: ChannelCatalog, { id, packages = [] }: ChannelModule): string | undefined {
  const missing = findMissingPackages(packages, catalog.origins.get(id) ?? import.meta.url);
  return missing.length === 0 ? undefined : explainMissingPackages(`channel ${id}`, missing);
}
