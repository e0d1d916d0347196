import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { carriesSignature, withoutSignature } from '../advice/proof-headers.ts';
import { printYaml } from '../../base/document/document.ts';
import { ExactNumber, isJsonText, parseJson, type JsonObject, type JsonValue } from '../../base/json.ts';
import { withSchemaLine } from '../../base/own-package.ts';
import { asItWasRead } from '../../base/payload/payload.ts';
import type { HookRequest } from '../../base/request.ts';
import {
  MIN_SECRET_NUMBER,
  namesSecret,
  namesSecretText,
  REMOVED,
  SECRET_CARRIER,
  withoutSecrets,
} from '../../base/telemetry/telemetry.ts';

export interface RecordOptions {
  readonly dir: string;
  readonly masks: readonly string[];
  readonly secrets?: readonly string[];
}

/** Transport headers say nothing about the hook, and differ on every delivery and behind every proxy. */
const TRANSPORT_HEADERS =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|accept|keep-alive|expect|te|via|forwarded|x-forwarded-.*|x-real-ip|traceparent|tracestate|x-request-id)$/;
const MASK = '***';
const ROOTS = ['payload', 'body', 'headers', 'query'] as const;

/**
 * Says what is wrong with a place to mask, or undefined. A mask that can match nothing would leave a secret
 * in the file.
 */
export function maskProblem(mask: string): string | undefined {
  const [root, ...rest] = splitPath(mask);
  if (rest.length > 0 && ROOTS.some((known) => known === root)) return undefined;
  return `a place to mask begins with payload., headers. or query., such as payload.email or payload.users[].name; found ${JSON.stringify(mask)}`;
}

export interface RecordedCase {
  readonly file: string;
  readonly unused: readonly string[];
  readonly leftOut: readonly string[];
}

/**
 * Writes a received request as a new case file, with its time and the first 8 digits of its id as the name; an existing
 * file is never overwritten. The group is the hook name.
 */
export async function recordCase(request: HookRequest, options: RecordOptions): Promise<RecordedCase> {
  const stamp = new Date(request.receivedAt).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const base = `${stamp}-${request.id.slice(0, 8)}`;
  const { content, leftOut } = sampleOf(asItWasRead(request), options.secrets);
  const folder = resolve(options.dir, caseGroup(content['path'] as string));
  const { masked, unused } = maskAll(content, options.masks);
  await mkdir(folder, { recursive: true });
  for (let attempt = 1; ; attempt++) {
    try {
      const file = await writeCase(folder, attempt === 1 ? base : `${base}-${attempt}`, masked);
      return { file, unused, leftOut };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function maskAll(
  plain: JsonObject,
  written: readonly string[],
): { readonly masked: JsonObject; readonly unused: readonly string[] } {
  const masks = written.map((mask) => splitPath(mask));
  const masked = masks.reduce((value, keys) => maskPath(value, keys) as JsonObject, plain);
  const unused = written.filter((_, index) => maskPath(plain, masks[index] ?? []) === plain);
  return { masked, unused };
}

async function writeCase(folder: string, name: string, content: JsonObject): Promise<string> {
  const { body = null, ...head } = content;
  const file = join(folder, `${name}.request.yaml`);
  const bodyFile = `${name}.body.json`;
  // Case files refuse the key __proto__, as all files of operators do. A sender may use it, so such a
  // body is JSON.
  const bodyJson = JSON.stringify(body);
  const isApart = bodyJson.includes('"__proto__":');
  const text = printYaml(isApart ? { ...head, bodyFile } : content);
  const options = { flag: 'wx', mode: 0o600 };
  await writeFile(file, withSchemaLine(`${SCHEMA_LINE}${text}`, folder), options);
  if (isApart) await writeFile(join(folder, bodyFile), `${bodyJson}\n`, options);
  return file;
}

const SCHEMA_LINE = '# yaml-language-server: $schema=request.schema.json\n';

/**
 * Returns the folder of a hook name's cases. No name leads out of the folder above: a hook called ".." becomes dots.
 */
function caseGroup(path: string): string {
  return path.replaceAll(/[^\w.-]+/g, '-').replace(/^\.+/, '') || 'root';
}

export const caseFileOf = (request: HookRequest): JsonObject => sampleOf(request).content;

/**
 * Returns a request as the content of a case file, without transport headers and without credentials: by
 * the names of headers, parameters and fields of the body, and the configuration's own wherever they stand.
 * It says what it left out.
 */
export function sampleOf(
  request: HookRequest,
  secrets: readonly string[] = [],
): { readonly content: JsonObject; readonly leftOut: readonly string[] } {
  const leftOut = new Set<string>();
  const plain = (text: string, place: string): string => {
    const safe = withoutSecrets(text, secrets, 'text');
    if (safe !== text) leftOut.add(place);
    return safe;
  };
  const carried = (values: HookRequest['headers'], root: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, text]) => {
        if (name === '__proto__' || (root === 'headers' && TRANSPORT_HEADERS.test(name))) return [];
        const isProof = root === 'headers' && carriesSignature(name, text);
        if (!isProof && !SECRET_CARRIER.test(name))
          return [[plain(name, root), plain(text, `${root}.${name}`)]];
        leftOut.add(`${root}.${plain(name, root)}`);
        return [];
      }),
    );
  const bodyOf = (value: JsonValue, place: string, isSecret: boolean): JsonValue => {
    if (typeof value === 'string') return isSecret ? removed(value, place) : textOf(value, place);
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'number' || value instanceof ExactNumber)
      return isSecret && Math.abs(Number(value)) >= MIN_SECRET_NUMBER ? removed(String(value), place) : value;
    if (Array.isArray(value))
      return (value as readonly JsonValue[]).map((item) => bodyOf(item, `${place}[]`, isSecret));
    return Object.fromEntries(
      Object.entries(value as JsonObject).map(([name, item]) => {
        const isText = (typeof item === 'string' || Array.isArray(item)) && namesSecretText(name);
        const here = plain(name, place);
        return [here, bodyOf(item, `${place}.${here}`, isSecret || isText || namesSecret(name))];
      }),
    );
  };
  const removed = (text: string, place: string): string => {
    if (text === '' || text === REMOVED) return text;
    leftOut.add(place);
    return REMOVED;
  };
  /** A form may carry its event as JSON in a field. */
  const textOf = (text: string, place: string): string => {
    if (!/^\s*[[{]/.test(text) || !isJsonText(text)) return plain(text, place);
    const value = parseJson(text);
    const safe = JSON.stringify(bodyOf(value, place, false));
    return safe === JSON.stringify(value) ? text : safe;
  };
  const headers = { ...carried(request.headers, 'headers'), ...signatureForms(request.headers) };
  const query = carried(request.query, 'query');
  const content = {
    path: plain(request.path, 'path'),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(query).length === 0 ? {} : { query }),
    now: new Date(request.receivedAt).toISOString(),
    body: bodyOf(request.payload, 'payload', false),
  };
  return { content, leftOut: [...leftOut] };
}

/** Keeps the name and the form of a signature, which show who signs and how. */
function signatureForms(headers: HookRequest['headers']): HookRequest['headers'] {
  const signatures = Object.entries(headers).filter(([name, text]) => carriesSignature(name, text));
  return Object.fromEntries(signatures.map(([name, text]) => [name, withoutSignature(text)]));
}

/** Splits `payload.users[].name` into keys, where `[]` (or `*`) means every element; header names are in lower case. */
function splitPath(path: string): readonly string[] {
  const [root = '', ...keys] = path
    .replaceAll('[]', '.*')
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((key) => key !== '');
  if (root === 'headers') return [root, keys.join('.').toLowerCase()].filter((key) => key !== '');
  return [root === 'payload' ? 'body' : root, ...keys];
}

/** Returns the value itself where the keys match nothing. */
function maskPath(value: JsonValue, keys: readonly string[]): JsonValue {
  const [key, ...rest] = keys;
  if (key === undefined) return value === null ? value : MASK;
  if (value === null || typeof value !== 'object' || value instanceof ExactNumber) return value;
  let found = false;
  const visit = (name: string, item: JsonValue): JsonValue => {
    if (key !== '*' && key !== name) return item;
    const masked = maskPath(item, rest);
    if (masked !== item) found = true;
    return masked;
  };
  const result = Array.isArray(value)
    ? (value as readonly JsonValue[]).map((item, index) => visit(String(index), item))
    : Object.fromEntries(
        Object.entries(value as JsonObject).map(([name, item]) => [name, visit(name, item)] as const),
      );
  return found ? result : value;
}
