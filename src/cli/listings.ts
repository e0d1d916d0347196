import type {
  DecisionRecord,
  EventRecord,
  OutboxRecord,
  RunnerHold,
  RunRecord,
  SessionRecord,
  Storage,
} from '../storage/storage.ts';
import {
  type EventJson,
  type OutboxJson,
  type RunJson,
  decisionToJson,
  eventToJson,
  outboxToJson,
  kindOf,
  runToJson,
} from '../storage/facts.ts';
import { defined } from '../json.ts';
import { decisionLine } from '../explanation/explanation.ts';
import { clearLine } from '../telemetry/telemetry.ts';
import type { GatewaySettings } from '../config/config.ts';
import { isoTimes, printJson } from './json.ts';
import { type QueueWaits, waitReason, waitsBehind } from './queue-waits.ts';
import { stateOf } from './run-words.ts';
import { formatBytes, formatOneLine, formatSpan, formatTable, type Terminal } from './terminal.ts';

export interface ListingOptions {
  readonly json: boolean;
  readonly limit: number;
  /** False leaves payload-derived texts out of the JSON form. */
  readonly text: boolean;
  readonly state?: string;
  readonly mapping?: string;
  readonly session?: string;
  readonly kind?: 'hook' | 'heartbeat';
}

export interface Listing<Row> {
  readonly title: string;
  readonly heading: readonly string[];
  fetch(storage: Storage, options: ListingOptions): Promise<readonly Row[]>;
  printJson(terminal: Terminal, rows: readonly Row[], text: boolean): void;
  /** The last one is cut to what fits into a line of the terminal. */
  toCells(row: Row, now: number): readonly string[];
  /** What people may ask about the rows. */
  footnote?(rows: readonly Row[]): string | undefined;
}

/** Prints one listing: as JSON on stdout, or a table for people. Resolves to its rows. */
export async function printListing<Row>(
  listing: Listing<Row>,
  storage: Storage,
  terminal: Terminal,
  options: ListingOptions,
): Promise<readonly Row[]> {
  const rows = await listing.fetch(storage, options);
  if (options.json) listing.printJson(terminal, rows, options.text);
  else if (rows.length === 0) terminal.err(`no ${listing.title}`);
  else printTable(listing, rows, { terminal, options });
  return rows;
}

interface TableContext {
  readonly terminal: Terminal;
  readonly options: ListingOptions;
}

function printTable<Row>(
  listing: Listing<Row>,
  rows: readonly Row[],
  { terminal, options }: TableContext,
): void {
  const now = Date.now();
  const cells = rows.map((row) => safeCells(listing.toCells(row, now)));
  terminal.out(formatTable(listing.heading, cells, terminal));
  const footnote = listing.footnote?.(rows);
  if (footnote !== undefined) terminal.err(footnote);
  if (rows.length === options.limit) terminal.err(`the newest ${options.limit}; --limit N shows more`);
}

/** Without what would change the terminal or leave the line. */
export function safeCells(cells: readonly string[]): readonly string[] {
  return cells.map((cell) => clearLine(cell));
}

const query = ({ limit, state, mapping, kind, session }: ListingOptions) =>
  defined({ limit, state, mappingId: mapping, kind, sessionKey: session });

const errorText = (error: { code: string; message: string } | undefined): string =>
  error === undefined ? '' : `${error.code}: ${error.message}`;

/** Tokens in and out, where the runner told them. */
function tokensOf({ usage }: RunRecord): string {
  return usage === undefined ? '' : `${usage.inputTokens ?? '?'} + ${usage.outputTokens ?? '?'}`;
}

const messageText = ({ action, eventCount }: RunRecord): string =>
  eventCount === undefined ? formatBytes(Buffer.byteLength(action.message)) : `${eventCount} events`;

/** Letters of an error in a table. */
const MAX_ERROR = 300;

export const runsListing: Listing<RunRecord> = {
  title: 'runs',
  heading: [
    'id',
    'kind',
    'mapping',
    'name',
    'session',
    'state',
    'outcome',
    'tries',
    'message',
    'reply',
    'tokens',
    'age',
    'last error',
  ],
  fetch: (storage, options) => storage.listRuns(query(options)),
  printJson: (terminal, rows, text) =>
    printJson(terminal, 'runs', { runs: rows.map((run) => runToJson(run, text)) }),
  toCells: (run, now) => [
    run.id,
    kindOf(run),
    run.action.origin.mappingId ?? run.action.origin.path,
    formatOneLine(run.action.name, 20),
    formatOneLine(run.action.sessionKey, 28),
    stateOf(run),
    run.outcome ?? '',
    String(run.attempts),
    messageText(run),
    run.reply === undefined ? '' : formatBytes(Buffer.byteLength(run.reply)),
    tokensOf(run),
    formatSpan(now - run.acceptedAt),
    run.outcome === 'ok' ? '' : formatOneLine(errorText(run.lastError), MAX_ERROR),
  ],
  footnote: (rows) =>
    rows.some(({ kind }) => kind === 'heartbeat') && rows.some(({ kind }) => kind === 'hook')
      ? 'heartbeat: a turn of the main session, which reads its events, such as a summary of each run; --kind hook leaves them out'
      : undefined,
};

export const eventsListing: Listing<EventRecord> = {
  title: 'system events',
  heading: ['id', 'kind', 'from', 'mode', 'state', 'text', 'age', 'last error'],
  fetch: (storage, options) => storage.listEvents(query(options)),
  printJson: (terminal, rows, text) =>
    printJson(terminal, 'events', { events: rows.map((event) => eventToJson(event, text)) }),
  toCells: (event, now) => [
    event.id,
    event.kind,
    event.origin.mappingId ?? event.origin.path,
    event.mode,
    event.state,
    formatBytes(Buffer.byteLength(event.text)),
    formatSpan(now - event.createdAt),
    formatOneLine(errorText(event.lastError), 200),
  ],
};

/** Work in the queue, or that was in it. */
export type QueueEntry = RunRecord | OutboxRecord | EventRecord;

/** Work that waits, is under way, or was given up: runs, what they send, and system events that were parked. */
export const waitingListing: Listing<QueueEntry> = {
  title: 'work in the queue',
  heading: ['id', 'kind', 'mapping', 'state', 'tries', 'age', 'next try', 'last error'],
  fetch: async (storage, options) => {
    const states = options.state === undefined ? ['active', 'queued', 'dead'] : [options.state];
    const lists = await Promise.all(
      states.flatMap((state): Promise<readonly QueueEntry[]>[] => [
        storage.listRuns({ ...query(options), state }),
        storage.listOutbox({ ...query(options), state }),
        // An event belongs to the main session, whatever the session of its hook.
        ...(state === 'dead' && options.session === undefined
          ? [storage.listEvents({ ...query(options), state })]
          : []),
      ]),
    );
    return lists
      .flat()
      .sort((a, b) => storedAt(b) - storedAt(a))
      .slice(0, options.limit);
  },
  printJson: (terminal, rows, text) =>
    printJson(terminal, 'queue list', { work: rows.map((entry) => entryToJson(entry, text)) }),
  toCells: (entry, now) => {
    const origin = isRun(entry) ? entry.action.origin : isEvent(entry) ? entry.origin : undefined;
    const dueAt = entry.state === 'queued' && 'dueAt' in entry ? entry.dueAt : undefined;
    const next = dueAt === undefined ? '' : dueAt <= now ? 'now' : `in ${formatSpan(dueAt - now)}`;
    return [
      entry.id,
      isRun(entry) ? 'run' : entry.kind,
      origin === undefined ? '' : (origin.mappingId ?? origin.path),
      isRun(entry) ? stateOf(entry) : entry.state,
      String(entry.attempts),
      formatSpan(now - storedAt(entry)),
      next,
      errorText(entry.lastError),
    ];
  },
};

/** The same with the agents that cannot take runs: their runs wait for them, however long they have been due. */
export function queueListing(
  holds: readonly RunnerHold[],
  gateway: GatewaySettings,
  queueWaits: QueueWaits,
): Listing<QueueEntry> {
  return {
    ...waitingListing,
    toCells: (entry, now) => {
      const cells = waitingListing.toCells(entry, now);
      if (!isRun(entry) || entry.state !== 'queued') return cells;
      const waits = whyQueued(entry, now, { holds, gateway, queueWaits });
      return waits === undefined ? cells : cells.with(NEXT_TRY, waits);
    },
  };
}

/** In two words what a queued run waits for, but for its time and for room that comes by itself. */
export function whyQueued(
  run: RunRecord,
  now: number,
  waits: {
    readonly holds: readonly RunnerHold[];
    readonly gateway: GatewaySettings;
    readonly queueWaits: QueueWaits;
  },
): string | undefined {
  const { holds, gateway, queueWaits } = waits;
  if (heldBy(holds, gateway.runner)(run)) return 'agent away';
  if (run.dueAt > now) return undefined;
  const { mappingId } = run.action.origin;
  return waitReason(queueWaits, mappingId) ?? waitsBehind(run, queueWaits.active, gateway)?.short;
}

/** Whether the agent of a run is away. */
function heldBy(holds: readonly RunnerHold[], defaultRunner: string): (run: RunRecord) => boolean {
  const away = new Set(holds.filter(({ model }) => model === undefined).map(({ runner }) => runner));
  return ({ action }) => action.kind === 'agent' && away.has(action.runner ?? defaultRunner);
}

function entryToJson(entry: QueueEntry, text: boolean): RunJson | EventJson | OutboxJson {
  if (isRun(entry)) return runToJson(entry, text);
  return isEvent(entry) ? eventToJson(entry, text) : outboxToJson(entry, text);
}

const NEXT_TRY = waitingListing.heading.indexOf('next try');

const storedAt = (entry: QueueEntry): number => (isRun(entry) ? entry.acceptedAt : entry.createdAt);

function isRun(entry: QueueEntry): entry is RunRecord {
  return 'action' in entry;
}

function isEvent(entry: QueueEntry): entry is EventRecord {
  return 'origin' in entry;
}

/** How long the body is, where it was read. */
export const bodySize = ({ bodyBytes, bodyUnread }: DecisionRecord): string =>
  bodyUnread === true ? 'not read' : formatBytes(bodyBytes);

/** What each request became; where none matched, the place at which every candidate failed. No payload values. */
export const requestsListing: Listing<DecisionRecord> = {
  title: 'requests',
  heading: ['id', 'path', 'status', 'outcome', 'mapping', 'body', 'took', 'age', 'notes'],
  fetch: (storage, options) => storage.listDecisions(query(options)),
  printJson: (terminal, rows) => printJson(terminal, 'requests', { requests: rows.map(decisionToJson) }),
  toCells: (decision, now) => [
    decision.requestId,
    formatOneLine(decision.path, 30),
    String(decision.status),
    decision.code ?? decision.outcome,
    decision.mappingId ?? '',
    bodySize(decision),
    `${decision.tookMs.toFixed(1)} ms`,
    formatSpan(now - decision.receivedAt),
    firstSentence(decisionLine(decision)),
  ],
};

/** Notes of more characters are cut in a table; "sluice explain" tells them whole. */
const MAX_NOTE_CHARS = 160;

function firstSentence(note: string): string {
  const end = note.length <= MAX_NOTE_CHARS ? -1 : note.search(/\. \p{Lu}/u);
  return end === -1 ? note : `${note.slice(0, end)}. …`;
}

export const sessionsListing: Listing<SessionRecord> = {
  title: 'sessions',
  heading: ['key', 'owner', 'turns', 'size', 'last used'],
  fetch: (storage, options) => storage.listSessions(query(options)),
  printJson: (terminal, rows) =>
    printJson(terminal, 'sessions list', {
      sessions: rows.map((session) => isoTimes(session, 'createdAt', 'lastUsedAt')),
    }),
  toCells: (session, now) => [
    formatOneLine(session.key, 80),
    formatOneLine(session.owner, 40),
    String(session.turns),
    formatBytes(session.bytes),
    `${formatSpan(now - session.lastUsedAt)} ago`,
  ],
};
