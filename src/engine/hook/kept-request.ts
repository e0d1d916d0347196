import { hash } from 'node:crypto';
import { plural } from '../../base/finding.ts';
import {
  parseJson,
  type JsonValue,
  isJsonObject,
  isNumeric,
  type JsonObject,
  setField,
} from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';
import type { EvaluationJson } from './evaluation-json.ts';
import type { FieldsRead } from '../mapping/mapping.ts';
import { AGENT_FIELDS, WAKE_FIELDS } from './action-fields.ts';
import { SECRET_KEY } from '../../base/telemetry/telemetry.ts';

/** How a kept request was judged when it came; without prompts. */
export type KeptTrace = Omit<EvaluationJson, 'actions' | 'templates' | 'mapping'> & {
  readonly generation: string;
  /** Beside a shape without its place. */
  readonly mapping?: { readonly id: string; readonly at?: string };
  readonly actions: readonly { readonly kind: string; readonly id: string }[];
  /** Much of it is left out, since it was long. */
  readonly isCut?: true;
};

export interface ReadKept {
  /** A shape has words in place of what was not kept; a body that could not be read is empty. */
  readonly request: HookRequest;
  readonly judged?: KeptTrace;
  /** The body that could not be read, without its compression. */
  readonly unread?: Buffer;
  /** With a shape: what the transforms of its mapping returned, likewise. */
  readonly results?: readonly JsonValue[];
}

type KeptJson = Omit<HookRequest, 'payload' | 'bodySha256'> & {
  /** Absent of a shape, and of what earlier versions kept. */
  readonly bodySha256?: string;
  readonly payload?: JsonValue;
  readonly judged?: KeptTrace;
  readonly body?: string;
  readonly isBase64?: true;
  readonly shape?: JsonValue;
  readonly results?: readonly JsonValue[];
};

/** Reads what was kept as JSON text, with how it was judged. */
export function readKeptRequest({ json }: { readonly json: string }): ReadKept {
  const { judged, body, isBase64, shape, results, ...rest } = parseJson(json) as unknown as KeptJson;
  const trace = judged === undefined ? {} : { judged: { ...NO_TRACE, ...judged } };
  if (shape !== undefined) {
    const payload = valueOfShape(shape);
    const request = { ...NO_SEEDS, bodySha256: hashOf(payload), ...rest, payload };
    return { request, ...trace, results: (results ?? []).map(valueOfShape) };
  }
  const { payload = {} } = rest;
  const unread = body === undefined ? {} : { unread: Buffer.from(body, isBase64 ? 'base64' : 'utf8') };
  return { request: { bodySha256: hashOf(payload), ...rest, payload }, ...trace, ...unread };
}

const NO_TRACE = { considered: [], transforms: [], empty: [], warnings: [] };
/** No prompt is made from a shape. */
const NO_SEEDS = { seed: 0, nonce: '0'.repeat(16) };

const hashOf = (payload: JsonValue): string => hash('sha256', JSON.stringify(payload));

/**
 * The shape of a value of a request: its paths, the kinds of its values and the lengths of its texts. Values stand in it
 * only where a field is read by what decides about the request, and never under the name of a secret.
 *
 * As JSON: an object is an object, a list is `["[", …elements]`, a text its length, another value the name of its kind,
 * and a value that is kept `["=", value]`. Of a text that holds JSON its content stands as a shape: `["json", shape]`.
 */

/** At most so many elements of a list, members of an object and levels are kept. */
const MAX_ELEMENTS = 50;
const MAX_MEMBERS = 500;
const MAX_DEPTH = 32;
/** Longer texts are kept by their length, whoever reads them. */
const MAX_TEXT = 500;
/** Longer texts are not looked into. */
const MAX_JSON_TEXT = 64 * 1024;

/** The shape of a value; `fields`: what is read of it. */
export function shapeOf(value: JsonValue, fields?: FieldsRead, depth = 0): JsonValue {
  if (typeof value === 'string') {
    const isKept = value.trim() === '' || (fields?.isRead === true && value.length <= MAX_TEXT);
    return isKept ? ['=', value] : (jsonShape(value, depth) ?? value.length);
  }
  if (value === null || typeof value !== 'object' || isNumeric(value))
    return value === null || fields?.isRead === true || value === 0 ? ['=', value] : kindOf(value);
  if (depth === MAX_DEPTH) return {};
  if (Array.isArray(value)) {
    const each = fields?.below.get('*') ?? (fields?.isRead === true ? READ : undefined);
    const elements = (value as readonly JsonValue[]).slice(0, MAX_ELEMENTS);
    return ['[', ...elements.map((element) => shapeOf(element, each, depth + 1))];
  }
  // An object without a prototype takes JSON.stringify twice as long.
  const shape: Record<string, JsonValue> = {};
  let count = 0;
  for (const key in value as JsonObject) {
    if ((count += 1) > MAX_MEMBERS) break;
    const read = fields?.below.get(key);
    const field = read === undefined || SECRET_KEY.test(key) ? undefined : read;
    setField(shape, key, shapeOf((value as JsonObject)[key] as JsonValue, field, depth + 1));
  }
  return shape;
}

/** The shape of an object or a list within a text, as some senders encode twice, without any value. */
function jsonShape(text: string, depth: number): JsonValue | undefined {
  if (text.length > MAX_JSON_TEXT || !/^\s*[[{]/.test(text) || depth === MAX_DEPTH) return undefined;
  try {
    return ['json', shapeOf(parseJson(text), undefined, depth + 1)];
  } catch {
    return undefined;
  }
}

/** The elements of a list that is read as a whole. */
const READ: FieldsRead = { isRead: true, below: new Map() };

/** What a body or a transform says of its action, but for its texts: it decides whether the action is a right one. */
export const ACTION_SETTINGS: FieldsRead = {
  isRead: false,
  below: new Map(
    [...WAKE_FIELDS, ...AGENT_FIELDS]
      .filter((field) => !['text', 'message', 'name'].includes(field))
      .map((field) => [field, READ]),
  ),
};

const kindOf = (value: JsonValue): string => (typeof value === 'boolean' ? 'boolean' : 'number');

/** Stands in the place of a header or parameter whose value is not kept. */
export const NOT_KEPT = '…';

/** The value of a shape, with words in the place of what was not kept. */
export function valueOfShape(shape: JsonValue): JsonValue {
  if (isNumeric(shape)) return `…(${plural(Number(shape), 'character')})`;
  if (typeof shape === 'string') return `…(a ${shape})`;
  if (Array.isArray(shape)) {
    const [mark, ...elements] = shape as readonly JsonValue[];
    if (mark === 'json') return JSON.stringify(valueOfShape(elements[0] ?? null));
    return mark === '=' ? (elements[0] ?? null) : elements.map(valueOfShape);
  }
  if (!isJsonObject(shape)) return null;
  return Object.fromEntries(Object.entries(shape).map(([key, each]) => [key, valueOfShape(each)]));
}
