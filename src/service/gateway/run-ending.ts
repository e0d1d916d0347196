import type { AgentAction } from '../../base/action.ts';
import {
  DROPPED,
  type DropEnding,
  type NewCallback,
  type RunDeadLetter,
  type RunOutcome,
  type RunRecord,
  type AgentRun,
} from '../../engine/storage/storage.ts';
import { shownError, summaryPart } from './summary.ts';
import type { TurnResult } from '../runners/runners.ts';

/** How a run ended, for whoever waits for it, for its summary and for its callback. */
export interface RunEnding {
  readonly runId: string;
  readonly state: 'completed' | 'dead';
  /** Absent where the run is dead. */
  readonly outcome?: RunOutcome;
  readonly reply: string;
  readonly error?: RunError;
}

export interface RunError {
  readonly code: string;
  readonly message: string;
}

/** The ending of a run whose turn completed, well or not. */
export function completedEnding(
  runId: string,
  { outcome, reply, error }: Extract<TurnResult, { readonly kind: 'completed' }>,
): RunEnding {
  const shown = error === undefined ? {} : { error: shownError(error) };
  return { runId, state: 'completed', outcome, reply, ...shown };
}

/** The ending that a stored run had; undefined where it has none yet. */
export function storedEnding(run: RunRecord): RunEnding | undefined {
  if (run.state !== 'completed' && run.state !== 'dead') return undefined;
  return {
    runId: run.id,
    state: run.state,
    ...(run.outcome === undefined ? {} : { outcome: run.outcome }),
    reply: run.reply ?? '',
    ...(run.lastError === undefined ? {} : { error: shownError(run.lastError) }),
  };
}

/** The end of a run that is given up, and what the store writes down and posts with it. */
export function deadEnding(
  run: AgentRun,
  error: RunError,
  nowMs: number,
): { readonly ending: RunEnding; readonly deadLetter: RunDeadLetter } {
  const shown = shownError(error);
  const ending: RunEnding = { runId: run.id, state: 'dead', reply: '', error: shown };
  const callback = makeCallback(run.action, ending, nowMs);
  const summary = summaryPart(run, 'dead', { text: `${shown.code}: ${shown.message}` });
  return {
    ending,
    deadLetter: { error, ...summary, ...(callback === undefined ? {} : { callback }), nowMs },
  };
}

/** What a run posts when an operator drops it; for the store, where the command line drops runs too. */
export function dropEnding(run: AgentRun, nowMs: number): DropEnding {
  const ending: RunEnding = {
    runId: run.id,
    state: 'completed',
    outcome: 'error',
    reply: '',
    error: DROPPED,
  };
  const callback = makeCallback(run.action, ending, nowMs);
  const summary = summaryPart(run, 'dropped', { text: DROPPED.message });
  return callback === undefined ? summary : { ...summary, callback };
}

/** The outcome of a run as it is posted to the mapping's `callbackUrl`; undefined where it has none. */
export function makeCallback(action: AgentAction, ending: RunEnding, nowMs: number): NewCallback | undefined {
  if (action.callbackUrl === undefined) return undefined;
  const { traceparent } = action.origin;
  const trace = traceparent === undefined ? {} : { traceparent };
  const body = JSON.stringify(callbackBody(action, ending, nowMs));
  return { url: action.callbackUrl, body, ...trace };
}

function callbackBody(action: AgentAction, ending: RunEnding, nowMs: number): object {
  const { requestId, path, mappingId } = action.origin;
  return {
    type: ending.state === 'dead' ? 'run.dead' : 'run.completed',
    timestamp: new Date(nowMs).toISOString(),
    data: {
      runId: action.id,
      requestId,
      path,
      mappingId,
      name: action.name,
      sessionKey: action.sessionKey,
      outcome: ending.state === 'dead' ? 'dead' : ending.outcome,
      reply: ending.reply,
      error: ending.error,
    },
  };
}
