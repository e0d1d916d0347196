/**
 * Senders put tokens where they do not belong: into the path, under another query name, into a header of their own.
 * Such a value would reach templates, prompts, the log and the store. Wherever a whole value, or a segment of the path,
 * equals a configured token, it is masked before anything else sees the request; a long one also within the value of
 * a header or of the query, as in a cookie.
 */
import type { HookRequest } from '../../base/request.ts';

const MASK = '[redacted]';

/** Shorter texts are probably words. */
const MIN_SECRET_CHARS = 4;

/** The tokens of a generation, and the secrets of its senders. Values that are shorter than any token are skipped. */
export interface KnownTokens {
  readonly values: ReadonlySet<string>;
  readonly minChars: number;
  /** Finds long tokens within a text; undefined where no token is long. */
  readonly within: RegExp | undefined;
}

/** Shorter tokens can be words of a longer text. */
const MIN_WITHIN_CHARS = 12;

export function knownTokens(tokens: readonly (string | undefined)[]): KnownTokens {
  const values = new Set(
    tokens.filter((token): token is string => token !== undefined && token.length >= MIN_SECRET_CHARS),
  );
  const minChars = Math.min(...[...values].map((token) => token.length));
  const long = [...values].filter((token) => token.length >= MIN_WITHIN_CHARS);
  const forms = new Set(long.flatMap((token) => [token, encodeURIComponent(token.toWellFormed())]));
  if (forms.size === 0) return { values, minChars, within: undefined };
  const longestFirst = [...forms]
    .toSorted((a, b) => b.length - a.length)
    .map((form) => form.replace(/\W/g, '\\$&'));
  return { values, minChars, within: new RegExp(longestFirst.join('|'), 'g') };
}

/** The hook name with every segment masked that is a token. */
export function maskName(name: string, tokens: KnownTokens): string {
  if (name.length < tokens.minChars) return name;
  if (!name.includes('/')) return isSecret(name, tokens) ? MASK : name;
  const segments = name.split('/');
  if (!segments.some((segment) => isSecret(segment, tokens))) return name;
  return segments.map((segment) => (isSecret(segment, tokens) ? MASK : segment)).join('/');
}

type CarriedParts = Pick<HookRequest, 'url' | 'headers' | 'query'>;

/** Address, headers and query without tokens; the same objects where there are none. */
export function maskCarried({ url, headers, query }: CarriedParts, tokens: KnownTokens): CarriedParts {
  const maskedQuery = maskValues(query, tokens);
  return {
    url: maskUrl(url, maskedQuery === query ? undefined : maskedQuery, tokens),
    headers: maskValues(headers, tokens),
    query: maskedQuery,
  };
}

/** `query` is given where the query of the address had a token. */
function maskUrl(url: string, query: CarriedParts['query'] | undefined, tokens: KnownTokens): string {
  if (url.length < tokens.minChars) return url;
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const masked = maskName(path, tokens);
  if (query === undefined) return masked === path ? url : masked + url.slice(path.length);
  return `${masked}?${new URLSearchParams(query).toString()}`;
}

function maskValues(
  values: Readonly<Record<string, string>>,
  tokens: KnownTokens,
): Readonly<Record<string, string>> {
  let masked: Record<string, string> | undefined;
  for (const name in values) {
    const value = values[name] as string;
    if (value.length < tokens.minChars && name.length < tokens.minChars) continue;
    const safeName = tokens.values.has(name) ? MASK : name;
    const safe = maskValue(value, tokens);
    if (safe === value && safeName === name) continue;
    masked ??= Object.assign(Object.create(null) as Record<string, string>, values);
    delete masked[name];
    masked[safeName] = safe;
  }
  return masked ?? values;
}

/** Masks each of several values that are joined with `, `. */
function maskValue(whole: string, { values, minChars, within }: KnownTokens): string {
  if (whole.length < minChars) return whole;
  if (values.has(whole.trim())) return MASK;
  const value = within === undefined ? whole : whole.replace(within, MASK);
  if (!value.includes(', ')) return value;
  const parts = value.split(', ');
  if (!parts.some((part) => values.has(part.trim()))) return value;
  return parts.map((part) => (values.has(part.trim()) ? MASK : part)).join(', ');
}

function isSecret(segment: string, { values, minChars }: KnownTokens): boolean {
  if (segment.length < minChars) return false;
  if (values.has(segment)) return true;
  if (!segment.includes('%')) return false;
  try {
    return values.has(decodeURIComponent(segment));
  } catch {
    return false;
  }
}
