import type { TransformCall, Transforms } from '../sandbox/sandbox.ts';
import type { Evaluation, EvaluationSteps } from './evaluation.ts';

/** Runs an evaluation to its end; without a transform there is no promise on the way. */
export function runEvaluation(
  steps: EvaluationSteps,
  transforms: Pick<Transforms, 'call'>,
): Evaluation | Promise<Evaluation> {
  const first = steps.next();
  return first.done === true ? first.value : resume(steps, first.value, transforms);
}

async function resume(
  steps: EvaluationSteps,
  first: TransformCall,
  transforms: Pick<Transforms, 'call'>,
): Promise<Evaluation> {
  let call = first;
  for (;;) {
    // One element's draft may depend on the budget the one before left, so the calls are made in order.
    // oxlint-disable-next-line no-await-in-loop
    const step = steps.next(await transforms.call(call));
    if (step.done === true) return step.value;
    call = step.value;
  }
}
