import type { Reaction } from '../../base/action.ts';

/**
 * The public contract of a delivery channel; built-in channels and plugin modules implement the same one. An adapter
 * sends one message of at most `maxChars` UTF-16 units: cutting, retrying and resuming are the gateway's.
 */
export interface ChannelAdapter {
  readonly id: string;
  /** Longest text of one message in UTF-16 units. */
  readonly maxChars: number;
  /** Verifies the credentials against the platform without sending anything. */
  check(signal: AbortSignal): Promise<ChannelCheck>;
  send(message: ChannelMessage, signal: AbortSignal): Promise<SendResult>;
  /** Frees sockets and child processes; idempotent. */
  stop?(): Promise<void>;
}

export interface ChannelMessage {
  readonly to: string;
  readonly text: string;
  /** True where the platform refused the formatting: send without any. */
  readonly plain: boolean;
  /** Stable per delivery and chunk; platforms that know idempotency keys get it. */
  readonly key: string;
  /** The thread of the message; only where the module has threads. */
  readonly thread?: string;
  /** In place of a text: an emoji to set on a message; only where the module has a `messageField`. */
  readonly reaction?: Reaction;
  /** The run whose reply or notification the message is; absent in a test message. */
  readonly runId?: string;
}

export type ChannelCheck =
  | { readonly ok: true; readonly account: string }
  | { readonly ok: false; readonly code: string; readonly message: string };

export type SendResult =
  | { readonly kind: 'sent'; readonly messageId?: string }
  /** Nothing was delivered for sure: the message may be sent again. */
  | {
      readonly kind: 'retry';
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs?: number;
    }
  /** The platform refused the formatting: the message is sent once more as plain text. */
  | { readonly kind: 'refused-format'; readonly message: string }
  /** The platform will never accept the message. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** The message may or may not have arrived (a timeout after the request was sent): recorded, not repeated. */
  | { readonly kind: 'ambiguous'; readonly code: string; readonly message: string };

/** Settings of one channel: `channels.<id>` with references resolved. */
export type ChannelSettings = Readonly<Record<string, unknown>>;

export interface SettingsProblem {
  readonly key: string;
  readonly message: string;
  /** Where the key is no setting of the channel: the keys that are. */
  readonly known?: readonly string[];
}

/** What a channel module exports as `default`. Only `open` may load an SDK: the rest also runs while checking. */
export interface ChannelModule {
  /** Lower case, `a-z 0-9 _ -`, at most 32 characters. */
  readonly id: string;
  /** npm packages that `open` imports; one that is missing is named while checking. */
  readonly packages?: readonly string[];
  /** Whether messages can stand in a thread; default false. */
  readonly hasThreads?: boolean;
  /** The field in which webhooks of the platform name the message that a reaction is set on; absent: none is. */
  readonly messageField?: string;
  /** Problems of the settings, each naming its key; empty where they will do. */
  settingsProblems(settings: ChannelSettings): readonly SettingsProblem[];
  /** What is wrong with a recipient, as a sentence that names the accepted forms; undefined where it will do. */
  recipientProblem(to: string): string | undefined;
  /** May load its SDK lazily; rejects with a message that names the package to install where it is missing. */
  open(settings: ChannelSettings): Promise<ChannelAdapter>;
}

/** The configured channels, each opened on first use. */
export interface ChannelLookup {
  /**
   * The adapter of a configured channel; undefined where the channel has no settings. Rejects where it cannot be
   * opened (its package is missing, its settings will not do) with a message that says what to do.
   */
  find(id: string): Promise<ChannelAdapter | undefined>;
}
