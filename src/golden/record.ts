import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutSignature } from '../advice/proof-headers.ts';
import { printYaml } from '../document/document.ts';
import { ExactNumber, type JsonObject, type JsonValue } from '../json.ts';
import type { HookRequest } from '../request.ts';

export interface RecordOptions {
  readonly dir: string;
  /** Places whose values are masked, e.g. `payload.email`, `headers.x-real-ip`, `payload.users[].name`. */
  readonly masks: readonly string[];
  /** Case name below the group; default the time of receipt and the request id's first 8 digits. */
  readonly name?: string;
}

/**
 * Headers and query parameters that carry credentials of known senders and proxies, by the words in their names.
 * Token headers of ours were removed before; what remains here would let a reader forge or replay.
 */
const SECRET_NAMES =
  /authorization|cookie|signature|[-_]sig$|^sig$|hmac|token|secret|passw|api-?_?key|^key$|jwt|credential|session|^x-auth/;
/** Headers of the transport, which say nothing about the hook and differ on every delivery and behind every proxy. */
const TRANSPORT_HEADERS =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|accept|keep-alive|expect|te|via|forwarded|x-forwarded-.*|x-real-ip|traceparent|tracestate|x-request-id)$/;
const MASK = '***';
const ROOTS = ['payload', 'body', 'headers', 'query'] as const;

/** What is wrong with a place to mask, or undefined: one that can match nothing would leave a secret in the file. */
export function maskProblem(mask: string): string | undefined {
  const [root, ...rest] = splitPath(mask);
  if (rest.length > 0 && ROOTS.some((known) => known === root)) return undefined;
  return `a place to mask begins with payload., headers. or query., such as payload.email or payload.users[].name; found ${JSON.stringify(mask)}`;
}

/** Masks that fit nothing in this request. */
export function unusedMasks(request: HookRequest, masks: readonly string[]): readonly string[] {
  return maskAll(caseFileOf(request), masks).unused;
}

export interface RecordedCase {
  readonly file: string;
  /** Masks that fitted nothing in this request. */
  readonly unused: readonly string[];
}

/**
 * Writes a received request as a new case file; an existing file is never overwritten. A group is the hook name.
 */
export async function recordCase(request: HookRequest, options: RecordOptions): Promise<RecordedCase> {
  const stamp = new Date(request.receivedAt).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const base = options.name ?? `${stamp}-${request.id.slice(0, 8)}`;
  const group = caseGroup(request.path);
  const folder = join(options.dir, group);
  const { masked, unused } = maskAll(caseFileOf(request), options.masks);
  await mkdir(folder, { recursive: true });
  for (let attempt = 1; attempt <= 1000; attempt++) {
    try {
      const file = await writeCase(folder, attempt === 1 ? base : `${base}-${attempt}`, masked);
      return { file, unused };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`there are a thousand cases named ${group}/${base} already; choose another name`);
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

/** Resolves to the file; rejects where it exists. */
async function writeCase(folder: string, name: string, content: JsonObject): Promise<string> {
  const { body = null, ...head } = content;
  const file = join(folder, `${name}.request.yaml`);
  const bodyFile = `${name}.body.json`;
  // Case files refuse the key __proto__, as all files of operators do; a sender may have it: its body is JSON.
  const bodyJson = JSON.stringify(body);
  const isApart = bodyJson.includes('"__proto__":');
  const text = printYaml(isApart ? { ...head, bodyFile } : content);
  const options = { flag: 'wx', mode: 0o600 };
  await writeFile(file, `${schemaLine(file)}${text}`, options);
  if (isApart) await writeFile(join(folder, bodyFile), `${bodyJson}\n`, options);
  return file;
}

const SCHEMA = fileURLToPath(new URL('../../schemas/request.schema.json', import.meta.url));

/** Tells editors the form of the file. */
function schemaLine(file: string): string {
  return `# yaml-language-server: $schema=${relative(dirname(file), SCHEMA)}\n`;
}

/** The folder of a hook name's cases. No name leads out of the folder above: a hook called ".." is one of dots. */
export function caseGroup(path: string): string {
  return path.replaceAll(/[^\w.-]+/g, '-').replace(/^\.+/, '') || 'root';
}

/** A request as the content of a case file: credentials and headers of the transport left out. */
export function caseFileOf(request: HookRequest): JsonObject {
  const headers = {
    ...without(request.headers, (name) => SECRET_NAMES.test(name) || TRANSPORT_HEADERS.test(name)),
    ...signatureForms(request.headers),
  };
  const query = without(request.query, (name) => SECRET_NAMES.test(name.toLowerCase()));
  return {
    path: request.path,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(query).length === 0 ? {} : { query }),
    now: new Date(request.receivedAt).toISOString(),
    body: request.payload,
  };
}

/** Of a signature what shows who signs and how: its name, and its form. */
function signatureForms(headers: HookRequest['headers']): HookRequest['headers'] {
  const signatures = Object.entries(headers).filter(([name]) => /signature|hmac|[-_]sig$/.test(name));
  return Object.fromEntries(signatures.map(([name, text]) => [name, withoutSignature(text)]));
}

function without(
  values: Readonly<Record<string, string>>,
  isLeftOut: (name: string) => boolean,
): Readonly<Record<string, string>> {
  const kept = Object.entries(values).filter(([name]) => name !== '__proto__' && !isLeftOut(name));
  return Object.fromEntries(kept);
}

/** `payload.users[].name` -> keys, where `[]` (or `*`) means every element; header names in lower case. */
function splitPath(path: string): readonly string[] {
  const [root = '', ...keys] = path
    .replaceAll('[]', '.*')
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((key) => key !== '');
  if (root === 'headers') return [root, keys.join('.').toLowerCase()].filter((key) => key !== '');
  return [root === 'payload' ? 'body' : root, ...keys];
}

/** The value with every place that the keys name replaced; the value itself where they name none. */
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
