/** The search over what is kept: part by part, so that no hook waits for it. */
import { computed, effect, signal } from '@preact/signals';
import type { FoundPart } from '../protocol.ts';
import { getJson, isAborted, messageOf } from './api.ts';
import { count } from './format.ts';
import { filters, hits, merge, state } from './inbox-store.ts';

const MAX_HITS = 1_000;

/** How far it came; empty where nothing is looked for. */
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
