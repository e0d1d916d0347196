import type { HookError } from '../../base/errors.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import type { HookRequest } from '../../base/request.ts';
import type { AcceptResult } from '../../engine/storage/storage.ts';
import type { RequestOutcome } from './deps.ts';
import type { Answer, RequestFacts } from './exchange.ts';
import { problemAnswer, toHookError } from './problem.ts';
import type { Proof, Refusal } from './prove.ts';
import { senderError } from './sender-view.ts';

/** How a request ended: all that its answer, its log line, the metrics and its decision say. */
export interface Ending {
  readonly answer: Answer;
  readonly outcome: RequestOutcome;
  /** Absent where the request did not fail. */
  readonly error?: HookError;
  /** Absent where the request did not come as far as its proof. */
  readonly proof?: Proof | Refusal;
  /** Known once the sender has proved itself: strangers write nothing into logs and decisions. */
  readonly hookName?: string;
  /** Milliseconds in which the sender's proof was judged; absent where none was asked for. */
  readonly proofMs?: number;
  /** Absent where the request did not come as far as mappings. */
  readonly judged?: Judged;
  /** Seconds for which the answer is held for the outcome of the run; absent where the sender did not ask. */
  readonly waitSeconds?: number;
  /** Whether the answer says it as OpenClaw does (`waitForCompletion`). */
  readonly completion?: boolean;
}

/** What mappings and store made of a request, as far as it came. */
export interface Judged {
  readonly request?: HookRequest;
  readonly evaluation?: Evaluation;
  readonly evaluateMs?: number;
  readonly storeMs?: number;
  /** What was stored; for a repeat, what was stored the first time. */
  readonly result?: AcceptResult;
  /** The signed id by which it was known for a repeat. */
  readonly signedId?: string | undefined;
}

/** What was known of a request when it failed. */
type Known = Pick<Ending, 'proof' | 'hookName' | 'judged'> & {
  /** Default `refused`: it ended before it was evaluated. */
  readonly outcome?: RequestOutcome;
  /** Further header names and values of the answer, flat. */
  readonly headers?: readonly string[];
};

/** The one place where what was thrown becomes an ending. */
export function failedEnding(exchange: RequestFacts, thrown: unknown, known: Known = {}): Ending {
  const error = toHookError(thrown);
  const { headers = [], ...rest } = known;
  const { request, evaluation } = rest.judged ?? {};
  const isMapped = request !== undefined && evaluation !== undefined;
  const answer = problemAnswer(isMapped ? senderError(error, request.path) : error, exchange.ids.id);
  return {
    outcome: 'refused',
    ...rest,
    error,
    answer: headers.length === 0 ? answer : { ...answer, headers: [...(answer.headers ?? []), ...headers] },
  };
}
