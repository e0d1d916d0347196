import { say, todo, write, type Sentence } from '../../../base/finding.ts';
import { fieldAt, isJsonObject, parseJson } from '../../../base/json.ts';
import type { TransformTrace } from '../../../engine/hook/hook.ts';
import { createBodyIndex, outsideLists } from './body-index.ts';

/** Of a transform that failed, by what it did: how its call ended, what it gave, and the field of the body that it read. */
export function transformRemedy(trace: TransformTrace | undefined): Sentence | undefined {
  if (trace === undefined) return undefined;
  const { mappingKey, reply, call } = trace;
  if (mappingKey !== undefined) {
    return mappingKey === 'action'
      ? say`write kind in place of action: a result says by kind: 'wake', 'agent' or 'notify' what it is`
      : say`take ${mappingKey} out of what the transform returns, and write it in the mapping, beside transform; where it depends on the request, write two mappings of the path, each with its ${mappingKey} and its match.when`;
  }
  // Of a result that is none of an action the problem says what was found and what is expected.
  if (reply.kind !== 'failed') return undefined;
  const ending = ENDINGS[reply.failure]?.(placeOf(reply), call.ref);
  if (ending !== undefined) return ending;
  return jsonTextRead(reply, call.json) ?? absentField(reply, call.json) ?? ownThrow(reply);
}

type Failed = Extract<TransformTrace['reply'], { readonly kind: 'failed' }>;

const placeOf = ({ position }: Failed): string =>
  position === undefined ? 'the transform' : `${position.file}:${position.line}`;

/** What to do where a call did not end by itself, or its result cannot be taken. */
const ENDINGS: Partial<
  Readonly<
    Record<Failed['failure'], (place: string, ref: TransformTrace['call']['ref']) => Sentence | undefined>
  >
> = {
  timeout: (place, { module, timeoutMs }) =>
    say`${place} was still at work after ${timeoutMs} ms: look there for a loop that does not end, or a regular expression with + or * within brackets that have + or * behind them, as (\\w+)+, and write it without the inner one; where the work is that long in earnest, ${write(`transform: {module: ${module}, timeoutMs: ${Math.min(timeoutMs * 5, MAX_TIMEOUT_MS)}}`)}`,
  memory: (place, { module, memoryMb }) =>
    say`${place} needed more memory than it may: look for a list or a text there that grows without end; where that much is needed in earnest, ${write(`transform: {module: ${module}, memoryMb: ${Math.min(memoryMb * 2, MAX_MEMORY_MB)}}`)}`,
  'result-too-large': () => say`return less: the fields that the message needs, and no whole body`,
};

const MAX_TIMEOUT_MS = 30_000;
const MAX_MEMORY_MB = 128;

/** What the module threw itself; an error of the language has its own name. */
function ownThrow(failed: Failed): Sentence | undefined {
  if (failed.failure !== 'user-error' || (failed.name ?? 'Error') !== 'Error') return undefined;
  return say`the transform threw this itself, at ${placeOf(failed)}: where such a request is to do nothing, write return null; in place of that throw (it is answered 204, and no run is made); a throw is answered 500, and the sender sends again`;
}

/** A text with JSON in it, into which the code reads. */
function jsonTextRead({ read }: Failed, input: string): Sentence | undefined {
  const keys = read?.path?.split('.') ?? [];
  const argument = parseJson(input);
  for (let end = 1; end < keys.length; end += 1) {
    const value = fieldAt(argument, keys.slice(0, end));
    if (typeof value !== 'string' || !/^\s*(?:\{[\s\S]*\}|\[[\s\S]*\])\s*$/.test(value)) continue;
    const path = keys.slice(0, end).join('.');
    return say`${path} is a text that holds JSON: ${todo}write JSON.parse(${path}) in place of ${path}`;
  }
  return undefined;
}

/** A field that the code reads on from, and that this request does not have. */
function absentField(failed: Failed, input: string): Sentence | undefined {
  const { read, message } = failed;
  if (read?.path === undefined) return undefined;
  const argument = parseJson(input);
  const keys = read.path.split('.');
  const value = fieldAt(argument, keys);
  const isAbsent = value === undefined && isJsonObject(fieldAt(argument, keys.slice(0, -1)));
  if (!isAbsent && value !== null) return undefined;
  const path = read.path.replace(/^payload\./, '');
  const where = placeOf(failed);
  // A field of the body that is called as the argument which holds the body.
  if (value === undefined && fieldAt(argument, ['payload', ...keys]) !== undefined)
    return say`payload is the whole body, and this body has a field ${keys[0] ?? ''} of its own: ${todo}write payload.${read.path} in place of ${read.path}, first in ${where}`;
  const what =
    value === null
      ? say`${path} is null in this request, and ${where} reads on from it`
      : say`the request has no ${path}, which ${where} reads`;
  const [near, ...more] = value === null ? [] : createBodyIndex(argument).find(keys).filter(outsideLists);
  if (near !== undefined && more.length === 0)
    return say`${what}; it has ${near.keys.join('.')}: ${todo}read that`;
  const [, field = '…'] = /reading '([\w$]+)'/.exec(message) ?? [];
  return say`${what}: ${todo}write ${read.expression}?.${field}, and behind the whole expression ?? with what to say where it is not there`;
}
