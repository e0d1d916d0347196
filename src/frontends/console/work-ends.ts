/** What became of the work of requests, in the words of the page, and what stands in its way. */
import { DROPPED, type RunRecord, type Storage } from '../../engine/storage/storage.ts';
import type { ConsoleDeps } from './console-deps.ts';
import type { Need, Overview, ShownEnd } from './protocol.ts';

/** Runs and events asked about at once. */
const MAX_IDS = 200;
/** Work of each kind that needs attention and is told. */
const MAX_NEED = 10_000;
/** What a service at work wrote down that long ago still holds. */
const FRESH_MS = 30_000;

export async function endsOf(
  { storage, whyQueued }: Pick<ConsoleDeps, 'storage' | 'whyQueued'>,
  ids: readonly string[],
): Promise<readonly ShownEnd[]> {
  const asked = ids.slice(0, MAX_IDS);
  const found = await Promise.all(asked.map((id) => storage.findRun(id)));
  const runs = found.flatMap((run) => run ?? []);
  const waiting = runs.filter(({ state }) => state === 'queued');
  const reasons = waiting.length === 0 ? undefined : await whyQueued(waiting);
  const done = runs.filter((run) => endOf(run) === 'done').map(({ id }) => id);
  const unsent = new Map((await storage.findUnsent(done)).map(({ runId, end }) => [runId, end]));
  const events = await Promise.all(
    asked.filter((_, index) => found[index] === undefined).map((id) => eventEnd(storage, id)),
  );
  const ends = runs.map((run): ShownEnd => {
    const { id, lastError } = run;
    const end = endOf(run);
    const left = unsent.get(id);
    if (left !== undefined) return { id, end: left };
    const why =
      end === 'queued' ? reasons?.get(id) : end === 'failed' || end === 'dead' ? lastError?.code : '';
    return { id, end, ...(why === undefined || why === '' ? {} : { why }) };
  });
  return [...ends, ...events.flat()];
}

function endOf({ state, outcome, lastError }: RunRecord): ShownEnd['end'] {
  if (state !== 'completed') return state === 'active' ? 'running' : state;
  if (lastError?.code === DROPPED.code) return 'dropped';
  return outcome === 'error' || outcome === 'timeout' ? 'failed' : 'done';
}

const EVENT_ENDS = { pending: 'queued', claimed: 'running', consumed: 'done', dead: 'dead' } as const;

async function eventEnd(storage: Storage, id: string): Promise<readonly ShownEnd[]> {
  const [event] = await storage.listEvents({ limit: 1, id });
  return event === undefined ? [] : [{ id, end: EVENT_ENDS[event.state] }];
}

/** All that needs attention, by the ids of runs and events. */
export async function inNeed({ storage }: ConsoleDeps): Promise<Need> {
  const ends = await storage.workInNeed(MAX_NEED);
  return { ends, isWhole: ends.length < MAX_NEED };
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
