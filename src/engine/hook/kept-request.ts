import { hash } from 'node:crypto';
import { parseJson, type JsonValue } from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';
import type { EvaluationJson } from './evaluation-json.ts';
import { valueOfShape } from './shape.ts';

/** How a kept request was judged when it came; without prompts. */
export type KeptTrace = Omit<EvaluationJson, 'actions' | 'templates' | 'mapping'> & {
  readonly generation: string;
  /** Beside a shape without its place. */
  readonly mapping?: { readonly id: string; readonly at?: string };
  readonly actions: readonly { readonly kind: string; readonly id: string }[];
  /** Much of it is left out, since it was long. */
  readonly isCut?: true;
};

/** A request that the store kept. */
export interface ReadKept {
  /** Of a shape with words in place of what was not kept; of a body that could not be read with an empty one. */
  readonly request: HookRequest;
  readonly judged?: KeptTrace;
  /** The body that could not be read, without its compression. */
  readonly unread?: Buffer;
  /** Of a shape: what the transforms of its mapping returned, likewise. */
  readonly results?: readonly JsonValue[];
}

type Written = Omit<HookRequest, 'payload' | 'bodySha256'> & {
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
  const { judged, body, isBase64, shape, results, ...rest } = parseJson(json) as unknown as Written;
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
/** Of a shape no prompt is made. */
const NO_SEEDS = { seed: 0, nonce: '0'.repeat(16) };

const hashOf = (payload: JsonValue): string => hash('sha256', JSON.stringify(payload));
