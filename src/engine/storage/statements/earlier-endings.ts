import type { AttemptFailure, EarlierEnding, RunOutcome } from '../records.ts';
import type { RunHead } from './rows.ts';
import type { Store } from './store.ts';

/** How a run ended before it was begun anew, by an operator or because its mapping says `retry`. */

const FIND_ENDING = `SELECT attempts, outcome, reply, error_code AS code, error_message AS message, ended_at AS "endedAt", earlier
  FROM runs WHERE seq = ? AND kind = 'hook' AND (outcome IS NULL OR outcome IN ('error', 'timeout'))`;
/** Who let it begin in spite of the limits let it begin once. */
const KEEP = 'UPDATE runs SET earlier = ?, exempt = 0 WHERE seq = ?';
/** Ends of a run that are kept beside the last one. */
const MAX_EARLIER = 10;

interface Ending {
  readonly attempts: number;
  readonly outcome: RunOutcome | null;
  readonly reply: string | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly endedAt: number;
  readonly earlier: string | null;
}

/** How a run ended until now, its last end with it, as JSON; undefined where that was no failure. */
export function earlierOf({ sql }: Store, { seq }: RunHead): string | undefined {
  const ending = sql.find<Ending>(FIND_ENDING, seq);
  return ending && withLast(ending);
}

/** Keeps the end of a turn that is taken again. */
export function keepEnding(
  { sql }: Store,
  { seq }: RunHead,
  { ended, code, message, nowMs }: AttemptFailure,
): void {
  const run = ended && sql.find<Ending>(FIND_ENDING, seq);
  if (run === undefined) return;
  sql.post(KEEP, withLast({ ...run, ...ended, code, message, endedAt: Math.round(nowMs) }), seq);
}

function withLast({ earlier, endedAt, attempts, outcome, code, message, reply }: Ending): string {
  const last: EarlierEnding = {
    endedAt,
    attempts,
    ...(outcome === null ? {} : { outcome }),
    ...(code === null ? {} : { error: { code, message: message ?? '' } }),
    ...(reply === null || reply === '' ? {} : { reply }),
  };
  const before = earlier === null ? [] : (JSON.parse(earlier) as readonly EarlierEnding[]);
  return JSON.stringify([...before, last].slice(-MAX_EARLIER));
}
