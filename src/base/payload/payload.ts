/**
 * From the bytes of a proved request to its payload. Every format makes JSON values; objects made here have no
 * prototype, depth and number of fields are bounded, and no message quotes what a sender wrote.
 */
import type { TextDecoder } from 'node:util';
import { HookError } from '../errors.ts';
import { type JsonValue, fieldAt } from '../json.ts';
import {
  announcedFormat,
  type BodyFormat,
  formatOf,
  isInParts,
  mismatch,
  soleContentType,
  unannouncedParts,
  type ReceivedBody,
  mediaType,
} from './formats.ts';
import { parseFormBody } from './form.ts';
import { parseJsonBody } from './json-body.ts';
import { parseMultipart } from './multipart.ts';
import { charsetOf, decoderOf, decodeUtf8, encodingOfXml } from './text.ts';
import { parseXml } from './xml.ts';

export { announcedFormat, BODY_FORMATS, type BodyFormat, type ReceivedBody } from './formats.ts';
export { readPartTexts } from './multipart.ts';
export { parseForm } from './form.ts';
export {
  asItWasRead,
  CONTENT_TYPES,
  isFormFile,
  UnwritableBody,
  writeBody,
  writeParts,
  writeQuery,
  type WrittenBody,
} from './write-body.ts';
export { checkEncoding, inflateBody, MAX_BODY_BYTES } from './inflate.ts';

/**
 * Parses a body in the format that its path takes, else in the one that it announces, else as text.
 * @throws HookError `invalid_utf8`
 */
export function parseAnyPayload(
  body: ReceivedBody,
  format: BodyFormat,
  decoder: TextDecoder,
): { readonly payload: JsonValue; readonly format: BodyFormat } {
  const announced = announcedFormat(body.headers['content-type']);
  for (const tried of [format, ...(announced === undefined ? [] : [announced])]) {
    try {
      return { payload: parsePayload(body, tried, decoder), format: tried };
    } catch (error) {
      if (!(error instanceof HookError)) throw error;
    }
  }
  return { payload: parsePayload(body, 'text', decoder), format: 'text' };
}

/**
 * Parses a body in the format that its path takes. An empty one is `{}`, in text the empty text.
 * @throws HookError `invalid_utf8`, `invalid_json`, `invalid_body`
 */
export function parsePayload(body: ReceivedBody, format: BodyFormat, decoder: TextDecoder): JsonValue {
  // The most frequent format has one step alone.
  if (format === 'json') return parseJsonBody(body.bytes, decoder, body.headers['content-type']);
  const steps = parseInSteps(body, format, decoder);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/**
 * As `parsePayload`, with a pause between the steps of a format that takes long for its bytes.
 * @throws HookError `invalid_utf8`, `invalid_json`, `invalid_body`
 */
export async function parseLargePayload(
  body: ReceivedBody,
  format: BodyFormat,
  { decoder, pause }: { readonly decoder: TextDecoder; readonly pause: () => Promise<void> },
): Promise<JsonValue> {
  const steps = parseInSteps(body, format, decoder);
  let step = steps.next();
  while (step.done !== true) {
    await pause();
    step = steps.next();
  }
  return step.value;
}

function* parseInSteps(
  { bytes, headers: sent }: ReceivedBody,
  format: BodyFormat,
  decoder: TextDecoder,
): Generator<undefined, JsonValue> {
  const contentType = soleContentType(sent['content-type']);
  const headers =
    contentType === sent['content-type'] ? sent : { ...sent, 'content-type': contentType ?? '' };
  const body = { bytes, headers };
  if (format === 'cloudevents') return parseCloudEvent(body, decoder);
  const decodeBody = (charset: string | undefined): string =>
    decoderOf(charset)?.(bytes) ?? decodeUtf8(bytes, decoder);
  const charset = charsetOf(contentType);
  if (format === 'text') return decodeBody(charset);
  if (bytes.length === 0) return {};
  if (format === 'json') return parseJsonBody(bytes, decoder, contentType);
  if (format === 'form' && isInParts(contentType)) return yield* parseMultipart(body, decoder);
  const inParts = unannouncedParts(bytes, contentType);
  if (inParts !== undefined) throw new HookError('invalid_body', inParts);
  const { detail, ...other } = mismatch(bytes, formatOf(contentType), format) ?? {};
  if (detail !== undefined) throw new HookError('invalid_body', detail, other);
  if (format === 'xml') return yield* parseXml(decodeBody(charset ?? encodingOfXml(bytes)));
  return parseFormBody(bytes, charset, decoder);
}

/** Every event has these (CloudEvents 1.0, section 3.1). */
const REQUIRED = ['specversion', 'id', 'source', 'type'] as const;
const ATTRIBUTE = /^ce-([a-z0-9]{1,40})$/;

/**
 * A CloudEvent in either HTTP form (CloudEvents 1.0, HTTP protocol binding): structured as it is, binary put together
 * from its `ce-` headers and its body. So mappings read `type`, `source` and `data.…` whatever the sender chose.
 * @throws HookError `invalid_body`, `invalid_json`, `invalid_utf8`
 */
function parseCloudEvent(body: ReceivedBody, decoder: TextDecoder): JsonValue {
  const type = mediaType(body.headers['content-type']);
  if (!type.startsWith('application/cloudevents')) return checkedEvent(binaryEvent(body, decoder));
  if (type.startsWith('application/cloudevents-batch')) {
    throw new HookError(
      'invalid_body',
      'the body is a batch of CloudEvents; send each event in a request of its own',
    );
  }
  if (type !== 'application/cloudevents+json') {
    throw new HookError(
      'invalid_body',
      'the CloudEvent is not written as JSON (application/cloudevents+json)',
    );
  }
  return checkedEvent(parseJsonBody(body.bytes, decoder));
}

/** The attributes of an event that stand in headers. */
export function eventAttributes(headers: ReceivedBody['headers']): Record<string, JsonValue> {
  const event = Object.create(null) as Record<string, JsonValue>;
  for (const [name, value] of Object.entries(headers)) {
    const attribute = ATTRIBUTE.exec(name)?.[1];
    if (attribute !== undefined) event[attribute] = percentDecoded(value);
  }
  return event;
}

function binaryEvent({ bytes, headers }: ReceivedBody, decoder: TextDecoder): JsonValue {
  const event = eventAttributes(headers);
  const contentType = headers['content-type'];
  if (contentType !== undefined) event['datacontenttype'] = contentType;
  if (bytes.length === 0) return event;
  const type = mediaType(contentType);
  if (contentType === undefined || formatOf(contentType) === 'json')
    event['data'] = parseJsonBody(bytes, decoder);
  else if (type.startsWith('text/') || formatOf(contentType) === 'xml')
    event['data'] = decodeUtf8(bytes, decoder);
  else event['data_base64'] = bytes.toString('base64');
  return event;
}

/** Attribute values are percent-encoded in headers (section 3.1.3.2 of the binding). */
function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function checkedEvent(event: JsonValue): JsonValue {
  const missing = REQUIRED.find((name) => {
    const value = fieldAt(event, [name]);
    return typeof value !== 'string' || value === '';
  });
  if (missing === undefined) return event;
  throw new HookError(
    'invalid_body',
    `this path takes CloudEvents, and this request has no "${missing}": neither a ce-${missing} header nor a body of application/cloudevents+json with it`,
  );
}
