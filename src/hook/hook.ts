export { evaluate, isBuiltInRoute, type EvaluateOptions } from './evaluate.ts';
export { randomKey, transformInput } from './transform-draft.ts';
export type {
  Evaluation,
  EvaluationSteps,
  Outcome,
  RenderedTemplate,
  Trace,
  TransformTrace,
} from './evaluation.ts';
export {
  createHookRequest,
  deriveActionId,
  deriveRequestSeeds,
  type RequestContent,
  type RequestSeeds,
} from './ids.ts';
export { MAX_ACTIONS, TRANSFORM_BUDGET_MS, type EvaluationSettings } from './evaluation-settings.ts';
export { createPauses, isPause, runEvaluation, type EvaluationDriver } from './run-evaluation.ts';
export {
  evaluationToJson,
  type ConditionJson,
  type ConsideredJson,
  type EvaluationJson,
  type TemplateJson,
} from './evaluation-json.ts';
export { skipText, usualSenders } from './skip-rules.ts';
export { parseKeptRequest, type KeptTrace } from './kept-request.ts';
