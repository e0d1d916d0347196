import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import {
  comparedIn,
  type EventSchema,
  type Sample,
  type SampledMapping,
  sampledMappings,
} from '../advice/samples.ts';
import { displayName, type Finding } from '../../base/document/document.ts';
import { siftIgnored } from '../../base/ignored.ts';
import { createHookRequest, maybeListsOf } from '../../engine/hook/hook.ts';
import { defined } from '../../base/json.ts';
import { announcedFormat } from '../../base/payload/payload.ts';
import type { CompiledMapping, RoutingTable } from '../../engine/mapping/mapping.ts';
import { PAYLOAD_FILE, readPayloadFile } from './case-body.ts';
import { type EvaluateFully, findTaint } from './taint.ts';
import { findCases, type GoldenCase } from './case-file.ts';

export interface SampleFolders {
  /** `samples` beside the folder of mappings. */
  readonly samplesDir: string;
  /** Golden cases. */
  readonly casesDir: string;
}

/** Where they are, of a configuration: `samples` beside the folder of mappings, and `test/golden`. */
export function sampleFolders({
  file,
  settings,
}: {
  readonly file: string;
  readonly settings: { readonly hooks: { readonly mappingsDir: string } };
}): SampleFolders {
  return {
    samplesDir: join(dirname(settings.hooks.mappingsDir), 'samples'),
    casesDir: join(dirname(file), 'test', 'golden'),
  };
}

/** Samples of one hook name that are looked at: those of its own folder first. */
const MAX_OF_PATH = 500;

interface FoundSamples {
  readonly samples: readonly Sample[];
  readonly schemas: readonly EventSchema[];
  readonly findings: readonly Finding[];
}

/**
 * What senders really send: the files of `samples/<hook name>/`, which are payloads or request files, and the requests of
 * golden cases. What cannot be read in the folder is a finding; of golden cases `sluice test` says it.
 */
export async function findSamples(
  { samplesDir, casesDir }: SampleFolders,
  table: RoutingTable,
): Promise<FoundSamples> {
  const [own, golden] = [await findCases(samplesDir), await findCases(casesDir)];
  const used = new Set(own.cases.flatMap(({ files }) => files));
  const payloads = (await filesBelow(samplesDir)).filter(
    (file) => PAYLOAD_FILE.test(file) && !used.has(file) && !/\.(?:request|expected)\.\w+$/.test(file),
  );
  const read = await Promise.all(payloads.map((file) => readSample(file, samplesDir, table)));
  const isSchema = ({ from }: Sample): boolean => from.endsWith('.schema.json');
  const [schemas, found] = [true, false].map((wanted) =>
    read.flatMap(({ sample }) => (sample !== undefined && isSchema(sample) === wanted ? [sample] : [])),
  );
  const ofCases = [...own.cases, ...golden.cases].flatMap(samplesOfCase);
  const all = [...(found ?? []), ...ofCases];
  const byPath = Map.groupBy(all, ({ request }) => request.path);
  const problems = [...own.findings, ...golden.findings].filter(({ severity }) => severity === 'error');
  return {
    samples: [...byPath.values()].flatMap((list) => list.slice(0, MAX_OF_PATH)),
    schemas: (schemas ?? []).map(({ request: { path, headers, payload: schema } }) => ({
      path,
      headers,
      schema,
    })),
    findings: [...problems, ...read.flatMap(({ findings }) => findings)],
  };
}

function samplesOfCase({ deliveries, requestFile, expected }: GoldenCase): readonly Sample[] {
  const knownEmpty = new Set(emptyIn(expected?.value));
  return deliveries.map(({ request }) => ({ request, from: displayName(requestFile), knownEmpty }));
}

/** Expressions that an expectation lists as empty: `messageTemplate[0]: item.body`. */
function emptyIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: readonly [string, unknown]) =>
    key === 'empty' && Array.isArray(inner)
      ? inner.map((line) => String(line).replace(/^[\w.[\]]+: /, ''))
      : emptyIn(inner),
  );
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Files of other payloads are JSON, or a text that may be anything. */
const SENT_AS: Readonly<Record<string, string>> = {
  '.form': 'application/x-www-form-urlencoded',
  '.xml': 'application/xml',
};

/** A payload as it was sent; its folder is its hook name. */
async function readSample(
  file: string,
  folder: string,
  table: RoutingTable,
): Promise<{ readonly sample?: Sample; readonly findings: readonly Finding[] }> {
  const path = relative(folder, dirname(file)).replaceAll(sep, '/');
  if (path === '') return { findings: [] };
  const type = SENT_AS[extname(file).toLowerCase()];
  const named = headersNamedBy(basename(file, extname(file)), path, table);
  const headers = { ...named, ...(type !== undefined && { 'content-type': type }) };
  const body = await readPayloadFile(file);
  if ('findings' in body) return body;
  const maybeLists = maybeListsOf(announcedFormat(type));
  const request = createHookRequest({
    path,
    headers,
    payload: body.value,
    receivedAt: 0,
    ...defined({ maybeLists }),
  });
  return { sample: { request, from: displayName(file) }, findings: [] };
}

/** A payload has no headers: `issues.opened.json` is of the event `issues` where a condition asks a header for it. */
function headersNamedBy(name: string, path: string, { mappings }: RoutingTable): Record<string, string> {
  const asked = mappings
    .filter(({ match }) => match.path === path || match.path === undefined)
    .flatMap(({ match }) => (match.when === undefined ? [] : comparedIn(match.when.rule)))
    .flatMap(({ name: variable, values }) =>
      variable.startsWith('headers.')
        ? values.map((value) => ({ header: variable.slice('headers.'.length), value }))
        : [],
    )
    .filter(
      ({ value }) => name === value || (/^[.\s]/.test(name.slice(value.length)) && name.startsWith(value)),
    )
    .toSorted((a, b) => b.value.length - a.value.length);
  return Object.fromEntries(asked.slice(0, 1).map(({ header, value }) => [header, value]));
}

type Judged = { readonly table: RoutingTable; readonly evaluate?: EvaluateFully };

/** What samples say of the mappings of a table; `kept` are requests that a service kept. */
export async function findInSamples(
  folders: SampleFolders,
  judged: Judged,
  kept: readonly Sample[] = [],
): Promise<ReturnType<typeof siftIgnored> & { readonly notes: readonly string[] }> {
  const found = await findSamples(folders, judged.table);
  return samplesSay({ ...found, samples: [...found.samples, ...kept] }, judged);
}

/** The same of samples that were read before, and of those mappings alone that are asked for; default all. */
export async function samplesSay(
  { samples, schemas, findings }: FoundSamples,
  { table, evaluate }: Judged,
  isAsked?: (mapping: CompiledMapping) => boolean,
): ReturnType<typeof findInSamples> {
  if (samples.length + schemas.length === 0) return { findings, ignored: [], notes: [] };
  const subjects = sampledMappings(table, samples, { schemas, ...(isAsked && { isAsked }) });
  const { advise } = await import('../advice/advice.ts');
  const taint = evaluate === undefined ? [] : await findTaint(subjects, evaluate);
  return { ...siftIgnored(advise([...findings, ...taint], subjects)), notes: notCheckedNotes(subjects) };
}

/** Mappings of which there is no sample. */
function notCheckedNotes(subjects: readonly SampledMapping[]): readonly string[] {
  const names = subjects.filter(({ taken }) => taken.length === 0).map(({ mapping }) => mapping.id);
  return names.length === 0 ? [] : [`without a sample, and so not checked with one: ${names.join(', ')}`];
}
