import { printSentence } from '../finding.ts';
import { resolve } from 'node:path';
import type { StorageError } from '../storage/storage.ts';
import type { LoadedConfig, Settings } from '../config/config.ts';
import { indent, runAdvice } from '../explanation/explanation.ts';
import type { Cli } from './command-line.ts';
import { loadSettings, type ConfigFlags, type JsonFlags } from './config-file.ts';
import { isoTimes, printJson } from './json.ts';
import {
  eventsListing,
  printListing,
  queueListing,
  runsListing,
  type Listing,
  type ListingOptions,
} from './listings.ts';
import { noteUnknownMapping } from './mapping-filter.ts';
import { printHolds } from './queue.ts';
import { findWaits, waitLines } from './queue-waits.ts';
import { CliError, formatOneLine, formatSpan } from './terminal.ts';
import {
  openStorage,
  retentionLimits,
  type EventRecord,
  type RunRecord,
  type SessionRecord,
  type Storage,
} from '../storage/storage.ts';
import { hasFailed } from './run-words.ts';
import { clearLine } from '../telemetry/telemetry.ts';

/**
 * Opens the store of the configuration, on which a service may be running, uses it and closes it again. It
 * needs no secrets, so it works where only the service's environment has them.
 */
export async function withStore<Result>(
  cli: Cli,
  flags: ConfigFlags,
  use: (storage: Storage, settings: Settings, config: LoadedConfig) => Promise<Result>,
): Promise<Result> {
  const config = await loadSettings(cli.terminal, flags);
  const { settings } = config;
  const storage = await openStorage(settings.storage.url, { mode: 'attached' });
  try {
    return await use(storage, settings, config);
  } finally {
    await storage.close();
  }
}

export interface ListFlags extends JsonFlags, Omit<ListingOptions, 'json' | 'text'> {
  readonly text?: boolean;
}

function optionsOf(flags: ListFlags): ListingOptions {
  return { ...flags, json: flags.json === true, text: flags.text !== false };
}

/** What a listing is printed from. */
interface ListContext {
  readonly storage: Storage;
  readonly gateway: Settings['gateway'];
  readonly config: LoadedConfig;
  readonly options: ListingOptions;
}

/** Prints a listing with what `print` says beside it; it resolves to how many rows there were. */
async function printFrom(
  cli: Cli,
  flags: ListFlags,
  print: (context: ListContext) => Promise<number>,
): Promise<void> {
  const options = optionsOf(flags);
  const count = await withStore(cli, flags, (storage, { gateway }, config) =>
    print({ storage, gateway, config, options }),
  );
  if (count === 0) await noteUnknownMapping(cli, flags, flags.mapping);
}

/** Prints one listing of the store. */
export async function list<Row>(cli: Cli, flags: ListFlags, listing: Listing<Row>): Promise<void> {
  await printFrom(cli, flags, async ({ storage, options }) => {
    const rows = await printListing(listing, storage, cli.terminal, options);
    return rows.length;
  });
}

/** Events looked at for one that waits in vain. */
const MAX_WAITING = 1_000;
const WAITING = { limit: MAX_WAITING, state: 'pending' } as const;

/** Prints the events of the main session, and that some wait for a turn that does not come. */
export async function listEvents(cli: Cli, flags: ListFlags): Promise<void> {
  await printFrom(cli, flags, async ({ storage, gateway, options }) => {
    const { length: shown } = await printListing(eventsListing, storage, cli.terminal, options);
    if (options.json || gateway.heartbeat.everySeconds > 0) return shown;
    const pending = await storage.listEvents(WAITING);
    if (!pending.some(({ mode }) => mode === 'next-heartbeat')) return shown;
    cli.terminal.err(
      'events of mode next-heartbeat wait for the regular turn of the main agent, and gateway.heartbeat.everySeconds: 0 turns that off: for a turn every half hour that reads all of them write everySeconds: 1800; to have each event read at once write wakeMode: now in its mapping',
    );
    return shown;
  });
}

/** Prints the runs, what to write where some failed, and a failed turn of the main session: it is no run before it completes. */
export async function listRuns(cli: Cli, flags: ListFlags): Promise<void> {
  await printFrom(cli, flags, async ({ storage, config, options }) => {
    const runs = await printListing(runsListing, storage, cli.terminal, options);
    if (options.json) return runs.length;
    const failed = runs.filter(hasFailed);
    const hints = new Set(
      failed.flatMap((run) => runAdvice(run, config) ?? []).map((said) => printSentence(said)),
    );
    for (const hint of [...hints].slice(0, MAX_HINTS)) cli.terminal.err(`hint: ${clearLine(hint)}`);
    if (options.kind !== 'hook') sayFailedTurn(cli, runs, await storage.listEvents(WAITING));
    return runs.length;
  });
}

const MAX_HINTS = 3;

/** Where it failed as a run did, one cause is one error. */
function sayFailedTurn({ terminal }: Cli, runs: readonly RunRecord[], waiting: readonly EventRecord[]): void {
  const failed = waiting.filter(({ lastError }) => lastError !== undefined);
  const [error] = failed.map(({ lastError }) => lastError);
  if (error === undefined) return;
  const who = failed.length === 1 ? '1 event waits' : `${failed.length} events wait`;
  const isKnown = runs.some(
    ({ lastError }) => lastError?.code === error.code && lastError.message === error.message,
  );
  const why = formatOneLine(`${error.code}: ${error.message}`, MAX_WHY);
  terminal.err(
    isKnown
      ? `the main session (heartbeat) failed in the same way, and ${who} for its next turn`
      : `a turn of the main session (heartbeat) failed, and ${who} for the next one: ${why}; "sluice events" lists them`,
  );
}

/** Letters of a reason in a line about something else. */
const MAX_WHY = 160;

/** Prints what waits, is under way or was given up, and which agents are away. */
export async function listQueue(cli: Cli, flags: ListFlags): Promise<void> {
  await printFrom(cli, flags, async ({ storage, gateway, options }) => {
    const holds = await storage.listHolds(gateway.runner);
    const waits = await findWaits(storage, Date.now());
    const listing = queueListing(holds, gateway, waits);
    const { length: shown } = await printListing(listing, storage, cli.terminal, options);
    if (options.json) return shown;
    await printHolds(storage, cli.terminal, gateway.runner);
    for (const line of waitLines(waits, Date.now())) cli.terminal.err(line);
    return shown;
  });
}

export interface SessionFlags extends JsonFlags {
  readonly owner?: string;
}

/** The one conversation that is meant; a key alone is enough where only one owner has it. */
async function findSession(storage: Storage, key: string, owner: string | undefined): Promise<SessionRecord> {
  const found = await storage.listSessions({
    limit: 1_000,
    sessionKey: key,
    ...(owner === undefined ? {} : { owner }),
  });
  const [session] = found;
  const quoted = JSON.stringify(key);
  if (session === undefined) {
    const whose = owner === undefined ? '' : ` and the owner ${JSON.stringify(owner)}`;
    throw new CliError(`no session has the key ${quoted}${whose}; "sluice sessions list" shows them`);
  }
  if (found.length === 1) return session;
  const choices = found.map((one) => `--owner ${one.owner}`).join(', or ');
  throw new CliError(`${found.length} sessions have the key ${quoted}; choose one: ${choices}`, 2);
}

/** Prints the turns of one session, oldest first. */
export async function showSession(cli: Cli, key: string, flags: SessionFlags): Promise<void> {
  const { turns } = await withStore(cli, flags, async (storage) =>
    storage.findConversation(await findSession(storage, key, flags.owner)),
  );
  if (flags.json === true)
    printJson(cli.terminal, 'sessions show', { turns: turns.map((turn) => isoTimes(turn, 'at')) });
  else
    for (const turn of turns)
      // Set off, so that no text can look like the beginning of another turn.
      cli.terminal.out(
        [`${turn.role}, ${formatSpan(Date.now() - turn.at)} ago:`, ...indent(turn.text), ''].join('\n'),
      );
}

/** Forgets a session. */
export async function clearSession(cli: Cli, key: string, flags: SessionFlags): Promise<void> {
  await withStore(cli, flags, async (storage) =>
    storage.clearSession(await findSession(storage, key, flags.owner)),
  );
  cli.terminal.out('cleared');
}

/** Applies `storage.keep` now. */
export async function pruneStore(cli: Cli, flags: JsonFlags): Promise<void> {
  const result = await withStore(cli, flags, (storage, { storage: { keep } }) =>
    storage.prune(retentionLimits(keep), Date.now()),
  );
  if (flags.json === true) printJson(cli.terminal, 'queue prune', { removed: result });
  else
    cli.terminal.out(
      Object.entries(result)
        .map(([what, count]) => `${count} ${what}`)
        .join(', '),
    );
}

/** Copies the store into a new file. */
export async function backupStore(cli: Cli, file: string, flags: ConfigFlags): Promise<void> {
  await withStore(cli, flags, (storage) => storage.backup(resolve(cli.terminal.cwd, file)));
  cli.terminal.out(file);
  cli.terminal.err(
    'the copy holds all that the store holds: prompts, replies, conversations, and requests with their bodies (storage.keepRequests); keep it as private',
  );
}

/** Checks the store's integrity; findings end with 1. */
export async function verifyStore(cli: Cli, flags: ConfigFlags): Promise<void> {
  const findings = await withStore(cli, flags, (storage) => storage.verify()).catch((error: unknown) => {
    const { code, message } = error as StorageError;
    // What is so damaged that it cannot be opened is what was asked.
    if (code === 'corrupt' || code === 'not_a_store') return [message];
    throw error;
  });
  for (const finding of findings) cli.terminal.out(finding);
  if (findings.length > 0) cli.setExitCode(1);
  else cli.terminal.out('the store is intact');
}
