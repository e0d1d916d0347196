/**
 * One explanation of a request as data, for whoever shows it: `sluice explain`, `sluice replay`, the console. A request
 * is evaluated with the mappings as they are, what was probably meant is looked for, and both are told with what the
 * store knows.
 */
export {
  explainRequest,
  explanationToJson,
  type Explainer,
  type ExplanationJson,
  type RequestExplanation,
} from './explain-request.ts';
export { keyNotes, sessionNotes } from './key-notes.ts';
export { settingNotes, type Happened, type SettingNote } from './setting-notes.ts';
export { runnerNamed } from './setting-words.ts';
export { storedToJson, type StoredJson } from './stored-json.ts';
