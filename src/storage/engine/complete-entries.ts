import type { OutboxResult } from '../records.ts';
import { writeLastTarget } from './outbox-rows.ts';
import { OUTBOX } from './states.ts';
import type { Store } from './store.ts';

/** An `ActiveEntry` that this process holds. */
export const FIND_ACTIVE = `SELECT seq, run_id AS runId, mapping_id AS mappingId, session_key AS sessionKey
  FROM outbox WHERE id = ? AND state = ${OUTBOX.active} AND holder = ?`;
export const END_ENTRY = `UPDATE outbox SET state = ?, error_code = ?, error_message = ?, target = ?, ended_at = ? WHERE seq = ?`;

export interface ActiveEntry {
  readonly seq: number;
  readonly runId: string;
  readonly mappingId: string;
  readonly sessionKey: string;
}

/** Ends deliveries and callbacks; says of each whether this process held it. All are asked for at once. */
export function completeEntries(
  store: Store,
  ends: readonly (readonly [outboxId: string, result: OutboxResult])[],
): boolean[] {
  const { sql, holder } = store;
  const answers = sql.allOf<ActiveEntry>(ends.map(([outboxId]) => [FIND_ACTIVE, outboxId, holder]));
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
  if (lastTarget !== undefined) writeLastTarget(store, lastTarget, nowMs);
}
