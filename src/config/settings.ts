import type { SummaryMode, WakeMode } from '../action.ts';
import type { LocatedValue } from '../document/document.ts';
import type { MailBlock } from './mail-schema.ts';
import type { AgentAccess, AgentKind } from './runner-schema.ts';

/** Where hooks are taken unless the file says otherwise. */
export const DEFAULT_PORT = 8787;

/**
 * The configuration as the service uses it: every default filled in, every reference resolved, every path absolute.
 * `config-schema.ts` describes the file; a test holds that parsing it yields exactly this.
 */
export interface Settings {
  readonly hooks: HooksSettings;
  readonly server: ServerSettings;
  readonly gateway: GatewaySettings;
  readonly agents: { readonly defaults: AgentDefaults };
  /** `channels.<id>` with references resolved; ids with aliases resolved. */
  readonly channels: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Plugin modules that bring further channels: absolute paths or package names. */
  readonly plugins: readonly string[];
  readonly storage: StorageSettings;
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  readonly console: ConsoleSettings;
  /** `json` for `serve`, `pretty` for `dev`, unless the file says otherwise. */
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format?: 'json' | 'pretty' };
}

export interface HooksSettings {
  readonly enabled: boolean;
  /** Absent where hooks are off, or where `sluice dev` generates one. */
  readonly token: string | undefined;
  readonly previousTokens: readonly string[];
  /** Leading slash, no trailing one, never `/`. Default `/hooks`. */
  readonly path: string;
  /** Built-in presets: `mail`, or `gmail`, which also answers on `/gmail`. */
  readonly presets: readonly string[];
  /** Absolute. */
  readonly mappingsDir: string;
  readonly transformsDir: string;
  /** Bytes; default 262144. */
  readonly maxBodyBytes: number;
  /** Another limit for single hook names, where their mappings set none: the mail batches of an OpenClaw file. */
  readonly maxBodyBytesByName: Readonly<Record<string, number>>;
  /** What evaluating one request may cost. */
  readonly limits: { readonly steps: number; readonly renderedBytes: number; readonly storedBytes: number };
  readonly queryToken: 'warn' | 'reject';
  /** Default 20; 0 turns the limit off. */
  readonly authFailuresPerMinute: number;
  /** What becomes of a request that no mapping takes: 404, or 204 and nothing. */
  readonly unmatched: 'reject' | 'skip';
  readonly lenient: boolean;
  /** What a run does where neither the request nor the mapping says it. */
  readonly defaults: {
    readonly wakeMode: WakeMode;
    readonly deliver: boolean;
    readonly summary: SummaryMode;
    /** Runs of a mapping that may begin within an hour, where the mapping does not say it. */
    readonly limits?: HourLimits;
  };
  /** `openclaw`: idempotency keys also come in their header and in the body, and a key with another body is another request. */
  readonly dialect: 'sluice' | 'openclaw';
  readonly exposeRuns: boolean;
  /** OpenClaw's restrictions on session keys from request bodies; all allowed by default. */
  readonly sessionKeys: {
    readonly allowFromRequest: boolean;
    readonly default?: string;
    /** Empty: any. */
    readonly allowedPrefixes: readonly string[];
    /** Prefixes of keys whose conversations belong to nobody. */
    readonly shared: readonly string[];
  };
  /** Agents that a request, mapping or transform may name with `agentId`. */
  readonly agents: {
    /** Runner by agent id. */
    readonly runners: Readonly<Record<string, string>>;
    /** The agent of what names none. */
    readonly default?: string;
    /** Absent: all. */
    readonly allowed?: readonly string[];
  };
  /** The mailbox that is read; absent where `hooks.mail` is, or is of another version. */
  readonly mail?: MailBlock;
}

/** How many runs may begin within an hour. */
export interface HourLimits {
  readonly runsPerHour?: number | undefined;
  readonly runsPerHourAndSession?: number | undefined;
}

export interface ServerSettings {
  readonly host: string;
  /** 0 asks the system for a free one. */
  readonly port: number;
  readonly stopGraceSeconds: number;
  /** Whether a TLS-terminating proxy is trusted in front; addresses come from its `X-Forwarded-For`. */
  readonly trustedProxies: readonly string[];
  readonly limits: {
    readonly connections: number;
    /** Of one address, or of one IPv6 /64. */
    readonly perAddress: number;
    /** How long a connection stays open between two requests. */
    readonly idleSeconds: number;
    /** The same where no sender has proved itself on it. */
    readonly strangerSeconds: number;
  };
  /** A listener of its own for `/healthz` and `/readyz`. */
  readonly health: { readonly host: string; readonly port: number } | undefined;
  /** The address that senders call, without a path of its own unless a proxy takes it away; for signed addresses. */
  readonly publicUrl?: string;
}

export interface GatewaySettings {
  /** The gateway's own secret; must differ from every hook token. */
  readonly token: string | undefined;
  /** Name of the default runner, a key of `runners`. */
  readonly runner: string;
  readonly runners: Readonly<Record<string, RunnerSettings>>;
  readonly maxRuns: number;
  /** Runs in parallel at most per mapping id. Default: no limit of its own. */
  readonly maxRunsPerMapping: number | undefined;
  /** Folders that a mapping may name with `cwd`, absolute. */
  readonly workFolders: Readonly<Record<string, string>>;
  /** Hours for which the runs of an agent that is away wait; 0: three attempts, as for any other failure to start. */
  readonly holdHours: number;
  readonly heartbeat: {
    /** 0 turns the periodic check off. */
    readonly everySeconds: number;
    readonly instructions: string;
    readonly model: string | undefined;
    readonly runner: string | undefined;
    /** Local hours between which periodic checks run, e.g. 08:00 to 22:00. */
    readonly activeHours:
      { readonly from: string; readonly to: string; readonly timeZone: string } | undefined;
  };
  readonly events: { readonly maxPending: number };
  readonly main: { readonly channel: string | undefined; readonly to: string | undefined };
  readonly sessions: { readonly maxTurns: number; readonly maxTokens: number };
  /** Where messages go when something keeps failing. */
  readonly alerts?: { readonly channel: string; readonly to: string; readonly after: number };
  /** Standard Webhooks secret (`whsec_…`) that signs callbacks. */
  readonly callbackSecret: string | undefined;
}

export type RunnerSettings =
  | { readonly kind: 'echo'; readonly maxRuns?: number }
  | {
      /** A coding agent by its own command line; `gateway.runners` has its name as the kind. */
      readonly kind: 'agent';
      readonly agent: AgentKind;
      /** Where names that agents give their conversations are kept, absolute. */
      readonly sessions: string;
      /** The program; default the agent's name. */
      readonly command: string;
      /** What the agent may do in its folder, by its own permission flags. */
      readonly access: AgentAccess;
      /** Further arguments. */
      readonly argv: readonly string[];
      readonly cwd?: string;
      readonly privateFolders?: string;
      readonly env: Readonly<Record<string, string>>;
      readonly passEnv: readonly string[];
      readonly maxReplyBytes: number;
      readonly model?: string;
      readonly maxRuns?: number;
    }
  | {
      readonly kind: 'command';
      /** Placeholders: `{prompt_file} {model} {thinking} {session_key} {session_id} {timeout_seconds} {run_id} {history_file}`. */
      readonly argv: readonly string[];
      /** How the prompt arrives: stdin (default) or only as a file. */
      readonly prompt: 'stdin' | 'file';
      /** `text` (default), or a dot path into JSON on stdout, e.g. `result`. */
      readonly replyPath?: string;
      /** Absolute. */
      readonly cwd?: string;
      /** In place of `cwd`: where conversations have private folders, absolute. */
      readonly privateFolders?: string;
      /** Model of turns that name none. */
      readonly model?: string;
      /** Variables set for the command, values with references resolved. */
      readonly env: Readonly<Record<string, string>>;
      /** Names passed through from the service's environment besides PATH, HOME, LANG, LC_*, TZ, TMPDIR, USER, SHELL. */
      readonly passEnv: readonly string[];
      /** Exit codes that mean "not started, try again", e.g. 75 (EX_TEMPFAIL). */
      readonly retryExitCodes: readonly number[];
      readonly maxReplyBytes: number;
      readonly maxRuns?: number;
    }
  | {
      readonly kind: 'model';
      /** Model of turns that name none, in place of `agents.defaults.model`. */
      readonly model?: string;
      readonly providers: Readonly<Record<string, ProviderSettings>>;
      /** System text before every conversation. */
      readonly system?: string;
      readonly maxOutputTokens?: number;
      readonly maxRuns?: number;
    }
  | {
      readonly kind: 'openclaw';
      readonly command: string;
      /** Agent id there. */
      readonly agent?: string;
      /** Base address and token of that gateway's hooks, for events of the main session. */
      readonly hooks?: { readonly url: string; readonly token: string };
      readonly passEnv: readonly string[];
      readonly maxReplyBytes: number;
      readonly maxRuns?: number;
    }
  | {
      readonly kind: 'forward';
      readonly url: string;
      readonly token: string;
      /** Whether summaries go to the other gateway as wakes. */
      readonly forwardSummaries: boolean;
      readonly maxRuns?: number;
    };

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

export interface StorageSettings {
  /** `sqlite:<absolute path>`. */
  readonly url: string;
  /** Of a process that shares the store. */
  readonly leaseSeconds: number;
  readonly keep: { readonly days: number; readonly rows: number; readonly decisions: number };
  readonly keepRequests: KeepRequests;
  readonly maxBacklog: { readonly runs: number; readonly bytes: number };
}

/** Where and whether the console is served; what is absent depends on the command that serves. */
export interface ConsoleSettings {
  readonly enabled?: boolean;
  readonly host: string;
  readonly port?: number;
  /** The address browsers use, where a proxy stands in front. */
  readonly publicUrl?: string;
}

/** Which requests are kept with their bodies; what is absent depends on the command that serves. */
export interface KeepRequests {
  readonly which?: 'none' | 'transforms' | 'failed' | 'all';
  readonly count?: number;
  readonly bytes?: number;
  readonly days?: number;
}

/** One entry of `hooks.mappings`, and by whose rules it is read. */
export interface InlineMapping {
  readonly value: LocatedValue;
  readonly dialect: 'sluice' | 'openclaw';
}

/** What a run takes where neither sender nor mapping says it. */
export interface RunDefaults {
  readonly model?: string;
  readonly thinking?: string;
}

/** A loaded configuration: settings, and where mapping entries stand so that `mapping/` can report on them. */
export interface LoadedConfig {
  readonly settings: Settings;
  /** Absolute path of the file. */
  readonly file: string;
  /** `openclaw` also for our own file that extends one of theirs. */
  readonly dialect: 'sluice' | 'openclaw';
  /** The file as written, for places of findings that other rooms make. */
  readonly root: LocatedValue;
  /** `hooks.mappings` entries, raw, each with its place. */
  readonly inlineMappings: readonly InlineMapping[];
  /** By hook name; from `hooks.gmail` of an OpenClaw file. */
  readonly runDefaults: Readonly<Record<string, RunDefaults>>;
  /** Ids of the agents of an OpenClaw file, the default one first; empty for our own. */
  readonly theirAgents: readonly string[];
  /** Values of all tokens and references: to be kept out of logs. */
  readonly secrets: readonly string[];
  /** SHA-256 of the file's text: references count by name, the values of secrets do not. */
  readonly sha256: string;
  /** Absolute paths of files to watch: the config and secret files. */
  readonly files: readonly string[];
}
