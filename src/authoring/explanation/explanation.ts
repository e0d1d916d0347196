/**
 * One explanation of a request as data, for whoever shows it: `sluice explain`, `sluice replay`, the console. A request
 * is evaluated with the mappings as they are, what was probably meant is looked for, and both are told with what the
 * store knows.
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
export { decisionLine, reasonNotes } from './decision-reasons.ts';
export { explainStored, type StoredExplanation, type StoredSources, allHints } from './explain-stored.ts';
export { ownerText } from './format-actions.ts';
export { type ExplainOptions, formatEvaluation, headOf, settingsFirst } from './format-evaluation.ts';
export { barredTexts, indent, wrap } from './format-lines.ts';
export { findingLines, hintLines } from './format-findings.ts';
export { isOfRun, runAdvice, runnerNamed } from './run-notes.ts';
export type { RequestHistory } from './setting-notes.ts';
export { storedToJson, type StoredJson } from './stored-json.ts';
export { isNameUnknown } from './stored-notes.ts';
