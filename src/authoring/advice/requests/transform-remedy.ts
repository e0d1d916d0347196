import { say, todo, type Sentence } from '../../../base/finding.ts';
import { fieldAt, isJsonObject, parseJson } from '../../../base/json.ts';
import type { TransformTrace } from '../../../engine/hook/hook.ts';
import { createBodyIndex, outsideLists } from './body-index.ts';

/**
 * Explains a transform that threw where it read on from a field: the field is a text that holds JSON, or is not there.
 */
export function transformRemedy(trace: TransformTrace | undefined): Sentence | undefined {
  const { reply, call: { json = '' } = {} } = trace ?? {};
  if (reply?.kind !== 'failed' || reply.read?.path === undefined) return undefined;
  const { read, message, position } = reply;
  const where = position === undefined ? 'the transform' : `${position.file}:${position.line}`;
  const argument = parseJson(json);
  const keys = reply.read.path.split('.');
  const text = keys.findIndex((_, end) => isJsonIn(fieldAt(argument, keys.slice(0, end))));
  if (text !== -1) {
    const path = keys.slice(0, text).join('.');
    return say`${path} is a text that holds JSON: ${todo}write JSON.parse(${path}) in place of ${path}`;
  }
  const value = fieldAt(argument, keys);
  const isAbsent = value === undefined && isJsonObject(fieldAt(argument, keys.slice(0, -1)));
  if (!isAbsent && value !== null) return undefined;
  const path = reply.read.path.replace(/^payload\./, '');
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

const isJsonIn = (value: unknown): boolean =>
  typeof value === 'string' && /^\s*(?:\{[\s\S]*\}|\[[\s\S]*\])\s*$/.test(value);
