/** Time and chance of a call come from its request, so that it can be repeated exactly. */
import type { CurrentCall } from './current-call.ts';
import { installGlobal } from './global-scope.ts';

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
