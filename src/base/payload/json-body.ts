import type { TextDecoder } from 'node:util';
import { HookError } from '../errors.ts';
import { ExactNumber, type JsonObject, type JsonValue, parseJson } from '../json.ts';
import {
  type AnnouncedFormat,
  type FormatFacts,
  formatOf,
  guessOther,
  mismatchOf,
  unannouncedParts,
} from './formats.ts';
import { EXPECTED, findJsonError, type JsonFacts } from './json-error.ts';
import { decodeUtf8 } from './text.ts';

const HYPHEN = 0x2d;
/** Deeper payloads are refused: no sender is known to come near it, and recursion over it stays harmless. */
export const MAX_DEPTH = 512;

/**
 * Parses a JSON body: strict UTF-8, any JSON value, an empty or blank one is `{}`. `contentType` is only asked where the
 * body is no JSON: many senders announce something else than they send.
 * @throws HookError `invalid_utf8`, `invalid_json`, `invalid_body`
 */
export function parseJsonBody(bytes: Buffer, decoder: TextDecoder, contentType?: string): JsonValue {
  if (bytes.length === 0) return {};
  checkParts(bytes, contentType);
  const text = decodeUtf8(bytes, decoder);
  let payload: JsonValue;
  try {
    payload = parseJson(text, bytes);
  } catch {
    if (text.trim() === '') return {};
    throw notJson(describeProblem(text, formatOf(contentType)));
  }
  if (mayBeDeep(text)) checkDepth(payload);
  return payload;
}

/** A form in parts may hold the bytes of a file, which are no text; no JSON begins with two hyphens. */
function checkParts(bytes: Buffer, contentType: string | undefined): void {
  if (bytes[0] !== HYPHEN || bytes[1] !== HYPHEN) return;
  const isAnnounced = formatOf(contentType) === 'multipart';
  if (isAnnounced) throw notJson(mismatchOf('multipart', 'json', bytes.includes('name="payload"')));
  const detail = unannouncedParts(bytes, contentType);
  if (detail !== undefined) throw notJson({ detail });
}

interface BodyProblem {
  readonly detail: string;
  readonly field?: string;
  readonly facts?: JsonFacts | FormatFacts;
}

const notJson = ({ detail, ...options }: BodyProblem): HookError =>
  new HookError('invalid_json', detail, options);

function describeProblem(text: string, announced: AnnouncedFormat | undefined): BodyProblem {
  // What begins as JSON was meant to be: curl -d announces a form, whatever it sends.
  const isJson = announced === undefined || announced === 'json' || /^\s*[{[]/.test(text);
  if (!isJson) {
    // GitHub and Slack send their JSON so, and a path that takes forms unpacks it.
    const isWrapped = announced === 'form' && /^payload=(?:%7B|%5B|[{[])/i.test(text);
    return mismatchOf(announced, 'json', isWrapped);
  }
  const found = findJsonError(text);
  if (found === undefined) return { detail: 'the body is not JSON' };
  const other =
    announced === undefined && text.slice(0, found.facts.at).trim() === '' ? guessOther(text) : undefined;
  if (other !== undefined) return mismatchOf(other, 'json');
  const { field, facts } = found;
  const detail = `the body is not JSON at line ${facts.line}, column ${facts.column}: expected ${EXPECTED[facts.expected]}`;
  return { detail, facts, ...(field === undefined ? {} : { field }) };
}

/** Whether a JSON text opens more lists and objects than may lie in each other: most do not, and are not walked. */
function mayBeDeep(text: string): boolean {
  let opened = 0;
  for (const bracket of ['[', '{']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      opened += 1;
      if (opened > MAX_DEPTH) return true;
    }
  }
  return false;
}

/** @throws HookError `invalid_body` */
export function checkDepth(payload: JsonValue): void {
  if (isWithinDepth(payload, MAX_DEPTH)) return;
  throw new HookError('invalid_body', `the body is nested more than ${MAX_DEPTH} levels deep`);
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
