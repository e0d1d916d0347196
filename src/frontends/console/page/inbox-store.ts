/** Stores the rows of the inbox and what became of them, and follows what comes. */
import { computed, effect, signal } from '@preact/signals';
import type { ConsoleState, FoundPart, InboxPage, InboxRow, ShownEnd } from '../protocol.ts';
import { getJson, isAborted, messageOf } from './api.ts';
import { count, formatDate } from './format.ts';
import { place } from './navigation.ts';

/** `storage.keep.decisions` may be more; a page stays smooth. */
const MAX_ROWS = 10_000;
/** The first rows are shown at once; the others follow. */
export const FIRST_ROWS = 300;
/** What is new is read so often, and so many at a time. In a flood the others follow when it is over. */
const LOOK_MS = 1_000;
const NEW_ROWS = 100;
/** The service allows so many ids at once. */
const MAX_IDS = 200;

export interface Filters {
  readonly outcome: string;
  readonly mapping: string;
  readonly path: string;
  readonly text: string;
  /** From and to, as ISO times with a slash between. */
  readonly time: string;
  /** `yes`: stored requests are searched for the text, too. */
  readonly kept: string;
}

export const NO_FILTERS: Filters = {
  outcome: '',
  mapping: '',
  path: '',
  text: '',
  time: '',
  kept: '',
};

export const rows = signal<readonly InboxRow[]>([]);
export const state = signal<ConsoleState | undefined>(undefined);
/** Whether the session may change the queue; the service decides on each request. */
export const mayOperate = computed(() => state.value?.role === 'operate' || state.value?.role === 'author');
export const mayWrite = computed(() => state.value?.role === 'author');
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
export const loadProblem = signal('');
export const isLoaded = signal(false);
/** Which requests the list has: `some` while others follow, the `newest` ones, or `all` that are stored. */
export const listHas = signal<'some' | 'newest' | 'all'>('some');
export const filters = signal<Filters>(readFilters());

/** Filters stand in the address, so that a list is a link that can be sent. */
function readFilters(): Filters {
  const { query } = place.peek();
  const names = Object.keys(NO_FILTERS) as (keyof Filters)[];
  return { ...NO_FILTERS, ...Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) };
}

/** Returns the query with its question mark; empty where there is none. */
export function filterQuery(): string {
  const given = Object.entries(filters.value).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][]).toString()}`;
}

/** The addresses of these views have the filters of the list. */
const isListed = (path: string): boolean => /^\/(?:$|request\/|replay$)/.test(path);

/** A link with filters sets them; one without leaves them. */
effect(() => {
  const { path, query } = place.value;
  if (isListed(path) && query.size > 0) filters.value = readFilters();
});

effect(() => {
  const { path } = place.value;
  const query = filterQuery();
  if (isListed(path) && query !== location.search) history.replaceState(null, '', path + query);
});

/** Writes the requests of an interval as a filter. */
export function timeOf(from: number, to: number): string {
  return `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
}

const hits = signal<ReadonlySet<string>>(new Set());

export const hookNames = computed(() => [...new Set(rows.value.map(({ path }) => path))].toSorted());
export const mappingNames = computed(() => {
  const seen = rows.value.flatMap(({ mapping }) => mapping ?? []);
  return [...new Set([...seen, ...(state.value?.mappings ?? [])])].toSorted();
});

export const foundRows = computed(() => {
  const { outcome, mapping, path, text, time } = filters.value;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (outcome === '' && mapping === '' && path === '' && time === '' && words.length === 0) return rows.value;
  const [from = 0, to = Infinity] = time.split('/').map((each) => Date.parse(each) || undefined);
  return rows.value.filter(
    (row) =>
      (outcome === '' || row.outcome === outcome) &&
      (mapping === '' || row.mapping === mapping) &&
      (path === '' || row.path === path) &&
      (time === '' || (row.at >= from && row.at < to)) &&
      (hits.value.has(row.id) || words.every((word) => textOf(row).includes(word))),
  );
});

function textOf(row: InboxRow): string {
  const { id, path, status, outcome, code = '', mapping = '', note = '', replayOf } = row;
  const replay = replayOf === undefined ? '' : `replay of ${replayOf}`;
  return `${id} ${path} ${status} ${outcome} ${code} ${mapping} ${note} ${replay}`.toLowerCase();
}

/** More came between two looks than one reads. */
let hasGap = false;
let lookedAt = 0;

/** Reads what is new, and what became of the rows in sight. Resolves to when it looks again. */
export async function look(): Promise<number> {
  const isBegun = isLoaded.peek();
  const reads = listHas.peek() === 'some' ? (isBegun ? MAX_ROWS : FIRST_ROWS) : 0;
  const inSight = new Set(rowsInSight.peek().flatMap(({ work = [] }) => work));
  // What ended well stays so.
  const ids = [...inSight].filter((id) => ends.peek().get(id)?.end !== 'done').slice(0, MAX_IDS);
  // A look that took long, or a page that nobody saw, has more to catch up with.
  const began = Date.now();
  const newRows = Math.min(MAX_ROWS, NEW_ROWS * Math.max(1, Math.floor((began - lookedAt) / LOOK_MS)));
  const asked = { limit: String(reads || newRows), ids: ids.join() };
  try {
    const page = await getJson<InboxPage>(`/api/inbox?${new URLSearchParams(asked).toString()}`);
    // Another object with the same content would have the whole page made anew.
    if (JSON.stringify(page.state) !== JSON.stringify(state.peek())) state.value = page.state;
    const meets = merge(page.rows) < page.rows.length;
    noteEnds(ids, page.ends);
    if (reads === MAX_ROWS || (reads > 0 && !page.hasMore)) listHas.value = page.hasMore ? 'newest' : 'all';
    else if (!meets) hasGap = true;
    else if (hasGap) {
      hasGap = false;
      listHas.value = 'some';
    }
    lookedAt = began;
    loadProblem.value = '';
    isLoaded.value = true;
    connection.value = 'live';
    return listHas.peek() === 'some' ? 1 : LOOK_MS;
  } catch (error) {
    loadProblem.value = messageOf(error);
    connection.value = 'lost';
    return LOOK_MS;
  }
}

/** Rows are newest first, each once. The text of a row never changes. Returns how many were not there before. */
function merge(more: readonly InboxRow[]): number {
  const known = new Set(rows.value.map(({ id }) => id));
  const added = more.filter(({ id }) => !known.has(id));
  if (added.length === 0) return 0;
  rows.value = [...added, ...rows.value]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MAX_ROWS + hits.peek().size);
  return added.length;
}

const ends = signal<ReadonlyMap<string, ShownEnd>>(new Map());
export const rowsInSight = signal<readonly InboxRow[]>([]);

/** A run that is not there any more was removed after its time, so it ended. */
function noteEnds(ids: readonly string[], found: readonly ShownEnd[]): void {
  if (ids.length === 0) return;
  const gone = ids.map((id): ShownEnd => ({ id, end: 'done' }));
  ends.value = new Map([...ends.peek().values(), ...gone, ...found].map((end) => [end.id, end]));
}

/** The worst comes first: somebody must know that one of several runs was given up. */
const ORDER = 'dead failed unsent dropped running queued sending done'.split(' ');
const rank = ({ end }: ShownEnd): number => ORDER.indexOf(end);

/** Says how a request ended; undefined where nothing came of it, or not all is known yet. */
export function endOf({ work = [] }: InboxRow): ShownEnd | undefined {
  const found = work.flatMap((id) => ends.value.get(id) ?? []);
  const worst = found.toSorted((a, b) => rank(a) - rank(b))[0];
  return worst?.end === 'done' && found.length < work.length ? undefined : worst;
}

/** The search over stored requests goes part by part, so that no hook waits for it. */
const MAX_HITS = 1_000;

/** Says how far the search came; empty where nothing is looked for. */
export const searched = signal('');
/** Commands that ask senders what they could not deliver, where nothing was found; empty where none keeps a log. */
export const senderLog = signal('');

const wanted = computed(() => {
  const { kept, text, time } = filters.value;
  return kept === '' || text.trim() === '' ? '' : new URLSearchParams({ text, time }).toString();
});

let leaving = new AbortController();

effect(() => {
  const query = wanted.value;
  leaving.abort();
  leaving = new AbortController();
  hits.value = new Set();
  searched.value = senderLog.value = '';
  if (query !== '') void search(query, leaving.signal);
});

async function search(query: string, signal: AbortSignal): Promise<void> {
  let [looked, shapes, since] = [0, 0, Date.now()];
  let cursor: string | undefined = '';
  let logs: readonly string[] = [];
  try {
    while (cursor !== undefined && hits.peek().size < MAX_HITS) {
      searched.value = `looking through what is kept: ${count(looked, 'request')} so far…`;
      const part: FoundPart = await getJson(`/api/search?${query}&cursor=${cursor}`, signal);
      hits.value = new Set([...hits.peek(), ...part.rows.map(({ id }) => id)]);
      merge(part.rows);
      looked += part.looked;
      shapes += part.shapes;
      since = Math.min(since, part.since);
      ({ cursor, logs = [] } = part);
    }
    const more = cursor === undefined ? '' : ', and there are more';
    const kept = `in ${count(looked, 'kept request')}${looked === 0 ? '' : ` since ${formatDate(since)}`}${more}`;
    const isFound = hits.peek().size > 0;
    const isAll = looked > 0 && filters.peek().time === '';
    const before = isAll ? rows.peek().filter(({ at }) => at < since).length : 0;
    const said = [
      isFound
        ? count(hits.peek().size, 'hit')
        : `No request with ${JSON.stringify(filters.peek().text.trim())}`,
      state.value?.role === 'view' ? ' by id: the role view does not look into what was sent' : ` ${kept}`,
      !isFound &&
        shapes > 0 &&
        `; of ${count(shapes, 'accepted one')} only shapes are kept: what decides is searched, texts are not`,
      !isFound && before > 0 && `; of ${count(before, 'older one')} only what became of them is known`,
    ];
    searched.value = `${said.filter(Boolean).join('')}.`;
    const asked = logs.map((name) => `sluice recover ${name} --dry-run`).join('\n');
    senderLog.value = isFound ? '' : asked;
  } catch (error) {
    if (!isAborted(error)) searched.value = messageOf(error);
  }
}
