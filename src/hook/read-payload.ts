import { hash } from 'node:crypto';
import { TextDecoder } from 'node:util';
import type { JsonValue } from '../json.ts';
import type { HookError } from '../errors.ts';
import type { PathSettings } from '../mapping/mapping.ts';
import {
  CONTENT_TYPES,
  eventAttributes,
  inflateBody,
  parseLargePayload,
  parsePayload,
  writeBody,
  writeQuery,
} from '../payload/payload.ts';
import type { HookRequest } from '../request.ts';
import type { Evaluation } from './evaluation.ts';

/** Parsing more than this takes long enough that it waits for a turn of its own. */
export const LARGE_BODY_BYTES = 32_768;

/** A request whose body is not read yet. */
export interface ReceivedRequest {
  /** Of its path. */
  readonly settings: PathSettings;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Without its compression. */
  readonly bytes: Buffer;
}

/**
 * The payload of a request, as its path takes it: the one way of the wire, of request files, of golden cases and of what
 * was kept. A promise only where the body is large.
 * @throws HookError where the body cannot be read
 */
export function readPayload(
  { settings, headers, query, bytes }: ReceivedRequest,
  reading: { readonly decoder: TextDecoder; readonly pause: () => Promise<void> },
): JsonValue | Promise<JsonValue> {
  if (settings.method === 'GET') return query;
  const format = settings.bodyFormat ?? 'json';
  return bytes.length > LARGE_BODY_BYTES
    ? parseLargePayload({ bytes, headers }, format, reading)
    : parsePayload({ bytes, headers }, format, reading.decoder);
}

/**
 * What two requests are compared by (`bodySha256` of a request). A CloudEvent in headers has its id there, and a path that
 * takes GET has its query for a body.
 */
export function sha256OfBody({
  settings: { method, bodyFormat },
  headers,
  search,
  bytes,
}: Omit<ReceivedRequest, 'query'> & {
  /** The query as it came. */
  readonly search: string;
}): string {
  if (method === 'GET') return hash('sha256', search);
  const own = hash('sha256', bytes);
  if (bodyFormat !== 'cloudevents') return own;
  const attributes = eventAttributes(headers);
  return Object.keys(attributes).length === 0 ? own : hash('sha256', JSON.stringify([attributes, own]));
}

/** The same for who has time, such as a command. */
const readPayloadAtOnce = async (received: ReceivedRequest): Promise<JsonValue> =>
  readPayload(received, {
    decoder: new TextDecoder('utf-8', { fatal: true }),
    pause: () => Promise.resolve(),
  });

/** A request of a file; `rawBody` are the bytes of its `bodyFile`, as they came. */
export interface WrittenRequest {
  readonly request: HookRequest;
  readonly rawBody?: Buffer | undefined;
}

/** As a body may have anywhere. */
const MAX_BODY_BYTES = 67_108_864;

/**
 * A request of a file as its path takes it: its bytes, or its body as its sender would write it, are read as those of the
 * wire are.
 * @throws HookError where the path does not take them
 * @throws UnwritableBody where no sender can write this body for the path
 */
export async function receiveWritten(
  { request, rawBody }: WrittenRequest,
  settings: PathSettings,
): Promise<HookRequest> {
  const { bodyFormat = 'json', method } = settings;
  if (method === 'GET') {
    const query = writeQuery(request);
    const search = new URLSearchParams(query).toString();
    return { ...request, query, payload: query, bodySha256: hash('sha256', search) };
  }
  const { body, contentType } = rawBody === undefined ? writeBody(request, bodyFormat) : { body: rawBody };
  const announced = contentType === undefined ? {} : { 'content-type': contentType };
  const headers = { 'content-type': CONTENT_TYPES[bodyFormat], ...request.headers, ...announced };
  const bytes =
    rawBody === undefined
      ? body
      : await inflateBody(rawBody, request.headers['content-encoding'], MAX_BODY_BYTES);
  return {
    ...request,
    payload: await readPayloadAtOnce({ settings, headers, query: request.query, bytes }),
    bodySha256: sha256OfBody({ settings, headers, search: '', bytes }),
  };
}

/** What becomes of a request whose body cannot be read: no mapping sees it. */
export const unreadEvaluation = (error: HookError): Evaluation => ({
  outcome: { kind: 'rejected', error },
  warnings: [],
  trace: { considered: [], templates: [], transforms: [] },
});
