import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import type { LoadedConfig } from '../../../engine/config/config.ts';
import { decisionLine, hintLines, indent, runAdvice } from '../../../authoring/explanation/explanation.ts';
import { requestFinding } from '../../../authoring/advice/requests.ts';
import {
  conversationChanges,
  decidedCounter,
  findWaits,
  hasFailed,
  type Operator,
  overview,
  RECORDS,
} from '../../../service/operations/operations.ts';
import type { Cli } from '../command-line.ts';
import { findConfigFile, loadSettings, type ConfigFlags, type JsonFlags } from '../config-file.ts';
import { benchOf } from '../authoring/workbench.ts';
import { didYouMean } from '../../../base/document/document.ts';
import { defined, isJsonObject } from '../../../base/json.ts';
import { fetchJson } from '../../../base/outgoing/outgoing.ts';
import { clearLine, codeOf, formatSpan } from '../../../base/telemetry/telemetry.ts';
import { pause } from '../../../base/timers/timers.ts';
import type { CompiledMapping } from '../../../engine/mapping/mapping.ts';
import { isoTime, isoTimes } from '../../../engine/storage/facts.ts';
import { printJson } from '../json.ts';
import {
  causeLines,
  type ListFlags,
  type TableListing,
  printListing,
  queueListing,
  requestsListing,
} from './listings.ts';
import { CliError } from '../terminal.ts';
import {
  KEPT_DECISIONS,
  type KeyResult,
  openStorage,
  type SessionRecord,
  type Storage,
  type StorageError,
} from '../../../engine/storage/storage.ts';

/** Opens a store, on which a service may be running, uses it and closes it again. */
export async function useStore<Result>(
  url: string,
  use: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const storage = await openStorage(url, { mode: 'attached' });
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}

/**
 * Opens the store of the configuration, on which a service may be running, uses it and closes it again. It
 * needs no secrets, so it works where only the service's environment has them.
 */
export async function withStore<Result>(
  cli: Cli,
  flags: ConfigFlags,
  use: (storage: Storage, config: LoadedConfig) => Promise<Result>,
): Promise<Result> {
  const config = await loadSettings(cli.terminal, flags);
  return useStore(config.settings.storage.url, (storage) => use(storage, config));
}

const LOOK_AGAIN_MS = 100;

/** Looks again for a while: a service writes a decision within a second after the answer, and within two for a stranger. */
export async function soon<Found>(
  look: () => Promise<Found | undefined>,
  withinMs = 2_000,
): Promise<Found | undefined> {
  for (const giveUpAt = performance.now() + withinMs; ; await pause(LOOK_AGAIN_MS)) {
    const found = await look();
    if (found !== undefined || performance.now() >= giveUpAt) return found;
  }
}

/** Opens the store to change it in the name of a user of the operating system. */
export const withOperator = <Result>(
  cli: Cli,
  flags: ConfigFlags,
  use: (operator: Operator, config: LoadedConfig) => Promise<Result>,
): Promise<Result> =>
  withStore(cli, flags, (storage, config) => {
    const defaultRunner = config.settings.gateway.runner;
    return use({ storage, who: userName(), source: hostname(), by: 'command', defaultRunner }, config);
  });

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may have no name for its user.
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
}

function listing<Row>(
  open: TableListing<Row> | ((storage: Storage, config: LoadedConfig) => Promise<TableListing<Row>>),
): (cli: Cli, flags: ListFlags) => Promise<void> {
  return async (cli, flags) => {
    const count = await withStore(cli, flags, async (storage, config) => {
      const opened = typeof open === 'function' ? await open(storage, config) : open;
      const rows = await printListing(opened, storage, cli.terminal, flags);
      const remarks = flags.json === true ? undefined : opened.remarks?.(rows, config);
      for (const line of remarks ?? []) cli.terminal.err(line);
      return rows.length;
    });
    if (count === 0) await noteUnknownMapping(cli, flags, flags.mapping);
  };
}

export const listEvents = listing({
  title: 'system events',
  list: RECORDS.events,
  json: ['events', 'events'],
});
const listAllRequests = listing(requestsListing);
const listRecovered = listing({
  ...requestsListing,
  title: 'requests that were recovered',
  list: {
    ...RECORDS.requests,
    read: async (storage, { limit, ...query }) =>
      (await storage.listDecisions({ ...query, limit: KEPT_DECISIONS }))
        .filter(({ recovered }) => recovered !== undefined)
        .slice(0, limit),
  },
});
const listRequests = (cli: Cli, flags: ListFlags & { readonly recovered?: boolean }): Promise<void> =>
  (flags.recovered === true ? listRecovered : listAllRequests)(cli, flags);
export const listCosts = listing({ title: 'costs', list: RECORDS.costs, json: ['costs', 'costs'] });
export const listAudit = listing({ title: 'changes', list: RECORDS.changes, json: ['audit', 'changes'] });
const listSessions = listing({
  title: 'sessions',
  list: RECORDS.conversations,
  json: ['sessions list', 'sessions'],
});
export const listRefusedMail = listing({
  title: 'refused messages',
  list: RECORDS.refusedMail,
  json: ['webhooks mail list', 'messages'],
});

/** Lists the last requests, or what somebody has to look at, by its cause. */
export async function showRequests(
  cli: Cli,
  { grouped, ...flags }: ListFlags & { readonly grouped?: boolean; readonly recovered?: boolean },
): Promise<void> {
  if (grouped !== true) return listRequests(cli, flags);
  const { terminal } = cli;
  const { causes } = await withStore(cli, flags, (storage, { settings: { gateway } }) => {
    const decided = decidedCounter(storage, decisionLine);
    return overview(storage, { gateway, decided, text: flags.text !== false }, []);
  });
  const shown = causes.slice(0, flags.limit);
  if (flags.json === true)
    return printJson(terminal, 'requests', {
      causes: shown.map((cause) => isoTimes(cause, 'firstAt', 'since', 'lastAt')),
    });
  if (shown.length === 0) return terminal.err('nothing needs attention');
  for (const cause of shown) for (const line of causeLines(cause)) terminal.out(line);
}

const HEARTBEATS =
  'heartbeat: a turn of the main session, which reads its events, such as a summary of each run; --kind hook leaves them out';
const MAX_HINTS = 3;

export const listRuns = listing({
  title: 'runs',
  list: RECORDS.runs,
  json: ['runs', 'runs'],
  remarks: (runs, config) => {
    const isMixed = ['heartbeat', 'hook'].every((kind) => runs.some((run) => run.kind === kind));
    const advice = runs.filter(hasFailed).flatMap((run) => runAdvice(run, config) ?? []);
    const hints = new Set(advice.map((text) => hintLines(requestFinding('setting', text)).join('\n')));
    return [...(isMixed ? [HEARTBEATS] : []), ...[...hints].slice(0, MAX_HINTS)];
  },
});

/** Prints what waits, is under way or was given up, and what keeps work from beginning. */
export const listQueue = listing(async (storage, { settings }) =>
  queueListing(await findWaits(storage, settings.gateway)),
);

export interface SessionFlags extends JsonFlags {
  readonly owner?: string;
}

/** A key alone is enough where only one owner has it. */
async function findSession(storage: Storage, key: string, owner: string | undefined): Promise<SessionRecord> {
  const found = await storage.listSessions({ limit: 1_000, sessionKey: key, ...defined({ owner }) });
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

/** Prints the turns of one session, oldest first, or lists all. */
export async function showSessions(
  cli: Cli,
  key: string | undefined,
  flags: SessionFlags & ListFlags,
): Promise<void> {
  if (key === undefined) return listSessions(cli, flags);
  const { turns, keys } = await withStore(cli, flags, async (storage) => {
    const session = await findSession(storage, key, flags.owner);
    return { ...(await storage.findConversation(session)), keys: session.keys };
  });
  const { terminal } = cli;
  if (flags.json === true)
    return printJson(terminal, 'sessions show', { turns: turns.map((turn) => isoTimes(turn, 'at')) });
  for (const { key: known, addedBy, until } of keys)
    terminal.out(clearLine(`known by ${known}, added by ${addedBy}, until ${isoTime(until)}`));
  // Turns are set off, so that no text can look like the beginning of another turn.
  for (const { role, at, text } of turns)
    terminal.out([`${role}, ${formatSpan(Date.now() - at)} ago:`, ...indent(text), ''].join('\n'));
}

export async function clearSession(cli: Cli, key: string, flags: SessionFlags): Promise<void> {
  await withOperator(cli, flags, async (operator) =>
    conversationChanges.clear(operator, await findSession(operator.storage, key, flags.owner)),
  );
  cli.terminal.out('cleared');
}

const KEY_RESULTS = {
  added: 'added',
  known: 'the conversation is known by it already',
  taken: 'another conversation of its owner is known by this key, and keeps it',
  none: 'the conversation has ended, or its mapping has no "conversation": it is known by no key',
  full: 'the agent of this run has added as many keys as one run may',
};

/** Lets events with a key come to a conversation: that of the run whose agent asks, or the one that an operator names. */
export async function addConversationKey(
  cli: Cli,
  key: string,
  flags: SessionFlags & { readonly conversation?: string },
): Promise<void> {
  const { conversation } = flags;
  const { SLUICE_CONVERSATION_URL: url, SLUICE_CONVERSATION_TOKEN: token } = cli.terminal.env;
  const isAgent = conversation === undefined && url !== undefined && token !== undefined;
  const result = isAgent ? await askService(url, token, key) : await addAsOperator(cli, key, flags);
  const says = KEY_RESULTS[result];
  if (result !== 'added' && result !== 'known') throw new CliError(says);
  cli.terminal.out(says);
}

async function addAsOperator(
  cli: Cli,
  key: string,
  { conversation, ...flags }: SessionFlags & { readonly conversation?: string },
): Promise<KeyResult> {
  if (conversation === undefined)
    throw new CliError(
      'name the conversation: --conversation KEY, as "sluice sessions list" shows it; only an agent has one of its own, where conversation.agentKeys of its mapping says which keys it may add',
      2,
    );
  return withOperator(cli, flags, async (operator) =>
    conversationChanges.addKey(operator, await findSession(operator.storage, conversation, flags.owner), key),
  );
}

/** Asks as the agent of a run. */
async function askService(url: string, token: string, key: string): Promise<keyof typeof KEY_RESULTS> {
  const { status, body } = await fetchJson(url, {
    headers: { authorization: `Bearer ${token}` },
    body: { key },
    signal: AbortSignal.timeout(10_000),
  }).catch((error: unknown) => {
    throw new CliError(`the service at ${url} does not answer (${codeOf(error)})`);
  });
  const {
    result,
    may,
    detail = `the service answered ${status}`,
  } = (isJsonObject(body) ? body : {}) as Answer;
  if (may !== undefined)
    throw new CliError(`the agent of this run may add only keys that begin with ${may.join(' or ')}`);
  if (result === undefined) throw new CliError(detail);
  return result;
}

interface Answer {
  readonly result?: keyof typeof KEY_RESULTS;
  readonly may?: readonly string[];
  readonly detail?: string;
}

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
    // A store too damaged to open is what this command looks for.
    if (code === 'corrupt' || code === 'not_a_store') return [message];
    throw error;
  });
  for (const finding of findings) cli.terminal.out(finding);
  if (findings.length > 0) cli.setExitCode(1);
  else cli.terminal.out('the store is intact');
}

const MAX_IDS = 10;

/** Says on stderr that no mapping has this id, and which one was probably meant; silent where one has it. */
export async function noteUnknownMapping(
  { terminal }: Cli,
  flags: ConfigFlags,
  asked: string | undefined,
): Promise<void> {
  if (asked === undefined) return;
  await using bench = benchOf(terminal, findConfigFile(terminal, flags), { mayLoadPlugins: () => false });
  const { generation } = await bench.load({ withoutTransforms: true });
  const text = generation && nearMappings(asked, generation.table.mappings);
  if (text !== undefined) terminal.err(clearLine(text));
}

/** Returns the mapping that was probably meant; undefined where the id exists. */
export function nearMappings(asked: string, mappings: readonly CompiledMapping[]): string | undefined {
  if (mappings.some(({ id }) => id === asked)) return undefined;
  const none = `no mapping has the id ${JSON.stringify(asked)}`;
  if (mappings.length === 0) return `${none}: there is no mapping`;
  const ids = mappings.map(({ id }) => id);
  const near = didYouMean(asked, ids);
  if (near !== undefined) return `${none}; did you mean ${near}?`;
  const more = ids.length > MAX_IDS ? ` and ${String(ids.length - MAX_IDS)} more` : '';
  return `${none}; the ids are ${ids.slice(0, MAX_IDS).join(', ')}${more}`;
}
