/**
 * What stands inside an isolate around a transform. esbuild makes one script of this file and what it imports, which
 * is nothing of Node and nothing outside this folder but libraries that need nothing either. `createRealm` runs once
 * per isolate: it prepares the globals, then freezes every intrinsic; only then is a transform's code run for the
 * first time. From there on no code can patch a builtin, which is why plain method calls on values made here are
 * safe, while values that a transform made are touched only inside `try`, within the call's time limit.
 *
 * A call has two steps. `start` runs the transform and everything its promises can do, because isolated-vm drains
 * the microtask queue before it returns; `take` hands over what is there by then. Nothing in the isolate can wake
 * up later: a promise that is still pending will stay so.
 */
import { decodeBase64, encodeBase64, TextDecoder, TextEncoder } from './text-encoding.ts';
import { makeConsole } from './console-output.ts';
import { type CallSettings, type CurrentCall, pinRandom, pinTime, makeRandom } from './pins.ts';
import { freezeRealm, installGlobal, removeGlobals } from './freeze-realm.ts';
import { HASH_CLASSES, createHash, createHmac, timingSafeEqual } from './hashes.ts';
import { createTransformCalls } from './transform-calls.ts';
import { cloneValue } from './structured-clone.ts';
import { URLSearchParams } from './url-search-params.ts';
import { URL } from './url.ts';
import { Buffer } from './buffer.ts';

const GLOBALS = {
  structuredClone: cloneValue,
  TextEncoder,
  TextDecoder,
  btoa: encodeBase64,
  atob: decodeBase64,
  URLSearchParams,
  URL,
};

/**
 * Prepares and freezes the realm it runs in; the result makes a runner of a transform's factory. With `trace` the runner
 * can tell where a promise was made that nothing settles.
 */
export function createRealm(
  trace: boolean,
): (
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
  const pendingPlace = trace ? tracePromises() : () => '';
  pinTime(current);
  pinRandom(current);
  installGlobal('console', makeConsole(current));
  const globals = { ...GLOBALS, ...standIns.globals };
  for (const [name, value] of Object.entries(globals)) installGlobal(name, value);
  freezeRealm([standIns.modules, ...HASH_CLASSES]);
  return (factory, settings) =>
    createTransformCalls(current, () => factory(standIns.modules), { ...settings, pendingPlace });
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

/**
 * Finds out which promise a call waits for in vain. A call that ends pending is run once more, with the same argument,
 * time and chance and therefore the same end, in a realm whose `Promise` remembers where each promise was made: the
 * stack of a promise made in `await sleep(10)` goes through the line of the `await`.
 */
interface MadePromise {
  readonly stack: string;
  isSettled: boolean;
}

type Executor = (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => void;

/** A promise that is never settled is among the first; a call that makes more is not waiting. */
const MAX_REMEMBERED = 1000;

/** Replaces the realm's `Promise`; the result tells where the first promise was made that is still not settled. */
function tracePromises(): () => string {
  const Native = Promise;
  const made: MadePromise[] = [];
  const Traced = function Promise(this: unknown, executor: Executor): unknown {
    const mine: MadePromise = { stack: new Error('made').stack ?? '', isSettled: false };
    if (made.length < MAX_REMEMBERED) made.push(mine);
    const traced: Executor = (resolve, reject) => {
      const settle = (by: (value: unknown) => void) => (value: unknown) => {
        mine.isSettled = true;
        by(value);
      };
      executor(settle(resolve), settle(reject));
    };
    const target = new.target === undefined || new.target === (Traced as unknown) ? Native : new.target;
    return Reflect.construct(Native, [traced], target);
  };
  Object.setPrototypeOf(Traced, Native);
  Object.defineProperty(Traced, 'prototype', { value: Native.prototype, writable: false });
  Object.defineProperty(globalThis, 'Promise', { value: Traced, writable: true, configurable: true });
  return () => made.find(({ isSettled }) => !isSettled)?.stack ?? '';
}
