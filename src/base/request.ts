import type { JsonValue } from './json.ts';

export type { JsonObject, JsonValue } from './json.ts';

/** Headers that carry a hook token beside `Authorization`; the first counts. */
export const TOKEN_HEADERS = ['x-service-token', 'x-openclaw-token'] as const;
export const BEARER = /^bearer[ \t]+(.*)$/i;

/** What may carry the hook token, or the password of a proxy: it is taken out of a request before evaluation. */
export const CREDENTIAL_NAMES: Readonly<Record<'headers' | 'query', ReadonlySet<string>>> = {
  headers: new Set(['authorization', 'proxy-authorization', ...TOKEN_HEADERS]),
  query: new Set(['token']),
};

/**
 * Whether a value stands in the place of one that was masked, cut or not kept. It is no value: nothing compares, counts or
 * joins over it, and what would have to says nothing.
 */
export const isUnkept = (value: unknown): boolean =>
  typeof value === 'string' && (value.startsWith('…') || UNKEPT.test(value));
const UNKEPT = /^(?:\*{3}|\[removed(?:: [\w ]+)?\])$/;

/** Whether anything within a value is unkept. */
export const holdsUnkept = (value: JsonValue | undefined): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).some(holdsUnkept) : isUnkept(value);

/**
 * One authenticated, parsed webhook. Everything that evaluation may depend on is in here (time, ids, randomness),
 * so evaluating the same request with the same generation gives the same evaluation for ever.
 */
export interface HookRequest {
  /** UUID of the request; ids of actions are derived from it. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Seed of `Math.random` inside transforms; an unsigned 32-bit integer. */
  readonly seed: number;
  /** Id carried by the safety boundary's markers: 16 lower-case hex digits, fresh for every request. */
  readonly nonce: string;
  /** The hook name: the part of the path after `hooks.path`, without outer slashes. Percent escapes are kept. */
  readonly path: string;
  /** Path and query as received, without the token parameter. */
  readonly url: string;
  /** Names in lower case, several values joined with `, `, token headers removed. Has no prototype. */
  readonly headers: Readonly<Record<string, string>>;
  /** Without the token parameter; several values joined with `, `. Has no prototype. */
  readonly query: Readonly<Record<string, string>>;
  /**
   * The parsed body: always untrusted. An empty body is `{}`. A number that a double cannot hold is an `ExactNumber`,
   * so that ids of 18 digits stay apart; `JSON.stringify` prints its digits, which is also how transforms get them.
   */
  readonly payload: JsonValue;
  /**
   * SHA-256 (hex) of what `payload` was read from, as it came: the body without its compression, the query of a path that
   * takes GET. Bodies are compared by it, since two that differ may be read as one.
   */
  readonly bodySha256: string;
  /**
   * What may be a list of one, since its format writes a lone element and a list alike: any element of XML, any text of a
   * form or query. Absent of formats that tell the two apart.
   */
  readonly maybeLists?: 'elements' | 'texts';
}
