import { printSentence } from '../finding.ts';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { printYaml } from '../document/document.ts';
import { parseDocument } from '../document/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { caseFileOf } from '../golden/golden.ts';
import { createHookRequest } from '../hook/hook.ts';
import { shippedSenders } from '../senders/senders.ts';
import type { Scheme } from '../verify/facts.ts';
import { SCHEMES } from '../verify/verify.ts';
import { FIRST_LIMITS, secretFileOf, withSchema, type Places, type PlannedFile } from './add-plan.ts';
import { readDeliveries } from './request-file.ts';
import { CliError, type Terminal } from './terminal.ts';

/** A first mapping made from one request, and the request as its golden case. */
export interface SamplePlan {
  readonly files: readonly PlannedFile[];
  /** The provider whose signature the sample carries; undefined where it carries none. */
  readonly scheme: string | undefined;
}

interface Sample {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly payload: JsonValue;
}

/** Lines of the message at most; a person takes out what is too much, and rarely adds. */
const MAX_LINES = 12;
const MAX_DEPTH = 3;
/** A longer text is cut in the message. */
const LONG_CHARS = 200;

/** Makes a mapping from a request file, or from a payload as JSON or YAML. */
export async function planSample(
  terminal: Terminal,
  { name, sample, places }: { readonly name: string; readonly sample: string; readonly places: Places },
): Promise<SamplePlan> {
  const given = await readSample(terminal, sample);
  const scheme = schemeOf(given.headers);
  const proof = `{ scheme: ${scheme ?? 'token'}, secrets: [{ file: ${secretFileOf(name)} }] }`;
  const mapping = writeMapping(name, given, proof);
  const file = join(places.mappings, `${name}.yaml`);
  return {
    scheme,
    files: [
      { path: file, text: withSchema(mapping, places) },
      { path: join(places.cases, name, 'sample.request.yaml'), text: caseText(name, given) },
    ],
  };
}

async function readSample(terminal: Terminal, file: string): Promise<Sample> {
  if (/\.request\.(ya?ml|json)$/.test(file)) {
    const [delivery] = await readDeliveries(terminal, file);
    if (delivery === undefined) throw new CliError(`${file} has no delivery`);
    const { headers, query, payload } = delivery.request;
    return { headers, query, payload };
  }
  const text = await readFile(resolve(terminal.cwd, file), 'utf8').catch(() => {
    throw new CliError(`${file} cannot be read`, 2);
  });
  const format = /\.json5?$/.test(file) || /^\s*[[{]/.test(text) ? 'json' : 'yaml';
  const { document, diagnostics } = parseDocument({ file, text }, format);
  if (document === undefined) {
    throw new CliError(
      `${file} is neither JSON nor YAML: ${diagnostics[0] === undefined ? 'it cannot be read' : printSentence(diagnostics[0].message)}`,
    );
  }
  return { headers: {}, query: {}, payload: document.root.value as JsonValue };
}

/** As `sluice dev --record` writes it: without credentials and headers of the transport. */
function caseText(name: string, { headers, query, payload }: Sample): string {
  const receivedAt = Date.parse('2026-01-01T00:00:00Z');
  return printYaml(caseFileOf(createHookRequest({ path: name, headers, query, payload, receivedAt })));
}

function schemeOf(headers: Readonly<Record<string, string>>): string | undefined {
  const sent = new Set(Object.keys(headers).map((header) => header.toLowerCase()));
  const fitting = Object.entries(SCHEMES as Readonly<Record<string, Scheme>>).filter(([, { ways }]) =>
    ways.some(({ way }) =>
      way.kind === 'signature' ? sent.has(way.columns.header) : 'header' in way && sent.has(way.header),
    ),
  );
  // Several providers took over the header of GitHub.
  const named = fitting.find(([name]) => {
    const id = shippedSenders().find((each) => each.name === name)?.id;
    return id?.startsWith('headers.') === true && sent.has(id.slice('headers.'.length));
  });
  return (named ?? fitting[0])?.[0];
}

const MAPPING_HEAD = [
  '# yaml-language-server: $schema=../schemas/mapping.schema.json',
  '#',
  '# Made from one payload by "sluice add --from". Take out what you do not need, and say in "instructions" what the',
  '# agent should do. "sluice explain" shows what the sample becomes.',
  '',
];
const MAPPING_TEXTS = [
  '  instructions: |',
  '    Say in at most three lines what happened, and whether somebody has to act.',
  '  messageTemplate: |',
];

function writeMapping(name: string, sample: Sample, proof: string): string {
  const id = idOf(sample);
  const { otherwise, when } = kindLines(sample);
  return `${[
    ...MAPPING_HEAD,
    `- id: ${name}`,
    `  verify: ${proof}`,
    ...otherwise,
    '  match:',
    `    path: ${name}`,
    ...when,
    `  name: ${JSON.stringify(name)}`,
    ...(id === undefined ? [] : [`  dedupe: { key: ${JSON.stringify(`{{${id}}}`)}, ttlSeconds: 86400 }`]),
    `  ${FIRST_LIMITS}`,
    ...MAPPING_TEXTS,
    ...messageLines(sample.payload).map((line) => `    ${line}`),
  ].join('\n')}\n`;
}

const KIND_HEADERS = /^x-[\w-]*(?:event|topic)(?:-type|-name|-key)?$|^[\w-]+-(?:event|topic)$/;
const KIND_FIELDS = [
  'type',
  'event',
  'event_type',
  'eventType',
  'event_name',
  'topic',
  'kind',
  'action',
  'status',
];

/** Takes this kind of event only; what is not of it is accepted and left alone. */
function kindLines(sample: Sample): {
  readonly otherwise: readonly string[];
  readonly when: readonly string[];
} {
  const kind = kindOf(sample);
  if (kind === undefined) return { otherwise: [], when: [] };
  const condition = `{ '===': [{ var: ${JSON.stringify(kind.path)} }, ${JSON.stringify(kind.value)}] }`;
  return { otherwise: ['  otherwise: skip'], when: [`    when: ${condition}`] };
}

/** What tells this kind of event from the sender's others: a header, else a field. */
function kindOf({ headers, payload }: Sample): { readonly path: string; readonly value: string } | undefined {
  const header = Object.keys(headers).find((name) => KIND_HEADERS.test(name));
  if (header !== undefined) return { path: `headers.${header}`, value: headers[header] ?? '' };
  if (!isJsonObject(payload)) return undefined;
  const field = KIND_FIELDS.find((name) => isShortText(payload[name]));
  const value = field === undefined ? undefined : payload[field];
  return typeof value === 'string' ? { path: `payload.${field}`, value } : undefined;
}

const ID_HEADERS = /(?:delivery|event-id|webhook-id|message-id|event-uuid)$/;
const ID_FIELDS = ['event_id', 'eventId', 'webhook_id', 'delivery_id', 'message_id', 'uuid', 'id'];

function idOf({ headers, payload }: Sample): string | undefined {
  const header = Object.keys(headers).find((name) => ID_HEADERS.test(name));
  if (header !== undefined) return `headers.${header}`;
  if (!isJsonObject(payload)) return undefined;
  const field = ID_FIELDS.find((name) => isShortText(payload[name]) || typeof payload[name] === 'number');
  return field === undefined ? undefined : `payload.${field}`;
}

const isShortText = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= 100 && !value.includes('\n');

/** What people look for first. */
const TELLING = [
  /^(title|subject|summary|headline)$/i,
  /^(message|text|body|description|content|comment|reason|error)$/i,
  /^(name|full_name|display_name|login|username|user|author|from|sender)$/i,
  /^(status|state|level|severity|priority|action|result|conclusion)$/i,
  /(amount|total|price|count|value|number)$/i,
  /^(email|to|channel|host|service|project|environment|branch|ref|version)$/i,
  /^(html_url|web_url|url|link|permalink)$/i,
  /(_at|_on|date|time|timestamp)$/i,
];

interface Leaf {
  readonly path: readonly string[];
  readonly value: JsonValue;
  readonly rank: number;
}

function messageLines(payload: JsonValue): readonly string[] {
  if (!isJsonObject(payload)) {
    return Array.isArray(payload) ? listLines('payload', payload as readonly JsonValue[]) : ['{{payload}}'];
  }
  const leaves = leavesOf(payload, []).toSorted((a, b) => a.rank - b.rank);
  const lines = leaves.slice(0, MAX_LINES).map(({ path, value }) => {
    const place = templatePath(path);
    const isLong = typeof value === 'string' && value.length > LONG_CHARS;
    return `${path.join(' ')}: {{${isLong ? `truncate ${place} 2000` : place}}}`;
  });
  const lists = Object.entries(payload).flatMap(([key, value]) =>
    Array.isArray(value) && isPlainKey(key)
      ? listLines(templatePath([key]), value as readonly JsonValue[])
      : [],
  );
  const all = [...lines, ...lists];
  return all.length === 0 ? ['{{json payload}}'] : all;
}

/** Texts and numbers with a name that a template can say, the telling ones first, the deep ones last. */
function leavesOf(holder: JsonObject, path: readonly string[]): readonly Leaf[] {
  return Object.entries(holder).flatMap(([key, value]): readonly Leaf[] => {
    if (!isPlainKey(key) || value === null || value === '') return [];
    const here = [...path, key];
    if (isJsonObject(value)) return here.length < MAX_DEPTH ? leavesOf(value, here) : [];
    if (Array.isArray(value)) return [];
    const telling = TELLING.findIndex((pattern) => pattern.test(key));
    if (telling === -1 && here.length > 1) return [];
    return [{ path: here, value, rank: (telling === -1 ? TELLING.length : telling) * 10 + here.length }];
  });
}

function listLines(place: string, list: readonly JsonValue[]): readonly string[] {
  const [first] = list;
  if (first === undefined) return [];
  const title = place.replace(/^payload\.?/, '') || 'elements';
  if (!isJsonObject(first)) return [`${title}: {{join ${place} ", "}}`];
  const fields = leavesOf(first, [])
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, 3)
    .map(({ path }) => `{{${path.join('.')}}}`);
  const line = fields.length === 0 ? '{{json this}}' : fields.join(', ');
  return [`${title} ({{length ${place}}}):`, `{{#each ${place}}}`, `- ${line}`, '{{/each}}'];
}

const isPlainKey = (key: string): boolean => /^[A-Za-z_][\w-]{0,60}$/.test(key);

/** A name at the root of a request means something else than the field of that name. */
const RESERVED = new Set(['payload', 'headers', 'query', 'path', 'now', 'item', 'index', 'this']);

function templatePath(path: readonly string[]): string {
  // A helper's name with an argument behind it would be a call.
  return RESERVED.has(path[0] ?? '') || path.length === 1 ? `payload.${path.join('.')}` : path.join('.');
}
