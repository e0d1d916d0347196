import { CALL_STATES } from './call-states.ts';
import type { CallSettings, CurrentCall } from './current-call.ts';
import { createExactText, type ArgumentText, type ExactText } from './exact-numbers.ts';
import { URL } from './url.ts';
import { listExports, pickExport } from './module-exports.ts';
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
