import type { ClaimOutboxOptions } from '../records.ts';
import { both, by } from './dialects.ts';
import { OUTBOX } from './states.ts';
import type { Question } from './statements.ts';

const DUE = both`SELECT seq FROM outbox ${by('outbox_next')} WHERE state = ${OUTBOX.queued} AND behind = 0
  AND due_at <= ? ORDER BY due_at, seq LIMIT ?`;
const DUE_CALLBACKS = both`SELECT seq FROM outbox ${by('outbox_queued_callbacks')}
  WHERE state = ${OUTBOX.queued} AND kind = 'callback' AND due_at <= ? ORDER BY due_at, seq LIMIT ?`;

/** What a claim of deliveries and callbacks asks. */
export function outboxQuestions({ nowMs, limit, kind }: ClaimOutboxOptions): readonly Question[] {
  return [[kind === 'callback' ? DUE_CALLBACKS : DUE, nowMs, limit]];
}
