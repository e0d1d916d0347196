import type { IncomingMessage } from 'node:http';
import { HookError } from '../../base/errors.ts';
import { BEARER, CREDENTIAL_NAMES, TOKEN_HEADERS } from '../../base/request.ts';

/** The headers of one request, split into those that evaluation may see and the tokens, which it must not see. */
export interface ReceivedHeaders {
  /** Names in lower case, several values joined with `, `, credentials removed. Has no prototype. */
  readonly values: Readonly<Record<string, string>>;
  /** The first `Authorization: Bearer` value that is not blank. Blank ones and other schemes do not count. */
  readonly bearer: string | undefined;
  /** `x-service-token`, else `x-openclaw-token`: the first value that is not blank. */
  readonly serviceToken: string | undefined;
  /** How many `Host` headers there are. */
  readonly hosts: number;
}

/** Reads node's flat list of names and values, in which repeated headers stand as they were sent. */
export function readHeaders(raw: readonly string[]): ReceivedHeaders {
  const values = Object.create(null) as Record<string, string>;
  const carried: Record<string, string | undefined> = {};
  let hosts = 0;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const value = raw[i + 1] as string;
    if (CREDENTIAL_NAMES.headers.has(name)) {
      carried[name] ??= notBlank(name === 'authorization' ? BEARER.exec(value)?.[1] : value);
      continue;
    }
    if (name === 'host') hosts += 1;
    const before = values[name];
    values[name] = before === undefined ? value : `${before}, ${value}`;
  }
  const [first, second] = TOKEN_HEADERS;
  const serviceToken = carried[first] ?? carried[second];
  return { values, bearer: carried['authorization'], serviceToken, hosts };
}

function notBlank(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  return trimmed === '' ? undefined : trimmed;
}

export function unknownCoding(): HookError {
  const detail = 'the only accepted Transfer-Encoding is chunked; send the body as it is';
  return new HookError('unknown_transfer_coding', detail);
}

/**
 * Refuses what the parser lets through and the protocol does not (RFC 9112 sections 3.2 and 6.1).
 * @throws HookError `malformed_request`, `unknown_transfer_coding`
 */
export function checkProtocol(
  { httpVersion }: Pick<IncomingMessage, 'httpVersion'>,
  { values, hosts }: ReceivedHeaders,
): void {
  const coding = values['transfer-encoding'];
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') throw unknownCoding();
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return;
  const found = hosts === 0 ? 'there is none' : `there are ${hosts}`;
  throw new HookError('malformed_request', `a request has one Host header, and ${found}`);
}

/**
 * Request targets (RFC 9112 section 3.2). Paths are compared as received: percent escapes are not decoded, case
 * counts, and only slashes are forgiven: repeated ones count once, those at the end not at all.
 */
export interface RequestTarget {
  /** Repeated and trailing slashes removed; `/` is the empty string. */
  readonly path: string;
  /** Path and query as received, without the token parameter, without a fragment. */
  readonly url: string;
  /** Without the token parameter; several values joined with `, `. Has no prototype. */
  readonly query: Readonly<Record<string, string>>;
  /** The first `token` parameter that is not blank; like all of the query, it is looked at when it is asked for. */
  readonly token: string | undefined;
}

const NO_QUERY: Readonly<Record<string, string>> = Object.freeze(
  Object.create(null) as Record<string, string>,
);
export const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** Addresses of hooks have some hundred characters; to split 14 KB took longer than all the rest of a refusal. */
export const MAX_TARGET_CHARS = 2048;

/** Parses origin-form and absolute-form; undefined for anything else (`*`, an authority), and for what is too long. */
export function parseTarget(received: string): RequestTarget | undefined {
  if (received.length > MAX_TARGET_CHARS) return undefined;
  let target = received.startsWith('/') ? received : originForm(received);
  if (target === undefined) return undefined;
  const fragment = target.indexOf('#');
  if (fragment >= 0) target = target.slice(0, fragment);
  const mark = target.indexOf('?');
  if (mark < 0) return { path: cleanPath(target), url: target, query: NO_QUERY, token: undefined };
  const rawPath = target.slice(0, mark);
  const search = target.slice(mark + 1);
  let read: ReturnType<typeof readQuery> | undefined;
  const queryOf = (): ReturnType<typeof readQuery> => (read ??= readQuery(search));
  return {
    path: cleanPath(rawPath),
    get url() {
      const { kept } = queryOf();
      return kept === '' ? rawPath : `${rawPath}?${kept}`;
    },
    get query() {
      return queryOf().query;
    },
    get token() {
      return queryOf().token;
    },
  };
}

/** The part of an absolute form behind its authority. */
function originForm(target: string): string | undefined {
  const absolute = ABSOLUTE_FORM.exec(target);
  if (absolute === null) return undefined;
  const rest = target.slice(absolute[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The hook name below `base`, or undefined where the path lies outside it. */
export function findHookName(path: string, base: string): string | undefined {
  if (!path.startsWith(base)) return undefined;
  if (path.length === base.length) return '';
  return path.charCodeAt(base.length) === 0x2f ? path.slice(base.length + 1) : undefined;
}

function cleanPath(path: string): string {
  if (!path.includes('//') && !path.endsWith('/')) return path;
  const single = path.replaceAll(/\/+/g, '/');
  return single.endsWith('/') ? single.slice(0, -1) : single;
}

function readQuery(text: string): {
  query: Record<string, string>;
  kept: string;
  token: string | undefined;
} {
  const query = Object.create(null) as Record<string, string>;
  const kept: string[] = [];
  let token: string | undefined;
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (CREDENTIAL_NAMES.query.has(name)) {
      if (token === undefined && value.trim() !== '') token = value.trim();
      continue;
    }
    const before = query[name];
    query[name] = before === undefined ? value : `${before}, ${value}`;
    kept.push(pair);
  }
  return { query, kept: kept.join('&'), token };
}

/** Percent escapes and `+` as forms write them; text with a broken escape stays as it is. */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
