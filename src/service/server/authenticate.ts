import { hash, timingSafeEqual } from 'node:crypto';
import type { HooksSettings } from '../../engine/config/config.ts';
import type { ReceivedHeaders, RequestTarget } from './received.ts';

/** The hook tokens of a configuration as frames, the current one first. */
export interface TokenSet {
  readonly frames: readonly Buffer[];
  /** The frame of the presented token; written anew for each comparison. */
  readonly presented: Buffer<ArrayBuffer>;
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
  const tokens = [hooks.token ?? '', ...hooks.previousTokens];
  return {
    // A blank token can never be presented, so its place has a frame that no text has.
    frames: tokens.map((token) => (token === '' ? Buffer.alloc(FRAME_BYTES, 1) : frameOf(token, 'utf8'))),
    presented: Buffer.alloc(FRAME_BYTES),
    queryToken: hooks.queryToken,
  };
}

/**
 * Looks at the carriers in their order (bearer, header, query) and judges the first that is there. Both sides
 * stand in frames of one length, so the comparison takes the same time, and every token is compared whatever matched.
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
  return timingSafeEqual(frameOf(presented, 'latin1'), frameOf(secret, 'utf8'));
}

/** Whether a text is one of the tokens. */
export function findToken(tokens: TokenSet, text: string): boolean {
  return match(tokens, text, 'latin1') >= 0;
}

function match({ frames, presented }: TokenSet, text: string, encoding: TextEncoding): number {
  const frame = frameOf(text, encoding, presented);
  let found = -1;
  for (let i = frames.length - 1; i >= 0; i -= 1) {
    if (timingSafeEqual(frame, frames[i] as Buffer)) found = i;
  }
  return found;
}

type TextEncoding = 'latin1' | 'utf8';

const FRAME_BYTES = 128;
/** The length byte of a text that does not fit: its SHA-256 follows. */
const IS_HASHED = 255;

/** A text as a length, its bytes, and zeros: two texts have the same frame if and only if they have the same bytes. */
function frameOf(text: string, encoding: TextEncoding, frame = Buffer.alloc(FRAME_BYTES)): Buffer {
  const length = Buffer.byteLength(text, encoding);
  frame.fill(0);
  if (length < FRAME_BYTES) {
    frame[0] = length;
    frame.write(text, 1, encoding);
  } else {
    frame[0] = IS_HASHED;
    frame.set(hash('sha256', Buffer.from(text, encoding), 'buffer'), 1);
  }
  return frame;
}
