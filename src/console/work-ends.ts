/** What became of the work of requests, in the words of the page, and what stands in its way. */
import { DROPPED, type WorkEnd } from '../storage/storage.ts';
import type { ConsoleDeps } from './console-deps.ts';
import type { Overview, ShownEnd } from './protocol.ts';

/** Runs and events asked about at once. */
const MAX_IDS = 200;
/** Queued runs whose reason is looked for. */
const MAX_REASONS = 50;
/** What a service at work wrote down that long ago still holds. */
const FRESH_MS = 30_000;

export async function endsOf(
  { storage, whyQueued }: Pick<ConsoleDeps, 'storage' | 'whyQueued'>,
  ids: readonly string[],
): Promise<readonly ShownEnd[]> {
  const ends = await storage.listEnds(ids.filter((id) => id !== '').slice(0, MAX_IDS));
  const queued = ends.filter(({ state }) => state === 'queued').map(({ id }) => id);
  const reasons = queued.length === 0 ? new Map() : await whyQueued(queued.slice(0, MAX_REASONS));
  return ends.map((found) => shownEnd(found, reasons));
}

function shownEnd(found: WorkEnd, reasons: ReadonlyMap<string, string>): ShownEnd {
  const { id, code } = found;
  const end = endOf(found);
  const why = end === 'queued' ? reasons.get(id) : end === 'done' || end === 'running' ? undefined : code;
  return { id, end, ...(why === undefined ? {} : { why }) };
}

function endOf({ state, outcome, code, unsent }: WorkEnd): ShownEnd['end'] {
  switch (state) {
    case 'queued':
    case 'pending':
      return 'queued';
    case 'active':
    case 'claimed':
      return 'running';
    case 'dead':
      return 'dead';
    case 'consumed':
      return 'done';
    case 'completed':
      if (code === DROPPED.code) return 'dropped';
      if (outcome === 'error' || outcome === 'timeout') return 'failed';
      return unsent === undefined ? 'done' : unsent === 'dead' ? 'unsent' : 'sending';
  }
}

export async function overview({ storage, live }: ConsoleDeps): Promise<Overview> {
  const [backlog, pauses, holds, limited] = await Promise.all([
    storage.backlog(),
    storage.listPauses(),
    storage.listHolds(live().config.settings.gateway.runner),
    storage.listMarked(Date.now() - FRESH_MS),
  ]);
  return { backlog, pauses, holds, limited };
}
