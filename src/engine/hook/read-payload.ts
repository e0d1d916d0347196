import { hash } from 'node:crypto';
import { TextDecoder } from 'node:util';
import { defined, isJsonObject, type JsonValue, ownValue, setField } from '../../base/json.ts';
import type { HookError } from '../../base/errors.ts';
import { type PathSettings, withoutPayload } from '../mapping/mapping.ts';
import {
  type BodyFormat,
  CONTENT_TYPES,
  eventAttributes,
  inflateBody,
  MAX_BODY_BYTES,
  parseForm,
  parseLargePayload,
  parsePayload,
  writeBody,
  writeQuery,
  type WrittenBody,
} from '../../base/payload/payload.ts';
import type { HookRequest } from '../../base/request.ts';
import type { Evaluation } from './evaluation.ts';
import type { SignedRequest } from '../verify/verify.ts';

/** Parsing more than this takes long enough that it waits for a turn of its own. */
export const LARGE_BODY_BYTES = 32_768;

/** A request whose body is not read yet. */
export interface UndecodedRequest {
  readonly settings: PathSettings;
  readonly headers: Readonly<Record<string, string>>;
  /** The query as it came, which a path that takes GET has for a body. */
  readonly search: string;
  /** Without its compression. */
  readonly bytes: Buffer;
}

export type ReadBody = Pick<HookRequest, 'payload' | 'bodySha256' | 'maybeLists'>;

/**
 * Reads the body of a request, as its path takes it: the one way of the wire, of request files, of golden cases and of
 * what was kept. A promise only where the body is large.
 * @throws HookError where the body cannot be read
 */
export function readBody(
  received: UndecodedRequest,
  reading: { readonly decoder: TextDecoder; readonly pause: () => Promise<void> },
): ReadBody | Promise<ReadBody> {
  const { settings, headers, search, bytes } = received;
  if (settings.method === 'GET') return bodyOf(parseForm(search), received);
  const format = settings.bodyFormat ?? 'json';
  return bytes.length > LARGE_BODY_BYTES
    ? parseLargePayload({ bytes, headers }, format, reading).then((payload) => bodyOf(payload, received))
    : bodyOf(parsePayload({ bytes, headers }, format, reading.decoder), received);
}

/** What a payload that was just parsed becomes by the settings of its path. */
export function bodyOf(payload: JsonValue, received: UndecodedRequest): ReadBody {
  const { method, bodyFormat, lists = [] } = received.settings;
  for (const path of lists) makeList(payload, withoutPayload(path).split('.'));
  return {
    payload,
    bodySha256: sha256OfBody(received),
    ...defined({ maybeLists: maybeListsOf(method === 'GET' ? 'form' : bodyFormat) }),
  };
}

export function maybeListsOf(format: BodyFormat | undefined): HookRequest['maybeLists'] {
  return format === 'xml' ? 'elements' : format === 'form' ? 'texts' : undefined;
}

/** Makes what stands at a path a list, through lists as well: nobody else has the payload yet. */
function makeList(value: JsonValue | undefined, keys: readonly string[]): void {
  const [key = '', ...rest] = keys;
  if (Array.isArray(value)) for (const each of value as readonly JsonValue[]) makeList(each, keys);
  const inner = isJsonObject(value) ? ownValue(value, key) : undefined;
  if (inner === undefined) return;
  if (rest.length > 0) makeList(inner, rest);
  else if (!Array.isArray(inner))
    setField(value as Record<string, JsonValue>, key, inner === '' || inner === null ? [] : [inner]);
}

/** A CloudEvent in headers has its id there, and a path that takes GET has its query for a body. */
function sha256OfBody({
  settings: { method, bodyFormat },
  headers,
  search,
  bytes,
}: UndecodedRequest): string {
  if (method === 'GET') return hash('sha256', search);
  const own = hash('sha256', bytes);
  if (bodyFormat !== 'cloudevents') return own;
  const attributes = eventAttributes(headers);
  return Object.keys(attributes).length === 0 ? own : hash('sha256', JSON.stringify([attributes, own]));
}

/** The same for who has time, such as a command. */
const readBodyAtOnce = async (received: UndecodedRequest): Promise<ReadBody> =>
  readBody(received, {
    decoder: new TextDecoder('utf-8', { fatal: true }),
    pause: () => Promise.resolve(),
  });

/** A request of a file; `rawBody` are the bytes of its `bodyFile`, as they came. */
export interface WrittenRequest {
  readonly request: HookRequest;
  readonly rawBody?: Buffer | undefined;
}

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
    const search = writeQuery(request);
    const { headers } = request;
    const read = await readBodyAtOnce({ settings, headers, search, bytes: Buffer.alloc(0) });
    return { ...request, ...read, query: { ...request.query, ...joinedParameters(search) } };
  }
  const { body, contentType } = rawBody === undefined ? writeBody(request, bodyFormat) : { body: rawBody };
  const announced = contentType === undefined ? {} : { 'content-type': contentType };
  const headers = { 'content-type': CONTENT_TYPES[bodyFormat], ...request.headers, ...announced };
  const bytes =
    rawBody === undefined
      ? body
      : await inflateBody(rawBody, request.headers['content-encoding'], MAX_BODY_BYTES);
  return { ...request, ...(await readBodyAtOnce({ settings, headers, search: '', bytes })) };
}

/** Parameters as a request has them: several values of one name joined. */
function joinedParameters(search: string): HookRequest['query'] {
  const names = new Map<string, readonly string[]>();
  for (const [name, value] of new URLSearchParams(search))
    names.set(name, [...(names.get(name) ?? []), value]);
  return Object.fromEntries([...names].map(([name, values]) => [name, values.join(', ')]));
}

/** What becomes of a request whose body cannot be read: no mapping sees it. */
export const unreadEvaluation = (error: HookError): Evaluation => ({
  outcome: { kind: 'rejected', error },
  warnings: [],
  trace: { considered: [], templates: [], transforms: [] },
});

/** A request as its sender puts it on the wire. */
export interface WireRequest extends SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
}

/** Writes a request in the format that it names, else in that of its path, or with the bytes it has. `address` is that of the hooks. */
export function toWire(
  { request, rawBody }: WrittenRequest,
  settings: PathSettings,
  address: string,
): WireRequest {
  const { bodyFormat = 'json', method = 'POST' } = settings;
  const query = method === 'GET' ? writeQuery(request) : new URLSearchParams(request.query).toString();
  const { body, contentType } =
    method === 'GET' ? NO_BODY : rawBody === undefined ? writeBody(request, bodyFormat) : { body: rawBody };
  const headers = {
    'content-type': CONTENT_TYPES[bodyFormat],
    ...request.headers,
    ...(contentType === undefined ? {} : { 'content-type': contentType }),
  };
  return {
    method,
    url: `${address}/${request.path}${query === '' ? '' : `?${query}`}`,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    body,
  };
}

const NO_BODY: WrittenBody = { body: Buffer.alloc(0) };
