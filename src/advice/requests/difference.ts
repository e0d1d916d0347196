import type { ConditionTrace } from '../../mapping/mapping.ts';
import { isJsonObject, isNumeric, type JsonValue } from '../../json.ts';

/**
 * How what was sent differs from what a comparison asks for, in words that tell neither: this may be kept where values
 * may not. Undefined where the two have nothing in common.
 */
export function howDifferent(
  found: JsonValue | undefined,
  expected: JsonValue | undefined,
  operator = '===',
): string | undefined {
  if (found === undefined || expected === undefined) return undefined;
  if (/^[<>]/.test(operator)) return howOrdered(found, expected, operator);
  if (operator === 'in') return howContained(found, expected);
  if (!operator.startsWith('==')) return undefined;
  if ([found, expected].every((value) => value === null || value === ''))
    return 'one of null and "" was sent, and the other is asked for: "!" holds for both';
  if (kindWord(found) !== kindWord(expected)) {
    return `${kindWord(found)} was sent, and ${kindWord(expected)} is asked for: the two are never equal`;
  }
  return typeof found === 'string' && typeof expected === 'string' ? textsDiffer(found, expected) : undefined;
}

/** The operator of the rule that a trace is of; empty for a constant. */
export function operatorOf({ rule }: Pick<ConditionTrace, 'rule'>): string {
  return isJsonObject(rule) ? (Object.keys(rule)[0] ?? '') : '';
}

const isDigits = (value: JsonValue): boolean =>
  typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value);

/** Two numbers as texts, or a text that is no number beside a number. */
function howOrdered(found: JsonValue, expected: JsonValue, operator: string): string | undefined {
  if (isDigits(found) && isDigits(expected))
    return 'a text was sent, and two texts are compared letter by letter: take the quotes off the number';
  const kinds = [found, expected].map(kindWord);
  const isMixed = kinds.includes('a number') && kinds.includes('a text') && ![found, expected].some(isDigits);
  if (isMixed || kinds.includes('an object'))
    return `${kinds[0]} was sent, and ${kinds[1]} is asked for: "${operator}" between the two never holds`;
  return undefined;
}

/** `in` of a list of objects, or for one. */
function howContained(found: JsonValue, expected: JsonValue): string | undefined {
  const isList = Array.isArray(found);
  if (isList && !Array.isArray(expected) && (found as readonly JsonValue[]).some(isJsonObject))
    return `a list of objects was sent, and ${kindWord(expected)} is never in it: ask its elements with "some"`;
  if (kindWord(found) === 'an object') return 'an object was sent: name one of its fields';
  if (isList || !Array.isArray(expected) || typeof found !== 'string') return undefined;
  for (const one of expected as readonly JsonValue[]) {
    const how = typeof one === 'string' && one !== found ? textsDiffer(found, one) : undefined;
    if (how !== undefined) return `of ${JSON.stringify(one)}: ${how}`;
  }
  return undefined;
}

/** Longer texts are not compared. */
const MAX_CHARS = 200;

function textsDiffer(found: string, expected: string): string | undefined {
  if (found.length > MAX_CHARS || expected.length > MAX_CHARS) return undefined;
  if (found.trim() === expected.trim()) return 'what was sent has white space around it';
  const [a, b] = [found.toLowerCase(), expected.toLowerCase()];
  if (a === b) return 'what was sent differs only in upper and lower case';
  const plain = (text: string): string => text.replaceAll(/[^a-z0-9]/g, '');
  if (plain(a) !== '' && plain(a) === plain(b)) return 'what was sent is the same but for its punctuation';
  if (b.length >= 3 && a.startsWith(b)) return 'what was sent begins with it and goes on';
  if (b.length >= 3 && a.endsWith(b) && /[^a-z0-9]$/.test(a.slice(0, -b.length)))
    return 'what was sent ends with it, and begins with more: compare the whole text';
  if (a.length >= 3 && b.startsWith(a)) return 'what was sent is the beginning of it';
  return undefined;
}

/** The kind of a value in the words of advice. */
export function kindWord(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'boolean') return 'a boolean';
  return isNumeric(value) ? 'a number' : 'an object';
}
