/** Declarations of what stands in a transform's global scope besides the language itself, for its type check. */
export const AUTHOR_GLOBALS = `
type BufferEncoding = 'utf8' | 'utf-8' | 'base64' | 'base64url' | 'hex' | 'latin1' | 'binary';
declare class Buffer extends Uint8Array {
  static from(text: string, encoding?: BufferEncoding): Buffer;
  static from(bytes: ArrayLike<number> | Iterable<number>): Buffer;
  static from(buffer: ArrayBufferLike, byteOffset?: number, length?: number): Buffer;
  static alloc(size: number, fill?: string | number | Uint8Array, encoding?: BufferEncoding): Buffer;
  static byteLength(value: string | ArrayBufferView | ArrayBufferLike, encoding?: BufferEncoding): number;
  static concat(parts: readonly Uint8Array[], totalLength?: number): Buffer;
  static isBuffer(value: unknown): value is Buffer;
  static isEncoding(name: string): boolean;
  toString(encoding?: BufferEncoding, start?: number, end?: number): string;
  toJSON(): { type: 'Buffer'; data: number[] };
  equals(other: Uint8Array): boolean;
}
declare var process: { readonly env: Readonly<Record<string, string | undefined>> };
declare var crypto: {
  randomUUID(): string;
  getRandomValues<T extends ArrayBufferView>(view: T): T;
};
declare module 'node:buffer' {
  export { Buffer };
  const buffer: { Buffer: typeof Buffer };
  export default buffer;
}
declare module 'buffer' {
  export * from 'node:buffer';
  export { default } from 'node:buffer';
}
declare module 'node:crypto' {
  interface Digest {
    update(data: string | ArrayBufferView, encoding?: BufferEncoding): this;
    digest(): Buffer;
    digest(encoding: BufferEncoding): string;
  }
  export function createHash(algorithm: string): Digest;
  export function createHmac(algorithm: string, key: string | ArrayBufferView): Digest;
  export function timingSafeEqual(a: ArrayBufferView, b: ArrayBufferView): boolean;
  export function randomBytes(size: number): Buffer;
  export function randomUUID(): string;
  export function getRandomValues<T extends ArrayBufferView>(view: T): T;
  const crypto: {
    createHash: typeof createHash;
    createHmac: typeof createHmac;
    timingSafeEqual: typeof timingSafeEqual;
    randomBytes: typeof randomBytes;
    randomUUID: typeof randomUUID;
    getRandomValues: typeof getRandomValues;
  };
  export default crypto;
}
declare module 'crypto' {
  export * from 'node:crypto';
  export { default } from 'node:crypto';
}
interface Console {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
  trace(...values: unknown[]): void;
  dir(...values: unknown[]): void;
  table(...values: unknown[]): void;
  group(...values: unknown[]): void;
  groupCollapsed(...values: unknown[]): void;
  groupEnd(): void;
  assert(condition: unknown, ...values: unknown[]): void;
}
declare var console: Console;
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}
declare class URLSearchParams implements Iterable<[string, string]> {
  constructor(init?: string | Iterable<readonly [string, string]> | Readonly<Record<string, string>>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(visit: (value: string, name: string, params: URLSearchParams) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}
declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  readonly href: string;
  readonly origin: string;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toString(): string;
  toJSON(): string;
}
`;
