import type { NewRun } from '../prepared-request.ts';
import { type RunParts, toNewRun } from './backlog-room.ts';
import type { Call } from './operations.ts';
import { hasOwnKey } from './session-queue.ts';
import type { Store } from './store.ts';

/** Runs that are stored with one statement. */
export interface Together {
  /** Of their calls. */
  readonly ids: readonly number[];
  /** False where nothing was stored: then each goes the usual way, and fails alone. */
  store(): boolean;
}

/**
 * All runs of a batch that stand in no queue, where the database knows how to store them in one statement, which is a
 * transaction of its own.
 */
export function findTogether({ sql, limits }: Store, calls: readonly Call[]): Together | undefined {
  if (sql.acceptRuns === undefined) return undefined;
  const runs: NewRun[] = [];
  const ids: number[] = [];
  for (const [id, name, args] of calls) {
    if (name !== 'acceptSoleRun') continue;
    const run = toNewRun(args as unknown as RunParts);
    if (!hasOwnKey(run)) continue;
    runs.push(run);
    ids.push(id);
  }
  if (runs.length === 0) return undefined;
  return { ids, store: () => sql.acceptRuns?.(runs, limits) === true };
}
