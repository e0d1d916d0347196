/* How a turn ended, for what is stored, and for those who trace it. */
import { defined } from '../../base/json.ts';
import type { Tracing } from '../../base/telemetry/telemetry.ts';
import { type AgentRun, type AttemptFailure, SUPERSEDED } from '../../engine/storage/storage.ts';
import { type CompletedTurn, failedTurn, type TurnResult } from '../runners/runners.ts';
import { withCost } from './after-crash.ts';

/** Why a turn is to end that would go on, and what is said of it. A cancelled run has failed, and may be begun again. */
const ENDS: Readonly<Record<string, string>> = {
  cancelled: 'ended by the operator while it was under way',
  timeout: 'the run was ended after its time',
  [SUPERSEDED.code]: SUPERSEDED.message,
};

type TracedRun = ReturnType<Tracing['run']>;

export const usageOf = (result: TurnResult): Pick<CompletedTurn, 'usage'> =>
  result.kind === 'completed' && result.usage !== undefined ? { usage: result.usage } : {};

/** What follows from the run names its span, in place of that of its request. */
export const tracedAction = (action: AgentRun['action'], { traceparent }: TracedRun): AgentRun['action'] => ({
  ...action,
  origin: { ...action.origin, ...defined({ traceparent }) },
});

export function tracedEnd(result: TurnResult): Parameters<TracedRun['end']>[0] {
  if (result.kind === 'not-started') return { result: result.kind, failure: result.code };
  const { outcome, error, usage } = result;
  const hasFailed = outcome === 'error' || outcome === 'timeout';
  return { result: outcome, failure: hasFailed ? (error?.code ?? outcome) : undefined, usage };
}

/** What becomes of a turn that was to end, and did; of one that ended well all the same, or by itself, nothing else. */
export function endedFor(code: string | undefined, ended: TurnResult): TurnResult {
  if (code === undefined || (ended.kind === 'completed' && ended.outcome === 'ok')) return ended;
  const used = usageOf(ended);
  const { message } = withCost({ code, message: ENDS[code] ?? code }, used);
  return { ...failedTurn(code, message, code === 'timeout' ? 'timeout' : 'error'), ...used };
}

/** The attempt of the worker that ends the run; absent where this process does. */
export const attemptOf = ({ carried }: AgentRun): Pick<AttemptFailure, 'attempt'> =>
  carried === undefined ? {} : { attempt: carried.attempt };
