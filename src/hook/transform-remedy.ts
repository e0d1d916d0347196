import { fieldAt, isJsonObject, parseJson, valueAt, type JsonValue } from '../json.ts';
import type { TransformTrace } from './evaluation.ts';

/**
 * Of a transform that failed, by what it did: a key of the mapping in its result, the hands of a web framework, or a
 * slip that the words of its error and the body together tell.
 */
export function transformRemedy(trace: TransformTrace | undefined): string | undefined {
  if (trace === undefined) return undefined;
  const { mappingKey, reply, call } = trace;
  if (mappingKey !== undefined) {
    return `take ${mappingKey} out of what the transform returns, and write it in the mapping, beside transform; where it depends on the request, write two mappings of the path, each with its ${mappingKey} and its match.when`;
  }
  if (reply.kind !== 'failed') return undefined;
  const { message } = reply;
  if (WEB.test(message))
    return 'a transform is no handler of a web framework: it gets one argument, ({ payload, headers, query, path }), and no response to write to; what it returns is the answer: return { message: … }';
  const slip = absentField(reply, call.json) ?? slipIn(message, call.json);
  return slip === undefined ? undefined : `${slip}; then run this request through it with sluice replay`;
}

type Failed = Extract<TransformTrace['reply'], { readonly kind: 'failed' }>;

/** A field that the code reads on from, and that this request does not have. */
function absentField({ read, position, message }: Failed, input: string): string | undefined {
  if (read?.path === undefined) return undefined;
  const argument = parseJson(input);
  const keys = read.path.split('.');
  const value = fieldAt(argument, keys);
  const isAbsent = value === undefined && isJsonObject(fieldAt(argument, keys.slice(0, -1)));
  if (!isAbsent && value !== null) return undefined;
  const path = read.path.replace(/^payload\./, '');
  const where = position === undefined ? 'the code' : `${position.file}:${position.line}`;
  const what =
    value === null
      ? `${path} is null in this request, and ${where} reads on from it`
      : `the request has no ${path}, which ${where} reads`;
  const [near, ...more] = value === null ? [] : pathsTo(argument, keys.at(-1) ?? '');
  if (near !== undefined && more.length === 0) return `${what}; it has ${near}: read that`;
  if (message.startsWith('Cannot destructure'))
    return `${what}: write ${read.expression} ?? {} in its place, and say what to do without it`;
  const [, field = '…'] = /reading '([\w$]+)'/.exec(message) ?? [];
  return `${what}: write ${read.expression}?.${field}, and behind the whole expression ?? with what to say where it is not there`;
}

/** What the words of an error tell, beside the body. */
function slipIn(message: string, input: string): string | undefined {
  if (/\[object Object\]"? is not valid JSON/.test(message))
    return 'the body is parsed already: take payload itself, without JSON.parse';
  if (/Invalid time value/.test(message))
    return 'new Date got what is no time, or nothing: look at the field that it gets; a number of seconds needs * 1000';
  return readRemedy(message, () => parseJson(input));
}

const WEB =
  /reading '(?:json|send|sendStatus|status|end|write|setHeader)'|\b(?:res|response)\b|\.(?:json|send|status) is not/;

/** Where the input has what was read in vain; it is parsed only where the words of the error ask for it. */
function readRemedy(message: string, readInput: () => JsonValue): string | undefined {
  const [, missing] =
    /^Cannot read properties of (?:undefined|null) \(reading '([\w$]+)'\)/.exec(message) ?? [];
  if (missing !== undefined) {
    const [path, ...more] = pathsTo(readInput(), missing);
    return path === undefined || more.length > 0 ? undefined : `this request has ${missing} in ${path}`;
  }
  const [, name = '', method] =
    /^([\w$.]+)\.(map|filter|forEach|find|some|every|reduce|flatMap|slice|join) is not a function/.exec(
      message,
    ) ?? [];
  const value = method === undefined ? undefined : valueAt(readInput(), name.split('.'));
  if (!isJsonObject(value)) return undefined;
  const lists = Object.entries(value).filter(([, each]) => Array.isArray(each));
  const within = lists.map(([key]) => `${name}.${key}`.slice(0, 100)).slice(0, 3);
  return `${name} is an object, and no list, in this request${within.length === 0 ? '' : `; a list is ${within.join(' or ')}`}`;
}

/** Values of the input looked at. */
const MAX_LOOKED_AT = 2_000;

/** The paths that end in a name, those through lists left out; the nearest first. */
function pathsTo(input: JsonValue, name: string): readonly string[] {
  const waiting: { readonly path: string; readonly value: JsonValue }[] = [{ path: '', value: input }];
  const found: string[] = [];
  for (
    let next = waiting.shift(), seen = 0;
    next !== undefined && seen < MAX_LOOKED_AT;
    next = waiting.shift()
  ) {
    seen += 1;
    if (!isJsonObject(next.value)) continue;
    const { path, value } = next;
    const below = (key: string): string => (path === '' ? key : `${path}.${key}`);
    if (Object.hasOwn(value, name)) found.push(below(name));
    for (const [key, inner] of Object.entries(value).slice(0, MAX_LOOKED_AT - waiting.length))
      waiting.push({ path: below(key), value: inner });
  }
  return found;
}
