/** Loads what became of the requests in the list, which goes on changing after the answer. */
import { computed, signal } from '@preact/signals';
import type { InboxRow, Need, ShownEnd } from '../protocol.ts';
import { getJson } from './api.ts';
import { connection, filters, foundRows, rows } from './inbox-store.ts';

/** The service allows as many ids at once. */
const MAX_IDS = 200;
const LOOK_MS = 1_500;

/** All that needs attention; undefined before it is known. */
export const need = signal<Need | undefined>(undefined);
const needOf = computed(() => {
  const worst = new Map<string, ShownEnd>();
  for (const end of need.value?.ends ?? []) {
    const known = worst.get(end.id);
    if (known === undefined || rank(end) < rank(known)) worst.set(end.id, end);
  }
  return worst;
});

const ends = signal<ReadonlyMap<string, ShownEnd>>(new Map());
/** Rows in sight are always looked at again. */
export const rowsInSight = signal<readonly InboxRow[]>([]);

/** The worst comes first: somebody must know that one of several runs was given up. */
const ORDER = 'dead failed unsent dropped running queued sending done'.split(' ');
/** A request that was refused before its sender had proved itself does not concern the operator's mappings. */
const STRANGERS: readonly number[] = [401, 403, 405, 408, 429];

const rank = ({ end }: ShownEnd): number => ORDER.indexOf(end);

/** Says how a request ended; undefined where nothing came of it, or not all is known yet. */
export function endOf({ work = [] }: InboxRow): ShownEnd | undefined {
  const found = work.flatMap((id) => needOf.value.get(id) ?? ends.value.get(id) ?? []);
  const worst = found.toSorted((a, b) => rank(a) - rank(b))[0];
  return worst?.end === 'done' && found.length < work.length ? undefined : worst;
}

/** Whether a request needs attention. This is known for all rows of the list, not only for those in sight. */
export function needsAttention({ outcome, status, isRepeat, work = [] }: InboxRow): boolean {
  if (outcome === 'rejected') return !STRANGERS.includes(status);
  return isRepeat !== true && work.some((id) => needOf.value.has(id));
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
  const ids = [...new Set(rowsInSight.peek().flatMap(({ work = [] }) => work))].slice(0, MAX_IDS);
  try {
    const asked =
      ids.length === 0
        ? { ends: [] }
        : getJson<{ readonly ends: readonly ShownEnd[] }>(`/api/ends?ids=${ids.join(',')}`);
    const [found, all] = await Promise.all([asked, getJson<Need>('/api/need')]);
    const next = new Map(ends.peek());
    // A run that is not there any more was removed after its time, so it ended.
    for (const id of ids) next.set(id, { id, end: 'done' });
    for (const end of found.ends) next.set(end.id, end);
    if (ids.length > 0) ends.value = next;
    if (JSON.stringify(all) !== JSON.stringify(need.peek())) need.value = all;
  } catch {
    // The connection shows that the service is away.
  }
}
