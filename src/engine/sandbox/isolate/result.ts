import { CALL_STATES, type CallState } from './call-states.ts';
import { printValue } from './print-value.ts';

/** A call on its way: how it stands, and what it left. */
export interface CallResult {
  state: CallState;
  value: string;
}

/** Ends a call with what its transform returned. */
export function finishCall(call: CallResult, result: unknown, maxBytes: number): void {
  try {
    writeResult(call, result, maxBytes);
  } catch (error) {
    failCall(call, error);
  }
}

/** Ends a call with what its promise comes to. */
export async function settleCall(call: CallResult, result: unknown, maxBytes: number): Promise<void> {
  try {
    finishCall(call, await result, maxBytes);
  } catch (error) {
    failCall(call, error);
  }
}

export function failCall(call: CallResult, error: unknown): void {
  call.state = CALL_STATES.failed;
  call.value = JSON.stringify(describeError(error));
}

/** Writes a result as JSON; why it cannot be is told in a word, the child knows the sentence. */
function writeResult(call: CallResult, result: unknown, maxBytes: number): void {
  const refuse = (reason: string) => {
    call.state = CALL_STATES.notJson;
    call.value = reason;
  };
  if (result === undefined) {
    call.state = CALL_STATES.undefined;
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
  const state = kind === 'instance' ? CALL_STATES.instance : CALL_STATES.ok;
  call.state = text.length > maxBytes ? CALL_STATES.tooLarge : state;
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

/** Of the elements of an array, each of which makes an action. */
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
