import { TextDecoder } from 'node:util';
import { quoted, say } from '../../base/finding.ts';
import { hash } from 'node:crypto';
import { dirname, extname, join } from 'node:path';
import {
  displayName,
  wholeFile,
  type Finding,
  type LocatedValue,
  readBounded,
  type Place,
} from '../../base/document/document.ts';
import { parseDocument } from '../../base/document/facts.ts';
import { HookError } from '../../base/errors.ts';
import { parseJson, type JsonValue } from '../../base/json.ts';
import { type BodyFormat, announcedFormat, inflateBody, parsePayload } from '../../base/payload/payload.ts';

/** The body of one delivery: its value, and the bytes of its file. */
export type CaseBody =
  | {
      readonly value: JsonValue;
      readonly file?: string;
      readonly raw?: Buffer;
      /** The hash of the bytes without their compression. */
      readonly sha256?: string;
    }
  | { readonly findings: readonly Finding[] };

interface CaseBodyKeys {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly bodyFile?: string | undefined;
}

/** Reads `body` or `bodyFile` of a delivery in a request file. */
export async function readCaseBody(
  requestFile: string,
  delivery: CaseBodyKeys,
  part: LocatedValue,
): Promise<CaseBody> {
  const at = part.place(['bodyFile']);
  // An empty body counts as {}, and null counts as null, as they would be sent.
  if (delivery.bodyFile === undefined)
    return { value: delivery.body === undefined ? {} : (part.exact(['body']) as JsonValue) };
  if (delivery.body !== undefined) {
    const message = 'both body and bodyFile are given';
    return problem({ code: 'TWO_BODIES', message: quoted(message), at, hint: say`keep one of them` });
  }
  const file = join(dirname(requestFile), delivery.bodyFile);
  const raw = await readWhole(file);
  if (typeof raw !== 'string') return parseBodyFile({ file, raw }, delivery, at);
  return problem({
    code: 'BODY_FILE_UNREADABLE',
    message: say`bodyFile ${delivery.bodyFile} cannot be read: ${raw}`,
    at,
    hint: say`correct the path, which is relative to the request file`,
  });
}

async function parseBodyFile(
  { file, raw }: { readonly file: string; readonly raw: Buffer },
  delivery: CaseBodyKeys,
  at: Place,
): Promise<CaseBody> {
  const headers = Object.fromEntries(
    Object.entries(delivery.headers ?? {}).map(([header, value]) => [header.toLowerCase(), value]),
  );
  const format = formatOfFile(file, headers);
  try {
    const bytes = await inflateBody(raw, headers['content-encoding'], MAX_BODY_BYTES);
    return { value: parseBody(bytes, headers, format), file, raw, sha256: hash('sha256', bytes) };
  } catch (error) {
    const message = say`bodyFile ${delivery.bodyFile ?? ''} is not ${NAMES[format]}`;
    const ours = { code: 'BODY_FILE_UNREADABLE', message, at };
    if (format === 'json') return notJson({ file, raw }, ours);
    return problem({ ...ours, hint: quoted(error instanceof HookError ? error.detail : FORMAT_HINT) });
  }
}

export const PAYLOAD_FILE = /\.(?:json|form|xml|txt)$/i;

/** Reads a file that is a body, of the format that its name says. */
export async function readPayloadFile(file: string): Promise<CaseBody> {
  const raw = await readWhole(file);
  const at = wholeFile(displayName(file));
  if (typeof raw !== 'string') return parseBodyFile({ file, raw }, { bodyFile: displayName(file) }, at);
  return problem({
    code: 'BODY_FILE_UNREADABLE',
    message: say`${displayName(file)} cannot be read: ${raw}`,
    at,
  });
}

const FORMAT_HINT =
  "the format is what the end of the file's name says, else the Content-Type of the request";

/** A document may have as many bytes. */
const MAX_BODY_BYTES = 4_194_304;

async function readWhole(file: string): Promise<Buffer | string> {
  try {
    const bytes = await readBounded(file, MAX_BODY_BYTES);
    return bytes.length > MAX_BODY_BYTES ? `it is larger than ${MAX_BODY_BYTES} bytes` : bytes;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return `there is no file ${displayName(file)}`;
    return code ?? message;
  }
}

const NAMES: Readonly<Record<BodyFormat, string>> = {
  json: 'JSON',
  form: 'a form',
  xml: 'XML',
  text: 'text',
  cloudevents: 'a CloudEvent',
};
const ENDINGS: Readonly<Record<string, BodyFormat>> = {
  '.json': 'json',
  '.form': 'form',
  '.xml': 'xml',
  '.txt': 'text',
};

/** The name of the file decides, then the request's Content-Type; the default is JSON. */
function formatOfFile(file: string, headers: Readonly<Record<string, string>>): BodyFormat {
  return ENDINGS[extname(file).toLowerCase()] ?? announcedFormat(headers['content-type']) ?? 'json';
}

function parseBody(bytes: Buffer, headers: Readonly<Record<string, string>>, format: BodyFormat): JsonValue {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return format === 'json'
    ? parseJson(decoder.decode(bytes))
    : parsePayload({ bytes, headers }, format, decoder);
}

/** The engine's error has no place, so the file is parsed again. */
function notJson(
  { file, raw }: { readonly file: string; readonly raw: Buffer },
  ours: Omit<Finding, 'severity'>,
): CaseBody {
  const found = parseDocument({ file: displayName(file), text: raw.toString('utf8') }, 'json').findings;
  return found.some(({ severity }) => severity === 'error')
    ? { findings: found }
    : { findings: [...found, { severity: 'error', ...ours }] };
}

function problem(finding: Omit<Finding, 'severity'>): CaseBody {
  return { findings: [{ severity: 'error', ...finding }] };
}
