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
const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** What senders of hooks call is some hundred characters long; to split 14 KB took longer than all else that a refusal does. */
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

/** What an absolute form says behind its authority. */
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
    if (name === 'token') {
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
