/** Stores the rows of the inbox, and follows the feed that brings new ones. */
import { computed, effect, signal } from '@preact/signals';
import type { ConsoleState, FoundPart, InboxPage, InboxRow } from '../protocol.ts';
import { getJson, isAborted, messageOf, readFeed, type FeedEvent } from './api.ts';
import { count } from './format.ts';
import { place } from './navigation.ts';

/** `storage.keep.decisions` may be more; a page stays smooth. */
const MAX_ROWS = 10_000;
/** The first rows are shown at once; the others follow. */
const FIRST_ROWS = 300;
/** The list is read again when a burst is over. */
const RELOAD_MS = 1_500;
/** A feed that ended is opened again after this time. */
const RETRY_MS = 2_000;

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
/** Whether the session may write files. */
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

function textOf({ id, path, status, outcome, code = '', mapping = '', note = '' }: InboxRow): string {
  return `${id} ${path} ${status} ${outcome} ${code} ${mapping} ${note}`.toLowerCase();
}

let reading: AbortController | undefined;
let reloading: ReturnType<typeof setTimeout> | undefined;

/** Reads the beginning of the list and opens the feed, at whose beginning the rest is read. */
export async function startInbox(): Promise<void> {
  document.addEventListener('visibilitychange', () => {
    // A browser gives one address six connections, so a page that nobody sees leaves its own to others.
    if (document.hidden) closeFeed();
    else openFeed();
  });
  await reload(FIRST_ROWS);
  openFeed();
}

/** Resolves to whether the rows that were read meet those that are known. */
async function reload(limit: number): Promise<boolean> {
  try {
    const page = await getJson<InboxPage>(`/api/inbox?limit=${limit}`);
    const known = new Set(rows.peek().map(({ id }) => id));
    state.value = page.state;
    merge(page.rows);
    if (!page.hasMore || limit === MAX_ROWS) listHas.value = page.hasMore ? 'newest' : 'all';
    loadProblem.value = '';
    isLoaded.value = true;
    return !page.hasMore || page.rows.some(({ id }) => known.has(id));
  } catch (error) {
    loadProblem.value = messageOf(error);
    return true;
  }
}

/** Rows are newest first, each once. The text of a row never changes. */
function merge(more: readonly InboxRow[]): void {
  const known = new Set(rows.value.map(({ id }) => id));
  const added = more.filter(({ id }) => !known.has(id));
  if (added.length === 0) return;
  rows.value = [...added, ...rows.value]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MAX_ROWS + hits.peek().size);
}

function openFeed(): void {
  if (reading !== undefined || document.hidden) return;
  const { signal } = (reading = new AbortController());
  const opened = (): void => {
    connection.value = 'live';
  };
  void readFeed('/api/feed', { signal, opened, take })
    .catch(() => undefined)
    .then(() => {
      if (signal.aborted) return;
      connection.value = 'lost';
      closeFeed();
      setTimeout(openFeed, RETRY_MS);
    });
}

function take({ kind, data }: FeedEvent): void {
  if (kind === 'generation') state.value = { ...state.value, ...(data as ConsoleState) };
  else if (kind === 'opened') void catchUp();
  else if (kind === 'rows') {
    const { rows: came, more } = data as { rows: InboxRow[]; more: number };
    merge(came);
    if (more > 0) reloadSoon();
  }
}

async function catchUp(): Promise<void> {
  if (listHas.peek() === 'some' || !(await reload(FIRST_ROWS))) reloadSoon(0);
}

function closeFeed(): void {
  reading?.abort();
  reading = undefined;
}

function reloadSoon(ms = RELOAD_MS): void {
  clearTimeout(reloading);
  reloading = setTimeout(() => void reload(MAX_ROWS), ms);
}

/** The search over stored requests goes part by part, so that no hook waits for it. */
const MAX_HITS = 1_000;

/** Says how far the search came; empty where nothing is looked for. */
export const searched = signal('');

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
  searched.value = '';
  if (query !== '') void search(query, leaving.signal);
});

async function search(query: string, signal: AbortSignal): Promise<void> {
  let looked = 0;
  let cursor: string | undefined = '';
  try {
    while (cursor !== undefined && hits.peek().size < MAX_HITS) {
      searched.value = `looking through what is kept: ${count(looked, 'request')} so far…`;
      // oxlint-disable-next-line no-await-in-loop -- each part says where the next begins
      const part: FoundPart = await getJson(`/api/search?${query}&cursor=${cursor}`, signal);
      hits.value = new Set([...hits.peek(), ...part.rows.map(({ id }) => id)]);
      merge(part.rows);
      looked += part.looked;
      ({ cursor } = part);
    }
    const more = cursor === undefined ? '' : ', and there are more';
    const where =
      state.value?.role === 'view'
        ? 'by id: the role view does not look into what was sent'
        : `in ${count(looked, 'kept request')}${more}`;
    searched.value = `${count(hits.peek().size, 'hit')} ${where}`;
  } catch (error) {
    if (!isAborted(error)) searched.value = messageOf(error);
  }
}
