import type { RunnerHold } from '../records.ts';
import type { Store } from './store.ts';

const SAVE = `INSERT INTO runner_holds (runner, model, since, code, message, retry_at, tries) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (runner, model) DO UPDATE SET code = excluded.code, message = excluded.message,
    retry_at = excluded.retry_at, tries = excluded.tries`;
const REMOVE = 'DELETE FROM runner_holds WHERE runner = ? AND model = ?';

export function saveHold({ sql }: Store, hold: RunnerHold): void {
  const { runner, model = '', since, code, message, retryAt, tries } = hold;
  sql.post(SAVE, runner, model, Math.round(since), code, message, Math.round(retryAt), tries);
}

export function removeHold({ sql }: Store, runner: string, model?: string): boolean {
  return sql.run(REMOVE, runner, model ?? '') > 0;
}
