/** What is known of mistakes that show in requests: why one missed, what it was taken for, and what to write. */
export { bodyPath, createBodyIndex, outsideLists } from './requests/body-index.ts';
export { adviceOnUnread, createAdvisor } from './requests/advisor.ts';
export { nearestMisses, placesOf } from './requests/considered-notes.ts';
export type {
  EvaluationAdvice,
  FieldList,
  LaterMapping,
  NearHookName,
  SettingText,
} from './requests/evaluation-advice.ts';
export {
  type EvaluationNote,
  adviceIn,
  isHint,
  noteToJson,
  type NoteJson,
  tellsWhatToWrite,
  warningsLeft,
  type NoteCode,
} from './requests/evaluation-note.ts';
export {
  emptyKeyNotes,
  evaluationNotes,
  settingNote,
  settingToJson,
  type SettingJson,
} from './requests/evaluation-notes.ts';
export { inOrderOf, nearestMiss, notesOfMapping } from './requests/nearest-miss.ts';
export { laterMappings } from './requests/later-mappings.ts';
export { sayFinding } from './requests/decision-sentences.ts';
export { sayDifference } from './requests/difference.ts';
export { howRepeated } from './requests/repeat-note.ts';
export { remedyOf } from './requests/refusal-remedy.ts';
export { keptWarning } from './requests/warnings.ts';
export { pathsIn } from './requests/missing-paths.ts';
export { adviceFor } from './requests/request-advice.ts';
export { cut } from './requests/shown-values.ts';
export { senderNote } from './requests/sender-note.ts';
export { kindHeaders } from './vocabulary/events.ts';
