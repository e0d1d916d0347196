import type { NewRun } from '../prepared-request.ts';
import { checkRoom, type RunParts, toNewRun } from './backlog-room.ts';
import type { Call } from './engine.ts';
import { hasOwnKey } from './session-queue.ts';
import type { Store } from './store.ts';

/**
 * Stores all runs of a batch that stand in no queue in one statement, where the database knows how, and returns the ids
 * of their calls. Any error is the batch's: each call is then done again alone, and fails alone.
 */
export function acceptTogether(store: Store, calls: readonly Call[]): ReadonlySet<number> {
  const { sql, counters } = store;
  if (sql.insertRuns === undefined) return NONE;
  const runs: NewRun[] = [];
  const ids = new Set<number>();
  for (const [id, name, args] of calls) {
    if (name !== 'acceptSoleRun') continue;
    const run = toNewRun(args as unknown as RunParts);
    if (!hasOwnKey(run)) continue;
    runs.push(run);
    ids.add(id);
  }
  if (runs.length < 2) return NONE;
  const bytes = runs.reduce((total, run) => total + run.bytes, 0);
  checkRoom(store, { runs: runs.length, bytes, wakes: 0, deliveries: 0 });
  sql.insertRuns(runs);
  counters.queuedRuns += runs.length;
  counters.runBytes += bytes;
  return ids;
}

const NONE: ReadonlySet<number> = new Set();
