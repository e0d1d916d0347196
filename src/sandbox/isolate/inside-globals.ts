/**
 * Globals of the web platform that a transform may use, in plain JavaScript, pure. Sent into isolates as text like
 * `inside.ts`: these functions may refer to each other and to nothing else.
 */

/** A copy by the rules of the structured clone algorithm, without transfer. */
export function cloneValue(value: unknown): unknown {
  const copies = new Map<object, unknown>();
  const refuse = (what: string): never => {
    const error = new Error(`${what} could not be cloned.`);
    error.name = 'DataCloneError';
    throw error;
  };
  const remember = <T>(source: object, copy: T): T => {
    copies.set(source, copy);
    return copy;
  };
  const clone = (source: unknown): unknown => {
    if (typeof source === 'symbol') return refuse('A symbol');
    if (typeof source === 'function') return refuse('A function');
    if (typeof source !== 'object' || source === null) return source;
    if (copies.has(source)) return copies.get(source);
    if (source instanceof Map) {
      const copy = remember(source, new Map());
      for (const [key, held] of source) copy.set(clone(key), clone(held));
      return copy;
    }
    if (source instanceof Set) {
      const copy = remember(source, new Set());
      for (const held of source) copy.add(clone(held));
      return copy;
    }
    if (source instanceof Date) return remember(source, new Date(source.getTime()));
    if (source instanceof RegExp) return remember(source, new RegExp(source.source, source.flags));
    if (source instanceof ArrayBuffer) return remember(source, source.slice(0));
    if (ArrayBuffer.isView(source)) return remember(source, cloneView(source, clone));
    if (source instanceof Error) return remember(source, cloneError(source));
    if (source instanceof Promise || source instanceof WeakMap || source instanceof WeakSet) {
      return refuse('This object');
    }
    const copy: Record<string, unknown> = remember(
      source,
      Array.isArray(source) ? Array.from<unknown>({ length: source.length }) : {},
    );
    for (const key of Object.keys(source)) {
      const held = clone((source as Record<string, unknown>)[key]);
      Object.defineProperty(copy, key, { value: held, writable: true, enumerable: true, configurable: true });
    }
    return copy;
  };
  return clone(value);
}

function cloneView(view: ArrayBufferView, clone: (value: unknown) => unknown): unknown {
  const make = view.constructor as new (buffer: unknown, offset: number, length: number) => unknown;
  const length = (view as { length?: number }).length ?? view.byteLength;
  return new make(clone(view.buffer), view.byteOffset, length);
}

function cloneError(error: Error): Error {
  const kinds = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];
  const kind = kinds.find((one) => one.name === error.name) ?? Error;
  const copy = new kind(error.message);
  if (typeof error.stack === 'string') copy.stack = error.stack;
  return copy;
}

export function makeTextGlobals(): Record<string, unknown> {
  return {
    TextEncoder: makeTextEncoder(),
    TextDecoder: makeTextDecoder(),
    btoa: encodeBase64,
    atob: decodeBase64,
  };
}

function makeTextEncoder() {
  return class TextEncoder {
    get encoding() {
      return 'utf-8';
    }
    encode(input: unknown = '') {
      // encodeURIComponent is the engine's own UTF-8 encoder; it takes well-formed text only.
      const text = String(input).toWellFormed();
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
  };
}

function makeTextDecoder() {
  return class TextDecoder {
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
  };
}

/** Decodes by the WHATWG rules: each maximal ill-formed part becomes one U+FFFD. */
function decodeUtf8(bytes: Uint8Array, fatal: boolean): string {
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

function base64Alphabet() {
  return 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
}

function encodeBase64(input: unknown): string {
  const text = String(input);
  const alphabet = base64Alphabet();
  let out = '';
  for (let at = 0; at < text.length; at += 3) {
    const units = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)];
    if (units.some((unit) => unit > 0xff)) throw new TypeError('btoa takes characters up to U+00FF');
    const [a = 0, b = 0, c = 0] = units.map((unit) => (Number.isNaN(unit) ? 0 : unit));
    const bits = (a << 16) | (b << 8) | c;
    const left = text.length - at;
    out += alphabet.charAt(bits >> 18) + alphabet.charAt((bits >> 12) & 63);
    out +=
      (left > 1 ? alphabet.charAt((bits >> 6) & 63) : '=') + (left > 2 ? alphabet.charAt(bits & 63) : '=');
  }
  return out;
}

function decodeBase64(input: unknown): string {
  let text = String(input).replace(/[\t\n\f\r ]/g, '');
  if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '');
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text))
    throw new TypeError('atob found text that is no base64');
  const alphabet = base64Alphabet();
  let out = '';
  let bits = 0;
  let held = 0;
  for (const character of text) {
    bits = ((bits << 6) | alphabet.indexOf(character)) & 0xffffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += String.fromCharCode((bits >> held) & 0xff);
  }
  return out;
}

/** Sources of this file's functions, for the script that prepares an isolate. */
export const GLOBAL_FUNCTIONS: readonly ((...values: never[]) => unknown)[] = [
  cloneValue,
  cloneView,
  cloneError,
  makeTextGlobals,
  makeTextEncoder,
  makeTextDecoder,
  decodeUtf8,
  base64Alphabet,
  encodeBase64,
  decodeBase64,
];
