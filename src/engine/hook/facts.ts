/** What advice and explanation read of requests, beside what the engine needs. At most 40 names. */
export { codeOf, encodedWords, jsonTextOn, parseCode, readEncoded } from './draft.ts';
export type { HookFacts, Outcome } from './evaluation.ts';
export type { ConditionJson, ConsideredJson, EvaluationJson, TemplateJson } from './evaluation-json.ts';
export type { KeptTrace } from './kept-request.ts';
export { toWire, type WireRequest } from './read-payload.ts';
