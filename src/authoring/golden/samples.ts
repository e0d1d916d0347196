import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { TRUSTED_KEYS } from '../../engine/mapping/facts.ts';
import { comparedIn, type Sample, type SampledMapping, sampledMappings } from '../advice/samples.ts';
import type { Finding } from '../../base/document/document.ts';
import { siftIgnored } from '../../base/ignored.ts';
import { createHookRequest, type Evaluation, maybeListsOf } from '../../engine/hook/hook.ts';
import { say } from '../../base/finding.ts';
import { defined, isJsonObject, type JsonValue, readJson } from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';
import { announcedFormat } from '../../base/payload/payload.ts';
import type { CompiledMapping, RoutingTable } from '../../engine/mapping/mapping.ts';
import { PAYLOAD_FILE, readPayloadFile } from './case-body.ts';
import { findCases, type GoldenCase, listFiles } from './case-file.ts';

export interface SampleFolders {
  /** The folder `samples` beside the folder of mappings. */
  readonly samplesDir: string;
  readonly casesDir: string;
}

/** Returns the sample folders of a configuration: `samples` beside the folder of mappings, and `test/golden`. */
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

const MAX_OF_PATH = 500;

interface FoundSamples {
  readonly samples: readonly Sample[];
  readonly findings: readonly Finding[];
}

/**
 * Reads what senders really send: the files of `samples/<hook name>/`, which are payloads or request files, and the
 * requests of golden cases. A file of the folder that cannot be read is a finding; `sluice test` reports golden cases.
 */
export async function findSamples(
  { samplesDir, casesDir }: SampleFolders,
  table: RoutingTable,
): Promise<FoundSamples> {
  const [own, golden] = [await findCases(samplesDir), await findCases(casesDir)];
  const used = new Set(own.cases.flatMap(({ files }) => files));
  const payloads = (await listFiles(samplesDir)).filter(
    (file) => PAYLOAD_FILE.test(file) && !used.has(file) && !/\.(?:request|expected|schema)\.\w+$/.test(file),
  );
  const read = await Promise.all(payloads.map((file) => readSample(file, samplesDir, table)));
  const found = read.flatMap(({ sample }) => sample ?? []);
  const ofCases = [...own.cases, ...golden.cases].flatMap(samplesOfCase);
  const all = [...found, ...ofCases];
  const byPath = Map.groupBy(all, ({ request }) => request.path);
  const problems = [...own.findings, ...golden.findings].filter(({ severity }) => severity === 'error');
  return {
    samples: [...byPath.values()].flatMap((list) => list.slice(0, MAX_OF_PATH)),
    findings: [...problems, ...read.flatMap(({ findings }) => findings)],
  };
}

function samplesOfCase({ deliveries, expected }: GoldenCase): readonly Sample[] {
  const knownEmpty = new Set(emptyIn(expected?.value));
  return deliveries.map(({ request }) => ({ request, knownEmpty }));
}

/** Returns expressions that an expectation lists as empty: `messageTemplate[0]: item.body`. */
function emptyIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: readonly [string, unknown]) =>
    key === 'empty' && Array.isArray(inner)
      ? inner.map((line) => String(line).replace(/^[\w.[\]]+: /, ''))
      : emptyIn(inner),
  );
}

const SENT_AS: Readonly<Record<string, string>> = {
  '.form': 'application/x-www-form-urlencoded',
  '.xml': 'application/xml',
};

/** The folder of a payload is its hook name. */
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
  return { sample: { request }, findings: [] };
}

/**
 * A payload has no headers, so `issues.opened.json` counts as the event `issues` where a condition asks a
 * header for it.
 */
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

type EvaluationSource = { readonly table: RoutingTable; readonly evaluate?: EvaluateFully };

/** Says what samples show about the mappings of a table; `kept` are requests that a service stored. */
export async function findInSamples(
  folders: SampleFolders,
  judged: EvaluationSource,
  kept: readonly Sample[] = [],
): Promise<ReturnType<typeof siftIgnored> & { readonly notes: readonly string[] }> {
  const found = await findSamples(folders, judged.table);
  return samplesSay({ ...found, samples: [...found.samples, ...kept] }, judged);
}

/** Says the same of samples that were read before, and only of the mappings that are asked for; default all. */
export async function samplesSay(
  { samples, findings }: FoundSamples,
  { table, evaluate }: EvaluationSource,
  isAsked?: (mapping: CompiledMapping) => boolean,
): ReturnType<typeof findInSamples> {
  if (samples.length === 0) return { findings, ignored: [], notes: [] };
  const subjects = sampledMappings(table, samples, isAsked);
  const { advise } = await import('../advice/advice.ts');
  const taint = evaluate === undefined ? [] : await findTaint(subjects, evaluate);
  return { ...siftIgnored(advise([...findings, ...taint], subjects)), notes: notCheckedNotes(subjects) };
}

function notCheckedNotes(subjects: readonly SampledMapping[]): readonly string[] {
  const names = subjects.filter(({ taken }) => taken.length === 0).map(({ mapping }) => mapping.id);
  return names.length === 0 ? [] : [`without a sample, and so not checked with one: ${names.join(', ')}`];
}

type EvaluateFully = (
  request: HookRequest,
  how: { readonly detail: 'full' },
) => Evaluation | Promise<Evaluation>;

const MAX_SAMPLES = 10;
const MAX_TEXTS = 5;
const MARK = 'x7q';

/**
 * Finds results of transforms that the request controls, but never in an OpenClaw file. A result is
 * controlled if it decides who reads a reply, or what runs, and follows a change of the request. To test
 * this, a text of a sample that stands in the field is marked, and the transform runs again. No code is
 * read, and a level that is merely the same word is no finding.
 */
async function findTaint(
  subjects: readonly SampledMapping[],
  evaluate: EvaluateFully,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { mapping, taken } of subjects) {
    const { transform, trust = [], behaviours } = mapping;
    if (transform === undefined || behaviours.trustsSenders) continue;
    const open = new Set<string>(TRUSTED_KEYS.filter((key) => !trust.includes(key)));
    for (const { request } of taken.slice(0, MAX_SAMPLES)) {
      // One call after the other: each is a transform in the sandbox.
      for (const [key, path] of await taintIn(request, open, evaluate)) {
        open.delete(key);
        findings.push({
          severity: 'warning',
          code: 'UNTRUSTED_ROUTING',
          isOfSafety: true,
          message: say`"${key}" of what ${transform.module} returns is taken from the request (${path}): whoever sends it decides`,
          at: transform.at,
          facts: { key },
        });
      }
    }
  }
  return findings;
}

async function taintIn(
  request: HookRequest,
  keys: ReadonlySet<string>,
  evaluate: EvaluateFully,
): Promise<readonly (readonly [key: string, path: string])[]> {
  const { payload, headers, query } = request;
  const found: (readonly [string, string])[] = [];
  for (const [key, value] of returned(await evaluate(request, { detail: 'full' }))) {
    if (!keys.has(key) || found.some(([known]) => known === key)) continue;
    const texts = [...textsIn({ payload, headers, query })]
      .filter(({ text }) => isPart(text, value))
      .slice(0, MAX_TEXTS);
    for (const { path, text } of texts) {
      const changed = withText(request, path, `${text}${MARK}`);
      const after = returned(await evaluate(changed, { detail: 'full' }));
      const follows = after.some(([other, now]) => other === key && now.toLowerCase().includes(MARK));
      if (!follows) continue;
      found.push([key, path.join('.')]);
      break;
    }
  }
  return found;
}

const isPart = (text: string, value: string): boolean =>
  text.length >= 2 && value.toLowerCase().includes(text.toLowerCase());

function returned({ trace }: Evaluation): readonly (readonly [key: string, value: string])[] {
  const results = trace.transforms.flatMap(({ reply }): readonly unknown[] => {
    const value: unknown = reply.kind === 'ok' && reply.json !== undefined ? readJson(reply.json) : undefined;
    return Array.isArray(value) ? (value as readonly unknown[]) : [value];
  });
  return results.flatMap((result) =>
    TRUSTED_KEYS.flatMap((key) => {
      const value = isJsonObject(result) && Object.hasOwn(result, key) ? result[key] : undefined;
      return typeof value === 'string' || typeof value === 'number' ? [[key, String(value)] as const] : [];
    }),
  );
}

function* textsIn(
  value: JsonValue | Pick<HookRequest, 'payload' | 'headers' | 'query'>,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly text: string }> {
  if (typeof value === 'string') yield { path, text: value };
  else if (typeof value === 'object' && value !== null && path.length < MAX_DEPTH)
    for (const [key, inner] of Object.entries(value)) yield* textsIn(inner as JsonValue, [...path, key]);
}

const MAX_DEPTH = 10;

function withText(
  { payload, headers, query, ...request }: HookRequest,
  path: readonly string[],
  text: string,
) {
  const copy = JSON.parse(JSON.stringify({ payload, headers, query })) as HookRequest;
  let at = copy as unknown as Record<string, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
  at[path.at(-1) ?? ''] = text;
  return { ...request, ...copy };
}
