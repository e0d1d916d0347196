import type {
  AttemptFailure,
  ClaimOutboxOptions,
  OutboxDeadLetter,
  OutboxProgress,
  OutboxResult,
} from '../records.ts';
import { both, by, listed } from './statements.ts';
import { insertSummary } from './event-rows.ts';
import {
  type ActiveEntry,
  completeEntries,
  END_ENTRY,
  FIND_ACTIVE,
  insertDelivery,
  stepIn,
  stepUp,
} from './outbox-rows.ts';
import { outboxQuestions } from './plain-reads.ts';
import { OUTBOX, OUTBOX_COLUMNS, type OutboxRow } from './rows.ts';
import { countMove, type Store } from './store.ts';

/** Deliveries and callbacks, each with its own attempts. */

const ACTIVATE = both`UPDATE outbox SET state = ${OUTBOX.active}, attempts = attempts + 1, holder = ?
  WHERE seq IN ${listed('?', 'bigint')}`;
const RECORDS = both`SELECT ${OUTBOX_COLUMNS} WHERE seq IN ${listed('?', 'bigint')} ORDER BY due_at, seq`;
const PROGRESS = `UPDATE outbox SET chunks_sent = ?, target = ? WHERE id = ? AND state = ${OUTBOX.active} AND holder = ?`;
const REQUEUE = `UPDATE outbox SET state = ${OUTBOX.queued}, due_at = ?, error_code = ?, error_message = ?
  WHERE seq = ?`;
const PUT_BACK = `UPDATE outbox SET state = ${OUTBOX.queued}, due_at = ?, attempts = attempts - 1 WHERE seq = ?`;
/** One to the same recipient stands before it. */
const HAS_EARLIER = both`SELECT 1 FROM outbox ${by('outbox_of_recipient')}
  WHERE recipient = ? AND state <= ${OUTBOX.active} AND behind = 0 AND seq < ?`;

export function claimOutbox({ sql, counters, holder }: Store, options: ClaimOutboxOptions): OutboxRow[] {
  const [due = []] = sql.allOf<{ seq: number }>(outboxQuestions(options));
  if (due.length === 0) return [];
  const seqs = JSON.stringify(due.map(({ seq }) => seq));
  sql.post(ACTIVATE, holder, seqs);
  counters.queuedOutbox -= due.length;
  return sql.all<OutboxRow>(RECORDS, seqs);
}

/** Records a chunk that went out, so that a repeat resumes after it. */
export function recordProgress(
  { sql, holder }: Store,
  outboxId: string,
  { chunksSent, target }: OutboxProgress,
): void {
  sql.post(PROGRESS, chunksSent, JSON.stringify(target), outboxId, holder);
}

/** False, and nothing is changed, where the entry is not active (any more); so do the ones below. */
export function completeOutbox(store: Store, outboxId: string, result: OutboxResult): boolean {
  return completeEntries(store, [[outboxId, result]])[0] === true;
}

export function requeueOutbox(store: Store, outboxId: string, failure: AttemptFailure): boolean {
  const { sql, counters, holder } = store;
  const entry = sql.find<ActiveEntry>(FIND_ACTIVE, outboxId, holder);
  if (entry === undefined) return false;
  sql.post(REQUEUE, Math.round(failure.retryAt), failure.code, failure.message, entry.seq);
  counters.queuedOutbox += 1;
  stepIn(store, entry);
  return true;
}

/** Puts a claimed entry back of which nothing was sent, as if it had not been claimed. */
export function putBackOutbox(store: Store, outboxId: string, retryAt: number): boolean {
  const entry = store.sql.find<ActiveEntry>(FIND_ACTIVE, outboxId, store.holder);
  if (entry === undefined) return false;
  putBack(store, entry, retryAt);
  return true;
}

/**
 * Says whom a claimed delivery is for (`recipientOf`). False where it is not to be sent: another one to the same
 * recipient stands before it, and it is put back.
 */
export function addressOutbox(store: Store, outboxId: string, recipient: string): boolean {
  const entry = store.sql.find<ActiveEntry>(FIND_ACTIVE, outboxId, store.holder);
  if (entry === undefined) return false;
  const isFirst = store.sql.find(HAS_EARLIER, recipient, entry.seq) === undefined;
  if (isFirst) stepIn(store, { ...entry, recipient });
  else putBack(store, { ...entry, recipient }, 0);
  stepUp(store, entry);
  return isFirst;
}

function putBack(store: Store, entry: ActiveEntry, retryAt: number): void {
  store.sql.post(PUT_BACK, Math.round(retryAt), entry.seq);
  store.counters.queuedOutbox += 1;
  stepIn(store, entry);
}

/** Gives an entry up (`-> dead`), with its summary line and, where it has a fallback, the fallback's row. */
export function deadLetterOutbox(store: Store, outboxId: string, deadLetter: OutboxDeadLetter): boolean {
  const { sql, holder } = store;
  const { error, summary, fallback, nowMs } = deadLetter;
  const entry = sql.find<ActiveEntry>(FIND_ACTIVE, outboxId, holder);
  if (entry === undefined) return false;
  sql.post(END_ENTRY, OUTBOX.dead, error.code, error.message, null, Math.round(nowMs), entry.seq);
  countMove(store, 'outbox', { from: OUTBOX.active, to: OUTBOX.dead });
  stepUp(store, entry);
  if (summary !== undefined) insertSummary(store, summary, { runId: null, nowMs });
  if (fallback !== undefined) insertDelivery(store, fallback, { ...entry, nowMs });
  return true;
}
