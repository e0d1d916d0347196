import { say } from '../../base/finding.ts';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import * as z from 'zod';
import {
  displayName,
  wholeFile,
  readDocument,
  validate,
  type Finding,
  type LocatedValue,
  type Place,
} from '../../base/document/document.ts';
import { parseDocument } from '../../base/document/facts.ts';
import { createHookRequest, deriveRequestSeeds } from '../../engine/hook/hook.ts';
import { defined, type JsonValue } from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';
import { readCaseBody } from './case-body.ts';
import { FORMAT } from './expectation.ts';
import { findOtherKind } from './other-files.ts';

/**
 * Golden cases on disk. People or a recorder write `<group>/<case>.request.yaml|yml|json`; the runner writes
 * `<case>.expected.yaml` next to it. A request file holds one delivery, or `deliveries: [...]` in order.
 */
export interface GoldenCase {
  readonly name: string;
  readonly requestFile: string;
  readonly expectedFile: string;
  /** Absent where there is none yet. */
  readonly expected?: { readonly text: string; readonly value: unknown };
  readonly deliveries: readonly DeliveryRequest[];
  /** Whether the file has `deliveries`: then its expectation is a list too. */
  readonly isList: boolean;
  /** Request, expectation and body files, absolute: a change of one re-runs the case. */
  readonly files: readonly string[];
}

export interface DeliveryRequest {
  readonly request: HookRequest;
  /** The place of the hook name; absent where there is no file. */
  readonly pathAt?: Place;
  /** The bytes of `bodyFile`, as a signature covers them. */
  readonly rawBody?: Buffer;
  /** Whether the file says when the request arrived. */
  readonly isTimed: boolean;
  /** The value of the `idempotency-key` header. */
  readonly idempotencyKey?: string;
  /** Conversations that there are before it. */
  readonly conversations?: readonly GivenConversation[];
}

export interface FoundCases {
  readonly cases: readonly GoldenCase[];
  /** Expectation files without a request file, absolute. Each has its finding too. */
  readonly obsolete: readonly string[];
  readonly findings: readonly Finding[];
}

const Delivery = z.strictObject({
  path: z.string().min(1).describe('hook name, e.g. github'),
  headers: z.record(z.string(), z.string()).optional(),
  query: z.record(z.string(), z.string()).optional(),
  body: z.json().optional(),
  bodyFile: z
    .string()
    .min(1)
    .optional()
    .describe('file with the body as it is sent, relative to the request file'),
  now: z.iso
    .datetime({ offset: true, error: 'a time such as 2026-01-31T12:00:00Z' })
    .optional()
    .describe('time of receipt; default 2026-01-01T00:00:00.000Z'),
  conversations: z
    .array(
      z.strictObject({
        owner: z
          .string()
          .min(1)
          .describe('conversation.owner of its mappings, or mapping:ID of the only one'),
        key: z.string().min(1).max(256).describe('the session key that it began with'),
        keys: z.array(z.string().min(1).max(256)).max(50).optional().describe('keys that were added to it'),
      }),
    )
    .max(50)
    .optional()
    .describe('conversations that there are before the request'),
});
export type GivenConversation = NonNullable<z.output<typeof Delivery>['conversations']>[number];
const Deliveries = z.strictObject({ deliveries: z.array(Delivery).min(1).max(50) });
const REQUEST_FILE_KEYS = [...Object.keys(Delivery.shape), ...Object.keys(Deliveries.shape)];

export const requestFileSchema = z.union([Delivery, Deliveries]);

const DEFAULT_NOW = Date.UTC(2026, 0, 1);
const REQUEST_FILE = /\.request\.(yaml|yml|json)$/;
const EXPECTED_FILE = /\.expected\.yaml$/;

/**
 * Finds and reads every case below `dir` whose name contains one of `filters` (every case where there is
 * none), in name order. What cannot be read is a finding, and so is an expectation without a request.
 */
export async function findCases(folder: string, asked: readonly string[] = []): Promise<FoundCases> {
  const dir = resolve(folder);
  const filters = asked.map((name) => caseOfPath(dir, name));
  const files = await listFiles(dir);
  const requests = files.filter((file) => REQUEST_FILE.test(file));
  const wanted = requests.filter((file) => isWanted(caseName(dir, file), filters));
  const obsolete = findObsolete(dir, files, requests, filters);
  const read = await Promise.all(wanted.map((file) => readCase(dir, file)));
  return {
    cases: read.flatMap((result) => result.case ?? []),
    obsolete,
    findings: [
      ...findSameNames(dir, wanted),
      ...read.flatMap((result) => result.findings),
      ...obsolete.map(describeObsolete),
    ],
  };
}

/** Lists all files below a folder; none where there is no such folder. */
export async function listFiles(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
      throw error;
    },
  );
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function caseOfPath(dir: string, name: string): string {
  const isFile = REQUEST_FILE.test(name) || EXPECTED_FILE.test(name);
  return isFile && !relative(dir, resolve(name)).startsWith('..') ? caseName(dir, resolve(name)) : name;
}

function caseName(dir: string, file: string): string {
  return relative(dir, file).replace(REQUEST_FILE, '').replace(EXPECTED_FILE, '').replaceAll(sep, '/');
}

const isWanted = (name: string, filters: readonly string[]): boolean =>
  filters.length === 0 || filters.some((filter) => name.includes(filter));

function findSameNames(dir: string, requests: readonly string[]): readonly Finding[] {
  const named = Map.groupBy(requests, (file) => caseName(dir, file));
  return [...named].flatMap(([name, [first = '', ...others]]) =>
    others.map((other) => describeSameName(name, first, other)),
  );
}

function describeSameName(name: string, other: string, file: string): Finding {
  return {
    severity: 'error',
    code: 'DUPLICATE_CASE',
    message: say`two request files are named ${name}: ${basename(other)} and ${basename(file)}`,
    at: wholeFile(displayName(file)),
    hint: say`rename one of them; they would share one expectation`,
  };
}

function findObsolete(
  dir: string,
  files: readonly string[],
  requests: readonly string[],
  filters: readonly string[],
): readonly string[] {
  const known = new Set(requests.map((file) => caseName(dir, file)));
  return files.filter(
    (file) =>
      EXPECTED_FILE.test(file) && !known.has(caseName(dir, file)) && isWanted(caseName(dir, file), filters),
  );
}

function describeObsolete(file: string): Finding {
  const request = basename(file).replace(EXPECTED_FILE, '.request.yaml');
  return {
    severity: 'error',
    code: 'OBSOLETE_EXPECTATION',
    message: say`${basename(file)} has no request file next to it`,
    at: wholeFile(displayName(file)),
    hint: say`delete it ("sluice test --update" does), or write ${request}`,
  };
}

/** Reads one request file, wherever it lies. */
export async function readRequestFile(file: string): Promise<ReadCase> {
  return readCase(dirname(file), file);
}

export interface ReadCase {
  readonly case?: GoldenCase;
  readonly findings: readonly Finding[];
}

async function readCase(dir: string, requestFile: string): Promise<ReadCase> {
  const read = await readCaseFiles(dir, requestFile);
  if (read.findings.length === 0) return read;
  const { advise } = await import('../advice/advice.ts');
  return { ...read, findings: advise(read.findings) };
}

async function readCaseFiles(dir: string, requestFile: string): Promise<ReadCase> {
  const { document, findings } = await readDocument(requestFile);
  if (document === undefined) return { findings };
  const checked = checkRequestFile(document.root, requestFile);
  const { isList } = checked;
  const name = caseName(dir, requestFile);
  const read = await readDeliveries(requestFile, name, checked);
  if (read.deliveries === undefined) return { findings: [...findings, ...read.findings] };
  const { deliveries } = read;
  const expectedFile = requestFile.replace(REQUEST_FILE, '.expected.yaml');
  const files = [requestFile, ...read.files, expectedFile];
  const golden = { name, requestFile, expectedFile, deliveries, isList, files };
  // A file of any other name, as `explain` accepts it, has no expectation.
  const expected = expectedFile === requestFile ? undefined : await readExpected(expectedFile);
  return {
    case: expected === undefined ? golden : { ...golden, expected },
    findings: [...findings, ...read.findings, ...(expected?.findings ?? [])],
  };
}

interface ReadDeliveries {
  /** Absent where a body cannot be read, or the file has no deliveries. */
  readonly deliveries?: readonly DeliveryRequest[];
  /** Files of bodies, absolute. */
  readonly files: readonly string[];
  readonly findings: readonly Finding[];
}

async function readDeliveries(
  requestFile: string,
  name: string,
  checked: CheckedRequestFile,
): Promise<ReadDeliveries> {
  const { root, list, isList, findings } = checked;
  if (list === undefined) return { files: [], findings };
  const deliveries: DeliveryRequest[] = [];
  const files: string[] = [];
  for (const [index, delivery] of list.entries()) {
    const part = root.at(isList ? ['deliveries', index] : []);
    const body = await readCaseBody(requestFile, delivery, part);
    if ('findings' in body) return { files, findings: body.findings };
    if (body.file !== undefined) files.push(body.file);
    const created = createDelivery(isList ? `${name}#${index + 1}` : name, delivery, body);
    deliveries.push({ ...created, pathAt: part.place(['path']) });
  }
  return { deliveries, files, findings: [] };
}

interface CheckedRequestFile {
  readonly root: LocatedValue;
  readonly list?: readonly z.output<typeof Delivery>[];
  readonly isList: boolean;
  readonly findings: readonly Finding[];
}

/** Checks the file against the form that it evidently means, because the findings of a union would say little. */
function checkRequestFile(root: LocatedValue, file: string): CheckedRequestFile {
  const otherKind = findOtherKind(root, file, REQUEST_FILE_KEYS);
  if (otherKind !== undefined) return { root, isList: false, findings: [otherKind] };
  const { value } = root;
  const isList = typeof value === 'object' && value !== null && Object.hasOwn(value, 'deliveries');
  if (isList) {
    const { value: form, findings } = validate(root, Deliveries, 'request file');
    return { root, isList, findings, ...(form && { list: form.deliveries }) };
  }
  const { value: delivery, findings } = validate(root, Delivery, 'request file');
  return { root, isList, findings, ...(delivery && { list: [delivery] }) };
}

function createDelivery(
  name: string,
  { path, headers = {}, query = {}, now, conversations }: z.output<typeof Delivery>,
  {
    value: payload,
    raw: rawBody,
    sha256: bodySha256,
  }: { readonly value: JsonValue; readonly raw?: Buffer; readonly sha256?: string },
): DeliveryRequest {
  const receivedAt = now === undefined ? DEFAULT_NOW : Date.parse(now);
  const request = createHookRequest({ path, headers, query, payload, receivedAt });
  const idempotencyKey = request.headers['idempotency-key']?.trim() || undefined;
  return {
    // The case's name is in the seed: the marker's id does not change with the body, and two equal
    // deliveries differ.
    request: {
      ...request,
      ...deriveRequestSeeds({ path: name, payload: null, receivedAt: 0 }),
      ...defined({ bodySha256 }),
    },
    isTimed: now !== undefined,
    ...defined({ conversations, rawBody, idempotencyKey }),
  };
}

async function readExpected(
  file: string,
): Promise<{ text: string; value: unknown; findings: readonly Finding[] } | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { document, findings } = parseDocument({ file: displayName(file), text }, 'yaml');
  const unknown = document === undefined ? undefined : findUnknownFormat(document.root);
  return { text, value: document?.root.value, findings: [...findings, ...(unknown ?? [])] };
}

/** Another version wrote such an expectation, in a form that this one does not know. */
function findUnknownFormat(root: LocatedValue): readonly Finding[] | undefined {
  const format = (root.value as { format?: unknown } | null)?.format;
  if (format === undefined || format === FORMAT) return undefined;
  return [
    {
      severity: 'error',
      code: 'EXPECTATION_FORMAT',
      message: say`format ${JSON.stringify(format)} of an expectation is not known to this version, which reads format ${FORMAT}`,
      at: root.place(['format']),
      hint: say`install the version that wrote it; where this one is to be used, remove the file, and "sluice test" writes it anew`,
    },
  ];
}
