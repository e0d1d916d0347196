import { isSameBytes, placeOfFitting } from '../../base/compare-secrets.ts';
import type { HooksSettings } from '../../engine/config/config.ts';
import type { PathSettings } from '../../engine/mapping/mapping.ts';
import { createVerifier, type SenderCheck } from '../../engine/verify/verify.ts';
import { createAddressList } from './addresses.ts';
import { createFailureLimiter, type FailureLimiter } from './rates.ts';
import type { ReceivedHeaders, RequestTarget } from './received.ts';

/** The hook tokens of a configuration as their bytes, the current one first; a blank one has none. */
export interface TokenSet {
  readonly tokens: readonly Buffer[];
  readonly queryToken: HooksSettings['queryToken'];
}

/** How a request proved itself, or why it did not. */
export type Authentication =
  | {
      readonly kind: 'accepted';
      readonly carrier: 'bearer' | 'header' | 'query';
      /** 0 for the current token, n for the n-th of `hooks.previousTokens`. */
      readonly retired: number;
    }
  | { readonly kind: 'refused'; readonly reason: 'missing' | 'wrong' | 'query-rejected' };

export function compileTokens(
  hooks: Pick<HooksSettings, 'token' | 'previousTokens' | 'queryToken'>,
): TokenSet {
  const tokens = [hooks.token ?? '', ...hooks.previousTokens].map((token) => Buffer.from(token, 'utf8'));
  return { tokens, queryToken: hooks.queryToken };
}

/**
 * Looks at the carriers in their order (bearer, header, query) and judges the first that is there. Every token is
 * compared, whatever matched; a blank one is never accepted.
 */
export function authenticate(
  tokens: TokenSet,
  headers: ReceivedHeaders,
  target: Pick<RequestTarget, 'token'>,
): Authentication {
  const header = headers.bearer ?? headers.serviceToken;
  if (header !== undefined) {
    // Header values arrive as latin1; the bytes that were sent are what a sender wrote as UTF-8.
    const retired = match(tokens, header, 'latin1');
    if (retired < 0) return { kind: 'refused', reason: 'wrong' };
    return { kind: 'accepted', carrier: headers.bearer === undefined ? 'header' : 'bearer', retired };
  }
  if (target.token === undefined) return { kind: 'refused', reason: 'missing' };
  if (tokens.queryToken === 'reject') return { kind: 'refused', reason: 'query-rejected' };
  const retired = match(tokens, target.token, 'utf8');
  return retired < 0 ? { kind: 'refused', reason: 'wrong' } : { kind: 'accepted', carrier: 'query', retired };
}

/** Whether a header presents this secret; takes the same time whatever it presents. */
export function isSecret(secret: string, presented: string): boolean {
  return isSameBytes(Buffer.from(presented, 'latin1'), Buffer.from(secret, 'utf8'));
}

/** Whether a text is one of the tokens. */
export function findToken(tokens: TokenSet, text: string): boolean {
  return match(tokens, text, 'latin1') >= 0;
}

function match({ tokens }: TokenSet, text: string, encoding: 'latin1' | 'utf8'): number {
  const presented = Buffer.from(text, encoding);
  return text === '' ? -1 : placeOfFitting(tokens, (token) => isSameBytes(presented, token));
}

/** The hook tokens of a configuration, and who failed to present one. */
interface HookAccess {
  readonly hooks: HooksSettings;
  readonly tokens: TokenSet;
  readonly limiter: FailureLimiter;
}

interface PathAccess {
  /** Absent where the hook token is the proof. */
  readonly sender: SenderCheck | undefined;
  allows(address: string): boolean;
}

const OPEN: PathAccess = { sender: undefined, allows: () => true };

/** What senders are asked for, made once for each generation. */
export class Access {
  readonly #verifying: Parameters<typeof createVerifier>[1];
  readonly #paths = new WeakMap<PathSettings, PathAccess>();
  #hooks: HookAccess | undefined;

  constructor(verifying: Parameters<typeof createVerifier>[1]) {
    this.#verifying = verifying;
  }

  /** The counts of failures outlive a reload that does not change their limit. */
  ofHooks(hooks: HooksSettings): HookAccess {
    const before = this.#hooks;
    if (before?.hooks === hooks) return before;
    const { authFailuresPerMinute: perMinute } = hooks;
    const limiter =
      before?.hooks.authFailuresPerMinute === perMinute
        ? before.limiter
        : createFailureLimiter(perMinute, this.#verifying.clock);
    return (this.#hooks = { hooks, tokens: compileTokens(hooks), limiter });
  }

  /** The settings of a path are the same object for as long as their generation lives. */
  ofPath(settings: PathSettings): PathAccess {
    const { verify, allowFrom } = settings;
    if (verify === undefined && allowFrom === undefined) return OPEN;
    const known = this.#paths.get(settings);
    if (known !== undefined) return known;
    const access: PathAccess = {
      sender: verify && { proof: verify, verifier: createVerifier(verify, this.#verifying) },
      allows: allowFrom === undefined ? OPEN.allows : createAddressList(allowFrom).has,
    };
    this.#paths.set(settings, access);
    return access;
  }
}
