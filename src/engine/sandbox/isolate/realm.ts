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
  freezeRealm([standIns.modules, ...HASH_CLASSES]);
  return (factory, settings) => createTransformCalls(current, () => factory(standIns.modules), settings);
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
