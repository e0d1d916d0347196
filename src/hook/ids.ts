import { createHash, hash } from 'node:crypto';
import type { HookRequest, JsonValue } from '../request.ts';

/**
 * Derives a UUID (version 8, RFC 9562) from the id of a request and a label, so that the same request makes the same
 * ids for ever: the first 16 bytes of SHA-256 over `id`, a NUL and the label.
 */
export function deriveId(requestId: string, label: string | number): string {
  const digest = hash('sha256', `${requestId}\0${label}`);
  const variant = ((Number.parseInt(digest[16]!, 16) & 3) | 8).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** What a request brings along so that evaluation needs no clock and no randomness. */
export interface RequestSeeds {
  readonly id: string;
  readonly seed: number;
  readonly nonce: string;
}

/**
 * Derives id, seed and nonce from a request's content, for requests that do not come from a socket: golden cases,
 * `explain`, `diff`. A live request takes fresh random ones, as a sender must not be able to foretell the nonce.
 */
export function deriveRequestSeeds(content: {
  readonly path: string;
  readonly payload: JsonValue;
  readonly receivedAt: number;
}): RequestSeeds {
  const digest = createHash('sha256')
    .update(`${content.receivedAt}\0${content.path}\0`)
    .update(JSON.stringify(content.payload))
    .digest('hex');
  return {
    id: deriveId(digest, 'request'),
    seed: Number.parseInt(digest.slice(0, 8), 16),
    nonce: digest.slice(8, 24),
  };
}

/** A request as written in a file; everything left out gets its default. */
export interface RequestContent {
  /** The hook name; outer slashes do not count. */
  readonly path: string;
  readonly payload: JsonValue;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Names in any case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Path and query as received; default built from `path` and `query` under `/hooks/`. */
  readonly url?: string;
}

/** Headers that carry the hook token; a request never holds them. */
const TOKEN_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-service-token', 'x-openclaw-token']);

/** Makes the request that a file describes: the same content makes the same request for ever. */
export function createHookRequest(content: RequestContent): HookRequest {
  const path = content.path.replaceAll(/^\/+|\/+$/g, '');
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(content.headers ?? {})) {
    const lower = name.toLowerCase();
    if (!TOKEN_HEADERS.has(lower)) headers[lower] = value;
  }
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(content.query ?? {})) {
    if (name !== 'token') query[name] = value;
  }
  const search = new URLSearchParams(query).toString();
  return {
    ...deriveRequestSeeds({ ...content, path }),
    receivedAt: content.receivedAt,
    path,
    url: content.url ?? `/hooks/${path}${search === '' ? '' : `?${search}`}`,
    headers,
    query,
    payload: content.payload,
  };
}
