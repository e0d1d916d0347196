import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { defined } from '../../../base/json.ts';
import type { LoadedConfig } from '../../../engine/config/config.ts';
import {
  type Brief,
  briefOf,
  type ExplainOptions,
  explainWritten,
  explainStored,
  explanationToJson,
  formatEvaluation,
  headOf,
  findingLines,
  findingsBrief,
  type RequestExplanation,
  type StoredExplanation,
  storedToJson,
} from '../../../authoring/explanation/explanation.ts';
import type { WrittenRequest } from '../../../engine/hook/hook.ts';
import { judging } from '../../../authoring/workbench/workbench.ts';
import { findStoredRequest, type StoredRequest } from '../../../engine/storage/facts.ts';
import { withoutSecrets } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { loadSettings, type JsonFlags } from '../config-file.ts';
import { answerLines, stateText, workLines } from './format-stored.ts';
import { printJson } from '../json.ts';
import { commandLine } from '../next-steps.ts';
import { findWaits, type Waits } from '../../../service/operations/operations.ts';
import type { ListFlags } from '../operating/listings.ts';
import { listRuns, soon, useStore } from '../operating/store-tasks.ts';
import { readDeliveries } from './request-file.ts';
import { CliError } from '../terminal.ts';
import { benchOf, hasErrors, openWorkbench } from './workbench.ts';

export interface ExplainFlags extends JsonFlags {
  /** Prints everything, and not only what is to be done. */
  readonly all?: boolean;
}

/** Says what a request file becomes, or what a request that was answered became, and why. */
export async function explain(cli: Cli, what: string, flags: ExplainFlags): Promise<void> {
  if (existsSync(resolve(cli.terminal.cwd, what))) {
    await explainRequests(cli, await readDeliveries(cli.terminal, what), flags);
    return;
  }
  if (!/^[0-9a-f-]{8,36}$/i.test(what)) {
    throw new CliError(
      `there is no file ${what}, and it is not the id of a request, run or event; sluice requests lists the ids`,
    );
  }
  await explainById(cli, what, flags);
}

/** Explains one run, or lists them. */
export const showRuns = (cli: Cli, id: string | undefined, flags: ListFlags): Promise<void> =>
  id === undefined ? listRuns(cli, flags) : explainById(cli, id, flags);

/** Prints one page for a request, a run or an event, by its id: why it was judged as it was, and what became of it. */
async function explainById(cli: Cli, id: string, flags: ExplainFlags): Promise<void> {
  const config = await loadSettings(cli.terminal, flags);
  const found = await findStored(config, id);
  if (found === undefined) throw nothingKept(id);
  await using bench = benchOf({ ...cli.terminal, err: () => undefined }, config.file, { workers: 1 });
  const safe = withoutSecretsIn(cli, config, flags);
  const now = await bench.load();
  const { hooks, storage } = config.settings;
  // The files that judged the request have changed since.
  await using then =
    found.generation && (await bench.loadKept(found.generation, { now: now.generation, hooks }));
  const explained = await explainStored(found.stored, {
    keepRequests: storage.keepRequests,
    explainer: judging(now),
    before: judging(then),
  });
  // Prints the findings of the files, as any command does that needs the files.
  const complain = (): void => {
    if (explained.lacksFiles) throw hasErrors(cli.terminal, now.findings);
  };
  if (explained.request !== undefined) endBy(cli, explained.explained);
  const page: ExplainPage = { explained, config, waits: found.waits, complain, all: flags.all === true };
  if (flags.json === true) printStored(safe, page);
  else printPage(safe, page);
}

/** Secrets of the configuration stay out of what is printed. */
function withoutSecretsIn(cli: Cli, { secrets }: LoadedConfig, { json }: JsonFlags): Cli {
  const form = json === true ? 'json' : 'text';
  const out = (text: string): void => cli.terminal.out(withoutSecrets(text, secrets, form));
  return { ...cli, terminal: { ...cli.terminal, out } };
}

function printStored(cli: Cli, { explained, complain }: ExplainPage): void {
  const { request } = explained;
  if (request !== undefined) complain();
  const evaluation = request === undefined ? undefined : explained.explained;
  printJson(cli.terminal, 'explain', storedToJson(explained, evaluation && explanationToJson(evaluation)));
}

interface ExplainPage {
  readonly explained: StoredExplanation;
  readonly config: LoadedConfig;
  readonly waits: Waits;
  readonly complain: () => void;
  readonly all: boolean;
}

function printPage(cli: Cli, page: ExplainPage): void {
  const { explained, complain } = page;
  const { stored, findings, request } = explained;
  const print = (lines: readonly string[]): void => {
    if (lines.length > 0) cli.terminal.out(lines.join('\n'));
  };
  const brief = briefPage(page);
  if (!page.all && brief !== undefined) {
    if (stored.decision !== undefined) print(answerLines(stored.decision, { all: false }));
    complain();
    if (explained.isByThen) print(['with the mappings and transforms as they were then:']);
    print([...brief.verdict, ...brief.hints]);
    print(changedLines(explained));
    print(isFine(stored) ? shortWork(stored) : storedWork(cli, page));
    const id = stored.decision?.requestId ?? stored.kept?.requestId ?? stored.runs[0]?.run.id ?? 'ID';
    print(['', `more: ${commandLine(cli.terminal, page.config.file, `explain ${id} --all`)}`]);
    return;
  }
  if (stored.decision !== undefined) print(answerLines(stored.decision, { all: true }));
  print(findings.filter(({ code }) => code !== 'judged_otherwise').flatMap((each) => findingLines(each)));
  complain();
  if (request !== undefined) explainKept(cli, page);
  print(storedWork(cli, page));
}

function briefPage({ explained: { explained: now, findings } }: ExplainPage): Brief | undefined {
  const known = findingsBrief(findings);
  if (now === undefined) return known.verdict.length + known.hints.length === 0 ? undefined : known;
  const brief = briefOf(now.evaluation, now.advice);
  const hints = brief.hints.length > 0 ? brief.hints : known.hints;
  const repeat = findings.filter(({ code }) => code === 'repeat');
  return hints.length + brief.verdict.length === 0
    ? undefined
    : { ...brief, verdict: [...repeat.flatMap((each) => findingLines(each)), ...brief.verdict], hints };
}

/** A line of each is enough where all work ended well. */
const isFine = ({ runs, events }: StoredRequest): boolean =>
  runs.every(({ run: { state, outcome } }) => state === 'completed' && outcome === 'ok') &&
  events.every(({ lastError }) => lastError === undefined);

const shortWork = ({ runs, events }: StoredRequest): readonly string[] => [
  ...runs.map(({ run }) => `run ${run.id}: ${stateText(run)}`),
  ...events.map(({ id, state }) => `system event ${id}: ${state}`),
];

function storedWork({ terminal }: Cli, { explained, config, waits }: ExplainPage): readonly string[] {
  const { stored } = explained;
  const work = workLines(stored, {
    gateway: config.settings.gateway,
    now: Date.now(),
    waits,
    needs: explained.settings.find(({ subject }) => subject?.isOfRun)?.subject?.setting,
    requestId: stored.decision?.requestId,
    command: (command) => commandLine(terminal, config.file, command),
  });
  return work.length === 0 ? [] : ['', 'What became of it:', ...work];
}

function nothingKept(id: string): CliError {
  return new CliError(
    `nothing is kept under the id ${id}; "sluice requests" lists the last decisions, "sluice runs" the runs. Of an answered question of a provider (challenge) nothing is kept`,
  );
}

/** Finds what is kept under an id, once all of it is written or the time for that is over. */
function findStored({ settings }: LoadedConfig, id: string) {
  return useStore(settings.storage.url, async (storage) => {
    let stored: StoredRequest | undefined;
    await soon(async () => {
      stored = await findStoredRequest(storage, id);
      return stored && !isBeingWritten(stored) ? stored : undefined;
    });
    if (stored === undefined) return undefined;
    const judgedBy = stored.kept && stored.decision?.generation;
    const generation = judgedBy === undefined ? undefined : await storage.findGeneration(judgedBy);
    return { stored, waits: await findWaits(storage, settings.gateway), generation };
  });
}

/** What is older than this has been written as far as it ever is. */
const WRITTEN_WITHIN_MS = 2_000;

/** The work is stored with the answer, the request a little later, and its decision last. */
function isBeingWritten({ decision, kept, runs, events }: StoredRequest): boolean {
  const made = [
    kept?.receivedAt ?? 0,
    ...runs.map(({ run }) => run.acceptedAt),
    ...events.map(({ createdAt }) => createdAt),
  ];
  return decision === undefined && Date.now() - Math.max(...made) < WRITTEN_WITHIN_MS;
}

/** The kept request as it would be judged now, and how it was judged where that differs. */
function explainKept(cli: Cli, { explained: page, config }: ExplainPage): void {
  const {
    explained,
    findings,
    isByThen,
    stored: { runs, events, kept },
  } = page;
  if (explained === undefined) return;
  const isShape = kept?.kind === 'shape';
  cli.terminal.out(
    `\n${isShape ? 'Its shape was kept, with the values that decided' : 'The request was kept'}. With the mappings and transforms as they ${isByThen ? 'were then' : 'are now'}:\n`,
  );
  const stored = new Set([...runs.map(({ run }) => run.id), ...events.map(({ id }) => id)]);
  const isRepeat = findings.some(({ code }) => code === 'repeat');
  const how = { stored, isRepeat, hasChannels: hasChannels(config) };
  cli.terminal.out(formatEvaluation(explained.evaluation, optionsOf(cli, explained, how)));
  const changed = changedLines(page);
  if (changed.length > 0) cli.terminal.out(changed.join('\n'));
}

function changedLines({ findings, isByThen }: StoredExplanation): readonly string[] {
  const changed = findings.filter(({ code }) => code === 'judged_otherwise');
  const lines = changed.flatMap((each) => findingLines(each));
  if (lines.length === 0) return isByThen ? ['The mappings and transforms of now judge it alike.'] : [];
  const head = isByThen
    ? 'The mappings and transforms of now judge it otherwise:'
    : 'When it came, it was judged otherwise:';
  return [head, ...lines];
}

/** Evaluates requests with the mappings and transforms as they are, and prints what they become. */
export async function explainRequests(
  cli: Cli,
  requests: readonly WrittenRequest[],
  flags: ExplainFlags,
): Promise<void> {
  if (requests.length === 0) return;
  await using workbench = await openWorkbench(cli.terminal, flags);
  const explained: RequestExplanation[] = [];
  for (const request of requests) explained.push(await explainWritten(request, workbench));
  if (flags.json === true)
    printJson(cli.terminal, 'explain', { evaluations: explained.map(explanationToJson) });
  const how = { hasChannels: hasChannels(workbench.generation.config) };
  for (const each of explained) {
    endBy(cli, each);
    if (flags.json === true) continue;
    const { evaluation, advice } = each;
    const { verdict, hints } = briefOf(evaluation, advice);
    const isBrief = flags.all !== true && verdict.length + hints.length > 0;
    const options = optionsOf(cli, each, how);
    cli.terminal.out(
      isBrief
        ? [...headOf(evaluation, options), ...verdict, ...hints, '', 'more: the same with --all'].join('\n')
        : formatEvaluation(evaluation, options),
    );
  }
}

const optionsOf = (
  { terminal: { color } }: Cli,
  { request, advice, method }: RequestExplanation,
  how: Pick<ExplainOptions, 'isRepeat' | 'stored' | 'hasChannels'>,
): ExplainOptions => ({ color, ...how, request, advice, ...defined({ method }) });

const hasChannels = ({ settings }: Pick<LoadedConfig, 'settings'>): boolean =>
  Object.keys(settings.channels).length > 0;

/** A refused request ends the command with 1. */
function endBy(cli: Cli, explained: RequestExplanation | undefined): void {
  if (explained?.evaluation.outcome.kind === 'rejected') cli.setExitCode(1);
}
