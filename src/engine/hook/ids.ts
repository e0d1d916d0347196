import { createHash, hash } from 'node:crypto';
import { defined } from '../../base/json.ts';
import { CREDENTIAL_NAMES, type HookRequest, type JsonValue } from '../../base/request.ts';
import { toUuid } from '../../base/uuid.ts';

/**
 * Derives the id of an action from its request and its place in it, so that the same request makes the same ids for
 * ever. A UUID (version 8, RFC 9562) that begins with the time of receipt, as version 7 does, followed by bits of a
 * SHA-256: neighbours in time are neighbours in an index, so an accept touches a page of it that is being written
 * anyway instead of one of its own.
 */
export function deriveActionId(
  { id, receivedAt }: { readonly id: string; readonly receivedAt: number },
  index: number,
): string {
  const ms = Math.min(Math.max(Math.floor(receivedAt), 0), MAX_UUID_MS);
  return toUuid(hex24(ms / 2 ** 24) + hex24(ms), hash('sha256', `${id}\0${index}`));
}

/** The lowest 24 bits; a number of more than 31 takes a slow way. */
function hex24(value: number): string {
  return (Math.floor(value) & 0xffffff).toString(16).padStart(6, '0');
}

/** The largest time that fits into 48 bits. */
const MAX_UUID_MS = 2 ** 48 - 1;

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
  const own = hash('sha256', `${digest}\0request`);
  return {
    id: toUuid(own, own),
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
  readonly maybeLists?: HookRequest['maybeLists'];
}

/** Makes the request that a file describes: the same content makes the same request for ever. */
export function createHookRequest(content: RequestContent): HookRequest {
  const path = content.path.replaceAll(/^\/+|(?<!\/)\/+$/g, '');
  const lower = Object.entries(content.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const headers = withoutNames(lower, CREDENTIAL_NAMES.headers);
  const query = withoutNames(Object.entries(content.query ?? {}), CREDENTIAL_NAMES.query);
  const search = new URLSearchParams(query).toString();
  return {
    ...deriveRequestSeeds({ ...content, path }),
    receivedAt: content.receivedAt,
    path,
    url: content.url ?? `/hooks/${path}${search === '' ? '' : `?${search}`}`,
    headers,
    query,
    payload: content.payload,
    bodySha256: hash('sha256', JSON.stringify(content.payload)),
    ...defined({ maybeLists: content.maybeLists }),
  };
}

function withoutNames(
  entries: readonly (readonly [string, string])[],
  leftOut: ReadonlySet<string>,
): Record<string, string> {
  const kept = Object.create(null) as Record<string, string>;
  for (const [name, value] of entries) if (!leftOut.has(name)) kept[name] = value;
  return kept;
}
