import { say, todo, type Sentence, type StoredFinding } from '../../../base/finding.ts';
import { isJsonObject, isNumeric, type JsonValue } from '../../../base/json.ts';
import { holdsUnkept } from '../../../base/request.ts';

/**
 * How what was sent differs from what a comparison asks for, as a code with facts that tell neither: this may be kept
 * where values may not. Undefined where the two have nothing in common.
 */
export function findDifference(
  found: JsonValue | undefined,
  expected: JsonValue | undefined,
  operator = '===',
): StoredFinding | undefined {
  if (found === undefined || expected === undefined || holdsUnkept(found)) return undefined;
  if (/^[<>]/.test(operator)) return howOrdered(found, expected, operator);
  if (operator === 'in') return howContained(found, expected);
  if (!/^[=!]==?$/.test(operator)) return undefined;
  if (found === expected) return undefined;
  if ([found, expected].every((value) => value === null || value === '')) return { code: 'null_or_empty' };
  if (kindWord(found) !== kindWord(expected)) return { code: 'kinds', facts: kindsOf(found, expected) };
  return typeof found === 'string' && typeof expected === 'string' ? textsDiffer(found, expected) : undefined;
}

/** The sentence of such a difference. */
export function sayDifference({ code, facts = {} }: StoredFinding): Sentence {
  const { sent, asked, operator, of } = facts;
  const kinds = say`${String(sent)} was sent, and ${String(asked)} is asked for`;
  const words: Readonly<Record<string, Sentence>> = {
    null_or_empty: say`one of null and "" was sent, and the other is asked for: "!" holds for both`,
    kinds: say`${kinds}: the two are never equal`,
    texts_in_order: say`a text was sent, and two texts are compared letter by letter: ${todo}take the quotes off the number`,
    texts_by_letter: LETTERS,
    kinds_in_order: say`${kinds}: "${String(operator)}" between the two never holds`,
    list_of_objects: say`a list of objects was sent, and ${String(asked)} is never in it: ${todo}ask its elements with "some"`,
    object: say`an object was sent: ${todo}name one of its fields`,
    white_space: say`what was sent has white space around it`,
    case: say`what was sent differs only in upper and lower case`,
    punctuation: say`what was sent is the same but for its punctuation`,
    begins_with_more: say`what was sent ends with it, and begins with more: ${todo}compare the whole text`,
  };
  return say`${of === undefined ? '' : `of ${JSON.stringify(of)}: `}${words[code] ?? 'another value was sent'}`;
}

/** What is no number and no date of ISO 8601 has another order as a text. */
const LETTERS = say`two texts are compared letter by letter, so versions, amounts with a comma, and dates that do not begin with the year are in no order: ${todo}compare them in a transform`;

/** The same at once. */
export function howDifferent(...values: Parameters<typeof findDifference>): Sentence | undefined {
  const found = findDifference(...values);
  return found && sayDifference(found);
}

const kindsOf = (
  found: JsonValue,
  expected: JsonValue,
): { readonly sent: string; readonly asked: string } => ({
  sent: kindWord(found),
  asked: kindWord(expected),
});

const isDigits = (value: JsonValue): value is string =>
  typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value);

/** Two numbers as texts that stand in another order than their numbers, or a text that is no number beside a number. */
function howOrdered(found: JsonValue, expected: JsonValue, operator: string): StoredFinding | undefined {
  if (isDigits(found) && isDigits(expected)) {
    const isSame = Math.sign(Number(found) - Number(expected)) === (found < expected ? -1 : 1);
    return isSame || found === expected ? undefined : { code: 'texts_in_order' };
  }
  if (typeof found === 'string' && typeof expected === 'string')
    return isInOrder(found, expected) ? undefined : { code: 'texts_by_letter' };
  const kinds = [found, expected].map(kindWord);
  const isMixed = kinds.includes('a number') && kinds.includes('a text') && ![found, expected].some(isDigits);
  return isMixed || kinds.includes('an object')
    ? { code: 'kinds_in_order', facts: { ...kindsOf(found, expected), operator } }
    : undefined;
}

/** Whether two texts with digits stand in the order of what they say: written alike, and so that the letters give it. */
function isInOrder(a: string, b: string): boolean {
  if (![a, b].every((text) => /^\D?\d/.test(text)) || a === b) return true;
  const isIso = [a, b].every((text) => /^\d{4}-\d\d(?:-\d\d|$)/.test(text));
  if (isIso) return true;
  const [formOfA, formOfB] = [a, b].map((text) => text.replaceAll(/\d+/g, '0'));
  const isDayFirst = /^\d{1,2}[/.-]\d{1,2}[/.-]\d{4}/.test(a);
  const byNumber = a.localeCompare(b, 'en', { numeric: true });
  return formOfA === formOfB && !isDayFirst && byNumber < 0 === a < b;
}

/** `in` of a list of objects, or for one. */
function howContained(found: JsonValue, expected: JsonValue): StoredFinding | undefined {
  const isList = Array.isArray(found);
  if (isList && !Array.isArray(expected) && (found as readonly JsonValue[]).some(isJsonObject))
    return { code: 'list_of_objects', facts: { asked: kindWord(expected) } };
  if (kindWord(found) === 'an object') return { code: 'object' };
  if (typeof found === 'string' && typeof expected === 'string')
    return found.toLowerCase().includes(expected.toLowerCase()) ? { code: 'case' } : undefined;
  if (isList || !Array.isArray(expected)) return undefined;
  for (const one of (expected as readonly JsonValue[]).filter((each) => each !== found)) {
    const [of, sent] = [one, found].map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    if (typeof found !== typeof one && of === sent)
      return { code: 'kinds', facts: { ...kindsOf(found, one), of: of ?? '' } };
    const how = typeof found === 'string' && typeof one === 'string' ? textsDiffer(found, one) : undefined;
    if (how !== undefined) return { ...how, facts: { of: of ?? '' } };
  }
  return undefined;
}

/** Longer texts are not compared. */
const MAX_CHARS = 200;

function textsDiffer(found: string, expected: string): StoredFinding | undefined {
  const code = codeOfTexts(found, expected);
  return code === undefined ? undefined : { code };
}

function codeOfTexts(found: string, expected: string): string | undefined {
  if (found.length > MAX_CHARS || expected.length > MAX_CHARS) return undefined;
  if (found.trim() === expected.trim()) return 'white_space';
  const [a, b] = [found.toLowerCase(), expected.toLowerCase()];
  if (a === b) return 'case';
  const plain = (text: string): string => text.replaceAll(/[^a-z0-9]/g, '');
  if (plain(a) !== '' && plain(a) === plain(b)) return 'punctuation';
  const isEnd = b.length >= 3 && a.endsWith(b) && /[^a-z0-9]$/.test(a.slice(0, -b.length));
  return isEnd ? 'begins_with_more' : undefined;
}

/** The kind of a value in the words of advice. */
function kindWord(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'boolean') return 'a boolean';
  return isNumeric(value) ? 'a number' : 'an object';
}
