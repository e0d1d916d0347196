/* Work that a process has left that is gone. */
import type { HeldWork } from '../records.ts';
import { both, type Dialects, listed } from './dialects.ts';
import { EVENT, OUTBOX, RUN } from './states.ts';
import type { Question } from './statements.ts';

/** Of a holder that is gone, or of this process, which does not know of it: the answer to its claim was lost. */
export const left = (held: string): Dialects =>
  both`(holder IS NULL OR holder = ?1 OR holder NOT IN (SELECT id FROM replicas)) AND id NOT IN ${listed(held)}`;
/** Of events none is named: one turn takes all of its. */
export const leftEvents = (isTurnTaken: string): string => `state = ${EVENT.claimed} AND holder IS NOT NULL
  AND (holder <> ?1 OR ${isTurnTaken} = 0) AND (holder = ?1 OR holder NOT IN (SELECT id FROM replicas))`;
/** One row where nothing was left, and somebody leads: whether it is this process. */
const NOTHING_LEFT = both`SELECT holder = ?1 AS leads FROM leaders JOIN replicas ON replicas.id = holder WHERE name = ?5 AND NOT EXISTS (
    SELECT 1 FROM runs WHERE state = ${RUN.active} AND ${left('?2')}
    UNION ALL SELECT 1 FROM outbox WHERE state = ${OUTBOX.active} AND ${left('?3')}
    UNION ALL SELECT 1 FROM events WHERE ${leftEvents('?4')})`;

/** There is one main session, and one process that takes its turns and sends its deliveries. */
export const MAIN = 'main';

/** Asks whether there is anything to take over; no row where there is. */
export function leftQuestion(holder: string, { runs, outbox, isTurnTaken }: HeldWork): Question {
  return [NOTHING_LEFT, holder, JSON.stringify(runs), JSON.stringify(outbox), isTurnTaken ? 1 : 0, MAIN];
}
