/**
 * What is said of right set-ups: nothing should be. `npm run corpus` prints the findings and hints that appear or vanish
 * against the committed list; `-- --write` writes the list. Payloads are real ones, each with the address it is from; only
 * tokens in them are replaced.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readRequests } from '../../../src/frontends/cli/authoring/request-file.ts';
import { openWorkbench, type OpenWorkbench } from '../../../src/frontends/cli/authoring/workbench.ts';
import { briefOf, explainRequest, formatEvaluation } from '../../../src/authoring/explanation/explanation.ts';
import { findInSamples } from '../../../src/authoring/golden/golden.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { HookRequest, JsonValue } from '../../../src/base/request.ts';
import { printSentence } from '../../../src/base/finding.ts';
import { shippedSenders } from '../../../src/engine/senders/senders.ts';
import { silentTerminal } from '../../support/cli-terminal.ts';

const FOLDER = import.meta.dirname;
const LIST = join(FOLDER, 'findings.txt');
/** Senders that `sluice add` knows. */
const SENDERS = shippedSenders().flatMap(({ name, mapping }) => (mapping === undefined ? [] : [name]));

/** A real payload. */
export interface CorpusPayload {
  readonly provider: string;
  readonly event: string;
  /** Address of what it is from. */
  readonly source: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

export function readPayloads(): readonly CorpusPayload[] {
  const lines = gunzipSync(readFileSync(join(FOLDER, 'payloads.jsonl.gz')))
    .toString()
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as CorpusPayload);
}

/** Hook names of the mappings, with the address of the page that each is taken from. */
export function readMappings(): readonly { readonly path: string; readonly page: string | undefined }[] {
  const text = readFileSync(join(FOLDER, 'mappings.yaml'), 'utf8');
  return [...text.matchAll(/(?:^# (https:\/\/\S+).*\n)?^- id:[^#]*?path: ([\w-]+)/gm)].map(
    ([, page, path = '']) => ({ path, page }),
  );
}

export const readList = (): readonly string[] => readFileSync(LIST, 'utf8').split('\n').filter(Boolean);

/** Everything that `check` and `explain` say of right set-ups, a line each. */
export async function corpusFindings(): Promise<readonly string[]> {
  return [...(await ofPayloads()), ...(await ofExamples())].toSorted();
}

/** Some senders send events that their mapping leaves to others. */
const isRefused = (line: string): boolean => line.includes(' refused: ');

/** Few collections have the headers, where some senders have the id of a delivery. */
const isOfBody = (line: string): boolean => !line.includes(' blank_dedupe_key: ');

/** The example set-up of the project: the senders of `sluice add` with their golden cases, and with real payloads. */
async function ofExamples(): Promise<readonly string[]> {
  const root = join(FOLDER, '../../..');
  const terminal = silentTerminal(root);
  const bench = await openWorkbench(terminal, { config: join(root, 'sluice.yaml') });
  try {
    const found: string[] = [];
    for (const file of globSync(`test/golden/{${SENDERS.join(',')}}/*.request.yaml`, {
      cwd: root,
    }).toSorted())
      for (const request of await readRequests(terminal, file))
        found.push(...(await saidOf(request, file, bench)));
    for (const payload of readPayloads().filter(({ provider }) => SENDERS.includes(provider)))
      found.push(...(await saidOf(requestOf(payload), `add ${nameOf(payload)}`, bench)).filter(isOfBody));
    return found.filter((line) => !isRefused(line));
  } finally {
    await bench.bench.stop();
  }
}

const nameOf = ({ provider, event }: CorpusPayload): string => `${provider}/${event}`;

const requestOf = ({ provider, headers = {}, body }: CorpusPayload): HookRequest =>
  createHookRequest({ path: provider, payload: body, headers, receivedAt: 0 });

/** Every hint that `explain` has on a request; of one that no mapping took, that it was refused. */
async function saidOf(request: HookRequest, name: string, bench: OpenWorkbench): Promise<readonly string[]> {
  const { evaluation, advice } = await explainRequest(request, bench);
  const { outcome } = evaluation;
  if (outcome.kind === 'rejected') return [`${name} refused: ${outcome.error.code}`];
  const { reported } = briefOf(evaluation, advice);
  const first = reported.map(
    ({ code, message }) => `${name} ${code}: ${printSentence(message).slice(0, 160).replaceAll('\n', ' ')}`,
  );
  // Where there is no first hint, all that is fine is printed.
  const text = reported.length > 0 ? '' : formatEvaluation(evaluation, { advice });
  const hints = text.split('\n').filter((line) => line.trimStart().startsWith('hint: '));
  return [...first, ...hints.map((line) => `${name} ${line.trim().slice(0, 160)}`)];
}

async function ofPayloads(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-corpus-'));
  const mappings = readFileSync(join(FOLDER, 'mappings.yaml'), 'utf8');
  const config = join(folder, 'sluice.yaml');
  writeFileSync(config, "hooks: { enabled: true, token: '${SLUICE_HOOK_TOKEN}' }\n");
  mkdirSync(join(folder, 'mappings'));
  writeFileSync(join(folder, 'mappings/corpus.yaml'), mappings);
  const bench = await openWorkbench(silentTerminal(folder), { config });
  try {
    const payloads = readPayloads();
    const samples = payloads.map((each) => ({ request: requestOf(each), from: nameOf(each) }));
    const nowhere = { samplesDir: '/nowhere', casesDir: '/nowhere' };
    const sampled = await findInSamples(nowhere, bench.generation, samples);
    const found = [...bench.findings, ...sampled.findings].map(
      ({ code, message }) => `check ${code}: ${printSentence(message)}`,
    );
    for (const each of payloads) found.push(...(await saidOf(requestOf(each), nameOf(each), bench)));
    return found;
  } finally {
    await bench.bench.stop();
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const [now, before] = [await corpusFindings(), readList()];
  if (process.argv.includes('--write')) writeFileSync(LIST, now.map((line) => `${line}\n`).join(''));
  const changed = [
    ...now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
    ...before.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
  ];
  const [payloads, providers] = [
    readPayloads().length,
    new Set(readPayloads().map((each) => each.provider)).size,
  ];
  process.stdout.write(
    `${[...changed, `${payloads} payloads of ${providers} providers: ${now.length} findings, ${changed.length} changed`].join('\n')}\n`,
  );
  process.exitCode = changed.length === 0 ? 0 : 1;
}
