import { plural } from '../../../base/finding.ts';
import { didYouMean, printYaml } from '../../../base/document/document.ts';
import {
  answerApproval,
  changeWork,
  findEntries,
  findObstacles,
  findWork,
  type ChangeJob,
  RECORDS,
  obstacleTexts,
  type Operator,
  type Pausable,
  pausableName,
  planTexts,
  planChange,
  whyNotAgain,
} from '../../../service/operations/operations.ts';
import type { QueueSelection, SetAsideSelection, Storage } from '../../../engine/storage/storage.ts';
import { isoTime } from '../../../engine/storage/facts.ts';
import { barredTexts } from '../../../authoring/explanation/explanation.ts';
import type { Cli } from '../command-line.ts';
import type { JsonFlags } from '../config-file.ts';
import { printJson } from '../json.ts';
import { type ListFlags, printListing, queueListing } from './listings.ts';
import { listQueue, noteUnknownMapping, withOperator, withStore } from './store-tasks.ts';
import { CliError } from '../terminal.ts';

interface SelectionFlags extends JsonFlags {
  readonly mapping?: string;
  readonly error?: string;
  readonly all?: boolean;
  /** Given for a drop only. */
  readonly before?: string;
}

/** Reads `IDS… | [--mapping ID] [--error CODE] | --all`. */
function readSelection(
  ids: readonly string[],
  { mapping, error, all, before }: SelectionFlags,
): QueueSelection {
  const isFiltered = mapping !== undefined || error !== undefined || before !== undefined;
  const given = [ids.length > 0, isFiltered, all === true].filter(Boolean).length;
  if (given !== 1)
    throw new CliError('say which work: one or more ids, --mapping ID, --error CODE, or --all', 2);
  if (ids.length > 0) return { kind: 'ids', ids };
  const withError = error === undefined ? {} : { errorCode: error };
  return mapping === undefined
    ? { kind: 'all', ...withError }
    : { kind: 'mapping', mappingId: mapping, ...withError };
}

class NothingChanged extends CliError {}

interface QueueChange {
  readonly job: ChangeJob;
  readonly command: `queue ${'retry' | 'drop' | 'pause' | 'resume'}` | `webhooks mail ${'retry' | 'drop'}`;
  readonly done: (changed: number) => string;
  /** What is said where nothing changed; absent where that is no failure. */
  readonly nothing?: string;
}

async function change(
  { terminal }: Cli,
  { json }: JsonFlags,
  { job, command, done, nothing }: QueueChange,
  operator: Operator,
): Promise<void> {
  const plan = await planChange(operator, job);
  const { leftOut } = plan;
  const changed = await changeWork(operator, job);
  const notChanged =
    leftOut.length > 0 && (job.change === 'retry' || job.change === 'drop') ? { leftOut } : {};
  if (json === true) printJson(terminal, command, { changed, ...notChanged });
  else if (changed > 0 || nothing === undefined) terminal.out(done(changed));
  const isOne = 'selection' in job && job.selection.kind === 'ids' && job.selection.ids.length === 1;
  if (!isOne && job.change === 'retry') for (const line of planTexts(plan).leftOut) terminal.err(line);
  if (changed > 0 || nothing === undefined) return;
  throw new NothingChanged(isOne || notChanged.leftOut === undefined ? nothing : 'nothing changed');
}

/** Where nothing changed, this says whether a mapping has the id that was asked for. */
async function onQueue(
  cli: Cli,
  flags: SelectionFlags,
  work: (operator: Operator) => Promise<void>,
): Promise<void> {
  try {
    await withOperator(cli, flags, work);
  } catch (error) {
    if (error instanceof NothingChanged) await noteUnknownMapping(cli, flags, flags.mapping);
    throw error;
  }
}

/** Prints one run with everything that belongs to it, or one delivery, callback or system event; or lists the queue. */
export async function showQueue(cli: Cli, id: string | undefined, flags: ListFlags): Promise<void> {
  if (id === undefined) return listQueue(cli, flags);
  const work = await withStore(cli, flags, (storage) => findWork(storage, id, flags.text !== false));
  if (work === undefined) throw noWork(id);
  if (flags.json === true) printJson(cli.terminal, 'queue show', work);
  // People get YAML, where a prompt or a reply of several lines can be read, each line behind a bar.
  else
    cli.terminal.out(
      printYaml(barredTexts('run' in work ? { ...work.run, outbox: work.outbox } : work.entry)),
    );
}

const COMMANDS = ['list', 'show', 'retry', 'drop', 'pause', 'resume'];

/** A mistyped command stands where an id may. */
function noWork(id: string): CliError {
  if (/^[\da-f]+-[\da-f-]+$/i.test(id))
    return new CliError(`nothing in the store has the id ${id}; "sluice queue list" shows what waits`);
  const near = didYouMean(id, COMMANDS);
  const forms = near === undefined ? `it takes ${COMMANDS.join(', ')}, or an id` : `did you mean ${near}?`;
  return new CliError(`${id} is no command of "sluice queue" and no id; ${forms}`, 2);
}

/** Makes failed, dead or waiting work due now, and tries the agents again that it waits for. */
export async function retryWork(
  cli: Cli,
  ids: readonly string[],
  flags: SelectionFlags & { readonly dryRun?: boolean },
): Promise<void> {
  const selection = readSelection(ids, flags);
  await onQueue(cli, flags, async (operator) => {
    const [id = ''] = ids.length === 1 ? ids : [];
    const nothing =
      (id === '' ? undefined : await whyNotAgain(operator.storage, id)) ??
      'nothing changed: no work matches, or it is due already; "sluice queue list" shows what waits';
    const job = { change: 'retry', selection } as const;
    if (flags.dryRun === true) return showRetry(cli, flags, { job, nothing, operator });
    const done = (changed: number): string => `${changed} due now`;
    await change(cli, flags, { job, command: 'queue retry', done, nothing }, operator);
  });
}

interface Retry {
  readonly job: ChangeJob & { readonly change: 'retry' };
  readonly nothing: string;
  readonly operator: Operator;
}

const MAX_LISTED = 1_000;

async function showRetry(
  { terminal }: Cli,
  { json }: JsonFlags,
  { job, nothing, operator }: Retry,
): Promise<void> {
  const plan = await planChange(operator, job);
  const ids = plan.ids.slice(0, MAX_LISTED);
  const list = { ...RECORDS.queue, read: (storage: Storage) => findEntries(storage, ids) };
  const listing = { ...queueListing(), title: 'work to try again', list };
  const shown = { limit: Infinity, text: false, ...(json === true && { json }) };
  const { length } = await printListing(listing, operator.storage, terminal, shown);
  if (length < plan.runs + plan.outbox + plan.events) terminal.err(`listed are the first ${length}`);
  const { says, leftOut } = planTexts(plan);
  for (const line of leftOut) terminal.err(line);
  if (says === 'nothing') throw new NothingChanged(nothing);
  terminal.err(`${says} would be due now, the oldest first; nothing was changed (--dry-run)`);
}

/** Drops queued or dead work after asking; each dropped run posts its summary. */
export async function dropWork(
  cli: Cli,
  ids: readonly string[],
  flags: SelectionFlags & { readonly yes?: boolean },
): Promise<void> {
  // Work that arrives while somebody is asked is not dropped.
  const given = readSelection(ids, flags);
  const until = flags.before === undefined ? Date.now() : Date.parse(flags.before) - 1;
  if (Number.isNaN(until))
    throw new CliError(`--before takes a time such as 2026-11-29T08:00Z, found ${flags.before}`, 2);
  const selection = given.kind === 'ids' ? given : { ...given, until };
  await onQueue(cli, flags, async (operator) => {
    const job = { change: 'drop', selection } as const;
    if (flags.yes !== true && !(await mayDrop(cli, job, operator))) return;
    const nothing = 'nothing in the queue matches; "sluice queue list" shows what waits';
    const done = (changed: number): string => `${changed} dropped`;
    await change(cli, flags, { job, command: 'queue drop', done, nothing }, operator);
  });
}

/** Without a terminal, `--yes` must confirm. */
async function mayDrop({ terminal }: Cli, job: ChangeJob, operator: Operator): Promise<boolean> {
  const { says } = planTexts(await planChange(operator, job));
  if (!terminal.interactive)
    throw new CliError(`this drops ${says} and needs --yes, because there is no terminal to ask on`, 2);
  if (await terminal.confirm(`Drop ${says}?`)) return true;
  terminal.err('nothing dropped');
  return false;
}

/** Asks the reader of the mailbox to deliver refused messages again, which happens within some seconds. */
export const retryMail = (cli: Cli, ids: readonly string[], flags: SelectionFlags): Promise<void> =>
  changeMail(cli, ids, flags, {
    change: 'retry',
    done: 'will be delivered again by the reader of the mailbox',
  });

export const dropMail = (cli: Cli, ids: readonly string[], flags: SelectionFlags): Promise<void> =>
  changeMail(cli, ids, flags, { change: 'drop', done: 'forgotten' });

async function changeMail(
  cli: Cli,
  ids: readonly string[],
  flags: SelectionFlags,
  { change: what, done }: { readonly change: 'retry' | 'drop'; readonly done: string },
): Promise<void> {
  if (ids.length > 0 === (flags.all === true))
    throw new CliError('name the messages: one or more ids, or --all', 2);
  const selection: SetAsideSelection = flags.all === true ? { kind: 'all' } : { kind: 'ids', ids };
  const wanted: QueueChange = {
    job: { change: `${what} mail`, selection },
    command: `webhooks mail ${what}`,
    done: (changed) => `${plural(changed, 'message')} ${done}`,
    nothing: `no refused message matches${what === 'retry' ? ', or its sender is not proved, which is taken by its id only' : ''}; "sluice webhooks mail list" shows them`,
  };
  await withOperator(cli, flags, (operator) => change(cli, flags, wanted, operator));
}

/** Answers whether a run begins. The first answer counts, and is printed. */
export async function approveRun(
  cli: Cli,
  id: string,
  flags: JsonFlags & { readonly deny?: boolean },
): Promise<void> {
  const decided = await withOperator(cli, flags, (operator) =>
    answerApproval(operator, id, flags.deny === true ? 'deny' : 'approve'),
  );
  if (decided === null) throw new CliError(`no run with the id ${id} waits for an approval`, 2);
  const { approval, isFirst, runs } = decided;
  const { decision: holds = null, by = '', at = 0, expiresAt } = approval;
  if (flags.json === true) return printJson(cli.terminal, 'approve', { decision: holds, isFirst });
  const also = runs > 1 ? `, with ${runs - 1} more of its request` : '';
  if (isFirst) return cli.terminal.out(`${holds} run ${id}${also}`);
  const undecided = Date.now() < expiresAt ? 'it was dropped' : 'its time is over';
  const why = holds === null ? undecided : `it was ${holds} by ${by} at ${isoTime(at)}`;
  throw new CliError(`run ${id} is decided: ${why}`);
}

interface PauseFlags extends JsonFlags {
  readonly runner?: string;
}

function readPausable(mapping: string | undefined, { runner }: PauseFlags): Pausable {
  if (runner === undefined) return mapping === undefined ? {} : { mapping };
  if (mapping !== undefined) throw new CliError('name a mapping or --runner, not both', 2);
  return { runner };
}

/**
 * Begins no further run of a mapping, of a runner, or of any; a running service sees the pause at once.
 * Runs under way go on.
 */
export async function pauseQueue(cli: Cli, mapping: string | undefined, flags: PauseFlags): Promise<void> {
  const of = readPausable(mapping, flags);
  const name = pausableName(of);
  const done = (changed: number): string => (changed > 0 ? `paused ${name}` : `${name} is paused already`);
  await withOperator(cli, flags, async (operator, { settings }) => {
    const names = Object.keys(settings.gateway.runners);
    if (flags.runner !== undefined && !names.includes(flags.runner))
      throw new CliError(`no runner has the name ${flags.runner}; the runners are ${names.join(', ')}`, 2);
    await change(cli, flags, { job: { change: 'pause', of }, command: 'queue pause', done }, operator);
  });
  await noteUnknownMapping(cli, flags, mapping);
}

/** Ends the pause of a mapping or a runner, or every pause without either. Says what is still paused. */
export async function resumeQueue(cli: Cli, mapping: string | undefined, flags: PauseFlags): Promise<void> {
  const of = readPausable(mapping, flags);
  const name = pausableName(of);
  const isAll = name === pausableName({});
  const wanted: QueueChange = {
    job: { change: 'resume', of },
    command: 'queue resume',
    done: () => (isAll ? 'resumed' : `resumed ${name}`),
    nothing: isAll ? 'nothing is paused' : `${name} is not paused by itself`,
  };
  await withOperator(cli, flags, async (operator, { settings }) => {
    try {
      await change(cli, flags, wanted, operator);
    } finally {
      const { pauses } = await findObstacles(operator.storage, settings.gateway);
      for (const line of obstacleTexts({ pauses }, Date.now())) cli.terminal.err(line);
    }
  });
}
