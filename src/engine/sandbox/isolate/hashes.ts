/** What transforms need of `node:crypto`: hashes and HMACs, of @noble/hashes. */
import { printValue } from './text-encoding.ts';
import { hmac } from '@noble/hashes/hmac.js';
import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha224, sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { Buffer, bytesOf, encodingOf, textOfBytes } from './buffer.ts';

const ALGORITHMS = new Map([
  ['md5', md5],
  ['sha1', sha1],
  ['sha224', sha224],
  ['sha256', sha256],
  ['sha384', sha384],
  ['sha512', sha512],
]);

interface RunningHash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

/** A hash or an HMAC under way. */
class Digest {
  readonly #running: RunningHash;
  constructor(running: RunningHash) {
    this.#running = running;
  }
  update(data: unknown, encoding?: unknown): this {
    this.#running.update(toBytes(data, encoding));
    return this;
  }
  digest(encoding?: unknown): Buffer | string {
    const bytes = this.#running.digest();
    if (encoding === undefined || encoding === 'buffer') return Buffer.from(bytes);
    return textOfBytes(bytes, encodingOf(encoding));
  }
}

export function createHash(algorithm: unknown): Digest {
  return new Digest(hashOf(algorithm).create());
}

export function createHmac(algorithm: unknown, key: unknown): Digest {
  return new Digest(hmac.create(hashOf(algorithm), toBytes(key, undefined)));
}

export function timingSafeEqual(a: unknown, b: unknown): boolean {
  const [first, second] = [toBytes(a, undefined), toBytes(b, undefined)];
  if (first.length !== second.length) throw new RangeError('Input buffers must have the same byte length');
  let difference = 0;
  for (let at = 0; at < first.length; at += 1) difference |= (first[at] ?? 0) ^ (second[at] ?? 0);
  return difference === 0;
}

/** HMAC-SHA-256, for bytes that follow from a request. */
export function hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array {
  return hmac(sha256, key, data);
}

/** Classes that no name leads to; they are to be frozen too. */
export const HASH_CLASSES = [Digest];

function hashOf(algorithm: unknown) {
  const found = ALGORITHMS.get(String(algorithm).toLowerCase().replace('-', ''));
  if (found !== undefined) return found;
  const known = [...ALGORITHMS.keys()].join(', ');
  throw new TypeError(`a transform knows the hashes ${known}, not ${printValue(algorithm).slice(0, 40)}`);
}

function toBytes(data: unknown, encoding: unknown): Uint8Array {
  if (typeof data === 'string') return bytesOf(data, encodingOf(encoding));
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data))
    return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  throw new TypeError('hashes take text, a Buffer or another view of bytes');
}
