/**
 * `Buffer` for transforms that were written for Node: what turns text into bytes and back. The rest of Node's is left
 * out; the numbers of a binary format are read with `DataView`.
 */
import { atob, btoa, decodeUtf8, encodeUtf8, printValue } from './text-encoding.ts';

type Encoding = 'utf8' | 'base64' | 'base64url' | 'hex' | 'latin1';

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ['utf8', 'utf8'],
  ['utf-8', 'utf8'],
  ['base64', 'base64'],
  ['base64url', 'base64url'],
  ['hex', 'hex'],
  ['latin1', 'latin1'],
  ['binary', 'latin1'],
]);

/** The encoding of a name, in any case; utf8 without one. */
export function encodingOf(name: unknown): Encoding {
  if (name === undefined) return 'utf8';
  const encoding = ENCODINGS.get(printValue(name).toLowerCase());
  if (encoding !== undefined) return encoding;
  throw new TypeError(
    `a transform knows the encodings utf8, base64, base64url, hex and latin1, not ${printValue(name).slice(0, 40)}`,
  );
}

/** Bytes of text; what is no base64 or hex ends the text or is left out, as in Node. */
export function bytesOf(text: string, encoding: Encoding): Uint8Array {
  switch (encoding) {
    case 'utf8':
      return encodeUtf8(text);
    case 'latin1':
      return Uint8Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) & 0xff);
    case 'hex':
      return fromHex(text);
    case 'base64':
    case 'base64url':
      return fromBase64(text);
  }
}

export function textOfBytes(bytes: Uint8Array, encoding: Encoding): string {
  switch (encoding) {
    case 'utf8':
      return decodeUtf8(bytes, false);
    case 'latin1':
      return toLatin1(bytes);
    case 'hex':
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    case 'base64':
      return btoa(toLatin1(bytes));
    case 'base64url':
      return btoa(toLatin1(bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  }
}

function toLatin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
}

function fromHex(text: string): Uint8Array {
  const digits = /^(?:[0-9a-f]{2})*/i.exec(text)?.[0] ?? '';
  return Uint8Array.from({ length: digits.length / 2 }, (_, at) =>
    Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16),
  );
}

function fromBase64(text: string): Uint8Array {
  const [before = ''] = text.split('=');
  const digits = before
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replaceAll(/[^A-Za-z0-9+/]/g, '');
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0));
}

export class Buffer extends Uint8Array {
  static override from(value: unknown, second?: unknown, third?: unknown): Buffer {
    if (typeof value === 'string') return view(bytesOf(value, encodingOf(second)));
    if (value instanceof ArrayBuffer) {
      return new Buffer(value, second as number | undefined, third as number | undefined);
    }
    if (ArrayBuffer.isView(value) || Array.isArray(value))
      return view(Uint8Array.from(value as ArrayLike<number>));
    const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown };
    if (type === 'Buffer' && Array.isArray(data)) return view(Uint8Array.from(data as number[]));
    throw new TypeError('Buffer.from takes text, an array of bytes, an ArrayBuffer or another Buffer');
  }
  static alloc(size: number, fill: unknown = 0, encoding?: unknown): Buffer {
    const made = new Buffer(size);
    if (typeof fill === 'number') return made.fill(fill);
    const pattern = Buffer.from(fill, encoding);
    for (let at = 0; at < size && pattern.length > 0; at += 1) made[at] = pattern[at % pattern.length] ?? 0;
    return made;
  }
  static byteLength(value: unknown, encoding?: unknown): number {
    if (typeof value === 'string') return bytesOf(value, encodingOf(encoding)).length;
    return (value as ArrayBufferView).byteLength;
  }
  static concat(parts: readonly Uint8Array[], totalLength?: number): Buffer {
    const length =
      parts.length === 0 ? 0 : (totalLength ?? parts.reduce((sum, part) => sum + part.length, 0));
    const joined = new Buffer(length);
    let at = 0;
    for (const part of parts) {
      joined.set(part.subarray(0, Math.max(0, length - at)), at);
      at = Math.min(length, at + part.length);
    }
    return joined;
  }
  static isBuffer(value: unknown): boolean {
    return value instanceof Buffer;
  }
  static isEncoding(name: unknown): boolean {
    return ENCODINGS.has(printValue(name).toLowerCase());
  }
  override toString(encoding?: unknown, start = 0, end = this.length): string {
    return textOfBytes(this.subarray(start, end), encodingOf(encoding));
  }
  toJSON(): { type: 'Buffer'; data: number[] } {
    return { type: 'Buffer', data: Array.from(this) };
  }
  equals(other: Uint8Array): boolean {
    return this.length === other.length && this.every((byte, at) => byte === other[at]);
  }
  /** As in Node it shares the memory, other than the method of a typed array. */
  override slice(start?: number, end?: number): this {
    return this.subarray(start, end) as this;
  }
}

function view(bytes: Uint8Array): Buffer {
  return new Buffer(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
}
