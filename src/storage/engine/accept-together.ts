import type { NewRun } from '../prepared-request.ts';
import { type RunParts, toNewRun } from './backlog-room.ts';
import type { Call } from './operations.ts';
import { hasOwnKey } from './session-queue.ts';
import type { Store } from './store.ts';

/**
 * Stores all runs of a batch that stand in no queue in one statement, which is a transaction of its own, where the
 * database knows how, and returns the ids of their calls. None where it was not done: then each goes the usual way,
 * and fails alone.
 */
export function acceptTogether({ sql, limits }: Store, calls: readonly Call[]): ReadonlySet<number> {
  if (sql.acceptRuns === undefined) return NONE;
  const runs: NewRun[] = [];
  const ids = new Set<number>();
  for (const [id, name, args] of calls) {
    if (name !== 'acceptSoleRun') continue;
    const run = toNewRun(args as unknown as RunParts);
    if (!hasOwnKey(run)) continue;
    runs.push(run);
    ids.add(id);
  }
  return runs.length > 0 && sql.acceptRuns(runs, limits) ? ids : NONE;
}

const NONE: ReadonlySet<number> = new Set();
