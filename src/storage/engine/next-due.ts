import { OUTBOX, RUN } from './states.ts';
import type { Question } from './statements.ts';

const nextDue = (totals: string): string => `SELECT min(at) AS at FROM (
  SELECT (SELECT 0 FROM runs INDEXED BY runs_ready_in_order WHERE state = ${RUN.ready} LIMIT 1) AS at
  UNION ALL SELECT (SELECT min(due_at) FROM runs INDEXED BY runs_waiting WHERE state = ${RUN.waiting})
  UNION ALL SELECT (SELECT min(due_at) FROM outbox INDEXED BY outbox_queued WHERE state = ${OUTBOX.queued})
  UNION ALL SELECT heartbeat_at FROM ${totals}) AS due`;

/** When something is due next. */
export function dueQuestions(totals: string): readonly Question[] {
  return [[nextDue(totals)]];
}

export function dueOf(answers: readonly (readonly object[])[]): number | undefined {
  const [[row] = []] = answers as [{ readonly at: number | null }[]?];
  return row?.at ?? undefined;
}
