/**
 * Explains a request as data for `sluice explain`, `sluice replay` and the console: what the mappings of
 * now make of it, what was probably meant, and what the store knows.
 */
export {
  explainRequest,
  explainWritten,
  explanationToJson,
  type Explainer,
  type ExplanationJson,
  type RequestExplanation,
} from './explain-request.ts';
export { type Brief, briefOf, findingsBrief } from './brief.ts';
export { decisionLine } from './decision-reasons.ts';
export { explainStored, type StoredExplanation, type StoredSources } from './explain-stored.ts';
export { ownerText } from './format-actions.ts';
export { type ExplainOptions, formatEvaluation, headOf } from './format-evaluation.ts';
export { barredTexts, indent, painter, wrap } from './format-lines.ts';
export { findingLines, hintLines } from './format-findings.ts';
export { runAdvice, runnerNamed } from './run-notes.ts';
export type { RequestHistory } from './setting-notes.ts';
export { storedToJson, type StoredJson } from './stored-json.ts';
