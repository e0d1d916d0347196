import { printYaml } from '../../base/document/document.ts';
import type { LoadedConfig } from '../../engine/config/config.ts';
import {
  awaitedUntil,
  changeWork,
  hasFailed,
  leftOutLines,
  type Operator,
  plannedText,
  planChange,
} from '../../service/operations/operations.ts';
import {
  DROPPED,
  type QueuePause,
  type QueueSelection,
  type Storage,
  type WorkPlan,
} from '../../engine/storage/storage.ts';
import {
  ALL_MAPPINGS,
  eventToJson,
  isoTime,
  outboxToJson,
  pauseOfRunner,
  runToJson,
} from '../../engine/storage/facts.ts';
import { barredTexts } from '../../authoring/explanation/explanation.ts';
import type { Cli } from './command-line.ts';
import type { JsonFlags } from './config-file.ts';
import { type Outputs, printJson } from './json.ts';
import { printListing, queueListing, type QueueEntry } from './listings.ts';
import { noteUnknownMapping } from './mapping-filter.ts';
import { commandUser, withStore } from './store-tasks.ts';
import { CliError, type Terminal } from './terminal.ts';

interface SelectionFlags extends JsonFlags {
  readonly mapping?: string;
  /** The code of the last error. */
  readonly error?: string;
  readonly all?: boolean;
}

/** Reads `IDS… | [--mapping ID] [--error CODE] | --all`. */
function readSelection(ids: readonly string[], { mapping, error, all }: SelectionFlags): QueueSelection {
  const isFiltered = mapping !== undefined || error !== undefined;
  const given = [ids.length > 0, isFiltered, all === true].filter(Boolean).length;
  if (given !== 1)
    throw new CliError('say which work: one or more ids, --mapping ID, --error CODE, or --all', 2);
  if (ids.length > 0) return { kind: 'ids', ids };
  const withError = error === undefined ? {} : { errorCode: error };
  return mapping === undefined
    ? { kind: 'all', ...withError }
    : { kind: 'mapping', mappingId: mapping, ...withError };
}

/** No work fits what was asked for. */
class NothingChanged extends CliError {}

/** Changes work of the queue; of a mapping in vain says where no mapping has that id. */
async function onStore(cli: Cli, flags: SelectionFlags, change: Parameters<typeof withStore<void>>[2]) {
  try {
    await withStore(cli, flags, change);
  } catch (error) {
    if (error instanceof NothingChanged) await noteUnknownMapping(cli, flags, flags.mapping);
    throw error;
  }
}

/** Prints one run with everything that belongs to it, or one delivery, callback or system event. */
export async function showWork(
  cli: Cli,
  id: string,
  flags: JsonFlags & { readonly text: boolean },
): Promise<void> {
  const work = await withStore(cli, flags, (storage) => findWork(storage, id, flags.text));
  if (work === undefined)
    throw new CliError(`nothing in the store has the id ${id}; "sluice queue list" shows what waits`);
  if (flags.json === true) printJson(cli.terminal, 'queue show', work);
  // For people YAML, where a prompt or a reply of several lines can be read, each line behind a bar.
  else
    cli.terminal.out(
      printYaml(barredTexts('run' in work ? { ...work.run, outbox: work.outbox } : work.entry)),
    );
}

async function findWork(
  storage: Storage,
  id: string,
  withText: boolean,
): Promise<Outputs['queue show'] | undefined> {
  const run = await storage.findRun(id);
  if (run !== undefined) {
    const outbox = await storage.listOutbox({ limit: 1000, runId: id });
    return { run: runToJson(run, withText), outbox: outbox.map((entry) => outboxToJson(entry, withText)) };
  }
  const [sent] = await storage.listOutbox({ limit: 1, id });
  if (sent !== undefined) return { entry: outboxToJson(sent, withText) };
  const [event] = await storage.listEvents({ limit: 1, id });
  return event && { entry: eventToJson(event, withText) };
}

/** Who works on the queue by a command. */
const operatorOf = (storage: Storage, { settings }: LoadedConfig): Operator => ({
  storage,
  ...commandUser(),
  by: 'command',
  defaultRunner: settings.gateway.runner,
});

/** Makes failed, dead or waiting work due now, and lets the agents be tried that it waits for. */
export async function retryWork(
  cli: Cli,
  ids: readonly string[],
  flags: SelectionFlags & { readonly dryRun?: boolean },
): Promise<void> {
  const selection = readSelection(ids, flags);
  await onStore(cli, flags, async (storage, config) => {
    const nothing = (await whyNotAgain(storage, selection)) ?? NOTHING_TO_RETRY;
    if (flags.dryRun === true) return showRetry(cli.terminal, storage, { selection, flags, nothing, config });
    await changeSelection(
      cli,
      flags,
      { change: 'retry', selection, done: 'due now', nothing },
      operatorOf(storage, config),
    );
  });
}

const NOTHING_TO_RETRY =
  'nothing changed: no work matches, or it is due already; "sluice queue list" shows what waits';
/** Rows of each kind that a dry run lists. */
const MAX_SHOWN = 1_000;

interface Retry {
  readonly selection: QueueSelection;
  readonly flags: SelectionFlags;
  readonly nothing: string;
  readonly config: LoadedConfig;
}

/** Lists what a retry would begin, and changes nothing. */
async function showRetry(
  terminal: Terminal,
  storage: Storage,
  { selection, flags, nothing, config }: Retry,
): Promise<void> {
  const fetch = async (): Promise<readonly QueueEntry[]> => {
    const chosen = await storage.selectRetry(selection, { nowMs: Date.now(), limit: MAX_SHOWN });
    const runs = await Promise.all(chosen.runs.map((id) => storage.findRun(id)));
    const outbox = await Promise.all(chosen.outbox.map((id) => storage.listOutbox({ limit: 1, id })));
    const events = await Promise.all(chosen.events.map((id) => storage.listEvents({ limit: 1, id })));
    return [...runs.flatMap((run) => run ?? []), ...outbox.flat(), ...events.flat()];
  };
  const listing = { ...queueListing(), title: 'work to try again', fetch };
  const plan = await planChange(operatorOf(storage, config), { change: 'retry', selection });
  const shown = { json: flags.json === true, limit: Infinity, text: false };
  const { length } = await printListing(listing, storage, terminal, shown);
  if (length < plan.runs + plan.outbox + plan.events)
    terminal.err(`listed are ${length}; further ones, or due runs whose agent is away, are not`);
  for (const line of leftOutLines(plan)) terminal.err(line);
  const planned = plannedText(plan);
  if (planned === 'nothing') throw new NothingChanged(nothing);
  terminal.err(`${planned} would be due now, the oldest first; nothing was changed (--dry-run)`);
}

/** Of one run that cannot be begun again: why, and what can be done instead. */
async function whyNotAgain(storage: Storage, selection: QueueSelection): Promise<string | undefined> {
  if (selection.kind !== 'ids' || selection.ids.length !== 1) return undefined;
  const run = await storage.findRun(selection.ids[0] ?? '');
  if (run === undefined) return undefined;
  if (run.state === 'active') return `run ${run.id} is under way`;
  if (awaitedUntil(run) !== undefined)
    return `run ${run.id} waits for an approval; "sluice approve ${run.id}" begins it`;
  if (run.lastError?.code === DROPPED.code) return `run ${run.id} was dropped`;
  if (run.state !== 'completed' || hasFailed(run)) return undefined;
  const kept = await storage.findKeptRequest(run.action.origin.requestId);
  const instead =
    kept === undefined ? '' : `; "sluice replay ${kept.requestId}" judges its request once more`;
  return `run ${run.id} has ended well, and only what failed is tried again${instead}`;
}

/** Drops queued or dead work after asking; each dropped run posts its summary. */
export async function dropWork(
  cli: Cli,
  ids: readonly string[],
  flags: SelectionFlags & { readonly yes?: boolean },
): Promise<void> {
  // What comes while somebody is asked is not dropped.
  const given = readSelection(ids, flags);
  const selection = given.kind === 'ids' ? given : { ...given, until: Date.now() };
  await onStore(cli, flags, async (storage, config) => {
    const operator = operatorOf(storage, config);
    const what = describeDrop(selection, await planChange(operator, { change: 'drop', selection }));
    if (flags.yes !== true && !(await confirmDrop(cli.terminal, what))) return;
    const nothing = 'nothing in the queue matches; "sluice queue list" shows what waits';
    await changeSelection(cli, flags, { change: 'drop', selection, done: 'dropped', nothing }, operator);
  });
}

function describeDrop(selection: QueueSelection, plan: WorkPlan): string {
  if (selection.kind === 'ids') return selection.ids.join(', ');
  const { errorCode } = selection;
  const error = errorCode === undefined ? '' : ` with the error ${errorCode}`;
  const what = selection.kind === 'all' ? '' : ` of mapping ${selection.mappingId}`;
  return `all waiting and dead work${what}${error} (${plannedText(plan)})`;
}

async function confirmDrop(terminal: Terminal, what: string): Promise<boolean> {
  if (!terminal.interactive)
    throw new CliError(`dropping ${what} needs --yes, because there is no terminal to ask on`, 2);
  if (await terminal.confirm(`Drop ${what}?`)) return true;
  terminal.err('nothing dropped');
  return false;
}

interface Wanted {
  readonly change: 'retry' | 'drop';
  readonly selection: QueueSelection;
  readonly done: string;
  readonly nothing: string;
}

/** Changes what a selection has, and says how much, and what was left out. */
async function changeSelection(
  { terminal }: Cli,
  { json }: JsonFlags,
  { done, nothing, ...job }: Wanted,
  operator: Operator,
): Promise<void> {
  const plan = await planChange(operator, job);
  const changed = await changeWork(operator, job);
  const { leftOut } = plan;
  const told = leftOut.length === 0 ? {} : { leftOut };
  if (json === true) printJson(terminal, `queue ${job.change}`, { changed, ...told });
  else terminal.out(`${changed} ${done}`);
  const isOne = job.selection.kind === 'ids' && job.selection.ids.length === 1;
  if (!isOne && job.change === 'retry') for (const line of leftOutLines(plan)) terminal.err(line);
  if (changed === 0) throw new NothingChanged(isOne || leftOut.length === 0 ? nothing : 'nothing changed');
}

/** Answers whether a run begins, and says what holds: the first answer counts. */
export async function approveRun(
  cli: Cli,
  id: string,
  flags: JsonFlags & { readonly deny?: boolean },
): Promise<void> {
  const decision = flags.deny === true ? 'denied' : 'approved';
  const answer = { decision, by: 'command', nowMs: Date.now() } as const;
  const decided = await withStore(cli, flags, (storage) => storage.decideApproval(id, answer));
  if (decided === null) throw new CliError(`no run with the id ${id} waits for an approval`, 2);
  const { approval, isFirst, runs } = decided;
  const { decision: holds = null, by = '', at = 0, expiresAt } = approval;
  if (flags.json === true) return printJson(cli.terminal, 'approve', { decision: holds, isFirst });
  const also = runs > 1 ? `, with ${runs - 1} more of its request` : '';
  if (isFirst) return cli.terminal.out(`${decision} run ${id}${also}`);
  const undecided = answer.nowMs < expiresAt ? 'it was dropped' : 'its time is over';
  const why = holds === null ? undecided : `it was ${holds} by ${by} at ${isoTime(at)}`;
  throw new CliError(`run ${id} is decided: ${why}`);
}

interface PauseFlags extends JsonFlags {
  readonly runner?: string;
}

/** What is paused, as the store names it and as people do. */
function pauseNamed(
  mapping: string | undefined,
  { runner }: PauseFlags,
): { readonly key: string; readonly what: string } {
  if (runner === undefined) {
    return mapping === undefined
      ? { key: ALL_MAPPINGS, what: 'the queue' }
      : { key: mapping, what: `mapping ${mapping}` };
  }
  if (mapping !== undefined) throw new CliError('name a mapping or --runner, not both', 2);
  return { key: pauseOfRunner(runner), what: `runner ${runner}` };
}

/** Begins no further run of a mapping, of a runner, or of any; a service at work sees it at once. What is under way goes on. */
export async function pauseQueue(cli: Cli, mapping: string | undefined, flags: PauseFlags): Promise<void> {
  const { key, what } = pauseNamed(mapping, flags);
  const isNew = await withStore(cli, flags, (storage, { settings }) => {
    const names = Object.keys(settings.gateway.runners);
    if (flags.runner !== undefined && !names.includes(flags.runner)) {
      throw new CliError(`no runner has the name ${flags.runner}; the runners are ${names.join(', ')}`, 2);
    }
    return storage.pauseRuns(key, Date.now());
  });
  if (flags.json === true) printJson(cli.terminal, 'queue pause', { changed: isNew ? 1 : 0 });
  else cli.terminal.out(isNew ? `paused ${what}` : `${what} is paused already`);
  await noteUnknownMapping(cli, flags, mapping);
}

/** Ends the pause of a mapping or a runner; without either every pause there is. */
export async function resumeQueue(cli: Cli, mapping: string | undefined, flags: PauseFlags): Promise<void> {
  const { terminal } = cli;
  const { key, what } = pauseNamed(mapping, flags);
  const { changed, rest } = await withStore(cli, flags, async (storage) => ({
    changed: await storage.resumeRuns(key),
    rest: await storage.listPauses(),
  }));
  if (flags.json === true) printJson(terminal, 'queue resume', { changed });
  else if (changed > 0) terminal.out(key === ALL_MAPPINGS ? 'resumed' : `resumed ${what}`);
  if (changed === 0 && rest.length === 0) throw new CliError('nothing is paused');
  const isAll = rest.some(({ mappingId }) => mappingId === ALL_MAPPINGS);
  if (isAll) terminal.err('the whole queue is still paused: "sluice queue resume" ends every pause');
  if (changed > 0) return;
  throw new CliError(`${what} is not paused by itself; paused: ${rest.map(nameOf).join(', ')}`);
}

function nameOf({ mappingId }: QueuePause): string {
  return mappingId === ALL_MAPPINGS ? 'the whole queue' : mappingId;
}
