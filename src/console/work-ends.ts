/** What became of the work of requests, in the words of the page, and what stands in its way. */
import { DROPPED, type RunRecord, type Storage } from '../storage/storage.ts';
import type { ConsoleDeps } from './console-deps.ts';
import type { Overview, ShownEnd } from './protocol.ts';

/** Runs and events asked about at once. */
const MAX_IDS = 200;
/** Deliveries and callbacks of a state that are looked at. */
const MAX_SENT = 1_000;
/** What a service at work wrote down that long ago still holds. */
const FRESH_MS = 30_000;

export async function endsOf(
  { storage, whyQueued }: Pick<ConsoleDeps, 'storage' | 'whyQueued'>,
  ids: readonly string[],
): Promise<readonly ShownEnd[]> {
  const asked = ids.slice(0, MAX_IDS);
  const [found, dead, ...unsent] = await Promise.all([
    Promise.all(asked.map((id) => storage.findRun(id))),
    storage.listOutbox({ state: 'dead', limit: MAX_SENT }),
    storage.listOutbox({ state: 'queued', limit: MAX_SENT }),
    storage.listOutbox({ state: 'active', limit: MAX_SENT }),
  ]);
  const runs = found.flatMap((run) => run ?? []);
  const waiting = runs.filter(({ state }) => state === 'queued');
  const reasons = waiting.length === 0 ? undefined : await whyQueued(waiting);
  const [lost, sending] = [dead, unsent.flat()].map((list) => new Set(list.map(({ runId }) => runId)));
  const events = await Promise.all(
    asked.filter((_, index) => found[index] === undefined).map((id) => eventEnd(storage, id)),
  );
  const ends = runs.map((run): ShownEnd => {
    const { id, lastError } = run;
    const end = endOf(run);
    if (end === 'done' && lost?.has(id) === true) return { id, end: 'unsent' };
    if (end === 'done' && sending?.has(id) === true) return { id, end: 'sending' };
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

export async function overview({ storage, live }: ConsoleDeps): Promise<Overview> {
  const [backlog, pauses, holds, limited] = await Promise.all([
    storage.backlog(),
    storage.listPauses(),
    storage.listHolds(live().config.settings.gateway.runner),
    storage.listMarked(Date.now() - FRESH_MS),
  ]);
  return { backlog, pauses, holds, limited };
}
