/**
 * `URL` and `URLSearchParams` for transforms, by the WHATWG URL standard for what webhooks carry: the special schemes
 * http, https, ws, wss and ftp with names, IPv4 and IPv6 addresses, and schemes with an opaque path such as mailto.
 * Host names outside ASCII have to come in punycode. Sent into isolates as text like `inside.ts`.
 */

interface UrlParts {
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

export function makeUrlGlobals(): Record<string, unknown> {
  const Params = makeSearchParams();
  return { URLSearchParams: Params, URL: makeUrl(Params) };
}

function specialPort(scheme: string): string | undefined {
  const ports: Record<string, string> = { http: '80', https: '443', ws: '80', wss: '443', ftp: '21' };
  return Object.hasOwn(ports, scheme) ? ports[scheme] : undefined;
}

function textOf(value: unknown): string {
  return String(value);
}

function invalidUrl(): never {
  throw new TypeError('Invalid URL');
}

/** Percent-encodes, in UTF-8, controls, everything outside ASCII and the characters of `set`. */
function percentEncode(text: string, set: string): string {
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

function encodeSets() {
  const query = '"#<>';
  const path = `${query}?^\`{}`;
  return { fragment: '"<>`', query, specialQuery: `${query}'`, path, userinfo: `${path}/:;=@[\\]|` };
}

function parseUrl(input: string, base: UrlParts | undefined): UrlParts {
  // eslint-disable-next-line no-control-regex -- the standard strips controls and spaces
  const text = input.replace(/^[\u0000-\u0020]+|[\u0000-\u0020]+$/g, '').replace(/[\t\n\r]/g, '');
  const [, scheme, afterScheme = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(text) ?? [];
  const [rest, fragment] = cutAt(scheme === undefined ? text : afterScheme, '#');
  const [front, query] = cutAt(rest, '?');
  const sets = encodeSets();
  const parts: UrlParts = {
    scheme: (scheme ?? base?.scheme ?? invalidUrl()).toLowerCase(),
    username: '',
    password: '',
    host: undefined,
    port: '',
    path: [],
    query: undefined,
    fragment: fragment === undefined ? undefined : percentEncode(fragment, sets.fragment),
  };
  const isSpecial = specialPort(parts.scheme) !== undefined;
  if (query !== undefined) parts.query = percentEncode(query, isSpecial ? sets.specialQuery : sets.query);
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

function cutAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function parseAuthority(parts: UrlParts, text: string): UrlParts {
  const slash = text.indexOf('/');
  const authority = slash < 0 ? text : text.slice(0, slash);
  const at = authority.lastIndexOf('@');
  if (at >= 0) {
    const [username, password = ''] = cutAt(authority.slice(0, at), ':');
    parts.username = percentEncode(username, encodeSets().userinfo);
    parts.password = percentEncode(password, encodeSets().userinfo);
  }
  const [, host = '', port = ''] =
    /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority.slice(at + 1)) ?? invalidUrl();
  parts.host = parseHost(host, specialPort(parts.scheme) !== undefined);
  parts.port = normalPort(port, parts.scheme);
  const isSpecial = specialPort(parts.scheme) !== undefined;
  parts.path = slash < 0 ? (isSpecial ? [''] : []) : resolvePath([], text.slice(slash + 1));
  return parts;
}

function normalPort(text: string, scheme: string): string {
  if (text === '') return '';
  const port = Number(text);
  if (port > 65535) return invalidUrl();
  return String(port) === specialPort(scheme) ? '' : String(port);
}

function parseHost(text: string, isSpecial: boolean): string {
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

/** Appends the segments of `text`, dots resolved. */
function resolvePath(front: readonly string[], text: string): string[] {
  const path = [...front];
  const segments = text.split('/');
  segments.forEach((segment, index) => {
    const isLast = index === segments.length - 1;
    const plain = segment.replace(/%2e/gi, '.');
    if (plain === '..') path.pop();
    if (plain === '.' || plain === '..') {
      if (isLast) path.push('');
    } else path.push(percentEncode(segment, encodeSets().path));
  });
  return path;
}

function printUrl(parts: UrlParts): string {
  const path = typeof parts.path === 'string' ? parts.path : parts.path.map((one) => `/${one}`).join('');
  const password = parts.password === '' ? '' : `:${parts.password}`;
  const user = parts.username === '' && password === '' ? '' : `${parts.username}${password}@`;
  const port = parts.port === '' ? '' : `:${parts.port}`;
  const authority = parts.host === undefined ? '' : `//${user}${parts.host}${port}`;
  const query = parts.query === undefined ? '' : `?${parts.query}`;
  return `${parts.scheme}:${authority}${path}${query}${parts.fragment === undefined ? '' : `#${parts.fragment}`}`;
}

function makeSearchParams() {
  const decode = (text: string) => {
    const spaced = text.replaceAll('+', ' ');
    try {
      return decodeURIComponent(spaced);
    } catch {
      return spaced;
    }
  };
  const encode = (text: string) =>
    encodeURIComponent(text.toWellFormed())
      .replaceAll('%20', '+')
      .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return class URLSearchParams {
    #pairs: [string, string][] = [];
    /** Set by the URL that owns these. */
    #changed: (() => void) | undefined;

    constructor(init: unknown = '', changed?: () => void) {
      this.#changed = changed;
      if (typeof init === 'object' && init !== null) {
        const pairs =
          Symbol.iterator in init ? [...(init as Iterable<[unknown, unknown]>)] : Object.entries(init);
        this.#pairs = pairs.map(([name, value]) => [String(name), String(value)]);
      } else {
        const parts = String(init).replace(/^\?/, '').split('&');
        for (const part of parts.filter((one) => one !== '')) {
          const [name, value = ''] = cutAt(part, '=');
          this.#pairs.push([decode(name), decode(value)]);
        }
      }
    }
    get size() {
      return this.#pairs.length;
    }
    append(name: unknown, value: unknown) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed?.();
    }
    delete(name: unknown, value?: unknown) {
      const [gone, only] = [String(name), value === undefined ? undefined : textOf(value)];
      const keeps = ([one, held]: [string, string]) => one !== gone || (only !== undefined && held !== only);
      this.#pairs = this.#pairs.filter(keeps);
      this.#changed?.();
    }
    get(name: unknown) {
      return this.#pairs.find(([one]) => one === String(name))?.[1] ?? null;
    }
    getAll(name: unknown) {
      return this.#pairs.filter(([one]) => one === String(name)).map(([, value]) => value);
    }
    has(name: unknown, value?: unknown) {
      const values = this.getAll(name);
      return value === undefined ? values.length > 0 : values.includes(textOf(value));
    }
    set(name: unknown, value: unknown) {
      const at = this.#pairs.findIndex(([one]) => one === String(name));
      const others = this.#pairs.filter(([one], index) => one !== String(name) || index === at);
      const pair: [string, string] = [String(name), String(value)];
      this.#pairs = at < 0 ? [...others, pair] : others.map((one) => (one[0] === pair[0] ? pair : one));
      this.#changed?.();
    }
    sort() {
      this.#pairs = this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed?.();
    }
    forEach(visit: (value: string, name: string, params: unknown) => void) {
      for (const [name, value] of this.#pairs) visit(value, name, this);
    }
    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value] as [string, string];
    }
    *keys() {
      for (const [name] of this.#pairs) yield name;
    }
    *values() {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    }
  };
}

function makeUrl(Params: ReturnType<typeof makeSearchParams>) {
  return class URL {
    #parts: UrlParts;
    #params: InstanceType<typeof Params> | undefined;

    constructor(url: unknown, base?: unknown) {
      this.#parts = parseUrl(String(url), base === undefined ? undefined : parseUrl(textOf(base), undefined));
    }
    static canParse(url: unknown, base?: unknown) {
      return URL.parse(url, base) !== null;
    }
    static parse(url: unknown, base?: unknown) {
      try {
        return new URL(url, base);
      } catch {
        return null;
      }
    }
    get href(): string {
      return printUrl(this.#parts);
    }
    get origin(): string {
      const { scheme } = this.#parts;
      return specialPort(scheme) === undefined ? 'null' : `${scheme}://${this.host}`;
    }
    get protocol(): string {
      return `${this.#parts.scheme}:`;
    }
    get username() {
      return this.#parts.username;
    }
    get password() {
      return this.#parts.password;
    }
    get host(): string {
      return `${this.hostname}${this.port === '' ? '' : `:${this.port}`}`;
    }
    get hostname(): string {
      return this.#parts.host ?? '';
    }
    set hostname(value: unknown) {
      if (this.#parts.host !== undefined) this.#parts.host = parseHost(String(value), this.origin !== 'null');
    }
    get port(): string {
      return this.#parts.port;
    }
    set port(value: unknown) {
      if (this.#parts.host !== undefined && /^\d*$/.test(String(value))) {
        this.#parts.port = normalPort(String(value), this.#parts.scheme);
      }
    }
    get pathname(): string {
      const { path } = this.#parts;
      return typeof path === 'string' ? path : path.map((segment) => `/${segment}`).join('');
    }
    set pathname(value: unknown) {
      if (typeof this.#parts.path !== 'string') {
        this.#parts.path = resolvePath(
          [],
          String(value)
            .replace(/^[/\\]/, '')
            .replaceAll('?', '%3F'),
        );
      }
    }
    get search(): string {
      const { query } = this.#parts;
      return query === undefined || query === '' ? '' : `?${query}`;
    }
    set search(value: unknown) {
      const text = String(value).replace(/^\?/, '');
      this.#parts.query = text === '' ? undefined : percentEncode(text, encodeSets().specialQuery);
      this.#params = undefined;
    }
    get searchParams() {
      this.#params ??= new Params(this.#parts.query ?? '', () => {
        const text = String(this.#params);
        this.#parts.query = text === '' ? undefined : text;
      });
      return this.#params;
    }
    get hash(): string {
      const { fragment } = this.#parts;
      return fragment === undefined || fragment === '' ? '' : `#${fragment}`;
    }
    set hash(value: unknown) {
      const text = String(value).replace(/^#/, '');
      this.#parts.fragment = text === '' ? undefined : percentEncode(text, encodeSets().fragment);
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
  };
}

/** Sources of this file's functions, for the script that prepares an isolate. */
export const URL_FUNCTIONS: readonly ((...values: never[]) => unknown)[] = [
  makeUrlGlobals,
  specialPort,
  invalidUrl,
  textOf,
  percentEncode,
  encodeSets,
  parseUrl,
  parseRelative,
  cutAt,
  parseAuthority,
  normalPort,
  parseHost,
  parseIpv4,
  parseIpv6,
  resolvePath,
  printUrl,
  makeSearchParams,
  makeUrl,
];
