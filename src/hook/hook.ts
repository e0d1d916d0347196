export type {
  Evaluation,
  EvaluationSteps,
  Outcome,
  RenderedTemplate,
  Trace,
  TransformTrace,
} from './evaluation.ts';
