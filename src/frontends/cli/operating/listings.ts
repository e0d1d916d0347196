import type {
  AuditRecord,
  CostRecord,
  DecisionRecord,
  EventRecord,
  RunRecord,
  SessionRecord,
  SetAsideMail,
  Storage,
} from '../../../engine/storage/storage.ts';
import { kindOf } from '../../../engine/storage/facts.ts';
import { defined } from '../../../base/json.ts';
import type { ActionOrigin } from '../../../base/action.ts';
import { decisionLine } from '../../../authoring/explanation/explanation.ts';
import { clearLine, formatSpan } from '../../../base/telemetry/telemetry.ts';
import {
  hasFailed,
  type List,
  RECORDS,
  type QueueEntry,
  reasonsToWait,
  type Waits,
} from '../../../service/operations/operations.ts';
import { type Outputs, printJson } from '../json.ts';
import { formatBytes, formatOneLine, formatTable, type Terminal } from '../terminal.ts';

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

/** A column of a table: its title, and what a row has in it. The last one is cut to what fits into a line of the terminal. */
export type Column<Row> = readonly [title: string, cell: (row: Row, nowMs: number) => string];

export interface Listing<Row> {
  readonly title: string;
  readonly list: List<Row>;
  readonly columns: readonly Column<Row>[];
  /** Of the JSON form: the command, and what it calls the rows. */
  readonly json: readonly [command: keyof Outputs, rows: string];
  /** What people may ask about the rows. */
  readonly footnote?: (rows: readonly Row[]) => string | undefined;
}

/** Prints one listing: as JSON on stdout, or a table for people. Resolves to its rows. */
export async function printListing<Row>(
  { title, list, columns, json, footnote }: Listing<Row>,
  storage: Storage,
  terminal: Terminal,
  { limit, state, mapping, kind, session, ...options }: ListingOptions,
): Promise<readonly Row[]> {
  const query = defined({ limit, state, mappingId: mapping, kind, sessionKey: session });
  const rows = await list.read(storage, query);
  if (options.json) {
    const [command, name] = json;
    const shown = { [name]: rows.map((row) => list.toJson(row, options.text)) };
    // That these are the rows of the command is held by the schema of its output, under test.
    printJson(terminal, command, shown as never);
  } else if (rows.length === 0) terminal.err(`no ${title}`);
  else {
    terminal.out(formatRows(columns, rows, terminal));
    const note = footnote?.(rows);
    if (note !== undefined) terminal.err(note);
    if (rows.length === limit) terminal.err(`the newest ${limit}; --limit N shows more`);
  }
  return rows;
}

/** The table of rows, without what would change the terminal or leave the line. */
export function formatRows<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  terminal: Pick<Terminal, 'columns'> = { columns: undefined },
): string {
  const nowMs = Date.now();
  const cells = rows.map((row) => columns.map(([, cell]) => clearLine(cell(row, nowMs))));
  return formatTable(
    columns.map(([title]) => title),
    cells,
    terminal,
  );
}

const errorText = (error: { code: string; message: string } | undefined): string =>
  error === undefined ? '' : `${error.code}: ${error.message}`;

/** The state of a run for people: one that the store calls completed may have failed. `--json` keeps the word of the store. */
export function stateOf(run: Pick<RunRecord, 'state' | 'outcome'>): string {
  return run.state === 'completed' && hasFailed(run) ? 'failed' : run.state;
}

/** What a run cost, where its agent says it. */
export function costText({ costUsd, isCostUnknown }: NonNullable<RunRecord['usage']>): readonly string[] {
  if (costUsd !== undefined) return [`cost ${usdText(costUsd)}`];
  return isCostUnknown === true ? ['cost not known'] : [];
}

const usdText = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

/** Tokens in and out, and money, where the runner told them. */
function tokensOf({ usage }: RunRecord): string {
  if (usage === undefined) return '';
  const { inputTokens = '?', outputTokens = '?' } = usage;
  return [`${inputTokens} + ${outputTokens}`, ...costText(usage)].join(', ');
}

function messageText({ action, eventCount }: RunRecord): string {
  return eventCount === undefined ? formatBytes(Buffer.byteLength(action.message)) : `${eventCount} events`;
}

/** Letters of an error in a table. */
const MAX_ERROR = 300;

/** The mapping that made it, or the hook name where none did. */
const madeBy = ({ mappingId, path }: ActionOrigin): string => mappingId ?? path;

export const runsListing: Listing<RunRecord> = {
  title: 'runs',
  columns: [
    ['id', ({ id }) => id],
    ['kind', kindOf],
    ['mapping', ({ action }) => madeBy(action.origin)],
    ['name', ({ action }) => formatOneLine(action.name, 20)],
    ['session', ({ action }) => formatOneLine(action.sessionKey, 28)],
    ['state', stateOf],
    ['outcome', ({ outcome = '' }) => outcome],
    ['tries', ({ attempts }) => String(attempts)],
    ['message', messageText],
    ['reply', ({ reply }) => (reply === undefined ? '' : formatBytes(Buffer.byteLength(reply)))],
    ['tokens', tokensOf],
    ['age', ({ acceptedAt }, nowMs) => formatSpan(nowMs - acceptedAt)],
    [
      'last error',
      ({ outcome, lastError }) => (outcome === 'ok' ? '' : formatOneLine(errorText(lastError), MAX_ERROR)),
    ],
  ],
  list: RECORDS.runs,
  json: ['runs', 'runs'],
  footnote: (rows) =>
    rows.some(({ kind }) => kind === 'heartbeat') && rows.some(({ kind }) => kind === 'hook')
      ? 'heartbeat: a turn of the main session, which reads its events, such as a summary of each run; --kind hook leaves them out'
      : undefined,
};

export const eventsListing: Listing<EventRecord> = {
  title: 'system events',
  columns: [
    ['id', ({ id }) => id],
    ['kind', ({ kind }) => kind],
    ['from', ({ origin }) => madeBy(origin)],
    ['mode', ({ mode }) => mode],
    ['state', ({ state }) => state],
    ['text', ({ text }) => formatBytes(Buffer.byteLength(text))],
    ['age', ({ createdAt }, nowMs) => formatSpan(nowMs - createdAt)],
    ['last error', ({ lastError }) => formatOneLine(errorText(lastError), 200)],
  ],
  list: RECORDS.events,
  json: ['events', 'events'],
};

/**
 * Work that waits, is under way, or was given up: runs, what they send, and system events that were parked. `waits` says
 * of which agents and limits runs wait, however long they have been due.
 */
export function queueListing(waits?: Waits): Listing<QueueEntry> {
  const whyNotNow = (entry: QueueEntry, nowMs: number): string | undefined =>
    waits !== undefined && 'action' in entry ? reasonsToWait(entry, waits, nowMs)[0]?.short : undefined;
  return {
    title: 'work in the queue',
    columns: [
      ['id', ({ id }) => id],
      ['kind', (entry) => ('action' in entry ? 'run' : entry.kind)],
      ['mapping', mappingOf],
      ['state', (entry) => ('action' in entry ? stateOf(entry) : entry.state)],
      ['tries', ({ attempts }) => String(attempts)],
      ['age', (entry, nowMs) => formatSpan(nowMs - ('action' in entry ? entry.acceptedAt : entry.createdAt))],
      ['next try', (entry, nowMs) => whyNotNow(entry, nowMs) ?? nextTry(entry, nowMs)],
      ['last error', ({ lastError }) => errorText(lastError)],
    ],
    list: RECORDS.queue,
    json: ['queue list', 'work'],
  };
}

function mappingOf(entry: QueueEntry): string {
  if ('action' in entry) return madeBy(entry.action.origin);
  return 'origin' in entry ? madeBy(entry.origin) : '';
}

function nextTry(entry: QueueEntry, nowMs: number): string {
  if (entry.state !== 'queued' || !('dueAt' in entry)) return '';
  if ('isBehind' in entry && entry.isBehind) return 'after an earlier one';
  return entry.dueAt <= nowMs ? 'now' : `in ${formatSpan(entry.dueAt - nowMs)}`;
}

/** How long the body is, where it was read. */
export const bodySize = ({ bodyBytes, bodyUnread }: DecisionRecord): string =>
  bodyUnread === true ? 'not read' : formatBytes(bodyBytes);

/** What each request became; where none matched, the place at which every candidate failed. No payload values. */
export const requestsListing: Listing<DecisionRecord> = {
  title: 'requests',
  columns: [
    ['id', ({ requestId }) => requestId],
    ['path', ({ path }) => formatOneLine(path, 30)],
    ['status', ({ status }) => String(status)],
    ['outcome', ({ code, outcome }) => code ?? outcome],
    ['mapping', ({ mappingId = '' }) => mappingId],
    ['body', bodySize],
    ['took', ({ tookMs }) => `${tookMs.toFixed(1)} ms`],
    ['age', ({ receivedAt }, nowMs) => formatSpan(nowMs - receivedAt)],
    ['notes', (decision) => firstSentence(decisionLine(decision))],
  ],
  list: RECORDS.requests,
  json: ['requests', 'requests'],
};

/** Notes of more characters are cut in a table; "sluice explain" tells them whole. */
const MAX_NOTE_CHARS = 160;

function firstSentence(note: string): string {
  const end = note.length <= MAX_NOTE_CHARS ? -1 : note.search(/\. \p{Lu}/u);
  return end === -1 ? note : `${note.slice(0, end)}. …`;
}

/** The newest day first. */
export const costsListing: Listing<CostRecord> = {
  title: 'costs',
  columns: [
    ['day', ({ day }) => day],
    ['mapping', ({ mappingId }) => mappingId],
    ['runner', ({ runner }) => runner],
    ['turns', ({ turns }) => String(turns)],
    ['tokens', ({ inputTokens, outputTokens }) => `${inputTokens} + ${outputTokens}`],
    [
      'cost',
      ({ usd, costUnknown }) =>
        [
          ...(usd === 0 ? [] : [usdText(usd)]),
          ...(costUnknown === 0 ? [] : [`of ${costUnknown} not known`]),
        ].join(', '),
    ],
  ],
  list: RECORDS.costs,
  json: ['costs', 'costs'],
};

/** Who changed what. */
export const auditListing: Listing<AuditRecord> = {
  title: 'changes',
  columns: [
    ['age', ({ at }, nowMs) => formatSpan(nowMs - at)],
    ['who', ({ who }) => formatOneLine(who, 40)],
    ['from', ({ source }) => formatOneLine(source, 40)],
    ['what', ({ what }) => what],
    ['changed', ({ changed }) => String(changed)],
    ['about', ({ about }) => formatOneLine(about, MAX_ERROR)],
  ],
  list: RECORDS.changes,
  json: ['audit', 'changes'],
};

export const sessionsListing: Listing<SessionRecord> = {
  title: 'sessions',
  columns: [
    ['key', ({ key }) => formatOneLine(key, 80)],
    ['owner', ({ owner }) => formatOneLine(owner, 40)],
    ['turns', ({ turns }) => String(turns)],
    ['size', ({ bytes }) => formatBytes(bytes)],
    ['last used', ({ lastUsedAt }, nowMs) => `${formatSpan(nowMs - lastUsedAt)} ago`],
  ],
  list: RECORDS.conversations,
  json: ['sessions list', 'sessions'],
};

/** Mail that the service refused. */
export const refusedMailListing: Listing<SetAsideMail> = {
  title: 'refused messages',
  list: RECORDS.refusedMail,
  columns: [
    ['id', ({ id }) => id],
    ['mailbox', ({ mailbox }) => mailbox],
    ['state', ({ state }) => state],
    ['arrived', ({ receivedAt }, nowMs) => `${formatSpan(nowMs - receivedAt)} ago`],
    ['size', ({ sizeBytes }) => formatBytes(sizeBytes)],
    ['refused with', ({ code, reason }) => `${code}: ${formatOneLine(reason, 80)}`],
    // What the sender wrote.
    ['from', ({ from }) => formatOneLine(from, 40)],
    ['subject', ({ subject }) => formatOneLine(subject, 60)],
  ],
  json: ['webhooks mail list', 'messages'],
};
