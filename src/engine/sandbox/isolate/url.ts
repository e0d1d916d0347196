/**
 * `URL` for transforms, by the WHATWG URL standard for what webhooks carry: the special schemes http, https, ws, wss
 * and ftp with names, IPv4 and IPv6 addresses, and schemes with an opaque path such as mailto. Host names outside
 * ASCII have to come in punycode.
 */
import {
  normalPort,
  parseHost,
  parseUrl,
  printUrl,
  resolvePath,
  type UrlParts,
  ENCODE_SETS,
  percentEncode,
  specialPort,
  textOf,
} from './url-parser.ts';
import { URLSearchParams } from './url-search-params.ts';

export class URL {
  #parts: UrlParts;
  #params: URLSearchParams | undefined;

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
    this.#parts.query = text === '' ? undefined : percentEncode(text, ENCODE_SETS.specialQuery);
    this.#params = undefined;
  }
  get searchParams() {
    this.#params ??= new URLSearchParams(this.#parts.query ?? '', () => {
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
    this.#parts.fragment = text === '' ? undefined : percentEncode(text, ENCODE_SETS.fragment);
  }
  toString() {
    return this.href;
  }
  toJSON() {
    return this.href;
  }
}
