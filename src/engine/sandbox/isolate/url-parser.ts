/** URLs as text to their parts and back. */

/** What all parts of a URL are made of. */

const SPECIAL_PORTS: ReadonlyMap<string, string> = new Map([
  ['http', '80'],
  ['https', '443'],
  ['ws', '80'],
  ['wss', '443'],
  ['ftp', '21'],
]);

/** The port a special scheme has by itself; undefined for any other scheme. */
export function specialPort(scheme: string): string | undefined {
  return SPECIAL_PORTS.get(scheme);
}

export function textOf(value: unknown): string {
  return String(value);
}

function invalidUrl(): never {
  throw new TypeError('Invalid URL');
}

/** Percent-encodes, in UTF-8, controls, everything outside ASCII and the characters of `set`. */
export function percentEncode(text: string, set: string): string {
  let out = '';
  for (const character of text.toWellFormed()) {
    const code = character.codePointAt(0) ?? 0;
    if (code > 0x7e) out += encodeURIComponent(character);
    else if (code < 0x21 || set.includes(character))
      out += `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
    else out += character;
  }
  return out;
}

const QUERY = '"#<>';
const PATH = `${QUERY}?^\`{}`;

/** What `percentEncode` encodes in each part of a URL. */
export const ENCODE_SETS = {
  fragment: '"<>`',
  query: QUERY,
  specialQuery: `${QUERY}'`,
  path: PATH,
  userinfo: `${PATH}/:;=@[\\]|`,
} as const;

/** The text before the first `mark`, and what follows it. */
export function cutAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

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

/** Hosts and ports of URLs. */

export function normalPort(text: string, scheme: string): string {
  if (text === '') return '';
  const port = Number(text);
  if (port > 65535) return invalidUrl();
  return String(port) === specialPort(scheme) ? '' : String(port);
}

export function parseHost(text: string, isSpecial: boolean): string {
  if (text.startsWith('[')) return `[${parseIpv6(text.slice(1, -1))}]`;
  if (!isSpecial) return /[\s#/<>?@[\\\]^|]/.test(text) ? invalidUrl() : percentEncode(text, '');
  let host: string;
  try {
    host = decodeURIComponent(text).toLowerCase();
  } catch {
    return invalidUrl();
  }
  // eslint-disable-next-line no-control-regex -- forbidden in host names
  if (host === '' || /[^\u0000-\u007f]|[\u0000-\u0020"#%/:<>?@[\\\]^`{|}\u007f]/.test(host))
    return invalidUrl();
  return parseIpv4(host) ?? host;
}

/** Undefined for a name; throws for what ends in a number and is no address. */
function parseIpv4(host: string): string | undefined {
  const labels = host.replace(/\.$/, '').split('.');
  const last = labels.at(-1) ?? '';
  if (!/^(?:\d+|0x[0-9a-f]*)$/.test(last)) return undefined;
  if (labels.length > 4) return invalidUrl();
  const numbers = labels.map((label) => {
    if (/^0x[0-9a-f]*$/.test(label)) return label === '0x' ? 0 : Number.parseInt(label, 16);
    if (/^0[0-7]+$/.test(label)) return Number.parseInt(label, 8);
    return /^\d+$/.test(label) && !/^0\d/.test(label) ? Number(label) : invalidUrl();
  });
  const tail = numbers.pop() ?? 0;
  if (numbers.some((number) => number > 255) || tail >= 256 ** (4 - numbers.length)) return invalidUrl();
  const value = numbers.reduce((sum, number, index) => sum + number * 256 ** (3 - index), tail);
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

function parseIpv6(text: string): string {
  const dotted = /^(.*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  let source = text;
  if (dotted !== null) {
    const bytes = dotted.slice(2).map(Number);
    if (bytes.some((byte) => byte > 255)) return invalidUrl();
    const [a = 0, b = 0, c = 0, d = 0] = bytes;
    source = `${dotted[1] ?? ''}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const halves = source.split('::');
  const read = (half: string | undefined) => (half === undefined || half === '' ? [] : half.split(':'));
  const [front, back] = [read(halves[0]), read(halves[1])];
  const missing = 8 - front.length - back.length;
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return invalidUrl();
  const pieces = [...front, ...Array.from({ length: missing }, () => '0'), ...back];
  if (pieces.some((piece) => !/^[0-9a-f]{1,4}$/i.test(piece))) return invalidUrl();
  const numbers = pieces.map((piece) => Number.parseInt(piece, 16).toString(16)).join(':');
  const zeros = [...numbers.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].toSorted(
    (a, b) => b[0].length - a[0].length,
  )[0];
  if (zeros === undefined) return numbers;
  const before = numbers.slice(0, zeros.index);
  return `${before}::${numbers.slice(zeros.index + zeros[0].length).replace(/^:/, '')}`;
}
