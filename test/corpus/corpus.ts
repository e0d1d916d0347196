/**
 * What is said of right set-ups: nothing should be. `npm run corpus` prints the findings and hints that appear or vanish
 * against the committed list; `-- --write` writes the list. Payloads are real ones, each with the address it is from.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readRequests } from '../../src/cli/request-file.ts';
import { openWorkbench, type Workbench } from '../../src/cli/workbench.ts';
import { briefOf, explainRequest } from '../../src/explanation/explanation.ts';
import { findInSamples } from '../../src/golden/golden.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { HookRequest, JsonValue } from '../../src/request.ts';
import { printSentence } from '../../src/finding.ts';
import { shippedSenders } from '../../src/senders/senders.ts';
import { silentTerminal } from '../support/cli-terminal.ts';

const FOLDER = import.meta.dirname;
const LIST = join(FOLDER, 'findings.txt');
/** Senders that `sluice add` knows. */
const SENDERS = shippedSenders()
  .flatMap(({ name, mapping }) => (mapping === undefined ? [] : [name]))
  .join(',');

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

export const readList = (): readonly string[] => readFileSync(LIST, 'utf8').split('\n').filter(Boolean);

/** Everything that `check` and `explain` say of right set-ups, a line each. */
export async function corpusFindings(): Promise<readonly string[]> {
  return [...(await ofPayloads()), ...(await ofExamples())].toSorted();
}

/** The example set-up of the project, with the senders of `sluice add` and their golden cases. */
async function ofExamples(): Promise<readonly string[]> {
  const root = join(FOLDER, '../..');
  const terminal = silentTerminal(root);
  const bench = await openWorkbench(terminal, { config: join(root, 'sluice.yaml') });
  try {
    const found: string[] = [];
    for (const file of globSync(`test/golden/{${SENDERS}}/*.request.yaml`, { cwd: root }).toSorted())
      for (const request of await readRequests(terminal, file))
        found.push(...(await saidOf(request, file, bench)));
    return found;
  } finally {
    await bench.close();
  }
}

/** What is said of a request that a mapping took. */
async function saidOf(request: HookRequest, name: string, bench: Workbench): Promise<readonly string[]> {
  const { evaluation, advice } = await explainRequest(request, bench);
  if (evaluation.outcome.kind === 'rejected') return [];
  return briefOf(evaluation, advice).told.map(
    ({ code, text }) => `${name} ${code}: ${printSentence(text).slice(0, 160).replaceAll('\n', ' ')}`,
  );
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
    const samples = readPayloads().map(({ provider, event, headers = {}, body }) => ({
      request: createHookRequest({ path: provider, payload: body, headers, receivedAt: 0 }),
      from: `${provider}/${event}`,
    }));
    const nowhere = { samplesDir: '/nowhere', casesDir: '/nowhere' };
    const sampled = await findInSamples(nowhere, bench.generation, samples);
    const found = [...bench.diagnostics, ...sampled.diagnostics]
      .filter(({ isGeneral }) => isGeneral !== true)
      .map(({ code, message }) => `check ${code}: ${printSentence(message)}`);
    for (const { provider, event, headers, body } of readPayloads()) {
      const request = createHookRequest({
        path: provider,
        payload: body,
        headers: headers ?? {},
        receivedAt: 0,
      });
      // Some providers send events that their mapping leaves out.
      found.push(...(await saidOf(request, `${provider}/${event}`, bench)));
    }
    return found;
  } finally {
    await bench.close();
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
