/** What became of the requests in the list: asked for apart, as it goes on changing after the answer. */
import { computed, signal } from '@preact/signals';
import type { InboxRow, ShownEnd } from '../protocol.ts';
import { getJson } from './api.ts';
import { connection, filters, foundRows, rows } from './inbox-store.ts';

/** Runs and events asked about at once, as the service allows. */
const MAX_IDS = 200;
const LOOK_MS = 1_500;

/** By the id of the run or event. */
const ends = signal<ReadonlyMap<string, ShownEnd>>(new Map());
/** Rows in sight, which are always looked at again. */
export const rowsInSight = signal<readonly InboxRow[]>([]);

/** The worst first: one of several runs that was given up is what somebody has to know. */
const ORDER = 'dead failed unsent dropped running queued sending done'.split(' ');
const OPEN: readonly ShownEnd['end'][] = ['running', 'queued', 'sending'];
/** What is refused before a sender has proved itself is no matter of the operator's mappings. */
const STRANGERS: readonly number[] = [401, 403, 405, 408, 429];

/** How a request ended; undefined where nothing came of it, or nothing is known yet. */
export function endOf({ work = [] }: InboxRow): ShownEnd | undefined {
  if (work.length < 2) return ends.value.get(work[0] ?? '');
  const found = work.flatMap((id) => ends.value.get(id) ?? []);
  return found.toSorted((a, b) => ORDER.indexOf(a.end) - ORDER.indexOf(b.end))[0];
}

function needsAttention(row: InboxRow): boolean {
  if (row.outcome === 'rejected') return !STRANGERS.includes(row.status);
  const end = row.isRepeat === true ? undefined : endOf(row)?.end;
  return end === 'dead' || end === 'failed' || end === 'unsent';
}

export const inNeed = computed(() => rows.value.filter(needsAttention));
export const shownRows = computed(() =>
  filters.value.need === '' ? foundRows.value : foundRows.value.filter(needsAttention),
);

/** Looks at once, and again while a page is seen. */
export function followEnds(): void {
  void look().finally(() => setTimeout(followEnds, LOOK_MS));
}

async function look(): Promise<void> {
  if (document.hidden || connection.value === 'lost') return;
  const known = ends.peek();
  const isOpen = ({ work = [] }: InboxRow): boolean =>
    work.some((id) => OPEN.includes(known.get(id)?.end ?? 'done'));
  const isUnknown = ({ work = [] }: InboxRow): boolean => work.some((id) => !known.has(id));
  const list = rows.peek();
  const wanted = [
    ...rowsInSight.peek(),
    // The newest first; the whole list is looked at bit by bit.
    ...list.filter((row) => isUnknown(row) || isOpen(row)).slice(0, MAX_IDS),
  ];
  const ids = [...new Set(wanted.flatMap(({ work = [] }) => work))].slice(0, MAX_IDS);
  if (ids.length === 0) return;
  try {
    const found = await getJson<{ readonly ends: readonly ShownEnd[] }>(`/api/ends?ids=${ids.join(',')}`);
    const next = new Map(ends.peek());
    // What is not there any more was removed after its time: it ended.
    for (const id of ids) next.set(id, { id, end: 'done' });
    for (const end of found.ends) next.set(end.id, end);
    ends.value = next;
  } catch {
    // The connection shows that the service is away.
  }
}
