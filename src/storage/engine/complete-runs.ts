import type { RunCompletion } from '../records.ts';
import { insertCallback, insertDelivery } from './outbox-rows.ts';
import { endRun, FIND_HEAD, isHeld } from './run-rows.ts';
import { appendHistory, FIND_SESSION, type NewTurns } from './session-rows.ts';
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
  const ended = new Set<string>();
  return completions.map((completion, index) => {
    const [run] = answers[index] as readonly RunHead[];
    if (wasEndedHere(store, run)) return true;
    if (!isHeld(store, run) || ended.has(run.id)) return false;
    ended.add(run.id);
    store.known.delete(run.id);
    complete(store, run, { completion, known });
    return true;
  });
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

function complete(
  store: Store,
  run: RunHead,
  { completion, known }: { readonly completion: RunCompletion; readonly known: Set<string> },
): void {
  const { runId, history, delivery, callback, nowMs } = completion;
  endRun(store, run, { ...completion, state: RUN.completed });
  if (history !== undefined) {
    appendHistory(store, history, { nowMs, isNew: !known.has(nameOf(history)) });
    known.add(nameOf(history));
  }
  const parent = { runId, mappingId: run.mappingId, sessionKey: run.sessionKey, nowMs };
  if (delivery !== undefined) insertDelivery(store, delivery, parent);
  if (callback !== undefined) insertCallback(store, callback, parent);
}

export function nameOf({ conversation: { owner, key } }: Pick<NewTurns, 'conversation'>): string {
  return JSON.stringify([owner, key]);
}
