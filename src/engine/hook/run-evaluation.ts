import type { TransformCall, Transforms } from '../sandbox/sandbox.ts';
import type { Evaluation, EvaluationSteps, Pause } from './evaluation.ts';

/** What drives evaluations: where transforms run, and how the others get their turn. */
export interface EvaluationDriver {
  readonly transforms: Pick<Transforms, 'call'>;
  /** Resolves when the evaluation may go on. */
  readonly pause: () => Promise<void>;
}

/** Runs an evaluation to its end; without a transform and with little work there is no promise on the way. */
export function runEvaluation(
  steps: EvaluationSteps,
  driver: EvaluationDriver,
): Evaluation | Promise<Evaluation> {
  const first = steps.next();
  return first.done === true ? first.value : resume(steps, first.value, driver);
}

async function resume(
  steps: EvaluationSteps,
  first: TransformCall | Pause,
  driver: EvaluationDriver,
): Promise<Evaluation> {
  let asked = first;
  for (;;) {
    // One element's draft may depend on the budget the one before left, so the calls are made in order.
    // oxlint-disable-next-line no-await-in-loop
    const answer = isPause(asked) ? await driver.pause() : await driver.transforms.call(asked);
    const step = steps.next(answer ?? undefined);
    if (step.done === true) return step.value;
    asked = step.value;
  }
}

/** Whether an evaluation asks for a pause, and not for a transform. */
export function isPause(asked: TransformCall | Pause): asked is Pause {
  return 'kind' in asked;
}

/**
 * Makes pauses that end one by one: of all evaluations that wait, one goes on in each turn of the event loop, so that
 * ten long ones hold it no longer than one, and what arrives meanwhile is served in between.
 */
export function createPauses(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const goOn = (): void => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(goOn);
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(goOn);
    });
}
