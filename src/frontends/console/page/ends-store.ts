/** Loads what became of the requests in the list, which goes on changing after the answer. */
import { signal } from '@preact/signals';
import type { InboxRow, ShownEnd } from '../protocol.ts';
import { getJson } from './api.ts';
import { connection } from './inbox-store.ts';

/** The service allows as many ids at once. */
const MAX_IDS = 200;
const LOOK_MS = 1_500;

const ends = signal<ReadonlyMap<string, ShownEnd>>(new Map());
/** Rows in sight are always looked at again. */
export const rowsInSight = signal<readonly InboxRow[]>([]);

/** The worst comes first: somebody must know that one of several runs was given up. */
const ORDER = 'dead failed unsent dropped running queued sending done'.split(' ');
const rank = ({ end }: ShownEnd): number => ORDER.indexOf(end);

/** Says how a request ended; undefined where nothing came of it, or not all is known yet. */
export function endOf({ work = [] }: InboxRow): ShownEnd | undefined {
  const found = work.flatMap((id) => ends.value.get(id) ?? []);
  const worst = found.toSorted((a, b) => rank(a) - rank(b))[0];
  return worst?.end === 'done' && found.length < work.length ? undefined : worst;
}

/** Looks at once, and again while a page is seen. */
export function followEnds(): void {
  void look().finally(() => setTimeout(followEnds, LOOK_MS));
}

async function look(): Promise<void> {
  if (document.hidden || connection.value === 'lost') return;
  const ids = [...new Set(rowsInSight.peek().flatMap(({ work = [] }) => work))].slice(0, MAX_IDS);
  if (ids.length === 0) return;
  try {
    const found = await getJson<{ readonly ends: readonly ShownEnd[] }>(`/api/ends?ids=${ids.join(',')}`);
    const next = new Map(ends.peek());
    // A run that is not there any more was removed after its time, so it ended.
    for (const id of ids) next.set(id, { id, end: 'done' });
    for (const end of found.ends) next.set(end.id, end);
    ends.value = next;
  } catch {
    // The connection shows that the service is away.
  }
}
