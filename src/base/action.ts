import type { EventConversation } from './conversation.ts';

declare const safe: unique symbol;

/**
 * Text an agent may read as a prompt. Only `boundary/` makes it, either by wrapping external content or by taking
 * the word of an operator's `allowUnsafeExternalContent`; unwrapped external text does not compile where it is expected.
 */
export type SafeText = string & { readonly [safe]: true };

/** When the main session hears of an action: at once, or at the next periodic check. */
export const WAKE_MODES = ['now', 'next-heartbeat'] as const;
export type WakeMode = (typeof WAKE_MODES)[number];

/** When the main session gets a line about a run: always, when it failed or could not be delivered, or never. */
export const SUMMARY_MODES = ['always', 'failures', 'never'] as const;
export type SummaryMode = (typeof SUMMARY_MODES)[number];

/** The eight messaging platforms of the contract (`mattermost` is served by a plugin module), then others. */
export const CHANNEL_IDS = [
  'whatsapp',
  'telegram',
  'discord',
  'slack',
  'signal',
  'imessage',
  'msteams',
  'mattermost',
  'github',
  'gitlab',
  'email',
] as const;
/** Other spellings of channel ids that senders use. */
export const CHANNEL_ALIASES: Readonly<Record<string, string>> = {
  imsg: 'imessage',
  teams: 'msteams',
  mail: 'email',
  smtp: 'email',
};

/** The id of a channel, whose name may be another spelling of it. */
export function channelIdOf(name: string): string {
  return Object.hasOwn(CHANNEL_ALIASES, name) ? (CHANNEL_ALIASES[name] ?? name) : name;
}

/** What reaches people otherwise than by a channel, and what to write for it; undefined of any other name. */
export function otherWay(name: string): string | undefined {
  if (/^(?:e-mail|gmail|sendgrid|ses|resend|postmark|mailgun)$/.test(name))
    return 'write channel: email, and the SMTP server of that service in channels.email';
  return /^(?:webhook|https?|url|callback|rest|zapier|n8n|make|pipedream)$/.test(name)
    ? 'an address gets the outcome by a callback: remove it, and in the mapping write callbackUrl: https://example.com/hook in place of channel and to: each outcome is posted there as JSON, with the answer of the agent in data.reply'
    : undefined;
}

/** Emoji that every channel with reactions has, by their names on GitHub. */
export const REACTION_EMOJI = ['eyes', '+1', '-1', 'confused'] as const;

export interface Reaction {
  readonly emoji: (typeof REACTION_EMOJI)[number];
  /** As the webhook names the message; absent where it names none. */
  readonly message?: string;
}

/** The emoji for each time at which a mapping wants one: when the event was accepted, and when its run had ended. */
export interface Reactions extends Partial<
  Record<'seen' | 'done' | 'failed', Reaction['emoji'] | undefined>
> {
  readonly message?: string;
}

/** The channel value that means the channel last used by the main session. */
export const LAST_CHANNEL = 'last';
/** The channel of the contract that stands in where nothing else is known. */
export const FALLBACK_CHANNEL = 'whatsapp';

/** Thinking levels from least to most. */
export const THINKING_LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/** How senders spell the levels, without case, spaces, `-` and `_`. */
const THINKING_SPELLINGS: ReadonlyMap<string, ThinkingLevel> = new Map(
  Object.entries({
    off: ['off', 'none', 'false', 'disabled'],
    minimal: ['minimal', 'min', 'think'],
    low: ['low', 'on', 'enabled', 'thinkhard'],
    medium: ['medium', 'mid', 'med', 'normal', 'harder', 'thinkharder'],
    high: ['high', 'max', 'highest', 'ultra', 'ultrathink', 'thinkhardest'],
    xhigh: ['xhigh', 'extrahigh', 'veryhigh'],
  } satisfies Record<ThinkingLevel, readonly string[]>).flatMap(([level, spellings]) =>
    spellings.map((spelling) => [spelling, level as ThinkingLevel] as const),
  ),
);

/** The level a text means; undefined where it means none. */
export function thinkingLevel(text: string): ThinkingLevel | undefined {
  return THINKING_SPELLINGS.get(text.toLowerCase().replaceAll(/[\s_-]/g, ''));
}

/** Whether a session key is one of the names a gateway gives its main session, whatever their case. */
export function namesMainSession(key: string): boolean {
  return /^(?:main$|main:|agent:|global$)/i.test(key);
}

/** The name of a run that was given none. */
export const DEFAULT_HOOK_NAME = 'Hook';

/** Where an action came from. Stored with it, and printed in the boundary's metadata header. */
export interface ActionOrigin {
  readonly requestId: string;
  /** The hook name the request was sent to, e.g. `wake`, `agent`, `github`. */
  readonly path: string;
  /** Absent for the built-in routes `wake` and `agent`. */
  readonly mappingId?: string;
  /** The payload's own `source`, one line, at most 200 characters; absent where it has none. */
  readonly source?: string;
  /** The sender's trace (W3C `traceparent`), or the span of its request; carried into the run and its callback. */
  readonly traceparent?: string;
  /** True only where the mapping sets `allowUnsafeExternalContent`. */
  readonly trusted: boolean;
  /** Set where it came from a mail that no machine is to answer (`autoSubmitted`, RFC 3834). */
  readonly isAutomatic?: true;
  /** Set where a system event reports a failure: an answer to it may not be for everybody. */
  readonly isFailure?: true;
}

/**
 * Who a conversation belongs to. A conversation is the pair of its owner and its session key: two owners never share
 * one, even where they write the same key.
 */
export type ConversationOwner =
  | `mapping:${string}`
  /** All mappings that name it in `conversation.owner`. */
  | `owner:${string}`
  /** All mappings of an OpenClaw file together. */
  | 'mappings'
  /** The senders of `/agent` bodies. */
  | 'request'
  /** Nobody: a key under a prefix in `hooks.sessionKeys.shared`. */
  | 'shared'
  | 'main';

/** Within the time, an action with the same key in the same scope is a repeat. From a mapping's `dedupe`. */
export interface DedupeKey {
  readonly scope: string;
  readonly key: string;
  readonly ttlSeconds: number;
}

/** Which events become one run. From a mapping's `debounce`; rendered for one event. */
export interface DebounceKey {
  readonly key: string;
  /** The run begins when no event of its key came for this long. */
  readonly seconds: number;
  /** The run begins at the latest this long after its first event. */
  readonly maxSeconds: number;
  /** Only the newest event is read; absent: all are. */
  readonly keep?: 'latest';
  /** What the prompt of several events is built with, beside their messages. */
  readonly instructions?: string;
  readonly nonce: string;
}

/** How many runs of a mapping go on at the same time. From its `maxRuns`; rendered for one event. */
export interface MaxRuns {
  readonly runs: number;
  /** Only runs with the same key count; absent: all runs of the mapping do. */
  readonly key?: string;
}

/** A run may be performed again after these failures: out of time, an exit code or signal of a command, any other. */
export const RETRIED_FAILURES = ['timeout', 'exit', 'error'] as const;

/** Whether a run that was under way when the service ended is begun again. */
export const AFTER_CRASH = ['again', 'never'] as const;
export type AfterCrash = (typeof AFTER_CRASH)[number];

/** When a run that has ended is performed again. From a mapping's `retry`. */
export interface RetrySettings {
  /** Absent: no failed run is, and `attempts` and `delaySeconds` are absent, too. */
  readonly on?: readonly (typeof RETRIED_FAILURES)[number][];
  /** Attempts in all, the first one counted. */
  readonly attempts?: number;
  /** The pause between two attempts. */
  readonly delaySeconds?: number;
  /** Absent: as its runner is. */
  readonly afterCrash?: AfterCrash;
}

/** How much an account may do at a place of its sender, from little to much. */
export const PERMISSIONS = ['read', 'triage', 'write', 'maintain', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Whether the first is at least the second. */
export const allows = (found: Permission, wanted: Permission): boolean =>
  PERMISSIONS.indexOf(found) >= PERMISSIONS.indexOf(wanted);

/** Why an account may not start something (`startedBy` of the mapping). */
export interface NotAllowed {
  readonly reason: 'no_account' | 'bot' | 'not_named' | 'not_known' | 'permission' | 'not_asked';
  /** One line. */
  readonly account?: string;
  /** What was found: a role that the event names, a permission, or why nobody could be asked. */
  readonly found?: string;
  readonly wanted?: Permission;
}

/** The reason in words, with the line that would allow it. */
export function notAllowedText({ reason, account = '', found, wanted }: NotAllowed): string {
  const why: Readonly<Record<NotAllowed['reason'], string>> = {
    no_account: 'the request does not say who caused it',
    bot: `${account} is a bot, and bots is false`,
    not_named: `${account} is none of its accounts`,
    not_known: `${wanted} is wanted, and what ${account} may do is not known${found === undefined ? '' : ` (the event says ${found})`}: with a token that can read, the sender is asked`,
    permission: `${wanted} is wanted, and ${account} has ${found}`,
    not_asked: `${wanted} is wanted, and the sender could not be asked about ${account}: ${found}`,
  };
  const allow = `; accounts: ['${account.replaceAll("'", "''")}'] in startedBy would allow it`;
  return `startedBy of the mapping: ${why[reason]}${account === '' ? '' : allow}`;
}

/** Whether the account that caused an event may start something: what its sender is asked. */
export interface StartQuestion {
  readonly account: string;
  readonly wanted: Permission;
  readonly sender: string;
  /** What the address of the question is filled with, by name. */
  readonly parts: Readonly<Record<string, string>>;
  /** The reference behind which the token is; absent: that of the channel with the sender's name. */
  readonly token?: CallbackAddress;
}

/** What stands between an action and its beginning. From a mapping's `startedBy`; filled for one event. */
export interface StartCheck {
  /** Absent where it is known already that the account may not. */
  readonly question?: StartQuestion;
  /** Set where it is known. */
  readonly notAllowed?: NotAllowed;
  /** True where somebody is asked (`approve`) about those who may not. */
  readonly asksOthers?: true;
}

/** A system event to be queued for the main session. Its text is raw; the heartbeat wraps what it drains. */
export interface WakeAction {
  readonly kind: 'wake';
  /** UUID derived from the request id and the action's index. */
  readonly id: string;
  readonly text: string;
  readonly mode: WakeMode;
  readonly dedupe?: DedupeKey;
  /** Absent: it begins at once. */
  readonly startedBy?: StartCheck;
  readonly origin: ActionOrigin;
}

/** A second channel tried when delivery on the first is given up. */
export interface DeliveryTarget {
  readonly channel: string;
  readonly to?: string;
}

/** Who is asked whether a run begins. From a mapping's `approve`. */
export interface ApprovalRequest extends DeliveryTarget {
  readonly withinSeconds: number;
  /** Who caused the event, as its sender says it. */
  readonly account?: string;
  readonly instructions?: string;
}

/** One agent turn to be run, self-contained: names are resolved when it is performed. */
export interface AgentAction {
  readonly kind: 'agent';
  /** The run id: UUID derived from the request id and the action's index. */
  readonly id: string;
  /** What the agent reads: instructions, warning, marked external content. */
  readonly prompt: SafeText;
  /** The message as prepared, before the boundary; for listings and explain. */
  readonly message: string;
  /** Human-readable name of the hook, one line; default `Hook`. */
  readonly name: string;
  /** At most 256 printable characters. Default `hook:<uuid>`. */
  readonly sessionKey: string;
  readonly owner: ConversationOwner;
  /** True where the key is the random default: the session ends with its run. */
  readonly oneShot: boolean;
  readonly wakeMode: WakeMode;
  /** Absent: always. */
  readonly summary?: SummaryMode;
  readonly deliver: boolean;
  /** `last`, or a channel id with aliases resolved. */
  readonly channel: string;
  readonly to?: string;
  /** The thread there that the reply stands in; absent: none. */
  readonly thread?: string;
  /** Absent: nothing is set. */
  readonly reaction?: Reactions;
  /** Full model name, aliases resolved, allowed by `agents.defaults.models`. */
  readonly model?: string;
  readonly thinking?: string;
  /** Seconds, above 0, fractions kept. Absent: `agents.defaults.timeoutSeconds` when performed. */
  readonly timeoutSeconds?: number;
  /** Name of the runner; absent: `gateway.runner`. */
  readonly runner?: string;
  /** Name of a folder of `gateway.workFolders`; absent: the runner's own. */
  readonly cwd?: string;
  readonly fallback?: DeliveryTarget;
  /** URL from the mapping to which the outcome is posted, or the reference behind which it is read when that happens. */
  readonly callbackUrl?: CallbackAddress;
  readonly dedupe?: DedupeKey;
  /** Absent: the run begins at once. */
  readonly debounce?: DebounceKey;
  /** Absent: as many as the service performs. */
  readonly maxRuns?: MaxRuns;
  /** Absent: nobody is asked. */
  readonly approve?: ApprovalRequest;
  /** Absent: a run that failed has ended, and after a crash it is as its runner is. */
  readonly retry?: RetrySettings;
  /** Where version 0.2.0 stored `retry.afterCrash`. */
  readonly afterCrash?: AfterCrash;
  /** Absent: its mapping has none, and it begins or goes on with the conversation of its session key. */
  readonly conversation?: EventConversation;
  /** Absent: it begins at once. */
  readonly startedBy?: StartCheck;
  readonly origin: ActionOrigin;
}

/** A URL, or as in the mapping `${NAME}` or `{file: PATH}`: an address may be a secret, and no secret is stored. */
export type CallbackAddress = string | { readonly file: string };

/** A message to people: it goes to its channel as it is, without a turn of an agent. */
export interface NotifyAction {
  readonly kind: 'notify';
  /** UUID derived from the request id and the action's index; the listings show it as a run that has ended. */
  readonly id: string;
  /** Plain text: channels give none of its characters a meaning. */
  readonly message: string;
  /** Human-readable name of the hook, one line; default `Hook`. */
  readonly name: string;
  /** Used by this notification alone: no conversation goes on with one. */
  readonly sessionKey: string;
  readonly owner: ConversationOwner;
  /** When the main session hears of a delivery that was given up. */
  readonly wakeMode: WakeMode;
  /** The main session hears of a notification only where it failed. */
  readonly summary: Exclude<SummaryMode, 'always'>;
  /** `last`, or a channel id with aliases resolved. */
  readonly channel: string;
  readonly to?: string;
  /** The thread there that it stands in; absent: none. */
  readonly thread?: string;
  readonly fallback?: DeliveryTarget;
  readonly dedupe?: DedupeKey;
  /** Absent: it begins at once. */
  readonly startedBy?: StartCheck;
  readonly origin: ActionOrigin;
}

/** An action that the store keeps as a run. */
export type RunAction = AgentAction | NotifyAction;

export type Action = WakeAction | RunAction;
