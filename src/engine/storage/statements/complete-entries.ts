import type { OutboxResult } from '../records.ts';
import { moveLastTarget, type Placed, stepUp } from './outbox-rows.ts';
import type { Question } from './statements.ts';
import { OUTBOX } from './states.ts';
import type { Store } from './store.ts';

/** An `ActiveEntry` that this process holds. */
export const FIND_ACTIVE = `SELECT seq, run_id AS "runId", mapping_id AS "mappingId", session_key AS "sessionKey",
  last_set AS "lastSet", recipient FROM outbox WHERE id = ? AND state = ${OUTBOX.active} AND holder = ?`;
export const END_ENTRY = `UPDATE outbox SET state = ?, error_code = ?, error_message = ?, target = ?, ended_at = ? WHERE seq = ?`;

export interface ActiveEntry extends Placed {
  readonly runId: string;
  readonly mappingId: string;
  readonly sessionKey: string;
  /** How often somebody had set where `last` leads when it came up. */
  readonly lastSet: number;
}

type EntryEnd = readonly [outboxId: string, result: OutboxResult];

/** What `completeEntries` asks. */
export function entryQuestions(ends: readonly EntryEnd[], holder: string): readonly Question[] {
  return ends.map(([outboxId]) => [FIND_ACTIVE, outboxId, holder]);
}

/** Ends deliveries and callbacks; says of each whether this process held it. All are asked for at once. */
export function completeEntries(store: Store, ends: readonly EntryEnd[]): boolean[] {
  const { sql, holder } = store;
  const answers = sql.allOf<ActiveEntry>(entryQuestions(ends, holder));
  const ended = new Set<string>();
  return ends.map(([outboxId, result], index) => {
    const entry = answers[index]?.[0];
    if (entry === undefined || ended.has(outboxId)) return false;
    ended.add(outboxId);
    complete(store, entry, result);
    return true;
  });
}

function complete(store: Store, entry: ActiveEntry, result: OutboxResult): void {
  const { note, target, lastTarget, nowMs } = result;
  const state = result.state === 'completed' ? OUTBOX.completed : OUTBOX.skipped;
  const where = target === undefined ? null : JSON.stringify(target);
  const [code, message] = [note?.code ?? null, note?.message ?? null];
  store.sql.post(END_ENTRY, state, code, message, where, Math.round(nowMs), entry.seq);
  store.counters.endedOutbox += 1;
  stepUp(store, entry);
  if (lastTarget !== undefined) moveLastTarget(store, lastTarget, { lastSet: entry.lastSet, nowMs });
}
