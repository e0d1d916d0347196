import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LoadedConfig } from '../config/config.ts';
import {
  explainRequest,
  explanationToJson,
  keyNotes,
  sessionNotes,
  settingNotes,
  storedToJson,
  type ExplanationJson,
  type RequestExplanation,
  type SettingNote,
} from '../explanation/explanation.ts';
import {
  createHookRequest,
  evaluationToJson,
  formatEvaluation,
  parseKeptRequest,
  settingLines,
  type EvaluationAdvice,
  type EvaluationJson,
  type KeptTrace,
} from '../hook/hook.ts';
import type { HookRequest } from '../request.ts';
import {
  type DecisionRecord,
  findStoredRequest,
  openStorage,
  type KeptRequest,
  type StoredRequest,
} from '../storage/storage.ts';
import type { Cli } from './command-line.ts';
import { loadSettings, type JsonFlags } from './config-file.ts';
import { answerLines, noteLines, reasonLines, workLines } from './format-stored.ts';
import { commandLine } from './next-steps.ts';
import { findWaits, type QueueWaits } from './queue-waits.ts';
import { readRequests } from './request-file.ts';
import { CliError } from './terminal.ts';
import { LateWorkbench, openWorkbench, type Workbench } from './workbench.ts';

/** Says what a request file becomes, or what a request that was answered became, and why. */
export async function explain(cli: Cli, what: string, flags: JsonFlags): Promise<void> {
  if (existsSync(resolve(cli.terminal.cwd, what))) {
    const evaluations = await explainRequests(cli, await readRequests(cli.terminal, what), flags);
    if (flags.json === true)
      cli.terminal.out(JSON.stringify(evaluations.length === 1 ? evaluations[0] : evaluations, null, 2));
    return;
  }
  if (!/^[0-9a-f-]{8,36}$/i.test(what)) {
    throw new CliError(`there is no file ${what}, and it is not the id of a request, run or event`);
  }
  await explainStored(cli, what, flags);
}

/** One page for a request, a run or an event, by its id: why it was judged as it was, and what became of it. */
export async function explainStored(cli: Cli, id: string, flags: JsonFlags): Promise<void> {
  const config = await loadSettings(cli.terminal, flags);
  const stored = await findStored(config, id);
  if (stored === undefined) throw nothingKept(id);
  const bench = new LateWorkbench(cli.terminal, flags);
  try {
    const found: Found = { stored, config, bench };
    if (flags.json === true) await printJson(cli, found, flags);
    else await printPage(cli, found);
  } finally {
    await bench.close();
  }
}

/** What the store knows, with requests of the same path that were kept before it. */
type FoundRequest = StoredRequest & { readonly waits: QueueWaits; readonly earlier: readonly KeptRequest[] };

interface Found {
  readonly stored: FoundRequest;
  readonly config: LoadedConfig;
  readonly bench: LateWorkbench;
}

async function printJson(cli: Cli, { stored, bench }: Found, flags: JsonFlags): Promise<void> {
  const { request, judged } = stored.kept === undefined ? {} : keptParts(stored.kept);
  const [evaluation] =
    request === undefined ? [] : await explainWith(await bench.open(), cli, { requests: [request], flags });
  const settings = await storedSettings(bench, stored);
  cli.terminal.out(JSON.stringify(storedToJson(stored, { judged, evaluation, settings }), null, 2));
}

async function printPage(cli: Cli, found: Found): Promise<void> {
  const { stored, config, bench } = found;
  const { request, judged } = stored.kept === undefined ? {} : keptParts(stored.kept);
  const print = (lines: readonly string[]): void => {
    if (lines.length > 0) cli.terminal.out(withoutSecrets(lines.join('\n'), config));
  };
  const { decision } = stored;
  if (decision !== undefined) print(answerLines(decision));
  if (request === undefined) {
    if (decision !== undefined) print(reasonLines(decision));
    await explainUnkept(cli, decision, { settings: config.settings, bench });
  } else {
    const note = (advice?: EvaluationAdvice): void =>
      print(decision === undefined ? [] : noteLines(decision, advice));
    const explained = await explainRequest(request, await bench.open()).catch((error: unknown) => {
      note();
      throw error;
    });
    note(explained.advice);
    explainKept(cli, { explained, judged });
  }
  print(storedWork(cli, found));
  const notes = [
    ...(await storedSettings(bench, stored)),
    ...(await storedKeys(bench, request, stored.earlier)),
  ];
  print(noteOnSettings(notes.filter(({ setting }) => request === undefined || !TOLD_BEFORE.has(setting))));
}

function noteOnSettings(notes: readonly SettingNote[]): readonly string[] {
  if (notes.length === 0) return [];
  return ['', 'Settings that took part, as they are now:', ...settingLines(notes)];
}

/** The runs, deliveries and events that the request became. */
function storedWork({ terminal }: Cli, { stored, config }: Found): readonly string[] {
  const work = workLines(stored, {
    gateway: config.settings.gateway,
    now: Date.now(),
    waits: stored.waits,
    requestId: stored.decision?.requestId,
    command: (command) => commandLine(terminal, config.file, command),
  });
  return work.length === 0 ? [] : ['', 'What became of it:', ...work];
}

/** Settings that took part in what the store knows; none where the files have errors now, which `check` shows. */
async function storedSettings(bench: LateWorkbench, stored: StoredRequest): Promise<readonly SettingNote[]> {
  const workbench = await bench.openQuietly();
  if (workbench === undefined) return [];
  const { config, table } = workbench.generation;
  return settingNotes({ config, table, stored });
}

/** Kept requests that are looked through for one that should have met this one. */
const MAX_KEPT_LOOKED_AT = 20;

/** Keys that are another for this request than for one before it; the nearest that tells something. */
async function storedKeys(
  bench: LateWorkbench,
  request: HookRequest | undefined,
  earlier: readonly KeptRequest[],
): Promise<readonly SettingNote[]> {
  const workbench = request === undefined ? undefined : await bench.openQuietly();
  if (workbench === undefined || request === undefined) return [];
  const judge = async (of: HookRequest): Promise<Parameters<typeof keyNotes>[0]> => ({
    request: of,
    evaluation: await workbench.generation.evaluate(of, 'full'),
  });
  const now = await judge(request);
  const judged: Awaited<ReturnType<typeof judge>>[] = [];
  for (const kept of earlier) {
    const { request: before } = keptParts(kept);
    if (before.id === request.id || before.path !== request.path) continue;
    // The nearest first; most have none before them.
    // oxlint-disable-next-line no-await-in-loop
    judged.push(await judge(before));
    const notes = keyNotes(now, judged.at(-1) ?? now);
    if (notes.length > 0) return notes;
  }
  return sessionNotes(now, judged);
}

/** Settings whose part in a kept request is told with the request. */
const TOLD_BEFORE: ReadonlySet<string> = new Set([
  'match.source',
  'forEach',
  'gateway.heartbeat.everySeconds',
  'hooks.defaults.deliver',
]);

function nothingKept(id: string): CliError {
  return new CliError(
    `nothing is kept under the id ${id}; "sluice requests" lists the last decisions, "sluice runs" the runs`,
  );
}

function keptParts(kept: KeptRequest): {
  readonly request: HookRequest;
  readonly judged: KeptTrace | undefined;
} {
  const { judged, ...request } = parseKeptRequest(kept);
  return { request, judged };
}

async function findStored({ settings }: LoadedConfig, id: string): Promise<FoundRequest | undefined> {
  const storage = await openStorage(settings.storage.url, { mode: 'attached' });
  try {
    const stored = await findStoredRequest(storage, id);
    if (stored === undefined) return undefined;
    const { kept } = stored;
    const others = kept === undefined ? [] : await storage.listKeptRequests(MAX_KEPT_LOOKED_AT);
    const earlier = others.filter(({ receivedAt }) => receivedAt <= (kept?.receivedAt ?? 0));
    return { ...stored, waits: await findWaits(storage, Date.now()), earlier };
  } finally {
    await storage.close();
  }
}

/** Values of the configuration that are secrets stay out, wherever a command or a platform repeated them. */
function withoutSecrets(text: string, { secrets }: LoadedConfig): string {
  return secrets.reduce(
    (safe, secret) => (secret.length < 6 ? safe : safe.replaceAll(secret, '[removed]')),
    text,
  );
}

/** What can be said without the request: of a name that no mapping takes, which names there are. */
async function explainUnkept(
  cli: Cli,
  decision: DecisionRecord | undefined,
  { settings, bench }: { readonly settings: LoadedConfig['settings']; readonly bench: LateWorkbench },
): Promise<void> {
  const isBeforeMappings =
    decision?.code !== undefined && decision.mappingId === undefined && decision.missed === undefined;
  if (decision?.code === 'no_mapping_matched' && isBeforeMappings) {
    cli.terminal.out('');
    await explainName(cli, decision.path, await bench.open());
    return;
  }
  if (isBeforeMappings) {
    cli.terminal.out('\nIt was refused before any mapping saw it, and such requests are never kept.');
    return;
  }
  cli.terminal.out(`\nThe request itself was not kept: ${howToKeep(decision, settings)}, and send it again.`);
}

/** The switch that keeps the next one. */
function howToKeep(decision: DecisionRecord | undefined, { storage }: LoadedConfig['settings']): string {
  if (decision?.keepRequests === 'none') {
    return 'the mappings of its path say keepRequests: none; remove that to keep the next one';
  }
  const { which } = storage.keepRequests;
  const now = which === undefined ? '' : `storage.keepRequests.which is ${which}; `;
  // Those that were answered well are kept by "all" alone.
  const wanted = decision !== undefined && decision.status < 400 ? 'all' : 'failed or all';
  return `${now}set storage.keepRequests.which to ${wanted} to keep the next one`;
}

/** Which names the mappings have, and which was probably meant. */
async function explainName(cli: Cli, path: string, workbench: Workbench): Promise<void> {
  const request = createHookRequest({ path, payload: {}, receivedAt: 0 });
  const { evaluation, advice } = await explainRequest(request, workbench);
  if (evaluation.outcome.kind === 'rejected' && evaluation.mapping === undefined) {
    cli.terminal.out(formatEvaluation(evaluation, { color: cli.terminal.color, advice }));
  } else cli.terminal.out('With the mappings as they are now, there is a mapping for this name.');
}

/** The kept request as it would be judged now, and how it was judged where that differs. */
function explainKept(
  cli: Cli,
  { explained, judged }: { readonly explained: RequestExplanation; readonly judged: KeptTrace | undefined },
): void {
  cli.terminal.out('\nThe request was kept. With the mappings and transforms as they are now:\n');
  report(cli, [explained]);
  sayRemoved(cli, explained.request);
  if (judged === undefined) return;
  const lines = changedLines(judged, evaluationToJson(explained.evaluation));
  if (lines.length > 0) cli.terminal.out(['When it came, it was judged otherwise:', ...lines].join('\n'));
}

/** Names the secrets that were left out of what was kept. */
function sayRemoved({ terminal }: Cli, { headers, query }: HookRequest): void {
  const removed = [...Object.entries(headers), ...Object.entries(query)].flatMap(([name, value]) =>
    value === '[removed]' ? [name] : [],
  );
  if (removed.length === 0) return;
  terminal.out(
    `not kept, because they are secrets: ${removed.join(', ')}; a condition or template that reads one sees "[removed]" here`,
  );
}

function changedLines(before: KeptTrace, now: EvaluationJson): readonly string[] {
  const [was, is] = [outcomeText(before), outcomeText(now)];
  if (was === is) return [];
  const failed = before.considered.find((entry) => entry.failed !== undefined)?.failed;
  return [
    `  then: ${was} (generation ${before.generation})`,
    `  now:  ${is}`,
    ...(failed?.expression === undefined
      ? []
      : [`  then failed: ${failed.part} ${failed.expression}  ${failed.at ?? ''}`]),
    ...before.empty.map(
      ({ field, expression, at }) => `  then rendered empty: ${field}: ${expression}  ${at}`,
    ),
  ];
}

function outcomeText({
  outcome,
  mapping,
  error,
  actions,
}: Pick<EvaluationJson, 'outcome' | 'mapping' | 'error'> & { readonly actions: readonly unknown[] }): string {
  const refusal = error === undefined ? '' : ` ${error.status} ${error.code}`;
  const count = `${actions.length} action${actions.length === 1 ? '' : 's'}`;
  return `${outcome}${refusal}, mapping ${mapping?.id ?? 'none'}, ${count}`;
}

/** Evaluates with the mappings and transforms as they are; prints for people, resolves to what `--json` prints. */
export async function explainRequests(
  cli: Cli,
  requests: readonly HookRequest[],
  flags: JsonFlags,
): Promise<readonly ExplanationJson[]> {
  if (requests.length === 0) return [];
  const workbench = await openWorkbench(cli.terminal, flags);
  try {
    return await explainWith(workbench, cli, { requests, flags });
  } finally {
    await workbench.close();
  }
}

async function explainWith(
  workbench: Workbench,
  cli: Cli,
  { requests, flags }: { readonly requests: readonly HookRequest[]; readonly flags: JsonFlags },
): Promise<readonly ExplanationJson[]> {
  const explained: RequestExplanation[] = [];
  for (const request of requests) explained.push(await explainRequest(request, workbench));
  report(cli, explained, flags);
  return explained.map(explanationToJson);
}

/** Prints for people; one that is refused ends the command with 1. */
function report(
  cli: Cli,
  explained: readonly RequestExplanation[],
  { json }: Pick<JsonFlags, 'json'> = {},
): void {
  for (const { evaluation, ...options } of json === true ? [] : explained) {
    cli.terminal.out(formatEvaluation(evaluation, { color: cli.terminal.color, ...options }));
  }
  if (explained.some(({ evaluation }) => evaluation.outcome.kind === 'rejected')) cli.setExitCode(1);
}
