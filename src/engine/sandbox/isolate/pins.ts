/** Time and chance of a call come from its request, so that it can be repeated exactly. */
import { installGlobal } from './freeze-realm.ts';
import { Buffer } from './buffer.ts';
import { hmacSha256 } from './hashes.ts';
import { encodeUtf8 } from './text-encoding.ts';

/** What the realm keeps of the call in progress; its console, `Date` and `Math.random` read it. */
export interface CurrentCall {
  pins: Pins;
  logs: LogBuffer;
  maxLogBytes: number;
  /** `transform.env` of the module. */
  env: Readonly<Record<string, string>>;
}

interface Pins {
  now: number;
  seed: number;
  /** The key of the call's random bytes. */
  key: string;
  /** Blocks of random bytes drawn so far. */
  drawn: number;
}

interface LogBuffer {
  lines: { level: string; text: string }[];
  bytes: number;
  dropped: number;
}

/** The settings of a module, as its worker was given them. */
export interface CallSettings {
  readonly exportName?: string | undefined;
  readonly reuse: boolean;
  /** `context.url` is a `URL`, as OpenClaw's transforms have it; else text. */
  readonly urlObject: boolean;
  /** JSON text of `transform.env`. */
  readonly env: string;
  readonly maxResultBytes: number;
  readonly maxLogBytes: number;
}

/** Makes `Date` read the call's instant, in `Intl.DateTimeFormat` also where it is asked to format no date. */
export function pinTime(current: CurrentCall): void {
  pinDate(current);
  pinDateFormats(current);
}

function pinDate(current: CurrentCall): void {
  const Native = Date;
  const Pinned = function Date(this: unknown, ...parts: unknown[]) {
    if (new.target === undefined) return new Native(current.pins.now).toString();
    return Reflect.construct(Native, parts.length === 0 ? [current.pins.now] : parts, new.target) as unknown;
  };
  Object.defineProperty(Pinned, 'prototype', { value: Native.prototype, writable: false });
  Object.defineProperty(Pinned, 'length', { value: 7 });
  define(Pinned, 'UTC', Native.UTC);
  define(Pinned, 'parse', Native.parse);
  define(Pinned, 'now', () => current.pins.now);
  define(Native.prototype, 'constructor', Pinned);
  installGlobal('Date', Pinned);
}

function pinDateFormats(current: CurrentCall): void {
  const formats = Intl.DateTimeFormat.prototype;
  const nativeFormat = Object.getOwnPropertyDescriptor(formats, 'format')?.get;
  const nativeParts = formats.formatToParts;
  const instant = (date: unknown) => (date === undefined ? current.pins.now : date);
  Object.defineProperty(formats, 'format', {
    configurable: true,
    get(this: Intl.DateTimeFormat) {
      const format = Reflect.apply(nativeFormat as () => (date: unknown) => string, this, []);
      return (date?: unknown) => format(instant(date));
    },
  });
  define(formats, 'formatToParts', function formatToParts(this: Intl.DateTimeFormat, date?: unknown) {
    return Reflect.apply(nativeParts, this, [instant(date) as Date]);
  });
}

/** Makes `Math.random` a mulberry32 generator that starts from the call's seed. */
export function pinRandom(current: CurrentCall): void {
  const random = () => {
    const state = (current.pins.seed + 0x6d2b79f5) | 0;
    current.pins.seed = state;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  define(Math, 'random', random);
}

function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: false, configurable: true });
}

/**
 * Random bytes of a call: HMAC-SHA-256 of a counter under a key that the request brings along. The same request gives
 * the same bytes for ever, so whoever knows it knows them: identifiers, not secrets.
 */

const MAX_BYTES = 65_536;

/** `crypto` as browsers have it, as far as it needs no secrets; and `randomBytes` as Node has it. */
export function makeRandom(current: CurrentCall) {
  const fill = (bytes: Uint8Array) => {
    const key = encodeUtf8(current.pins.key);
    for (let at = 0; at < bytes.length; at += 32) {
      const block = hmacSha256(key, encodeUtf8(String(current.pins.drawn)));
      current.pins.drawn += 1;
      bytes.set(block.subarray(0, Math.min(32, bytes.length - at)), at);
    }
  };
  return {
    getRandomValues<View extends ArrayBufferView>(view: View): View {
      if (view.byteLength > MAX_BYTES)
        throw new RangeError(`getRandomValues fills at most ${MAX_BYTES} bytes`);
      fill(new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength));
      return view;
    },
    randomBytes(size: number): Buffer {
      if (!(size >= 0 && size <= MAX_BYTES))
        throw new RangeError(`randomBytes gives at most ${MAX_BYTES} bytes`);
      const bytes = new Buffer(size);
      fill(bytes);
      return bytes;
    },
    /** Version 4 of RFC 9562. */
    randomUUID(): string {
      const bytes = new Buffer(16);
      fill(bytes);
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
      const hex = bytes.toString('hex');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
        '-',
      );
    },
  };
}
