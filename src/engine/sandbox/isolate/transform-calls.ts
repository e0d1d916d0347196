import { CALL_STATES } from './call-states.ts';
import type { CallSettings, CurrentCall } from './current-call.ts';
import { createExactText, type ArgumentText, type ExactText } from './exact-numbers.ts';
import { URL } from './url.ts';
import { failCall, finishCall, settleCall, type CallResult } from './result.ts';

/** Makes what the worker calls: `start`, `take` and `inspect`. */
export function createTransformCalls(
  current: CurrentCall,
  factory: () => unknown,
  settings: CallSettings & { readonly pendingPlace: () => string },
) {
  let kept: unknown;
  let argument: ArgumentText = { json: '{}', value: {} };
  const exact = Object.freeze(createExactText(() => argument));
  let call: CallResult = { state: CALL_STATES.pending, value: '' };
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
    call = { state: CALL_STATES.pending, value: '' };
    return call;
  };
  return {
    start(json: string, now: number, seed: number, key: string) {
      const mine = begin(now, seed, key);
      try {
        const transform = pickExport(exportsOf(), settings.exportName);
        const value = contextOf(json, settings.urlObject, exact);
        argument = { json, value };
        const result = transform(value);
        if ((typeof result !== 'object' && typeof result !== 'function') || result === null)
          finishCall(mine, result, settings.maxResultBytes);
        else void settleCall(mine, result, settings.maxResultBytes);
      } catch (error) {
        failCall(mine, error);
      }
      return 0;
    },
    take() {
      const { lines, dropped } = current.logs;
      const logs = lines.length === 0 && dropped === 0 ? '' : JSON.stringify({ lines, dropped });
      return `${call.state}${logs}\n${call.value}`;
    },
    /** Stack of where the promise was made that the last call waits for; empty unless the realm traces promises. */
    place() {
      return settings.pendingPlace().slice(0, 8192);
    },
    /** Runs the module's top level and tells what it exports. */
    inspect() {
      const mine = begin(0, 0, '');
      try {
        mine.value = JSON.stringify(listExports(exportsOf()));
        mine.state = CALL_STATES.ok;
      } catch (error) {
        failCall(mine, error);
      }
      return 0;
    },
  };
}

interface Context {
  url: unknown;
  exact: ExactText;
}

/** The argument of a call; a transform written for OpenClaw reads `url.searchParams` of a whole address. */
function contextOf(json: string, urlObject: boolean, exact: ExactText): Context {
  const context = JSON.parse(json) as Context;
  context.exact = exact;
  if (urlObject) context.url = new URL(context.url, 'http://localhost');
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
