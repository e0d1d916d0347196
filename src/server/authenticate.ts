import { hash, timingSafeEqual } from 'node:crypto';
import type { HooksSettings } from '../config/config.ts';
import type { ReceivedHeaders } from './received-headers.ts';
import type { RequestTarget } from './target.ts';

/** The hook tokens of a configuration as digests, the current one first. */
export interface TokenSet {
  readonly digests: readonly Buffer[];
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

export function compileTokens(hooks: HooksSettings): TokenSet {
  const tokens = [hooks.token ?? '', ...hooks.previousTokens];
  return {
    // A blank token can never be presented, so its place holds a digest nothing hashes to.
    digests: tokens.map((token) => (token === '' ? Buffer.alloc(32) : sha256(Buffer.from(token, 'utf8')))),
    queryToken: hooks.queryToken,
  };
}

/**
 * Looks at the carriers in their order (bearer, header, query) and judges the first that is there. Both sides are
 * hashed, so the comparison takes the same time whatever the lengths, and every token is compared whatever matched.
 */
export function authenticate(
  tokens: TokenSet,
  headers: ReceivedHeaders,
  target: RequestTarget,
): Authentication {
  const header = headers.bearer ?? headers.serviceToken;
  if (header !== undefined) {
    // Header values arrive as latin1; the bytes that were sent are what a sender wrote as UTF-8.
    const retired = match(tokens, Buffer.from(header, 'latin1'));
    if (retired < 0) return { kind: 'refused', reason: 'wrong' };
    return { kind: 'accepted', carrier: headers.bearer === undefined ? 'header' : 'bearer', retired };
  }
  if (target.token === undefined) return { kind: 'refused', reason: 'missing' };
  if (tokens.queryToken === 'reject') return { kind: 'refused', reason: 'query-rejected' };
  const retired = match(tokens, Buffer.from(target.token, 'utf8'));
  return retired < 0 ? { kind: 'refused', reason: 'wrong' } : { kind: 'accepted', carrier: 'query', retired };
}

/** Whether a header presents this secret; takes the same time whatever it presents. */
export function isSecret(secret: string, presented: string): boolean {
  return timingSafeEqual(sha256(Buffer.from(presented, 'latin1')), sha256(Buffer.from(secret, 'utf8')));
}

/** Whether a text is one of the tokens. */
export function findToken(tokens: TokenSet, text: string): boolean {
  return match(tokens, Buffer.from(text, 'latin1')) >= 0;
}

function match(tokens: TokenSet, presented: Buffer): number {
  const digest = sha256(presented);
  let found = -1;
  for (let i = tokens.digests.length - 1; i >= 0; i -= 1) {
    if (timingSafeEqual(digest, tokens.digests[i] as Buffer)) found = i;
  }
  return found;
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}
