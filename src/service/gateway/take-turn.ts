import { codeOf } from '../../base/telemetry/telemetry.ts';
import {
  failedTurn,
  type Runner,
  type RunnerOptions,
  type Turn,
  type TurnResult,
} from '../runners/runners.ts';
import { deriveSignal, within } from '../../base/timers/timers.ts';

/** A runner that does not answer even this long after its turn's deadline is given up. */
const RUNNER_OVERTIME_MS = 30_000;

/**
 * Takes one turn. A runner promises to keep its deadline and never to reject; one that breaks its word has started
 * the turn all the same, so the turn is over, and it is told to stop.
 */
export async function takeTurn(runner: Runner, turn: Turn, options: RunnerOptions): Promise<TurnResult> {
  // A signal of its own: what a runner hangs on it goes with the turn.
  const derived = deriveSignal(options.signal);
  try {
    const running = runner.run(turn, { ...options, signal: derived.signal });
    const result = await within(running, turn.timeoutSeconds * 1000 + RUNNER_OVERTIME_MS);
    if (result !== undefined) return result;
    derived.abort();
    return failedTurn('timeout', 'the runner did not answer by its deadline', 'timeout');
  } catch (error) {
    return failedTurn('runner_failed', `the runner failed (${codeOf(error)})`);
  } finally {
    derived.release();
  }
}

/** The turn of a runner whose name the configuration does not have. */
export function unknownRunner(name: string): TurnResult {
  return notConfigured(`runner ${name} is not configured: add gateway.runners.${name}`);
}

export function notConfigured(message: string): TurnResult {
  return { kind: 'not-started', code: 'not_configured', message, final: false };
}
