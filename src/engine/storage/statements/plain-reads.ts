import type {
  ClaimOutboxOptions,
  Conversation,
  OwnWork,
  SessionTurn,
  StoredConversation,
} from '../records.ts';
import { EVENT, OUTBOX, RUN } from './rows.ts';
import { both, by, type Dialects, listed, type SqlQuestion, type Sql } from './statements.ts';
import type { ReservedKey, Store } from './store.ts';

/** What is asked again and again, as questions that may go over any connection, and what their answers mean. */
export interface PlainRead<Args extends readonly unknown[], Answer> {
  /** `totals` is the table or view of `Counters`. */
  questions(totals: string, ...args: Args): readonly SqlQuestion[];
  answerOf(answers: Answers): Answer;
}

type Answers = readonly (readonly object[])[];

export interface ScopedKey {
  readonly scope: string;
  readonly key: string;
}

const IDEMPOTENT = `SELECT body_sha256 AS "bodySha256", result FROM idempotency
  WHERE scope = ? AND key = ? AND expires_at > ?`;
const HISTORY = 'SELECT role, text, at FROM session_turns WHERE owner = ? AND session_key = ? ORDER BY seq';
const KEY_ONLY_ID = 'SELECT key_only_id AS "isKeyOnly" FROM sessions WHERE owner = ? AND key = ?';
const nextDue = (totals: string): Sql => both`SELECT min(at) AS at FROM (
  SELECT (SELECT 0 FROM runs ${by('runs_ready_in_order')} WHERE state = ${RUN.ready} LIMIT 1) AS at
  UNION ALL SELECT (SELECT min(due_at) FROM runs ${by('runs_waiting')} WHERE state = ${RUN.waiting})
  UNION ALL SELECT (SELECT min(due_at) FROM outbox ${by('outbox_next')} WHERE state = ${OUTBOX.queued} AND behind = 0)
  UNION ALL SELECT heartbeat_at FROM ${totals}) AS due`;

const timeOf = ([rows]: Answers): number | null =>
  (rows as readonly { readonly at: number | null }[])[0]?.at ?? null;

const read = <Args extends readonly unknown[], Answer>(
  plain: PlainRead<Args, Answer>,
): PlainRead<Args, Answer> => plain;

export const PLAIN_READS = {
  findReservation: read({
    questions: (_, { scope, key }: ScopedKey, nowMs: number) => [[IDEMPOTENT, scope, key, nowMs]],
    answerOf: ([rows]: Answers) => (rows as readonly Pick<ReservedKey, 'bodySha256' | 'result'>[])[0],
  }),
  findConversation: read({
    questions: (_, { owner, key }: Conversation) => [
      [KEY_ONLY_ID, owner, key],
      [HISTORY, owner, key],
    ],
    answerOf: ([sessions, turns]): StoredConversation => ({
      turns: turns as readonly SessionTurn[],
      hasKeyOnlyId: (sessions as readonly { readonly isKeyOnly: number }[])[0]?.isKeyOnly === 1,
    }),
  }),
  /** When something is due next. */
  nextDueAt: read({
    questions: (totals) => [[nextDue(totals)]],
    answerOf: (answers) => timeOf(answers) ?? undefined,
  }),
  /** When a requested heartbeat is due. */
  findHeartbeatAt: read({
    questions: (totals) => [[`SELECT heartbeat_at AS at FROM ${totals}`]],
    answerOf: timeOf,
  }),
};

/** The same as an operation. */
export function operationOf<Args extends readonly unknown[], Answer>(
  plain: PlainRead<Args, Answer>,
): (store: Store, ...args: Args) => Answer {
  return ({ sql }, ...args) => plain.answerOf(sql.allOf(plain.questions(sql.totals, ...args)));
}

/* Work that a process has left that is gone. */

/** Rows of a holder that is gone, or of this process, which does not know of them: the answer to its claim was lost. */
export const left = (held: string): Dialects =>
  both`(holder IS NULL OR holder = ?1 OR holder NOT IN (SELECT id FROM replicas)) AND id NOT IN ${listed(held)}`;
/** A run that a worker carries is left to it. */
export const leftRuns = (held: string): Dialects => both`worker_until IS NULL AND ${left(held)}`;
/** Runs whose worker was not heard of in time. */
export const LAPSED = `state = ${RUN.active} AND worker_until > 0 AND worker_until <= ?1`;
/** No event is named: one turn takes all of its events. */
export const leftEvents = (isTurnTaken: string): string => `state = ${EVENT.claimed} AND holder IS NOT NULL
  AND (holder <> ?1 OR ${isTurnTaken} = 0) AND (holder = ?1 OR holder NOT IN (SELECT id FROM replicas))`;
/** One row where nothing was left, and somebody leads: whether it is this process. */
const NOTHING_LEFT = both`SELECT holder = ?1 AS leads FROM leaders JOIN replicas ON replicas.id = holder WHERE name = ?5 AND NOT EXISTS (
    SELECT 1 FROM runs WHERE state = ${RUN.active} AND ${leftRuns('?2')}
    UNION ALL SELECT 1 FROM outbox WHERE state = ${OUTBOX.active} AND ${left('?3')}
    UNION ALL SELECT 1 FROM events WHERE ${leftEvents('?4')})`;

/** There is one main session, and one process that takes its turns and sends its deliveries. */
export const MAIN = 'main';

/** Asks whether there is anything to take over; no row where there is. */
export function leftQuestion(holder: string, { runs, outbox, isTurnTaken }: OwnWork): SqlQuestion {
  return [NOTHING_LEFT, holder, JSON.stringify(runs), JSON.stringify(outbox), isTurnTaken ? 1 : 0, MAIN];
}

const DUE = both`SELECT seq FROM outbox ${by('outbox_next')} WHERE state = ${OUTBOX.queued} AND behind = 0
  AND due_at <= ? ORDER BY due_at, seq LIMIT ?`;
const DUE_CALLBACKS = both`SELECT seq FROM outbox ${by('outbox_queued_callbacks')}
  WHERE state = ${OUTBOX.queued} AND kind = 'callback' AND due_at <= ? ORDER BY due_at, seq LIMIT ?`;

/** What a claim of deliveries and callbacks asks. */
export function outboxQuestions({ nowMs, limit, kind }: ClaimOutboxOptions): readonly SqlQuestion[] {
  return [[kind === 'callback' ? DUE_CALLBACKS : DUE, nowMs, limit]];
}
