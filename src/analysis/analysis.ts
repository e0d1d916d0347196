export { adviceFor, type Advice } from './advice.ts';
export { laterMappings } from './later-mappings.ts';
export { createDecisionAdvisor, wordsOf, type DecisionAdvice } from './decision-advice.ts';
export { senderNote, type SenderNote } from './sender-note.ts';
export { methodNote } from './method-note.ts';
export { findNearNames } from './near-names.ts';
export { listNamed, shown } from './field-list.ts';
export { suggestPaths } from './near-paths.ts';
export { likeliestKind, OF_A_KIND, OF_A_SORT, writtenIn } from './kind-fields.ts';
