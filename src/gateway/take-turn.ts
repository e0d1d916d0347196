import { codeOf } from './parts.ts';
import type { Runner, RunnerOptions, Turn, TurnResult } from './runner.ts';
import { within } from './timer.ts';

/** A runner that does not answer even this long after its turn's deadline is given up. */
const RUNNER_OVERTIME_MS = 30_000;

/**
 * Takes one turn. A runner promises to keep its deadline and never to reject; one that breaks its word has started
 * the turn all the same, so the turn is over.
 */
export async function takeTurn(runner: Runner, turn: Turn, options: RunnerOptions): Promise<TurnResult> {
  try {
    const result = await within(runner.run(turn, options), turn.timeoutSeconds * 1000 + RUNNER_OVERTIME_MS);
    return result ?? failed('timeout', 'timeout', 'the runner did not answer by its deadline');
  } catch (error) {
    return failed('error', 'runner_failed', `the runner failed (${codeOf(error)})`);
  }
}

function failed(outcome: 'error' | 'timeout', code: string, message: string): TurnResult {
  return { kind: 'completed', outcome, reply: '', error: { code, message } };
}
