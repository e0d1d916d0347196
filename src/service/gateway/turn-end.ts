/* How a turn ended, for what is stored, and for those who trace it. */
import { defined } from '../../base/json.ts';
import type { Tracing } from '../../base/telemetry/telemetry.ts';
import { type AgentRun, type AttemptFailure, SUPERSEDED } from '../../engine/storage/storage.ts';
import { type CompletedTurn, failedTurn, type TurnResult } from '../runners/runners.ts';
import { withCost } from './after-crash.ts';
import { isRetried } from './retry.ts';
import type { RunError } from './run-ending.ts';

/** A cancelled run has failed, and may be begun again. */
export const CANCELLED: RunError = {
  code: 'cancelled',
  message: 'ended by the operator while it was under way',
};
const OVER_TIME: RunError = { code: 'timeout', message: 'the run was ended after its time' };

export type UnstartedTurn = Extract<TurnResult, { readonly kind: 'not-started' }>;

export const HISTORY_UNREADABLE: UnstartedTurn = {
  kind: 'not-started',
  code: 'storage_unavailable',
  message: 'the earlier turns of the session could not be read',
  final: false,
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

/** What becomes of a turn that was to end, and did. */
export function endedFor(end: string, ended: TurnResult): CompletedTurn {
  const error = [OVER_TIME, SUPERSEDED].find(({ code }) => code === end) ?? CANCELLED;
  const outcome = end === 'timeout' ? 'timeout' : 'error';
  return { ...failedTurn(error.code, withCost(error, usageOf(ended)).message, outcome), ...usageOf(ended) };
}

/** The attempt of the worker that ends the run; absent where this process does. */
export const attemptOf = ({ carried }: AgentRun): Pick<AttemptFailure, 'attempt'> =>
  carried === undefined ? {} : { attempt: carried.attempt };

/** Whether a run that failed has an attempt left, as its mapping says. */
export const hasRetryLeft = (
  { action: { retry }, attempts, state }: AgentRun,
  result: CompletedTurn,
): boolean =>
  state !== 'dead' && retry !== undefined && attempts < retry.attempts && isRetried(retry, result);
