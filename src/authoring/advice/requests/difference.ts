import { say, todo, type Sentence, type StoredFinding } from '../../../base/finding.ts';
import { isNumeric, type JsonValue } from '../../../base/json.ts';
import { holdsUnkept } from '../../../base/request.ts';

/**
 * Describes how what was sent differs from what a comparison asks for, as a code with facts that reveal
 * neither value, so that it may be stored where values may not. Returns undefined where the two have
 * nothing in common, and where what was sent was not stored.
 */
export function findDifference(
  found: JsonValue | undefined,
  expected: JsonValue | undefined,
  operator = '===',
): StoredFinding | undefined {
  if (found === undefined || expected === undefined || holdsUnkept(found)) return undefined;
  if (/^[<>]/.test(operator)) return howOrdered(found, expected, operator);
  if (operator === 'in') return howContained(found, expected);
  if (!/^[=!]==?$/.test(operator) || found === expected) return undefined;
  if ([found, expected].every((value) => value === null || value === '')) return { code: 'null_or_empty' };
  if (kindWord(found) !== kindWord(expected)) return { code: 'kinds', facts: kindsOf(found, expected) };
  return textsDiffer(found, expected);
}

export function sayDifference({ code, facts = {} }: StoredFinding): Sentence {
  const { sent, asked, operator, of } = facts;
  const kinds = say`${String(sent)} was sent, and ${String(asked)} is asked for`;
  const words: Readonly<Record<string, Sentence>> = {
    null_or_empty: say`one of null and "" was sent, and the other is asked for: "!" holds for both`,
    kinds: say`${kinds}, which is never equal to it`,
    texts_in_order: say`a text was sent, and two texts are compared letter by letter: ${todo}take the quotes off the number`,
    kinds_in_order: say`${kinds}: "${String(operator)}" between the two never holds`,
    white_space: say`what was sent has white space around it`,
    case: say`what was sent differs only in upper and lower case`,
    punctuation: say`what was sent is the same but for its punctuation`,
    begins_with_more: say`what was sent ends with it, and begins with more: ${todo}compare the whole text`,
  };
  return say`${of === undefined ? '' : `of ${JSON.stringify(of)}: `}${words[code] ?? 'another value was sent'}`;
}

const kindsOf = (
  found: JsonValue,
  expected: JsonValue,
): { readonly sent: string; readonly asked: string } => ({
  sent: kindWord(found),
  asked: kindWord(expected),
});

/** Returns the number that JavaScript reads from a text; undefined for any other text. */
export const numberIn = (text: string): number | undefined =>
  /^\s*-?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined;

const isDigits = (value: JsonValue): value is string =>
  typeof value === 'string' && numberIn(value) !== undefined;

function howOrdered(found: JsonValue, expected: JsonValue, operator: string): StoredFinding | undefined {
  if (isDigits(found) && isDigits(expected)) {
    const isSame = Math.sign(Number(found) - Number(expected)) === (found < expected ? -1 : 1);
    return isSame || found === expected ? undefined : { code: 'texts_in_order' };
  }
  const kinds = [found, expected].map(kindWord);
  const isMixed = kinds.includes('a number') && kinds.includes('a text') && ![found, expected].some(isDigits);
  return isMixed || kinds.includes('an object')
    ? { code: 'kinds_in_order', facts: { ...kindsOf(found, expected), operator } }
    : undefined;
}

function howContained(found: JsonValue, expected: JsonValue): StoredFinding | undefined {
  if (typeof found === 'string' && typeof expected === 'string')
    return found.toLowerCase().includes(expected.toLowerCase()) ? { code: 'case' } : undefined;
  if (Array.isArray(found) || !Array.isArray(expected)) return undefined;
  for (const one of (expected as readonly JsonValue[]).filter((each) => each !== found)) {
    const [of = '', sent] = [one, found].map((each) =>
      typeof each === 'string' ? each : JSON.stringify(each),
    );
    const isSameText = kindWord(one) !== kindWord(found) && of === sent;
    const how = isSameText ? { code: 'kinds', facts: kindsOf(found, one) } : textsDiffer(found, one);
    if (how !== undefined) return { ...how, facts: { ...how.facts, of } };
  }
  return undefined;
}

const MAX_CHARS = 200;

function textsDiffer(found: JsonValue, expected: JsonValue): StoredFinding | undefined {
  if (typeof found !== 'string' || typeof expected !== 'string') return undefined;
  if (found.length > MAX_CHARS || expected.length > MAX_CHARS) return undefined;
  if (found.trim() === expected.trim()) return { code: 'white_space' };
  const [a, b] = [found.toLowerCase(), expected.toLowerCase()];
  if (a === b) return { code: 'case' };
  const plain = (text: string): string => text.replaceAll(/[^a-z0-9]/g, '');
  if (plain(a) !== '' && plain(a) === plain(b)) return { code: 'punctuation' };
  const isEnd = b.length >= 3 && a.endsWith(b) && /[^a-z0-9]$/.test(a.slice(0, -b.length));
  return isEnd ? { code: 'begins_with_more' } : undefined;
}

function kindWord(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'boolean') return 'a boolean';
  return isNumeric(value) ? 'a number' : 'an object';
}
