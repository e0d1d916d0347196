import type { LocatedValue } from '../../base/document/document.ts';
import type { Behaviours } from '../config/config.ts';
import type { Sender } from '../senders/senders.ts';

export interface MappingEntry {
  readonly value: LocatedValue;
  /** What its file means otherwise than one of ours. */
  readonly behaviours: Behaviours;
  /** For built-in mappings: what stands in for the file's own keys. They may be shadowed without a finding. */
  readonly preset?: Readonly<Record<string, unknown>>;
}

/** What mappings may name; where a list is absent the names are not checked. */
export interface CompileOptions {
  /** Channel ids besides the built-in ones; `any` where not all are known. */
  readonly channels?: ReadonlySet<string> | 'any';
  /** `hooks.path`: what senders write before the hook name. */
  readonly hooksPath?: string;
  /** `agents.defaults.models` with aliases resolved. */
  readonly models?: readonly string[] | undefined;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly agents?: readonly string[];
  /** Keys of `gateway.runners`. */
  readonly runners?: readonly string[];
  /** What the runner `default` is: an agent, or another kind. */
  readonly defaultRunner?: string | undefined;
  readonly workFolders?: readonly string[];
  /** `hooks.lenient`: keys of the main session are put under `hook:`; default as the file of the mapping has it. */
  readonly lenient?: boolean;
  /** What an OpenClaw file says of session keys; absent: all are taken. */
  readonly sessionKeys?: { readonly allowFromRequest: boolean; readonly allowedPrefixes: readonly string[] };
  /** What is wrong with a recipient on a channel, in words; undefined where it will do. */
  recipientProblem?(channel: string, to: string): string | undefined;
  /** Whether replies can stand in threads of a channel. */
  hasThreads?(channel: string): boolean;
  /** Where webhooks of a channel's platform name their message; undefined where it has no reactions. */
  messageField?(channel: string): string | undefined;
  /**
   * The text behind `${NAME}` or `{file: PATH}` in `callbackUrl`; undefined where it is not set. Without it (`check`,
   * `explain`, `test`) references are left alone and the mapping has no callback.
   */
  resolveReference?(reference: string | { readonly file: string }): string | undefined;
  /** What is wrong with the file that a reference names, in words that continue its name. */
  fileProblem?(reference: string | { readonly file: string }): string | undefined;
  /** All senders that are known, those of the user first; default those of this package. */
  senders?(): readonly Sender[];
  hasToken?(channel: string): boolean;
  /** How each path is proved, whichever of its mappings says it. */
  readonly schemes?: ReadonlyMap<string, unknown>;
  /** Paths whose sender can be asked with the token of `recover`. */
  readonly askedPaths?: ReadonlySet<string>;
  /** Whose credential a secret is by its form, where no sender signs with it. */
  otherKey?(secret: string): string | undefined;
  /** The same as `resolveReference` for `check`, where it is known: secrets that are set are judged, those that are not are no finding. */
  peekReference?(reference: string | { readonly file: string }): string | undefined;
}
