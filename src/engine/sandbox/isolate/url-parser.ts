/** URLs as text to their parts and back. */
import { normalPort, parseHost } from './url-host.ts';
import { cutAt, ENCODE_SETS, invalidUrl, percentEncode, specialPort } from './url-text.ts';

export interface UrlParts {
  scheme: string;
  username: string;
  password: string;
  /** Undefined where the URL has none, as in `mailto:`. */
  host: string | undefined;
  port: string;
  /** Segments, or the whole of an opaque path. */
  path: string[] | string;
  query: string | undefined;
  fragment: string | undefined;
}

export function parseUrl(input: string, base: UrlParts | undefined): UrlParts {
  // eslint-disable-next-line no-control-regex -- the standard strips controls and spaces
  const text = input.replace(/^[\u0000-\u0020]+|[\u0000-\u0020]+$/g, '').replace(/[\t\n\r]/g, '');
  const [, scheme, afterScheme = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(text) ?? [];
  const [rest, fragment] = cutAt(scheme === undefined ? text : afterScheme, '#');
  const [front, query] = cutAt(rest, '?');
  const parts: UrlParts = {
    scheme: (scheme ?? base?.scheme ?? invalidUrl()).toLowerCase(),
    username: '',
    password: '',
    host: undefined,
    port: '',
    path: [],
    query: undefined,
    fragment: fragment === undefined ? undefined : percentEncode(fragment, ENCODE_SETS.fragment),
  };
  const isSpecial = specialPort(parts.scheme) !== undefined;
  if (query !== undefined)
    parts.query = percentEncode(query, isSpecial ? ENCODE_SETS.specialQuery : ENCODE_SETS.query);
  const body = isSpecial ? front.replaceAll('\\', '/') : front;
  if (scheme !== undefined && isSpecial) return parseAuthority(parts, body.replace(/^\/*/, ''));
  if (scheme !== undefined && body.startsWith('//')) return parseAuthority(parts, body.slice(2));
  if (scheme !== undefined) {
    parts.path = body.startsWith('/')
      ? resolvePath([], body.slice(1))
      : percentEncode(body, '').replaceAll('%20', ' ');
    return parts;
  }
  return parseRelative(parts, body, base ?? invalidUrl());
}

function parseRelative(parts: UrlParts, body: string, base: UrlParts): UrlParts {
  if (typeof base.path === 'string') {
    if (body !== '' || parts.query !== undefined || parts.fragment === undefined) return invalidUrl();
    return { ...base, fragment: parts.fragment };
  }
  if (body.startsWith('//')) return parseAuthority(parts, body.slice(2));
  const { username, password, host, port } = base;
  const placed = { ...parts, username, password, host, port };
  if (body === '') {
    return { ...placed, path: [...base.path], query: parts.query ?? base.query };
  }
  if (body.startsWith('/')) return { ...placed, path: resolvePath([], body.slice(1)) };
  return { ...placed, path: resolvePath(base.path.slice(0, -1), body) };
}

function parseAuthority(parts: UrlParts, text: string): UrlParts {
  const slash = text.indexOf('/');
  const authority = slash < 0 ? text : text.slice(0, slash);
  const at = authority.lastIndexOf('@');
  if (at >= 0) {
    const [username, password = ''] = cutAt(authority.slice(0, at), ':');
    parts.username = percentEncode(username, ENCODE_SETS.userinfo);
    parts.password = percentEncode(password, ENCODE_SETS.userinfo);
  }
  const [, host = '', port = ''] =
    /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority.slice(at + 1)) ?? invalidUrl();
  parts.host = parseHost(host, specialPort(parts.scheme) !== undefined);
  parts.port = normalPort(port, parts.scheme);
  const isSpecial = specialPort(parts.scheme) !== undefined;
  parts.path = slash < 0 ? (isSpecial ? [''] : []) : resolvePath([], text.slice(slash + 1));
  return parts;
}

/** Appends the segments of `text`, dots resolved. */
export function resolvePath(front: readonly string[], text: string): string[] {
  const path = [...front];
  const segments = text.split('/');
  segments.forEach((segment, index) => {
    const isLast = index === segments.length - 1;
    const plain = segment.replace(/%2e/gi, '.');
    if (plain === '..') path.pop();
    if (plain === '.' || plain === '..') {
      if (isLast) path.push('');
    } else path.push(percentEncode(segment, ENCODE_SETS.path));
  });
  return path;
}

export function printUrl(parts: UrlParts): string {
  const path = typeof parts.path === 'string' ? parts.path : parts.path.map((one) => `/${one}`).join('');
  const password = parts.password === '' ? '' : `:${parts.password}`;
  const user = parts.username === '' && password === '' ? '' : `${parts.username}${password}@`;
  const port = parts.port === '' ? '' : `:${parts.port}`;
  const authority = parts.host === undefined ? '' : `//${user}${parts.host}${port}`;
  const query = parts.query === undefined ? '' : `?${parts.query}`;
  return `${parts.scheme}:${authority}${path}${query}${parts.fragment === undefined ? '' : `#${parts.fragment}`}`;
}
