/**
 * What stands inside an isolate around a transform. The functions of this file are sent there as text, so each may
 * refer to the others, to those of `inside-globals.ts` and `inside-url.ts`, and to nothing else of this project or of Node. `createRealm` runs once per isolate and first
 * prepares the globals, then freezes every intrinsic; only then is a transform's code run for the first time. From
 * there on no code can patch a builtin, which is why plain method calls on values made here are safe, while values
 * that a transform made are touched only inside `try`, within the call's time limit, by functions captured before.
 *
 * A call has two steps. `start` runs the transform and everything its promises can do, because isolated-vm drains
 * the microtask queue before it returns; `take` hands over what is there by then. Nothing in the isolate can wake
 * up later: a promise that is still pending will stay so.
 */

import { cloneValue, GLOBAL_FUNCTIONS, makeTextGlobals } from './inside-globals.ts';
import { makeUrlGlobals, URL_FUNCTIONS } from './inside-url.ts';

interface Pins {
  now: number;
  seed: number;
}

interface LogBuffer {
  lines: { level: string; text: string }[];
  bytes: number;
  dropped: number;
}

/** The call in progress; console, Date and Math.random of the realm read it. */
interface CurrentCall {
  pins: Pins;
  logs: LogBuffer;
  maxLogBytes: number;
}

interface RunnerSettings {
  exportName: string | undefined;
  reuse: boolean;
  maxResultBytes: number;
  maxLogBytes: number;
}

function createRealm() {
  const current: CurrentCall = {
    pins: { now: 0, seed: 0 },
    logs: { lines: [], bytes: 0, dropped: 0 },
    maxLogBytes: 0,
  };
  removeGlobals();
  pinTime(current);
  pinRandom(current);
  installGlobal('console', makeConsole(current));
  installGlobal('structuredClone', cloneValue);
  for (const [name, value] of Object.entries({ ...makeTextGlobals(), ...makeUrlGlobals() })) {
    installGlobal(name, value);
  }
  freezeRealm();
  return (factory: () => unknown, settings: RunnerSettings) => createRunner(current, factory, settings);
}

/** What can hold memory out of the limit's sight, observe collection, share memory, or tell of another call. */
function removeGlobals() {
  const names = [
    'WebAssembly',
    'SharedArrayBuffer',
    'Atomics',
    'WeakRef',
    'FinalizationRegistry',
    'Temporal',
  ];
  for (const name of names) Reflect.deleteProperty(globalThis, name);
  // The statics hold pieces of the text matched last, which may be another call's.
  const kept = new Set(['length', 'name', 'prototype', 'escape']);
  for (const key of Reflect.ownKeys(RegExp)) {
    if (typeof key === 'string' && !kept.has(key)) Reflect.deleteProperty(RegExp, key);
  }
}

function installGlobal(name: string, value: unknown) {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

/** Makes `Date` read the call's instant, in `Intl.DateTimeFormat` also where it is asked to format no date. */
function pinTime(current: CurrentCall) {
  const Native = Date;
  const Pinned = function Date(this: unknown, ...parts: unknown[]) {
    if (new.target === undefined) return new Native(current.pins.now).toString();
    return Reflect.construct(Native, parts.length === 0 ? [current.pins.now] : parts, new.target) as unknown;
  };
  const define = (target: object, key: string, value: unknown) =>
    Object.defineProperty(target, key, { value, writable: true, enumerable: false, configurable: true });
  Object.defineProperty(Pinned, 'prototype', { value: Native.prototype, writable: false });
  Object.defineProperty(Pinned, 'length', { value: 7 });
  define(Pinned, 'UTC', Native.UTC);
  define(Pinned, 'parse', Native.parse);
  define(Pinned, 'now', () => current.pins.now);
  define(Native.prototype, 'constructor', Pinned);
  installGlobal('Date', Pinned);

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
function pinRandom(current: CurrentCall) {
  const random = () => {
    const state = (current.pins.seed + 0x6d2b79f5) | 0;
    current.pins.seed = state;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  Object.defineProperty(Math, 'random', {
    value: random,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}

/** A console that keeps its lines for the reply: 8,192 characters a line, the call's bytes in all. */
function makeConsole(current: CurrentCall) {
  const write = (level: string, values: unknown[]) => {
    const { logs, maxLogBytes } = current;
    if (logs.bytes >= maxLogBytes) {
      logs.dropped += 1;
      return;
    }
    let text = '';
    for (let index = 0; index < values.length && index < 20 && text.length < 8192; index += 1) {
      text += (index === 0 ? '' : ' ') + printValue(values[index]).slice(0, 8192);
    }
    text = text.slice(0, 8192).toWellFormed();
    logs.bytes += utf8Length(text) + 16;
    if (logs.bytes > maxLogBytes) logs.dropped += 1;
    else logs.lines.push({ level, text });
  };
  const method =
    (level: string) =>
    (...values: unknown[]) =>
      write(level, values);
  const log = method('log');
  return {
    log,
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
    debug: method('debug'),
    trace: method('trace'),
    dir: log,
    table: log,
    group: log,
    groupCollapsed: log,
    groupEnd: () => undefined,
    assert: (condition: unknown, ...values: unknown[]) => {
      if (!condition) write('error', ['Assertion failed:', ...values]);
    },
  };
}

/** A value as a console shows it. Reads properties of a transform's objects, so it may run its getters. */
function printValue(value: unknown): string {
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

/** Length in UTF-8 of well-formed text. */
function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) bytes += unit > 0x7ff ? (unit >= 0xd800 && unit <= 0xdfff ? 1 : 2) : 1;
  }
  return bytes;
}

/** Freezes every object reachable from the globals, and the globals themselves. */
function freezeRealm() {
  for (const [prototype, keys] of shadowedProperties()) for (const key of keys) letShadow(prototype, key);
  const seen = new Set<object>();
  const waiting: object[] = [];
  const add = (value: unknown) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      return;
    seen.add(value);
    waiting.push(value);
  };
  for (const root of unnamedIntrinsics()) add(root);
  add(globalThis);
  for (let object = waiting.pop(); object !== undefined; object = waiting.pop()) {
    add(Reflect.getPrototypeOf(object));
    for (const key of Reflect.ownKeys(object)) {
      const property = Reflect.getOwnPropertyDescriptor(object, key);
      add(property?.value);
      add(property?.get);
      add(property?.set);
    }
  }
  for (const [prototype, keys] of shadowedProperties()) for (const key of keys) letShadow(prototype, key);
  for (const object of seen) if (object !== globalThis) Object.freeze(object);
  for (const key of Reflect.ownKeys(globalThis)) {
    const property = Reflect.getOwnPropertyDescriptor(globalThis, key);
    if (property?.configurable !== true) continue;
    const fixed = 'value' in property ? { writable: false, configurable: false } : { configurable: false };
    Object.defineProperty(globalThis, key, fixed);
  }
  Object.preventExtensions(globalThis);
}

/** Intrinsics that no global names. */
function unnamedIntrinsics(): unknown[] {
  const arrow = async () => undefined;
  const generator = function* () {};
  const asyncGenerator = async function* () {};
  const iterators = [
    [][Symbol.iterator](),
    new Map()[Symbol.iterator](),
    new Set()[Symbol.iterator](),
    ''[Symbol.iterator](),
    ''.matchAll(/a/g),
    ...iteratorHelpers(),
    generator(),
    asyncGenerator(),
    new Intl.Segmenter().segment(''),
    new Intl.Segmenter().segment('')[Symbol.iterator](),
  ];
  return [
    arrow,
    generator,
    asyncGenerator,
    ...iterators.map((iterator) => Reflect.getPrototypeOf(iterator)),
    Reflect.getPrototypeOf(Int8Array),
    ...stackAccessors(),
  ];
}

/** An error's own `stack` is an accessor in newer engines, and all errors of a realm share its two functions. */
function stackAccessors(): unknown[] {
  const captured = {};
  Error.captureStackTrace(captured);
  return [new Error(), captured].flatMap((holder) => {
    const property = Reflect.getOwnPropertyDescriptor(holder, 'stack');
    return [property?.get, property?.set];
  });
}

/** Iterators of the two hidden kinds that newer engines have: `.map` and its kin, and `Iterator.from`. */
function iteratorHelpers(): object[] {
  interface Helpers {
    from(iterator: object): { map(change: (value: unknown) => unknown): object };
  }
  const { Iterator: helpers } = globalThis as { Iterator?: Helpers };
  if (helpers === undefined) return [];
  const wrapped = helpers.from({ next: () => ({ done: true, value: undefined }) });
  return [wrapped, wrapped.map((value) => value)];
}

/** Properties that ordinary programs set on their own objects although a prototype has them. */
function shadowedProperties(): [object, string[]][] {
  const errors = [
    Error,
    TypeError,
    RangeError,
    SyntaxError,
    ReferenceError,
    EvalError,
    URIError,
    AggregateError,
  ].map((constructor): [object, string[]] => [
    constructor.prototype,
    ['name', 'message', 'toString', 'constructor'],
  ]);
  return [
    ...errors,
    [Object.prototype, ['toString', 'toLocaleString', 'valueOf', 'constructor', 'hasOwnProperty']],
    [Function.prototype, ['toString', 'constructor', 'name']],
  ];
}

/**
 * Turns a property into an accessor that lets objects below shadow it. An assignment to a frozen data property of a
 * prototype would throw, and `error.name = 'X'` or `Type.prototype.constructor = Type` are everyday code.
 */
function letShadow(prototype: object, key: string) {
  const property = Reflect.getOwnPropertyDescriptor(prototype, key);
  if (property?.configurable !== true || !('value' in property)) return;
  const value: unknown = property.value;
  const define = Object.defineProperty;
  // Methods: a plain function would bring an object of its own, its `prototype`.
  const accessors = {
    get() {
      return value;
    },
    set(this: object, next: unknown) {
      if (this === prototype) throw new TypeError('this object is frozen');
      define(this, key, { value: next, writable: true, enumerable: true, configurable: true });
    },
  };
  define(prototype, key, {
    configurable: false,
    enumerable: property.enumerable === true,
    get: accessors.get,
    set: accessors.set,
  });
}

/** A call's states as single characters; the child knows them too. */
function callStates() {
  return { pending: 'p', ok: 'o', undefined: 'u', failed: 'e', notJson: 'j', tooLarge: 'l' };
}

function createRunner(current: CurrentCall, factory: () => unknown, settings: RunnerSettings) {
  const states = callStates();
  let kept: unknown;
  let call = { state: states.pending, value: '' };
  const exportsOf = () => {
    if (!settings.reuse) return factory();
    kept ??= factory();
    return kept;
  };
  const begin = (now: number, seed: number) => {
    current.pins = { now, seed };
    current.logs = { lines: [], bytes: 0, dropped: 0 };
    current.maxLogBytes = settings.maxLogBytes;
    call = { state: states.pending, value: '' };
    return call;
  };
  const fail = (mine: typeof call, error: unknown) => {
    mine.state = states.failed;
    mine.value = JSON.stringify(describeError(error));
  };
  const finish = (mine: typeof call, result: unknown) => {
    try {
      writeResult(mine, result, settings.maxResultBytes);
    } catch (error) {
      fail(mine, error);
    }
  };
  return {
    start(json: string, now: number, seed: number) {
      const mine = begin(now, seed);
      try {
        const transform = pickExport(exportsOf(), settings.exportName);
        const result = transform(JSON.parse(json));
        if ((typeof result !== 'object' && typeof result !== 'function') || result === null)
          finish(mine, result);
        else void settle(mine, result);
      } catch (error) {
        fail(mine, error);
      }
      return 0;
    },
    take() {
      const { lines, dropped } = current.logs;
      const logs = lines.length === 0 && dropped === 0 ? '' : JSON.stringify({ lines, dropped });
      return `${call.state}${logs}\n${call.value}`;
    },
    /** Runs the module's top level and tells what it exports. */
    inspect() {
      const mine = begin(0, 0);
      try {
        mine.value = JSON.stringify(listExports(exportsOf()));
        mine.state = states.ok;
      } catch (error) {
        fail(mine, error);
      }
      return 0;
    },
  };

  async function settle(mine: typeof call, result: unknown) {
    try {
      finish(mine, await result);
    } catch (error) {
      fail(mine, error);
    }
  }
}

/** The named export, else `default`, else `transform`; a CommonJS module may itself be the function. */
function pickExport(exports: unknown, name: string | undefined): (argument: unknown) => unknown {
  for (const key of name === undefined ? ['default', 'transform'] : [name]) {
    if (typeof exports === 'function' && key === 'default') return exports as (argument: unknown) => unknown;
    const value = (exports as Record<string, unknown>)[key];
    if (typeof value === 'function') return value as (argument: unknown) => unknown;
    if (value !== undefined) break;
  }
  throw new TypeError('the transform exports no function to call');
}

/** Names and types of exports, at most 200. */
function listExports(exports: unknown): [string, string][] {
  const listed: [string, string][] = typeof exports === 'function' ? [['default', 'function']] : [];
  if ((typeof exports !== 'object' && typeof exports !== 'function') || exports === null) return listed;
  for (const key of Object.keys(exports).slice(0, 200)) {
    listed.push([key.slice(0, 200), typeof (exports as Record<string, unknown>)[key]]);
  }
  return listed;
}

/** Writes a result as JSON; why it cannot be is told in a word, the child knows the sentence. */
function writeResult(call: { state: string; value: string }, result: unknown, maxBytes: number) {
  const states = callStates();
  const refuse = (reason: string) => {
    call.state = states.notJson;
    call.value = reason;
  };
  if (result === undefined) {
    call.state = states.undefined;
    return;
  }
  if (typeof result === 'number' && !Number.isFinite(result)) return refuse('number');
  if (typeof result === 'bigint' || typeof result === 'symbol' || typeof result === 'function') {
    return refuse(typeof result);
  }
  let text: unknown;
  try {
    text = JSON.stringify(result);
  } catch (error) {
    const reason = unwritableReason(error);
    if (reason === undefined) throw error;
    return refuse(reason);
  }
  if (typeof text !== 'string') return refuse('nothing');
  // In UTF-8 a text has at least as many bytes as units; the child measures the rest exactly.
  call.state = text.length > maxBytes ? states.tooLarge : states.ok;
  call.value = text.length > maxBytes ? '' : text;
}

/** Tells V8's own complaints about a result from an error that the transform's code threw meanwhile. */
function unwritableReason(error: unknown): string | undefined {
  const message: unknown = error instanceof Error ? error.message : undefined;
  if (typeof message !== 'string') return undefined;
  if (error instanceof RangeError && message.startsWith('Maximum call stack')) return 'deep';
  if (error instanceof RangeError && message.startsWith('Invalid string length')) return 'long';
  if (error instanceof TypeError && message.startsWith('Converting circular')) return 'circular';
  if (error instanceof TypeError && message.startsWith('Do not know how to serialize a BigInt'))
    return 'bigint';
  return undefined;
}

/** An error as three bounded strings; whatever a hostile one answers or throws, this returns. */
function describeError(error: unknown) {
  const described = { name: 'Error', message: '', stack: '' };
  if ((typeof error !== 'object' && typeof error !== 'function') || error === null) {
    described.name = 'NonError';
    described.message = printValue(error).slice(0, 2000);
  } else {
    for (const [key, limit] of [
      ['name', 100],
      ['message', 2000],
      ['stack', 8192],
    ] as const) {
      try {
        const value = (error as Record<string, unknown>)[key];
        if (typeof value === 'string') described[key] = value.slice(0, limit);
      } catch {
        // The property's getter threw: the default stands.
      }
    }
  }
  return described;
}

const FUNCTIONS = [
  createRealm,
  removeGlobals,
  installGlobal,
  pinTime,
  pinRandom,
  makeConsole,
  printValue,
  utf8Length,
  freezeRealm,
  unnamedIntrinsics,
  stackAccessors,
  iteratorHelpers,
  shadowedProperties,
  letShadow,
  callStates,
  createRunner,
  pickExport,
  listExports,
  writeResult,
  unwritableReason,
  describeError,
  ...GLOBAL_FUNCTIONS,
  ...URL_FUNCTIONS,
];

/** A script whose completion value makes a runner out of a transform's factory and its settings. */
export const INSIDE_SCRIPT = `(() => { 'use strict';\n${FUNCTIONS.map(String).join('\n')}\nreturn createRealm(); })()`;

/** The states `take` begins its answer with. */
export const CALL_STATES = callStates();
