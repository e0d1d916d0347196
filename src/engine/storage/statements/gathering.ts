import type { Gathering, NewRun } from '../prepared-request.ts';
import { RUN, type RunRow } from './rows.ts';
import { insertRun } from './session-queue.ts';
import { both, by, type Statements } from './statements.ts';
import type { Store } from './store.ts';

/** Events that one run reads at most, and bytes they take at most: the next event then begins another run. */
const MAX_EVENTS = 200;
const MAX_BYTES = 1_048_576;

const FIND = both`SELECT seq, id, bytes, gathered, due_at AS "dueAt", gather_until AS until FROM runs ${by('runs_gathering')}
  WHERE state = ${RUN.waiting} AND mapping_id = ? AND gather_key = ? AND due_at > ? ORDER BY seq DESC LIMIT 1`;
const JOIN = 'INSERT INTO run_events (run_seq, position, action) VALUES (?, ?, ?)';
const EXTEND = 'UPDATE runs SET bytes = bytes + ?, due_at = ?, gathered = gathered + 1 WHERE seq = ?';
const CLOSE = 'UPDATE runs SET due_at = ?, gather_key = NULL WHERE seq = ?';
export const REMOVE_GATHERED = 'DELETE FROM run_events WHERE run_seq = ?';
const EVENTS = 'SELECT action FROM run_events WHERE run_seq = ? ORDER BY position';

interface GatheringRun {
  readonly seq: number;
  readonly id: string;
  readonly bytes: number;
  readonly gathered: number;
  readonly dueAt: number;
  readonly until: number;
}

/** Lets an event join the run that waits for its key, or begins one. Returns the id of the run that will read it. */
export function gather(store: Store, event: NewRun, gathering: Gathering): string {
  const { sql, counters } = store;
  const open = sql.find<GatheringRun>(FIND, event.mappingId, gathering.key, event.acceptedAt);
  if (open !== undefined && (gathering.isLatest || hasSpace(open, event))) {
    const dueAt = Math.max(open.dueAt, Math.min(gathering.dueAt, open.until));
    const bytes = event.bytes - (gathering.isLatest ? forgetEvents(sql, open.seq) : 0);
    sql.post(JOIN, open.seq, open.gathered, event.action);
    sql.post(EXTEND, bytes, dueAt, open.seq);
    counters.runBytes += bytes;
    return open.id;
  }
  if (open !== undefined) sql.post(CLOSE, event.acceptedAt, open.seq);
  insertRun(store, event, gathering);
  return event.id;
}

/** Takes the events away that joined a run. Returns how many bytes they took. */
function forgetEvents(sql: Statements, seq: number): number {
  const events = sql.all<{ action: string }>(EVENTS, seq);
  sql.post(REMOVE_GATHERED, seq);
  return events.reduce((bytes, { action }) => bytes + action.length, 0);
}

function hasSpace({ gathered, bytes }: GatheringRun, event: NewRun): boolean {
  return gathered + 2 <= MAX_EVENTS && bytes + event.bytes <= MAX_BYTES;
}

/** The rows with the events that joined their runs. */
export function withEvents(sql: Statements, rows: readonly RunRow[]): RunRow[] {
  const gathered = rows.filter((row) => row.gathered > 0);
  if (gathered.length === 0) return [...rows];
  const answers = sql.allOf<{ action: string }>(gathered.map(({ seq }) => [EVENTS, seq]));
  const events = new Map(gathered.map((row, index) => [row, answers[index]?.map(({ action }) => action)]));
  return rows.map((row) => {
    const joined = events.get(row);
    return joined === undefined ? row : { ...row, events: joined };
  });
}
