import type { ClaimRunsOptions, RunCompletion } from '../records.ts';
import { hasNoLimits } from './claimable-runs.ts';
import { keepRequests, recordDecisions, recordStrangers } from './journal-statements.ts';
import type { ClaimedRow, RunRow } from './rows.ts';
import { completeRuns, endQuestions, nameOf } from './run-rows.ts';
import { recordProcess } from './run-statements.ts';
import type { AnyOperation, OperationCall, Replies } from './statement-table.ts';
import { type AtOnce, type Presumption, BrokenTransaction } from './statements.ts';
import type { CounterRow, ClaimedRunFacts, Store } from './store.ts';
import { withEvents } from './waiting-runs.ts';

/*
 * Where each answer is a round trip, a transaction that asks nothing is one message, and its lock spans no round
 * trip. A run that was claimed here is as it was then until it ends, so what its end would ask is known. The database
 * is sent what is presumed: where that is not so, nothing is stored, and the same is done with questions.
 */

/** Runs that were claimed and have not ended; most of them. */
const MAX_KNOWN = 10_000;
/** Operations that ask nothing. */
const BLIND: Readonly<Record<string, AnyOperation | undefined>> = {
  keepRequests,
  recordDecisions,
  recordStrangers,
  recordProcess,
} as object as Record<string, AnyOperation>;

/** Whether an operation only adds rows. */
function isAdding([, name, args]: OperationCall): boolean {
  return name === 'keepRequests' || (name === 'recordDecisions' && args[1] === undefined);
}

/** Does what can be done in one message; returns the replies to these calls. */
export function writeAtOnce(store: Store, row: CounterRow, calls: readonly OperationCall[]): Replies {
  const { atOnce } = store.sql;
  if (atOnce === undefined) return [];
  const ends = calls.filter((call) => isKnownEnd(store, call));
  const blind = calls.filter(([, name]) => BLIND[name] !== undefined);
  const replies: Replies = [];
  if (ends.length + blind.length > 0) replies.push(...writePresuming(store, row, { atOnce, ends, blind }));
  for (const [id, name, [options]] of calls) {
    if (name !== 'claimRuns' || !hasNoLimits(options as ClaimRunsOptions)) continue;
    const claimed = claimAtOnce(store, atOnce, options as ClaimRunsOptions);
    if (claimed !== undefined) replies.push(id, 0, claimed);
  }
  return replies;
}

function isKnownEnd({ known }: Store, [, name, [completion]]: OperationCall): boolean {
  if (name !== 'completeRun') return false;
  const { runId, history } = completion as RunCompletion;
  const conversation = known.get(runId)?.conversation;
  return (
    conversation !== undefined && (history === undefined || nameOf(history) === nameOf({ conversation }))
  );
}

interface PresumedWrite {
  readonly atOnce: AtOnce;
  readonly ends: readonly OperationCall[];
  readonly blind: readonly OperationCall[];
}

function writePresuming(store: Store, row: CounterRow, { atOnce, ends, blind }: PresumedWrite): Replies {
  const completions = ends.map(([, , [completion]]) => completion as RunCompletion);
  try {
    const isJournal = ends.length === 0 && blind.every(([, name]) => name !== 'recordProcess');
    // In one order for all, where they remove rows that others may remove, too.
    const rest = blind.filter((call) => !isAdding(call)).toSorted(([, a], [, b]) => (a < b ? -1 : 1));
    atOnce.presume({ ...presumptionOf(store, completions), isJournal });
    row.presume();
    for (const [, name, args] of blind.filter(isAdding)) BLIND[name]?.(store, ...args);
    const done = completeRuns(store, completions);
    for (const [, name, args] of rest) BLIND[name]?.(store, ...args);
    row.commit();
    const answered = blind.flatMap(([id]) => [id, 0, undefined]);
    return [...answered, ...ends.flatMap(([id], index) => [id, 0, done[index]])];
  } catch (error) {
    if (store.sql.isTransaction) store.sql.run('ROLLBACK');
    for (const { runId } of completions) store.known.delete(runId);
    // What is wrong shows when it is done with questions.
    if (!(error instanceof BrokenTransaction)) return [];
    // Nobody knows whether it is stored: an end shows that, and of the rest some may be lost, but nothing doubled.
    for (const { runId } of completions) store.unanswered.add(runId);
    return blind.flatMap(([id]) => [id, 1, store.explain(error)]);
  }
}

function presumptionOf(
  { known, holder }: Store,
  completions: readonly RunCompletion[],
): Omit<Presumption, 'isJournal'> {
  const all = completions.map(({ runId }) => known.get(runId) as ClaimedRunFacts);
  const sessions = new Map(
    completions.flatMap(({ history }, index) =>
      history === undefined
        ? []
        : [[nameOf(history), { ...history.conversation, isThere: all[index]?.hasSession === true }] as const],
    ),
  );
  const answers = endQuestions(completions).map((question, index) => {
    const head = all[index]?.head;
    if (head !== undefined) return [question, [head]] as const;
    const [, owner, key] = question;
    const session = sessions.get(JSON.stringify([owner, key]));
    return [question, session?.isThere === true ? [{}] : []] as const;
  });
  const heads = all.map(({ head: { id, queue } }) => ({ id, queue }));
  return { holder, heads, sessions: [...sessions.values()], answers };
}

function claimAtOnce(store: Store, atOnce: AtOnce, options: ClaimRunsOptions): RunRow[] | undefined {
  try {
    const rows = atOnce.claim(store.holder, options);
    return (
      rows &&
      withEvents(
        store.sql,
        rows.map((row) => begunAtOnce(store, row)),
      )
    );
  } catch {
    // What it has claimed all the same is taken over from this process, which does not know of it.
    return undefined;
  }
}

/** Keeps what the end of the run would ask. */
function begunAtOnce({ known }: Store, { head, hasSession, ...row }: ClaimedRow): RunRow {
  if (known.size > MAX_KNOWN) known.clear();
  known.set(row.id, { head, conversation: { owner: row.owner, key: head.sessionKey }, hasSession });
  return row;
}
