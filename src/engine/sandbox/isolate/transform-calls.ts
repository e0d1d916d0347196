import { STATUS, type Status } from '../names.ts';
import type { CallSettings, CurrentCall } from './pins.ts';
import { createExactText, type ArgumentText, type ExactTextOf } from './exact-numbers.ts';
import { URL } from 'whatwg-url-minimum';
import { printValue } from './text-encoding.ts';

/** Makes what the worker calls: `start`, `inspect`, and `take` where a promise has the result. */
export function createTransformCalls(current: CurrentCall, factory: () => unknown, settings: CallSettings) {
  let kept: unknown;
  let argument: ArgumentText = { json: '{}', value: {} };
  const exact = Object.freeze(createExactText(() => argument));
  let call: CallResult = { state: STATUS.pending, value: '' };
  const exportsOf = () => {
    if (!settings.reuse) return factory();
    kept ??= factory();
    return kept;
  };
  current.env = Object.freeze(JSON.parse(settings.env) as Record<string, string>);
  const begin = (now: number, seed: number, key: string) => {
    current.pins = { now, seed, key, drawn: 0 };
    current.logs = { lines: [], bytes: 0, dropped: 0 };
    current.maxLogBytes = settings.maxLogBytes;
    call = { state: STATUS.pending, value: '' };
    return call;
  };
  const take = () => {
    const { lines, dropped } = current.logs;
    const logs = lines.length === 0 && dropped === 0 ? '' : JSON.stringify({ lines, dropped });
    return `${call.state} ${logs}\n${call.value}`;
  };
  return {
    /** What `take` gives; undefined where the result is a promise. */
    start(json: string, now: number, seed: number, key: string) {
      const mine = begin(now, seed, key);
      try {
        const transform = pickExport(exportsOf(), settings.exportName);
        const value = contextOf(json, settings.urlObject, exact);
        argument = { json, value };
        const result = transform(value);
        if (isThenable(result)) {
          void settleCall(mine, result, settings.maxResultBytes);
          return undefined;
        }
        writeResult(mine, result, settings.maxResultBytes);
      } catch (error) {
        failCall(mine, error);
      }
      return take();
    },
    take,
    /** Runs the module's top level and tells what it exports. */
    inspect() {
      const mine = begin(0, 0, '');
      try {
        mine.value = JSON.stringify(listExports(exportsOf()));
        mine.state = STATUS.ok;
      } catch (error) {
        failCall(mine, error);
      }
      return take();
    },
  };
}

interface CallContext {
  url: unknown;
  exact: ExactTextOf;
}

/** The argument of a call; a transform written for OpenClaw reads `url.searchParams` of a whole address. */
function contextOf(json: string, urlObject: boolean, exact: ExactTextOf): CallContext {
  const context = JSON.parse(json) as CallContext;
  context.exact = exact;
  if (urlObject) context.url = new URL(String(context.url), 'http://localhost');
  return context;
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

/** A call on its way: how it stands, and what it left. */
interface CallResult {
  state: Status;
  value: string;
}

function isThenable(result: unknown): boolean {
  if ((typeof result !== 'object' && typeof result !== 'function') || result === null) return false;
  return typeof (result as { readonly then?: unknown }).then === 'function';
}

/** Ends a call with what its promise comes to. */
async function settleCall(call: CallResult, result: unknown, maxBytes: number): Promise<void> {
  try {
    writeResult(call, await result, maxBytes);
  } catch (error) {
    failCall(call, error);
  }
}

function failCall(call: CallResult, error: unknown): void {
  call.state = STATUS.userError;
  call.value = JSON.stringify(describeError(error));
}

/** Writes a result as JSON, or says in one word why it cannot; the child has the sentence. */
function writeResult(call: CallResult, result: unknown, maxBytes: number): void {
  const refuse = (reason: string) => {
    call.state = STATUS.notJson;
    call.value = reason;
  };
  if (result === undefined) {
    call.state = STATUS.undefined;
    return;
  }
  if (typeof result === 'number' && !Number.isFinite(result)) return refuse('number');
  if (typeof result === 'bigint' || typeof result === 'symbol' || typeof result === 'function') {
    return refuse(typeof result);
  }
  const kind = Array.isArray(result) ? worstKind(result) : kindOf(result);
  if (kind !== 'plain' && kind !== 'instance') return refuse(kind);
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
  const state = kind === 'instance' ? STATUS.instance : STATUS.ok;
  call.state = text.length > maxBytes ? STATUS.tooLarge : state;
  call.value = text.length > maxBytes ? '' : text;
}

/** Actions that one result may make of a request, and some more. */
const LOOKED_AT = 1000;
const ITERATOR = prototypeOf(prototypeOf([][Symbol.iterator]()));
const ASYNC_ITERATOR = prototypeOf(prototypeOf(prototypeOf((async function* () {})())));

/** What JSON would make an empty object of without a word, or keep only some of. */
type ResultKind = 'plain' | 'instance' | 'map' | 'set' | 'iterator';

function kindOf(value: unknown): ResultKind {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'plain';
  const prototype = Reflect.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return 'plain';
  if (value instanceof Map) return 'map';
  if (value instanceof Set) return 'set';
  return inherits(value, ITERATOR) || inherits(value, ASYNC_ITERATOR) ? 'iterator' : 'instance';
}

/** The worst kind among elements of an array, each of which makes an action. */
function worstKind(values: readonly unknown[]): ResultKind {
  const kinds = values.slice(0, LOOKED_AT).map(kindOf);
  return (
    kinds.find((kind) => kind !== 'plain' && kind !== 'instance') ??
    kinds.find((kind) => kind === 'instance') ??
    'plain'
  );
}

function prototypeOf(value: object | null): object | null {
  return value === null ? null : Reflect.getPrototypeOf(value);
}

function inherits(value: object, prototype: object | null): boolean {
  return prototype !== null && Reflect.apply(Object.prototype.isPrototypeOf, prototype, [value]);
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
function describeError(error: unknown): { name: string; message: string; stack: string } {
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
