import type { TextDecoder } from 'node:util';
import { HookError } from '../errors.ts';
import { ExactNumber, parseJson, type JsonObject, type JsonValue } from '../json.ts';
import type { Exchange } from './exchange.ts';
import { findJsonError } from './json-error.ts';

/** Deeper payloads are refused: no sender is known to come near it, and recursion over it stays harmless. */
const MAX_DEPTH = 512;
const EMPTY = Buffer.alloc(0);

/**
 * Refuses a body whose bytes would not be its text.
 * @throws HookError `unsupported_encoding`
 */
export function checkEncoding({ headers }: Exchange): void {
  const encoding = headers.values['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return;
  throw new HookError(
    'unsupported_encoding',
    'the Content-Encoding header says the body is compressed or encoded; send it as it is',
  );
}

/**
 * Reads the body within its limit. Its time is kept by the server's check of open connections, which fails it
 * through the connection: a timer of its own for every request would cost more than reading does.
 * @throws HookError `body_too_large`, `body_timeout`, `request_aborted`
 */
export function readBody(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  if (!exchange.hasBody) return Promise.resolve(EMPTY);
  const { req, res, connection } = exchange;
  // What says itself that it is too long need not be read.
  const announced = exchange.headers.values['content-length'];
  if (announced !== undefined && Number(announced) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  if (connection.failure !== undefined) return Promise.reject(connection.failure);
  if (exchange.expectsContinue) res.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const finish = (): void => {
      connection.failBody = undefined;
      req.off('data', onData);
      req.off('end', onEnd);
    };
    const fail = (error: HookError): void => {
      finish();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      exchange.bodyBytes += chunk.length;
      if (exchange.bodyBytes > maxBytes) fail(tooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      finish();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, exchange.bodyBytes));
    };
    connection.failBody = fail;
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('error', () => fail(aborted()));
  });
}

/** The sender left, or closed its side, before its request was complete. */
export function aborted(): HookError {
  return new HookError('request_aborted', 'the connection ended before the request was complete');
}

/**
 * Parses a body: strict UTF-8, any JSON value, an empty or blank one is `{}`.
 * @throws HookError `invalid_utf8`, `invalid_json`, `invalid_body`
 */
export function parseBody(bytes: Buffer, decoder: TextDecoder): JsonValue {
  if (bytes.length === 0) return {};
  const text = decodeUtf8(bytes, decoder);
  let payload: JsonValue;
  try {
    payload = parseJson(text);
  } catch {
    if (text.trim() === '') return {};
    const found = findJsonError(text);
    throw new HookError(
      'invalid_json',
      found === undefined
        ? 'the body is not JSON'
        : `the body is not JSON at line ${found.line}, column ${found.column}: expected ${found.expected}`,
    );
  }
  if (bytes.length > MAX_DEPTH && !isWithinDepth(payload, MAX_DEPTH)) {
    throw new HookError('invalid_body', `the body is nested more than ${MAX_DEPTH} levels deep`);
  }
  return payload;
}

function decodeUtf8(bytes: Buffer, decoder: TextDecoder): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new HookError('invalid_utf8', 'the body holds bytes that are not UTF-8; send JSON as UTF-8');
  }
}

/** Recursive, at most `levels` deep; linear in the number of values. */
function isWithinDepth(value: JsonValue, levels: number): boolean {
  if (value === null || typeof value !== 'object' || value instanceof ExactNumber) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[]) if (!isWithinDepth(item, levels - 1)) return false;
    return true;
  }
  const members = value as JsonObject;
  // oxlint-disable-next-line typescript/no-for-in-array -- arrays are dealt with above; Object.values would copy
  for (const key in members) {
    if (!isWithinDepth(members[key] as JsonValue, levels - 1)) return false;
  }
  return true;
}

function tooLarge(maxBytes: number): HookError {
  return new HookError('body_too_large', `the body is longer than the ${maxBytes} bytes this hook takes`);
}
