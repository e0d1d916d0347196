import { printYaml } from '../document/document.ts';
import { clearControl, clearLine } from '../telemetry/telemetry.ts';
import { dropEnding } from '../gateway/gateway.ts';
import {
  type QueueSelection,
  type Storage,
  eventToJson,
  outboxToJson,
  runToJson,
} from '../storage/storage.ts';
import { CliError, type Terminal } from './terminal.ts';

export interface SelectionOptions {
  readonly mapping?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly json: boolean;
}

/** No work fits what was asked for. */
export class NothingChanged extends CliError {}

/** Reads `IDS… | --mapping ID | --all`: exactly one of the three. */
export function parseSelection(ids: readonly string[], options: SelectionOptions): QueueSelection {
  const given = [ids.length > 0, options.mapping !== undefined, options.all === true].filter(Boolean).length;
  if (given !== 1) throw new CliError('say which work: one or more ids, --mapping ID, or --all', 2);
  if (options.all === true) return { kind: 'all' };
  return options.mapping === undefined
    ? { kind: 'ids', ids }
    : { kind: 'mapping', mappingId: options.mapping };
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
    print(terminal, options, { ...runToJson(run, options.text), outbox: sent });
    return;
  }
  const entry = await findEntry(storage, id, options.text);
  if (entry === undefined)
    throw new CliError(`nothing in the store has the id ${id}; "sluice queue list" shows what waits`);
  print(terminal, options, entry);
}

/** A delivery, a callback or a system event, as JSON. */
async function findEntry(storage: Storage, id: string, withText: boolean): Promise<object | undefined> {
  const [entry] = await storage.listOutbox({ limit: 1, id });
  if (entry !== undefined) return outboxToJson(entry, withText);
  const [event] = await storage.listEvents({ limit: 1, id });
  return event === undefined ? undefined : eventToJson(event, withText);
}

/** JSON for programs; for people YAML, where a prompt or a reply of several lines can be read. */
function print(terminal: Terminal, options: { readonly json?: boolean }, value: unknown): void {
  if (options.json === true) terminal.out(JSON.stringify(value, null, 2));
  else terminal.out(clearControl(printYaml(value)));
}

/** Makes dead or waiting work due now, and lets the agents be tried that it waits for. */
export async function retryWork(
  storage: Storage,
  terminal: Terminal,
  selection: QueueSelection,
  options: SelectionOptions & { readonly defaultRunner: string },
): Promise<void> {
  report(terminal, options, {
    done: 'due now',
    count: await storage.retry(selection, Date.now(), options.defaultRunner),
    nothing: 'nothing changed: no work in the queue matches, or it is due already',
  });
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
  report(terminal, options, { done: 'dropped', count: dropped, nothing: 'nothing in the queue matches' });
}

function describeSelection(selection: QueueSelection): string {
  if (selection.kind === 'all') return 'all waiting and dead work';
  if (selection.kind === 'ids') return selection.ids.join(', ');
  return `the work of mapping ${selection.mappingId}`;
}

async function confirmDrop(terminal: Terminal, what: string): Promise<boolean> {
  if (!terminal.interactive)
    throw new CliError(`dropping ${what} needs --yes, because there is no terminal to ask on`, 2);
  if (await terminal.confirm(`Drop ${what}?`)) return true;
  terminal.err('nothing dropped');
  return false;
}

function report(
  terminal: Terminal,
  options: SelectionOptions,
  { done, count, nothing }: { readonly done: string; readonly count: number; readonly nothing: string },
): void {
  if (options.json) terminal.out(JSON.stringify({ changed: count }));
  else terminal.out(`${count} ${done}`);
  if (count === 0) throw new NothingChanged(`${nothing}; "sluice queue list" shows what waits`);
}
