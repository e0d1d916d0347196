import type { PreparedRequest } from '../prepared-request.ts';
import type { ClaimOutboxOptions, ClaimRunsOptions, OutboxResult, RunCompletion } from '../records.ts';
import { claimQuestions } from './claimable-runs.ts';
import { completeEntries, entryQuestions } from './complete-entries.ts';
import { completeRuns, endQuestions } from './complete-runs.ts';
import type { Call, OperationName } from './statement-table.ts';
import { reservationQuestions } from './reservations.ts';
import { pruneQuestions } from './prunable-rows.ts';
import { outboxQuestions } from './due-entries.ts';
import type { Question } from './statements.ts';
import type { Store } from './store.ts';

/** What the calls of one transaction do together, and what they will ask, so that it takes few questions. */

type Arguments = Call[2];
type PruneArguments = Parameters<typeof pruneQuestions>;

interface Ends {
  readonly name: OperationName;
  /** Of each call whether it was done. */
  end(store: Store, calls: readonly Arguments[]): readonly boolean[];
  questions(store: Store, calls: readonly Arguments[]): readonly Question[];
}

const completionsOf = (calls: readonly Arguments[]) => (calls as readonly [RunCompletion][]).flat();
const entriesOf = (calls: readonly Arguments[]) => calls as readonly [string, OutboxResult][];

/** Operations that are done for all their calls at once. */
export const ENDS: readonly Ends[] = [
  {
    name: 'completeRun',
    end: (store, calls) => completeRuns(store, completionsOf(calls)),
    questions: (_, calls) => endQuestions(completionsOf(calls)),
  },
  {
    name: 'completeOutbox',
    end: (store, calls) => completeEntries(store, entriesOf(calls)),
    questions: ({ holder }, calls) => entryQuestions(entriesOf(calls), holder),
  },
];

export function argumentsOf([, , args]: Call): Arguments {
  return args;
}

export function requestsOf(calls: readonly Call[]): readonly PreparedRequest[] {
  return calls.flatMap(([, name, [request]]) =>
    name === 'acceptRequest' ? [request as PreparedRequest] : [],
  );
}

/** What will be asked before anything is written: about keys, and by whichever writes first. */
export function questionsAhead(store: Store, calls: readonly Call[]): readonly Question[] {
  return [...reservationQuestions(requestsOf(calls)), ...firstQuestions(store, calls)];
}

function firstQuestions(store: Store, calls: readonly Call[]): readonly Question[] {
  for (const { name, questions } of ENDS) {
    const ends = calls.filter((call) => call[1] === name);
    if (ends.length > 0) return questions(store, ends.map(argumentsOf));
  }
  return calls.flatMap(([, name, args]) => {
    if (name === 'claimRuns') return claimQuestions(store, args[0] as ClaimRunsOptions);
    if (name === 'claimOutbox') return outboxQuestions(args[0] as ClaimOutboxOptions);
    return name === 'pruneSlice' ? pruneQuestions(...(args as PruneArguments)) : [];
  });
}
