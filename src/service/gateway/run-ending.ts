import { defined } from '../../base/json.ts';
import type { AgentAction } from '../../base/action.ts';
import {
  DROPPED,
  NO_CONVERSATION,
  type RunPosts,
  type NewCallback,
  reactionOf,
  type RunDeadLetter,
  type RunOutcome,
  type RunRecord,
  type AgentRun,
} from '../../engine/storage/storage.ts';
import { shownError, summaryPart } from './summary.ts';
import type { CompletedTurn } from '../runners/runners.ts';

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

export function completedEnding(runId: string, { outcome, reply, error }: CompletedTurn): RunEnding {
  return { runId, state: 'completed', outcome, reply, ...defined({ error: error && shownError(error) }) };
}

/** The ending that a stored run had; undefined where it has none yet. */
export function storedEnding(run: RunRecord): RunEnding | undefined {
  if (run.state !== 'completed' && run.state !== 'dead') return undefined;
  const { id: runId, state, outcome, reply = '', lastError } = run;
  return { runId, state, reply, ...defined({ outcome, error: lastError && shownError(lastError) }) };
}

/** The end of a run that is given up, and what the store writes down and posts with it. */
export function deadEnding(
  run: AgentRun,
  error: RunError,
  nowMs: number,
): { readonly ending: RunEnding; readonly deadLetter: RunDeadLetter } {
  const shown = shownError(error);
  const ending: RunEnding = { runId: run.id, state: 'dead', reply: '', error: shown };
  const summary = summaryPart(run, 'dead', { text: `${shown.code}: ${shown.message}` });
  return { ending, deadLetter: { error, ...summary, ...makePosts(run.action, ending, nowMs), nowMs } };
}

/** The end of a run that has not begun and will not: only of one that came to a conversation somebody hears. */
export function unbegunEnding(
  run: AgentRun,
  error: RunError,
  nowMs: number,
): { readonly ending: RunEnding; readonly deadLetter: RunDeadLetter } {
  const ending: RunEnding = { runId: run.id, state: 'completed', outcome: 'error', reply: '', error };
  if (error.code === NO_CONVERSATION) return { ending, deadLetter: { error, nowMs } };
  const callback = makeCallback(run.action, ending, nowMs);
  const summary = summaryPart(run, 'dropped', { text: `${error.code}: ${error.message}` });
  return { ending, deadLetter: { error, ...summary, ...defined({ callback }), nowMs } };
}

/** What a run posts when an operator drops it; for the store, where the command line drops runs too. */
export function dropEnding(run: AgentRun, nowMs: number): RunPosts {
  const ended = { state: 'completed', outcome: 'error', reply: '', error: DROPPED } as const;
  const ending: RunEnding = { runId: run.id, ...ended };
  const summary = summaryPart(run, 'dropped', { text: DROPPED.message });
  return { ...summary, ...makePosts(run.action, ending, nowMs) };
}

/** What the end of a run brings about: its callback, the emoji on the message, and the end of its conversation. */
export function makePosts(
  action: AgentAction,
  ending: RunEnding,
  nowMs: number,
): Pick<RunPosts, 'callback' | 'reaction' | 'ends'> {
  const when = ending.outcome === 'ok' || ending.outcome === 'forwarded' ? 'done' : 'failed';
  const { owner, sessionKey, conversation } = action;
  return defined({
    reaction: reactionOf(action, when),
    callback: makeCallback(action, ending, nowMs),
    ends: conversation?.end === 'after' ? { owner, key: sessionKey } : undefined,
  });
}

/** The outcome of a run as it is posted to the mapping's `callbackUrl`; undefined where it has none. */
export function makeCallback(action: AgentAction, ending: RunEnding, nowMs: number): NewCallback | undefined {
  if (action.callbackUrl === undefined) return undefined;
  const { requestId, path, mappingId, traceparent } = action.origin;
  const outcome = ending.state === 'dead' ? 'dead' : ending.outcome;
  const { id: runId, name, sessionKey } = action;
  const { reply, error } = ending;
  const body = JSON.stringify({
    type: ending.state === 'dead' ? 'run.dead' : 'run.completed',
    timestamp: new Date(nowMs).toISOString(),
    data: { runId, requestId, path, mappingId, name, sessionKey, outcome, reply, error },
  });
  return { url: action.callbackUrl, body, ...defined({ traceparent }) };
}
