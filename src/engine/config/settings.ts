import type { LocatedValue, Path } from '../../base/document/document.ts';
import type { ConfigFile } from './config-schema.ts';
import type { MailBlock } from './mail-schema.ts';
import type { Behaviours } from './openclaw/behaviours.ts';
import type { AgentKind, RunnerFile } from './runner-schema.ts';

/** Where hooks are taken unless the file says otherwise. */
export const DEFAULT_PORT = 8787;

/** A value of which nothing is changed. */
type ReadonlyDeep<Value> = Value extends object
  ? { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> }
  : Value;

type ReadonlyConfigFile = ReadonlyDeep<ConfigFile>;

/**
 * The configuration as the service uses it: every default filled in, every reference resolved, every path absolute.
 * What is not written here is as in the file: `config-schema.ts` has its type, unit and default.
 */
export interface Settings extends Pick<
  ReadonlyConfigFile,
  'channels' | 'plugins' | 'storage' | 'metrics' | 'console' | 'log'
> {
  readonly hooks: HooksSettings;
  readonly server: ReadonlyConfigFile['server'] & { readonly port: number };
  readonly gateway: GatewaySettings;
  readonly agents: { readonly defaults: AgentDefaults };
}

type OwnHooksKeys = 'mappings' | 'mappingsDir' | 'transformsDir' | 'lenient' | 'mail';

export interface HooksSettings extends Omit<ReadonlyConfigFile['hooks'], OwnHooksKeys> {
  /** Absolute. */
  readonly mappingsDir: string;
  readonly transformsDir: string;
  /** Another limit for single hook names, where their mappings set none: the mail batches of an OpenClaw file. */
  readonly maxBodyBytesByName: Readonly<Record<string, number>>;
  readonly lenient: boolean;
  /** Also of our own file that extends one of OpenClaw. */
  readonly behaviours: Behaviours;
  /** The mailbox that is read; absent where `hooks.mail` is, or is of another version. */
  readonly mail?: MailBlock;
}

type OwnGatewayKeys = 'runner' | 'runners' | 'heartbeat' | 'main';

export interface GatewaySettings extends Omit<ReadonlyConfigFile['gateway'], OwnGatewayKeys> {
  /** Name of the default runner, a key of `runners`. */
  readonly runner: string;
  readonly runners: Readonly<Record<string, RunnerSettings>>;
  readonly heartbeat: Omit<ReadonlyConfigFile['gateway']['heartbeat'], 'activeHours'> & {
    readonly instructions: string;
    /** Local hours between which periodic checks run, e.g. 08:00 to 22:00. */
    readonly activeHours?: { readonly from: string; readonly to: string; readonly timeZone: string };
  };
  readonly main: { readonly channel?: string; readonly to?: string };
}

export type StorageSettings = Settings['storage'];
export type ConsoleSettings = Settings['console'];
/** Which requests are kept with their bodies; what is absent depends on the command that serves. */
export type KeepRequests = StorageSettings['keepRequests'];

type RunnerOf<Kind extends RunnerFile['kind']> = ReadonlyDeep<Extract<RunnerFile, { kind: Kind }>>;

/** Where a command works: one of the two, both absolute. */
interface WorkingFolder {
  readonly cwd?: string;
  readonly privateFolders?: string;
}

export type RunnerSettings =
  | RunnerOf<'echo' | 'forward' | 'openclaw' | 'worker'>
  | (Omit<RunnerOf<'command'>, 'cwd'> & WorkingFolder)
  | (Omit<RunnerOf<AgentKind>, 'kind' | 'cwd' | 'command'> &
      WorkingFolder & {
        /** A coding agent by its own command line; `gateway.runners` has its name as the kind. */
        readonly kind: 'agent';
        readonly agent: AgentKind;
        /** Where names that agents give their conversations are kept, absolute. */
        readonly sessions: string;
        /** The program; default the agent's name. */
        readonly command: string;
      })
  | (Omit<RunnerOf<'model'>, 'providers'> & {
      readonly providers: Readonly<Record<string, ProviderSettings>>;
    });

export interface ProviderSettings {
  readonly kind: 'openai-compatible' | 'openai' | 'anthropic';
  /** Required for `openai-compatible`. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** Whether `thinking` is sent; default true, `openai-compatible` false. */
  readonly reasoning: boolean;
}

export interface AgentDefaults {
  /** Aliases resolved. */
  readonly model: string | undefined;
  /** Allow-list with aliases resolved; undefined: any. */
  readonly models: readonly string[] | undefined;
  readonly aliases: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** No run takes longer, whatever its request or mapping says. */
  readonly maxTimeoutSeconds: number;
}

/** One entry of `hooks.mappings`, and by whose rules it is read. */
export interface InlineMapping {
  readonly value: LocatedValue;
  readonly behaviours: Behaviours;
}

/** What a run takes where neither sender nor mapping says it. */
export interface RunDefaults {
  readonly model?: string;
  readonly thinking?: string;
}

export interface BesideSettings {
  /** `hooks.mappings` entries, raw, each with its place, so that `mapping/` can report on them. */
  readonly inlineMappings: readonly InlineMapping[];
  /** By hook name; from `hooks.gmail` of an OpenClaw file. */
  readonly runDefaults: Readonly<Record<string, RunDefaults>>;
  /** Ids of the agents of an OpenClaw file, the default one first. */
  readonly openclawAgents?: readonly string[];
  /** Ids of channels that only the gateway of an OpenClaw file has. */
  readonly openclawChannels: readonly string[];
  /** Values of tokens and references: to be kept out of logs. */
  readonly secrets: readonly string[];
  /** SHA-256 of the texts of the file and of the one it extends: references count by name, the values of secrets do not. */
  readonly sha256: string;
  /** Absolute paths of files to watch: the config and secret files. */
  readonly files: readonly string[];
}

export interface EffectiveSetting {
  readonly path: Path;
  readonly value: string | number | boolean | null;
  /** The place in a file, with the reference that stands there, or `default`. */
  readonly from: string;
}

export interface LoadedConfig extends BesideSettings {
  readonly settings: Settings;
  /** Absolute path of the file. */
  readonly file: string;
  /** The file as written, for places of findings that other modules make. */
  readonly root: LocatedValue;
  /** Every setting as it works, and where it comes from, for people. */
  readonly effective: () => readonly EffectiveSetting[];
}

/** Where hooks are taken: the beginning of an address, such as `server.publicUrl`, with `hooks.path`; no slash at the end. */
export const hooksAddress = (origin: string, { hooks }: Pick<Settings, 'hooks'>): string =>
  `${origin.replace(/(?<!\/)\/+$/, '')}${hooks.path}`;
