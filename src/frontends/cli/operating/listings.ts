import type { DecisionRecord, RunRecord, Storage } from '../../../engine/storage/storage.ts';
import type { ConversationKey } from '../../../base/conversation.ts';
import { defined } from '../../../base/json.ts';
import { decisionLine } from '../../../authoring/explanation/explanation.ts';
import { clearLine, formatSpan } from '../../../base/telemetry/telemetry.ts';
import { isoTime, isSkipped } from '../../../engine/storage/facts.ts';
import {
  type Cause,
  hasFailed,
  type List,
  obstacleTexts,
  RECORDS,
  type QueueEntry,
  reasonsToWait,
  type Waits,
} from '../../../service/operations/operations.ts';
import type { LoadedConfig } from '../../../engine/config/config.ts';
import type { JsonFlags } from '../config-file.ts';
import { type Outputs, printJson } from '../json.ts';
import { formatBytes, formatOneLine, formatTable, type Terminal } from '../terminal.ts';

export interface ListFlags extends JsonFlags {
  readonly limit: number;
  /** False leaves payload-derived texts out of the JSON form. */
  readonly text?: boolean;
  readonly state?: string;
  readonly mapping?: string;
  readonly session?: string;
  readonly kind?: 'hook' | 'heartbeat';
  readonly owner?: string;
}

/**
 * A column of a table: its title, and what a row has in it. The last column is cut to what fits into a line
 * of the terminal.
 */
export type Column<Row> = readonly [title: string, cell: (row: Row, nowMs: number) => string];

export interface TableListing<Row> {
  readonly title: string;
  readonly list: List<Row>;
  /** The command of the JSON form, and the name of its rows. */
  readonly json: readonly [command: keyof Outputs, rows: string];
  /** What people see of a row that its JSON does not have. */
  readonly also?: (row: Row, nowMs: number) => object;
  /** What else people read, below the table. */
  readonly remarks?: (rows: readonly Row[], config: LoadedConfig) => readonly string[];
}

/** Prints one listing: as JSON on stdout, or a table for people. Resolves to its rows. */
export async function printListing<Row>(
  { title, list, json: [command, name], also }: TableListing<Row>,
  storage: Storage,
  terminal: Terminal,
  { limit, state, mapping, kind, session, owner, json, text = true }: ListFlags,
): Promise<readonly Row[]> {
  const query = defined({ limit, state, mappingId: mapping, kind, sessionKey: session, owner });
  const rows = await list.read(storage, query);
  if (json === true) {
    const shown = { [name]: rows.map((row) => list.toJson(row, text)) };
    // A test with the schema of the output checks that these are the rows of the command.
    printJson(terminal, command, shown as never);
  } else if (rows.length === 0) terminal.err(`no ${title}`);
  else {
    const shown = rows.map((row) => ({ ...list.toJson(row, true), ...also?.(row, Date.now()) }));
    terminal.out(formatRows(columnsOf(list.columns, shown), shown, terminal));
    if (rows.length === limit) terminal.err(`the newest ${limit}; --limit N shows more`);
  }
  return rows;
}

/** Formats rows without characters that would change the terminal or leave the line. */
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

interface ShownRow extends Partial<Pick<RunRecord, 'state'>> {
  readonly outcome?: RunRecord['outcome'] | null;
  readonly code?: string;
  readonly reason?: string;
  readonly mapping?: string | null;
  readonly path?: string;
  readonly status?: number;
  readonly origin?: { readonly mappingId?: string; readonly path: string };
  readonly events?: number;
  readonly bodyUnread?: boolean;
  readonly usage?: RunRecord['usage'] | null;
  readonly usd?: number;
  readonly tookMs?: number;
  readonly lastError?: { readonly code: string; readonly message?: string } | null;
  readonly keys?: readonly Pick<ConversationKey, 'key' | 'addedBy'>[];
  readonly acceptedAt?: string;
  readonly createdAt?: string;
}

const MAX_CELL = 300;
const MAX_INNER = 40;
const MAX_NOTE = 160;

const CELLS: Readonly<Record<string, (row: ShownRow, nowMs: number) => string | undefined>> = {
  state: stateOf,
  outcome: ({ code, outcome }) => code ?? outcome ?? '',
  mapping: ({ mapping, path, status, origin = { path } }) =>
    mapping ?? (status === undefined ? (origin.mappingId ?? origin.path) : ''),
  message: ({ events }) => (events === undefined ? undefined : `${events} events`),
  bodyBytes: ({ bodyUnread }) => (bodyUnread === true ? 'not read' : undefined),
  usage: ({ usage }) => tokensText(usage),
  keys: ({ keys = [] }) => keys.map(({ key, addedBy }) => `${key} (${addedBy})`).join(', '),
  usd: ({ usd = 0 }) => (usd === 0 ? '' : usdText(usd)),
  tookMs: ({ tookMs = 0 }) => `${tookMs.toFixed(1)} ms`,
  age: ({ acceptedAt, createdAt = acceptedAt ?? '' }, nowMs) => formatSpan(nowMs - Date.parse(createdAt)),
  reason: ({ code, reason }) => `${code}: ${reason}`,
  lastError: ({ outcome, lastError }) =>
    outcome === 'ok' || !lastError ? '' : `${lastError.code}: ${lastError.message}`,
};

const SIZES: readonly string[] = ['message', 'reply', 'text', 'bytes', 'bodyBytes', 'sizeBytes'];

/** A key becomes words: `lastUsedAt` is called "last used". A column that no row has takes no space. */
function columnsOf(keys: string, rows: readonly object[]): readonly Column<object>[] {
  const all = keys.split(' ');
  const columns = all.map((key, index): Column<object> => {
    const title = key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/ at$/, '');
    const isInner = index > 0 && index < all.length - 1;
    return [title, (row, nowMs) => formatOneLine(cellOf(row, key, nowMs), isInner ? MAX_INNER : MAX_CELL)];
  });
  return columns.filter(([, cell]) => rows.some((row) => cell(row, 0) !== ''));
}

function cellOf(row: object, key: string, nowMs: number): string {
  const value = (row as Readonly<Record<string, string | number | null | undefined>>)[key] ?? '';
  const special = CELLS[key]?.(row, nowMs);
  if (special !== undefined) return special;
  if (value === '') return '';
  if (SIZES.includes(key)) return formatBytes(typeof value === 'number' ? value : Buffer.byteLength(value));
  return /(?:^a|A)t$/.test(key) ? `${formatSpan(nowMs - Date.parse(String(value)))} ago` : String(value);
}

/**
 * Names the state of a run for people: one that the store calls completed may have failed. `--json` keeps
 * the word of the store.
 */
export function stateOf({
  state,
  outcome,
  lastError,
}: Pick<ShownRow, 'state' | 'outcome' | 'lastError'>): string | undefined {
  if (state === 'completed' && isSkipped(lastError)) return 'skipped';
  return state === 'completed' && hasFailed(defined({ outcome: outcome ?? undefined })) ? 'failed' : state;
}

/** Says what a run cost, where its agent reports it. */
export function costText({ costUsd, isCostUnknown }: NonNullable<RunRecord['usage']>): readonly string[] {
  if (costUsd !== undefined) return [`cost ${usdText(costUsd)}`];
  return isCostUnknown === true ? ['cost not known'] : [];
}

const usdText = (usd: number): string => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

function tokensText(usage: ShownRow['usage']): string {
  if (!usage) return '';
  const { inputTokens = '?', outputTokens = '?' } = usage;
  return [`${inputTokens} + ${outputTokens}`, ...costText(usage)].join(', ');
}

/** `waits` says which agents and limits runs wait for, however long they have been due. */
export function queueListing(waits?: Waits): TableListing<QueueEntry> {
  return {
    title: 'work in the queue',
    list: RECORDS.queue,
    json: ['queue list', 'work'],
    remarks: () => obstacleTexts(waits ?? {}, Date.now()),
    also: (entry, nowMs) => {
      const why =
        waits !== undefined && 'action' in entry ? reasonsToWait(entry, waits, nowMs)[0] : undefined;
      const kind = 'action' in entry ? 'run' : entry.kind;
      return { kind, nextTry: why?.short ?? nextTry(entry, nowMs) };
    },
  };
}

function nextTry(entry: QueueEntry, nowMs: number): string {
  if (entry.state !== 'queued' || !('dueAt' in entry)) return '';
  if ('isBehind' in entry && entry.isBehind) return 'after an earlier one';
  return entry.dueAt <= nowMs ? 'now' : `in ${formatSpan(entry.dueAt - nowMs)}`;
}

/** Says how long the body is, where it was read. */
export const bodySize = ({ bodyBytes, bodyUnread }: DecisionRecord): string =>
  bodyUnread === true ? 'not read' : formatBytes(bodyBytes);

/** What came of one cause, since when, and the one next step. */
export function causeLines(cause: Cause): readonly string[] {
  const { kind, count, says, since, lastAt, before, example, mappingId, paused, aside } = cause;
  const [from, to] = [isoTime(since), isoTime(lastAt)];
  const times = `since ${from}, last ${to}${before === 0 ? '' : `; before that ${before}`}`;
  const meant = aside && `  put aside by ${aside.who}: ${aside.reason}`;
  const again =
    mappingId && kind === 'run' ? `; sluice queue retry --mapping ${mappingId} once it is mended` : '';
  const next =
    paused !== undefined
      ? `queue resume${paused.runner === undefined ? '' : ' --runner'} ${paused.runner ?? paused.mapping ?? ''}`.trimEnd()
      : example === undefined
        ? kind === 'flood' && mappingId
          ? `queue pause ${mappingId}`
          : 'queue list --state queued'
        : `${kind === 'event' ? 'queue list' : 'explain'} ${example}${again}`;
  return [kind === 'wait' ? says : `${count} x ${says}`, `  ${times}`, meant ?? `  sluice ${next}`].map(
    clearLine,
  );
}

/** What each request became and, where none matched, at which place every candidate failed; no payload values. */
export const requestsListing: TableListing<DecisionRecord> = {
  title: 'requests',
  list: RECORDS.requests,
  json: ['requests', 'requests'],
  also: (decision) => ({ notes: firstSentence(decisionLine(decision)) }),
};

function firstSentence(note: string): string {
  const end = note.length <= MAX_NOTE ? -1 : note.search(/\. \p{Lu}/u);
  return end === -1 ? note : `${note.slice(0, end)}. …`;
}
