import { isNumeric, type JsonValue } from '../json.ts';

/**
 * How what was sent differs from what an equality asks for, in words that tell neither: this may be kept where values
 * may not. Undefined where the two have nothing in common.
 */
export function howDifferent(
  found: JsonValue | undefined,
  expected: JsonValue | undefined,
): string | undefined {
  if (found === undefined || expected === undefined) return undefined;
  if (kindOf(found) !== kindOf(expected)) {
    return `${kindOf(found)} was sent, and ${kindOf(expected)} is asked for: the two are never equal`;
  }
  return typeof found === 'string' && typeof expected === 'string' ? textsDiffer(found, expected) : undefined;
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
  if (a.length >= 3 && b.startsWith(a)) return 'what was sent is the beginning of it';
  return undefined;
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'boolean') return 'a boolean';
  return isNumeric(value) ? 'a number' : 'an object';
}
