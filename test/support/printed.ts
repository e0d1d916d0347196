import { printSentence, Sentence } from '../../src/base/finding.ts';

/** A value with each sentence in it as its text, for comparisons. */
export function printed(value: unknown): unknown {
  if (value instanceof Sentence) return printSentence(value);
  if (Array.isArray(value)) return value.map(printed);
  if (typeof value !== 'object' || value === null || value instanceof Map) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, printed(each)]));
}
