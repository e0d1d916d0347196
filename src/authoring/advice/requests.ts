export { bodyPath, createBodyIndex } from './requests/body-index.ts';
export { adviceOnUnread, createAdvisor } from './requests/advisor.ts';
export { nearestMisses } from './requests/considered-findings.ts';
export type { EvaluationAdvice, FoundText } from './requests/evaluation-advice.ts';
export { emptyKeys, evaluationFindings } from './requests/evaluation-findings.ts';
export {
  ADVICE_CODES,
  HINT_CODES,
  isHint,
  isOfKind,
  type NoteCode,
  type NoteJson,
  placeOf,
  requestFinding,
  type SettingJson,
  tellsWhatToWrite,
  toNote,
  toSetting,
  warningsLeft,
  withCodes,
} from './requests/findings.ts';
export { sayFinding } from './requests/decision-sentences.ts';
export { sayDifference } from './requests/difference.ts';
export { howRepeated } from './requests/repeat-note.ts';
export { remedyOf } from './requests/refusal-remedy.ts';
export type { NearFacts } from './requests/near-names.ts';
export { pathsIn } from './requests/near-paths.ts';
export { adviceFor } from './requests/request-advice.ts';
export { cut } from './requests/shown-values.ts';
export { sayAccounts } from './requests/sender-note.ts';
