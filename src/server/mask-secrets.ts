/**
 * Senders put tokens where they do not belong: into the path, under another query name, into a header of their own.
 * Such a value would reach templates, prompts, the log and the store. Wherever a whole value, or a segment of the path,
 * equals a configured token, it is masked before anything else sees the request.
 */
import type { HookRequest } from '../request.ts';

const MASK = '[redacted]';

/** The hook name with every segment masked that is a token. */
export function maskName(name: string, secrets: ReadonlySet<string>): string {
  if (!name.includes('/')) return isSecret(name, secrets) ? MASK : name;
  const segments = name.split('/');
  if (!segments.some((segment) => isSecret(segment, secrets))) return name;
  return segments.map((segment) => (isSecret(segment, secrets) ? MASK : segment)).join('/');
}

type Carried = Pick<HookRequest, 'url' | 'headers' | 'query'>;

/** Address, headers and query without tokens; the same objects where there are none. */
export function maskCarried({ url, headers, query }: Carried, secrets: ReadonlySet<string>): Carried {
  const maskedQuery = maskValues(query, secrets);
  const [path = '', ...search] = url.split('?');
  const maskedPath = maskName(path, secrets);
  const kept = maskedQuery === query ? search.join('?') : new URLSearchParams(maskedQuery).toString();
  const isSame = maskedPath === path && maskedQuery === query;
  return {
    url: isSame ? url : `${maskedPath}${kept === '' ? '' : `?${kept}`}`,
    headers: maskValues(headers, secrets),
    query: maskedQuery,
  };
}

/** Names and values; a value made of several, joined with `, `, is looked at one by one. */
function maskValues(
  values: Readonly<Record<string, string>>,
  secrets: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  let masked: Record<string, string> | undefined;
  for (const name in values) {
    const value = values[name] as string;
    const safe = maskValue(value, secrets);
    if (safe === value && !secrets.has(name)) continue;
    masked ??= Object.assign(Object.create(null) as Record<string, string>, values);
    delete masked[name];
    masked[secrets.has(name) ? MASK : name] = safe;
  }
  return masked ?? values;
}

function maskValue(value: string, secrets: ReadonlySet<string>): string {
  if (secrets.has(value.trim())) return MASK;
  if (!value.includes(', ')) return value;
  const parts = value.split(', ');
  if (!parts.some((part) => secrets.has(part.trim()))) return value;
  return parts.map((part) => (secrets.has(part.trim()) ? MASK : part)).join(', ');
}

function isSecret(segment: string, secrets: ReadonlySet<string>): boolean {
  if (secrets.has(segment)) return true;
  if (!segment.includes('%')) return false;
  try {
    return secrets.has(decodeURIComponent(segment));
  } catch {
    return false;
  }
}
