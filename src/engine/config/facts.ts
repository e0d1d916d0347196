/** What advice, explanation and editor read of the configuration, beside what the engine needs. At most 40 names. */
export type { ConfigFacts } from './finding-facts.ts';
export { importOpenClawFile } from './read-config.ts';
export type { ImportedConfig } from './openclaw/import.ts';
export { isOpenClawFile, SESSION_KEYS } from './openclaw/translate.ts';
export { AGENT_RUNNERS } from './resolve-runners.ts';
export { findOnPath, isExecutable, shellWord, statOf } from './on-path.ts';
export { readOrMakeSecret } from './secret-file.ts';
