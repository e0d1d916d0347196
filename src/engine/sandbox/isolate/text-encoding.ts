/** `TextEncoder` and `TextDecoder` for transforms: UTF-8 only. */

export class TextEncoder {
  get encoding(): string {
    return 'utf-8';
  }
  encode(input: unknown = ''): Uint8Array {
    return encodeUtf8(String(input));
  }
}

export class TextDecoder {
  readonly #fatal: boolean;
  readonly #keepMark: boolean;
  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    if (!/^\s*(?:utf-?8|unicode-1-1-utf-8)\s*$/i.test(String(label))) {
      throw new RangeError(`a transform decodes UTF-8 only, not ${String(label).slice(0, 40)}`);
    }
    this.#fatal = options.fatal === true;
    this.#keepMark = options.ignoreBOM === true;
  }
  get encoding() {
    return 'utf-8';
  }
  get fatal() {
    return this.#fatal;
  }
  get ignoreBOM() {
    return this.#keepMark;
  }
  decode(input?: ArrayBuffer | ArrayBufferView) {
    if (input === undefined) return '';
    const bytes = ArrayBuffer.isView(input)
      ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
      : new Uint8Array(input);
    const text = decodeUtf8(bytes, this.#fatal);
    return !this.#keepMark && text.startsWith('\uFEFF') ? text.slice(1) : text;
  }
}

/** `btoa` and `atob` for transforms. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function btoa(input: unknown): string {
  const text = String(input);
  let out = '';
  for (let at = 0; at < text.length; at += 3) {
    const units = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
    if (units.some((unit) => unit > 0xff)) throw new TypeError('btoa takes characters up to U+00FF');
    const [a = 0, b = 0, c = 0] = units.map((unit) => (Number.isNaN(unit) ? 0 : unit));
    const bits = (a << 16) | (b << 8) | c;
    const left = text.length - at;
    out += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63);
    out +=
      (left > 1 ? ALPHABET.charAt((bits >> 6) & 63) : '=') + (left > 2 ? ALPHABET.charAt(bits & 63) : '=');
  }
  return out;
}

export function atob(input: unknown): string {
  let text = String(input).replace(/[\t\n\f\r ]/g, '');
  if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '');
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text))
    throw new TypeError('atob found text that is no base64');
  let out = '';
  let bits = 0;
  let held = 0;
  for (const character of text) {
    bits = ((bits << 6) | ALPHABET.indexOf(character)) & 0xffffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += String.fromCharCode((bits >> held) & 0xff);
  }
  return out;
}

/** Encodes text; a lone surrogate becomes U+FFFD. */
export function encodeUtf8(input: string): Uint8Array {
  // encodeURIComponent is the engine's own UTF-8 encoder; it takes well-formed text only.
  const text = input.toWellFormed();
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  const escaped = encodeURIComponent(text);
  for (let at = 0; at < escaped.length; at += 1) {
    let byte = escaped.charCodeAt(at);
    if (byte === 0x25) {
      byte = Number.parseInt(escaped.slice(at + 1, at + 3), 16);
      at += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  return bytes.slice(0, length);
}

/** Decodes by the WHATWG rules: each maximal ill-formed part becomes one U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, fatal: boolean): string {
  let text = '';
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] ?? 0;
    at += 1;
    if (lead < 0x80) {
      text += String.fromCharCode(lead);
      continue;
    }
    const more =
      lead >= 0xc2 && lead <= 0xdf
        ? 1
        : lead >= 0xe0 && lead <= 0xef
          ? 2
          : lead >= 0xf0 && lead <= 0xf4
            ? 3
            : 0;
    let point = more === 0 ? -1 : lead & (0x3f >> more);
    for (let index = 0; index < more; index += 1) {
      const next = bytes[at] ?? 0;
      const least = index > 0 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const most = index > 0 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (at >= bytes.length || next < least || next > most) {
        point = -1;
        break;
      }
      point = (point << 6) | (next & 0x3f);
      at += 1;
    }
    if (point < 0 && fatal) throw new TypeError('the bytes are no valid UTF-8');
    text += point < 0 ? '\uFFFD' : String.fromCodePoint(point);
  }
  return text;
}

/** A value as a console shows it. Reads properties of a transform's objects, so it may run its getters. */
export function printValue(value: unknown): string {
  try {
    if (typeof value === 'string') return value;
    if (typeof value === 'bigint') return `${String(value)}n`;
    if (typeof value === 'function') return '[function]';
    if (typeof value !== 'object' || value === null) return String(value);
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (value instanceof Map) return `Map ${printValue([...value])}`;
    if (value instanceof Set) return `Set ${printValue([...value])}`;
    const text = JSON.stringify(value);
    return typeof text === 'string' ? text : '[object]';
  } catch {
    return '[unprintable]';
  }
}
