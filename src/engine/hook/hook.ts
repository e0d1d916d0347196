export { randomKey, transformInput } from './transform-draft.ts';
export type { Evaluation, TransformTrace } from './evaluation.ts';
export { createHookRequest, deriveRequestSeeds } from './ids.ts';
export { MAX_ACTIONS, TRANSFORM_BUDGET_MS, type EvaluationSettings } from './evaluation.ts';
export { createEvaluator, createPauses, type Evaluate, isBuiltInRoute } from './evaluate.ts';
export { evaluationToJson } from './evaluation-json.ts';
export { accountsIn, skipText } from './skip-rules.ts';
export { ACTION_SETTINGS, NOT_KEPT, shapeOf } from './kept-request.ts';
export {
  LARGE_BODY_BYTES,
  bodyOf,
  maybeListsOf,
  type ReadBody,
  readBody,
  receiveWritten,
  unreadEvaluation,
  type WrittenRequest,
} from './read-payload.ts';
export { type ReadKept, readKeptRequest } from './kept-request.ts';
