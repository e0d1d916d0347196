import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { printYaml } from '../document/document.ts';
import type { HookRequest, JsonObject, JsonValue } from '../request.ts';

export interface RecordOptions {
  readonly dir: string;
  /** Places whose values are masked, e.g. `payload.email`, `headers.x-real-ip`, `payload.users[].name`. */
  readonly masks: readonly string[];
  /** Case name below the group; default the time of receipt and the request id's first 8 digits. */
  readonly name?: string;
}

/**
 * Headers that carry credentials of known senders and proxies. Token headers of ours were removed before; what
 * remains here would let a reader forge or replay.
 */
const SECRET_HEADERS =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|x-auth-token|.*(signature|-token|-secret|-password|apikey|api-key).*)$/;
/** Headers of the transport, which say nothing about the hook and differ on every delivery. */
const TRANSPORT_HEADERS =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|accept|keep-alive|expect|te|traceparent|tracestate|x-request-id)$/;
const MASK = '***';

/**
 * Writes a received request as a new case file and resolves to its path; an existing file is never overwritten.
 * A group is the hook name.
 */
export async function recordCase(request: HookRequest, options: RecordOptions): Promise<string> {
  const stamp = new Date(request.receivedAt).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const base = options.name ?? `${stamp}-${request.id.slice(0, 8)}`;
  const group = request.path.replaceAll(/[^\w.-]+/g, '-') || 'root';
  const text = printYaml(toCaseFile(request, options.masks));
  for (let attempt = 1; attempt <= 1000; attempt++) {
    const file = join(options.dir, group, `${attempt === 1 ? base : `${base}-${attempt}`}.request.yaml`);
    await mkdir(dirname(file), { recursive: true });
    try {
      await writeFile(file, text, { flag: 'wx', mode: 0o600 });
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`a thousand cases named ${group}/${base} exist already; name it otherwise`);
}

/** The case file's content: credentials removed, transport headers left out, masked places replaced. */
function toCaseFile(request: HookRequest, masks: readonly string[]): JsonObject {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(
      ([name]) => !SECRET_HEADERS.test(name) && !TRANSPORT_HEADERS.test(name),
    ),
  );
  let file: JsonObject = {
    path: request.path,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(request.query).length === 0 ? {} : { query: { ...request.query } }),
    now: new Date(request.receivedAt).toISOString(),
    payload: request.payload,
  };
  for (const mask of masks) file = maskPath(file, splitPath(mask)) as JsonObject;
  const { payload, ...rest } = file;
  return { ...rest, body: payload ?? null };
}

/** `payload.users[].name` -> keys, where `[]` (or `*`) means every element. */
function splitPath(path: string): readonly string[] {
  return path
    .replaceAll('[]', '.*')
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((key) => key !== '');
}

function maskPath(value: JsonValue, keys: readonly string[]): JsonValue {
  const [key, ...rest] = keys;
  if (key === undefined) return value === null ? null : MASK;
  if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    return list.map((item, index) => (key === '*' || key === String(index) ? maskPath(item, rest) : item));
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, item]) => [
      name,
      key === '*' || key === name ? maskPath(item, rest) : item,
    ]),
  );
}
