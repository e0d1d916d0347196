import { printYaml } from '../document/document.ts';
import { clearControl, clearLine } from '../telemetry/telemetry.ts';
import { dropEnding } from '../gateway/gateway.ts';
import { DROPPED, type QueueSelection, type Storage } from '../storage/storage.ts';
import { type EventJson, type OutboxJson, eventToJson, outboxToJson, runToJson } from '../storage/facts.ts';
import { type Outputs, printJson } from './json.ts';
import { printListing, type QueueEntry, waitingListing } from './listings.ts';
import { hasFailed } from './run-words.ts';
import { CliError, type Terminal } from './terminal.ts';

export interface SelectionOptions {
  readonly mapping?: string;
  /** The code of the last error. */
  readonly error?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json: boolean;
}

/** No work fits what was asked for. */
export class NothingChanged extends CliError {}

/** Reads `IDS… | [--mapping ID] [--error CODE] | --all`. */
export function parseSelection(
  ids: readonly string[],
  { mapping, error, all }: SelectionOptions,
): QueueSelection {
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

/** Says for people which agents cannot take runs, and how many wait for them. */
export async function printHolds(storage: Storage, terminal: Terminal, defaultRunner: string): Promise<void> {
  for (const hold of await storage.listHolds(defaultRunner)) {
    const who =
      hold.model === undefined
        ? `agent ${hold.runner} is away`
        : `model ${hold.model} of agent ${hold.runner} cannot take runs`;
    const waiting = hold.waiting === 1 ? '1 run waits' : `${hold.waiting} runs wait`;
    const reason = clearLine(`${hold.code}: ${hold.message}`);
    terminal.err(`${who} since ${new Date(hold.since).toISOString()} (${reason}), ${waiting}`);
  }
}

/** Prints one run with everything that belongs to it, or one delivery, callback or system event. */
export async function showWork(
  storage: Storage,
  terminal: Terminal,
  id: string,
  options: { readonly text: boolean; readonly json?: boolean },
): Promise<void> {
  const run = await storage.findRun(id);
  if (run !== undefined) {
    const outbox = await storage.listOutbox({ limit: 1000, runId: id });
    const sent = outbox.map((entry) => outboxToJson(entry, options.text));
    print(terminal, options, { run: runToJson(run, options.text), outbox: sent });
    return;
  }
  const entry = await findEntry(storage, id, options.text);
  if (entry === undefined)
    throw new CliError(`nothing in the store has the id ${id}; "sluice queue list" shows what waits`);
  print(terminal, options, { entry });
}

/** A delivery, a callback or a system event, as JSON. */
async function findEntry(
  storage: Storage,
  id: string,
  withText: boolean,
): Promise<OutboxJson | EventJson | undefined> {
  const [entry] = await storage.listOutbox({ limit: 1, id });
  if (entry !== undefined) return outboxToJson(entry, withText);
  const [event] = await storage.listEvents({ limit: 1, id });
  return event === undefined ? undefined : eventToJson(event, withText);
}

/** JSON for programs; for people YAML, where a prompt or a reply of several lines can be read. */
function print(terminal: Terminal, options: { readonly json?: boolean }, work: Outputs['queue show']): void {
  if (options.json === true) printJson(terminal, 'queue show', work);
  else
    terminal.out(clearControl(printYaml('run' in work ? { ...work.run, outbox: work.outbox } : work.entry)));
}

/** Makes failed, dead or waiting work due now, and lets the agents be tried that it waits for. */
export async function retryWork(
  storage: Storage,
  terminal: Terminal,
  selection: QueueSelection,
  options: SelectionOptions & { readonly defaultRunner: string },
): Promise<void> {
  const why = await whyNotAgain(storage, selection);
  if (options.dryRun === true) return showRetry(storage, terminal, selection, { ...options, why });
  report(terminal, options, {
    command: 'queue retry',
    done: 'due now',
    count: await storage.retry(selection, Date.now(), options.defaultRunner),
    nothing: why ?? NOTHING_TO_RETRY,
  });
}

const NOTHING_TO_RETRY =
  'nothing changed: no work matches, or it is due already; "sluice queue list" shows what waits';
/** Rows of each kind that a dry run lists. */
const MAX_SHOWN = 1_000;

/** Lists what a retry would begin, and changes nothing. */
async function showRetry(
  storage: Storage,
  terminal: Terminal,
  selection: QueueSelection,
  { json, why = NOTHING_TO_RETRY }: SelectionOptions & { readonly why: string | undefined },
): Promise<void> {
  const fetch = async (): Promise<readonly QueueEntry[]> => {
    const chosen = await storage.selectRetry(selection, { nowMs: Date.now(), limit: MAX_SHOWN });
    const runs = await Promise.all(chosen.runs.map((id) => storage.findRun(id)));
    const outbox = await Promise.all(chosen.outbox.map((id) => storage.listOutbox({ limit: 1, id })));
    const events = await Promise.all(chosen.events.map((id) => storage.listEvents({ limit: 1, id })));
    return [...runs.flatMap((run) => run ?? []), ...outbox.flat(), ...events.flat()];
  };
  const listing = { ...waitingListing, title: 'work to try again', fetch };
  const options = { json, limit: MAX_SHOWN, text: false };
  const { length } = await printListing(listing, storage, terminal, options);
  if (length === 0) throw new NothingChanged(why);
  terminal.err(`${length} would be due now; nothing was changed (--dry-run)`);
}

/** Of one run that cannot be begun again: why, and what can be done instead. */
async function whyNotAgain(storage: Storage, selection: QueueSelection): Promise<string | undefined> {
  if (selection.kind !== 'ids' || selection.ids.length !== 1) return undefined;
  const run = await storage.findRun(selection.ids[0] ?? '');
  if (run === undefined) return undefined;
  if (run.state === 'active') return `run ${run.id} is under way`;
  if (run.lastError?.code === DROPPED.code) return `run ${run.id} was dropped`;
  if (run.state !== 'completed' || hasFailed(run)) return undefined;
  const kept = await storage.findKeptRequest(run.action.origin.requestId);
  const instead =
    kept === undefined ? '' : `; "sluice replay ${kept.requestId}" judges its request once more`;
  return `run ${run.id} has ended well, and only what failed is tried again${instead}`;
}

/** Drops queued or dead work after asking; each dropped run posts its summary. */
export async function dropWork(
  storage: Storage,
  terminal: Terminal,
  selection: QueueSelection,
  options: SelectionOptions,
): Promise<void> {
  if (options.yes !== true && !(await confirmDrop(terminal, describeSelection(selection)))) return;
  const nowMs = Date.now();
  const dropped = await storage.drop(selection, nowMs, (run) => dropEnding(run, nowMs));
  report(terminal, options, {
    command: 'queue drop',
    done: 'dropped',
    count: dropped,
    nothing: 'nothing in the queue matches; "sluice queue list" shows what waits',
  });
}

function describeSelection(selection: QueueSelection): string {
  if (selection.kind === 'ids') return selection.ids.join(', ');
  const { errorCode } = selection;
  const error = errorCode === undefined ? '' : ` with the error ${errorCode}`;
  const what = selection.kind === 'all' ? '' : ` of mapping ${selection.mappingId}`;
  return `all waiting and dead work${what}${error}`;
}

async function confirmDrop(terminal: Terminal, what: string): Promise<boolean> {
  if (!terminal.interactive)
    throw new CliError(`dropping ${what} needs --yes, because there is no terminal to ask on`, 2);
  if (await terminal.confirm(`Drop ${what}?`)) return true;
  terminal.err('nothing dropped');
  return false;
}

interface Changed {
  readonly command: 'queue retry' | 'queue drop';
  readonly done: string;
  readonly count: number;
  readonly nothing: string;
}

function report(
  terminal: Terminal,
  options: SelectionOptions,
  { command, done, count, nothing }: Changed,
): void {
  if (options.json) printJson(terminal, command, { changed: count });
  else terminal.out(`${count} ${done}`);
  if (count === 0) throw new NothingChanged(nothing);
}
