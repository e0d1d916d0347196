import type { RunCompletion } from '../records.ts';
import { insertCallback, insertDelivery } from './outbox-rows.ts';
import { endRuns, FIND_HEAD, isHeld } from './run-rows.ts';
import { addTurns, FIND_SESSION, type NewTurns, saveSessions } from './session-rows.ts';
import type { Question } from './statements.ts';
import { RUN } from './states.ts';
import type { RunHead } from './rows.ts';
import type { Store } from './store.ts';

/**
 * Ends runs that this process holds, each with what it posts. Says of each whether it was done: another process may
 * have taken it over. All that has to be known is asked at once, so that any number of ends is one question.
 */
export function completeRuns(store: Store, completions: readonly RunCompletion[]): boolean[] {
  const histories = historiesOf(completions);
  const answers = store.sql.allOf<object>(endQuestions(completions));
  const known = new Set(
    histories.filter((_, index) => answers[completions.length + index]?.length !== 0).map(nameOf),
  );
  const ended = new Map<string, Ended>();
  const isDone = completions.map((completion, index) => {
    const [run] = answers[index] as readonly RunHead[];
    if (wasEndedHere(store, run)) return true;
    if (!isHeld(store, run) || ended.has(run.id)) return false;
    ended.set(run.id, { run, completion });
    store.known.delete(run.id);
    return true;
  });
  complete(store, [...ended.values()], known);
  return isDone;
}

interface Ended {
  readonly run: RunHead;
  readonly completion: RunCompletion;
}

/** By an end whose answer was lost. */
function wasEndedHere({ holder, unanswered }: Store, run: RunHead | undefined): boolean {
  return run?.state === RUN.completed && run.holder === holder && unanswered.delete(run.id);
}

/** What `completeRuns` asks. */
export function endQuestions(completions: readonly RunCompletion[]): readonly Question[] {
  return [
    ...completions.map(({ runId }) => [FIND_HEAD, runId] as const),
    ...historiesOf(completions).map(
      ({ conversation: { owner, key } }) => [FIND_SESSION, owner, key] as const,
    ),
  ];
}

function historiesOf(completions: readonly RunCompletion[]): readonly NewTurns[] {
  return completions.flatMap(({ history }) => history ?? []);
}

/** `known` names the conversations that have a transcript. */
function complete(store: Store, ended: readonly Ended[], known: ReadonlySet<string>): void {
  const added = ended.flatMap(({ completion: { history, nowMs } }) =>
    history === undefined ? [] : [{ ...history, nowMs, isNew: !known.has(nameOf(history)) }],
  );
  // Rows of its own stand before the lock, in front of which others wait.
  addTurns(store, added);
  store.sql.lock?.();
  endRuns(
    store,
    ended.map(({ run, completion }) => [run, { ...completion, state: RUN.completed }]),
  );
  saveSessions(store, added);
  for (const { run, completion } of ended) {
    const { runId, delivery, callback, nowMs } = completion;
    const parent = { runId, mappingId: run.mappingId, sessionKey: run.sessionKey, nowMs };
    if (delivery !== undefined) insertDelivery(store, delivery, parent);
    if (callback !== undefined) insertCallback(store, callback, parent);
  }
}

export function nameOf({ conversation: { owner, key } }: Pick<NewTurns, 'conversation'>): string {
  return JSON.stringify([owner, key]);
}
