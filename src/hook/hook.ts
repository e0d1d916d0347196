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
export { decidingLeaves, type DecidingLeaf } from './condition-leaves.ts';
export { howDifferent, kindWord, operatorOf } from './difference.ts';
export { ownerText } from './format-actions.ts';
export type {
  AdviceNote,
  AdviceText,
  EvaluationAdvice,
  FieldList,
  RequestField,
} from './evaluation-advice.ts';
export {
  adviceIn,
  isHint,
  isKindCode,
  partedHint,
  type EvaluationNote,
  type NoteCode,
  untold,
} from './evaluation-note.ts';
export { emptyKeyNotes, evaluationNotes, settingNote } from './evaluation-notes.ts';
export { nearestMisses } from './considered-notes.ts';
export { nearestMiss } from './format-considered.ts';
export { coolDownText, longWaitText, spanOf, unitText } from './debounce-words.ts';
export { formatEvaluation, settingLines, type ExplainOptions } from './format-evaluation.ts';
export { skipText, USUAL_SENDERS, usualSenders } from './skip-rules.ts';
export { EVENT_ID, hasEventId } from './event-id.ts';
export { kindHeaders } from './kind-header.ts';
export { encodedWords, jsonTextOn, parseCode, readEncoded } from './encoded-json.ts';
export { indent } from './format-lines.ts';
export { parseKeptRequest, type KeptTrace } from './kept-request.ts';
export { remedyOf, withoutExplain, RETURNED_NOTHING } from './refusal-remedy.ts';
