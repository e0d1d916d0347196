/**
 * What stands inside an isolate around a transform. esbuild makes one script of this file and what it imports, which
 * is nothing of Node and nothing outside this folder but libraries that need nothing either. `createRealm` runs once
 * per isolate: it prepares the globals, then freezes every intrinsic; only then is a transform's code run for the
 * first time. From there on no code can patch a builtin, which is why plain method calls on values made here are
 * safe, while values that a transform made are touched only inside `try`, within the call's time limit.
 *
 * `start` runs the transform and hands over its result. Where that is a promise, a call has a second step: isolated-vm
 * drains the microtask queue before it returns, and `take` hands over what is there by then. Nothing in the isolate can
 * wake up later: a promise that is still pending will stay so.
 */
import { URL, URLSearchParams } from 'whatwg-url-minimum';
import { atob, btoa, TextDecoder, TextEncoder } from './text-encoding.ts';
import { makeConsole } from './console-output.ts';
import { type CallSettings, type CurrentCall, pinRandom, pinTime, makeRandom } from './pins.ts';
import { freezeRealm, installGlobal, removeGlobals } from './freeze-realm.ts';
import { HASH_CLASSES, createHash, createHmac, timingSafeEqual } from './hashes.ts';
import { createTransformCalls } from './transform-calls.ts';
import { cloneValue } from './structured-clone.ts';
import { Buffer } from './buffer.ts';

const GLOBALS = {
  structuredClone: cloneValue,
  TextEncoder,
  TextDecoder,
  btoa,
  atob,
  URLSearchParams,
  URL,
};

/** Prepares and freezes the realm it runs in; the result makes a runner of a transform's factory. */
export function createRealm(): (
  factory: (modules: unknown) => unknown,
  settings: CallSettings,
) => ReturnType<typeof createTransformCalls> {
  const current: CurrentCall = {
    pins: { now: 0, seed: 0, key: '', drawn: 0 },
    logs: { lines: [], bytes: 0, dropped: 0 },
    maxLogBytes: 0,
    env: Object.freeze({}),
  };
  const standIns = makeNodeStandIns(current);
  removeGlobals();
  pinTime(current);
  pinRandom(current);
  installGlobal('console', makeConsole(current));
  const globals = { ...GLOBALS, ...standIns.globals };
  for (const [name, value] of Object.entries(globals)) installGlobal(name, value);
  const searchIterators = Reflect.getPrototypeOf(new URLSearchParams().keys());
  installEntries(URLSearchParams.prototype);
  freezeRealm([standIns.modules, searchIterators, ...HASH_CLASSES]);
  return (factory, settings) => createTransformCalls(current, () => factory(standIns.modules), settings);
}

/** The library hands out the very pairs that it keeps, which a later change of the parameters would change. */
function installEntries(params: URLSearchParams): void {
  const { entries: kept } = params;
  const entries = function* entries(this: URLSearchParams): Generator<[string, string]> {
    for (const [name, value] of Reflect.apply(kept, this, [])) yield [name, value];
  };
  Object.assign(params, { entries, [Symbol.iterator]: entries });
}

interface NodeStandIns {
  readonly globals: Readonly<Record<string, unknown>>;
  /** By the names under which `node:` modules are imported; `names.ts` lists the names of their exports. */
  readonly modules: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** What transforms written for Node find here under Node's names: harmless parts of it, pure like everything else. */
function makeNodeStandIns(current: CurrentCall): NodeStandIns {
  const { randomBytes, randomUUID, getRandomValues } = makeRandom(current);
  const process = {
    get env() {
      return current.env;
    },
  };
  const crypto = { createHash, createHmac, timingSafeEqual, randomBytes, randomUUID, getRandomValues };
  return {
    globals: { Buffer, process, crypto: { randomUUID, getRandomValues } },
    modules: { crypto, buffer: { Buffer } },
  };
}
