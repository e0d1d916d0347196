/**
 * From the bytes of a proved request to its payload. Every format makes JSON values; objects made here have no
 * prototype, depth and number of fields are bounded, and no message quotes what a sender wrote.
 */
import type { TextDecoder } from 'node:util';
import { HookError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import { parseCloudEvent } from './cloudevents.ts';
import {
  announcedFormat,
  type BodyFormat,
  formatOf,
  isInParts,
  mismatch,
  soleContentType,
  unannouncedParts,
} from './formats.ts';
import { parseFormBody } from './form.ts';
import { parseJsonBody } from './json-body.ts';
import { parseMultipart } from './multipart.ts';
import { charsetOf, decoderOf, decodeUtf8, encodingOfXml } from './text.ts';
import type { ReceivedBody } from './received-body.ts';
import { parseXml } from './xml.ts';

export { eventAttributes } from './cloudevents.ts';
export { announcedFormat, BODY_FORMATS, type BodyFormat } from './formats.ts';
export { readPartTexts } from './multipart.ts';
export { parseForm } from './form.ts';
export { isFormFile, writeParts } from './write-parts.ts';
export {
  asItWasRead,
  CONTENT_TYPES,
  UnwritableBody,
  writeBody,
  writeQuery,
  type WrittenBody,
} from './write-body.ts';
export type { ReceivedBody } from './received-body.ts';
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
    // oxlint-disable-next-line no-await-in-loop -- one step after the other
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
