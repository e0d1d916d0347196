/** How a value is written that is of another kind than the one that is wanted. */
import type { z } from 'zod';
import { holdsCredentials, type Path } from '../../base/document/document.ts';
import { findSchemas, knownKeys } from '../../base/document/facts.ts';
import type { Place } from '../../base/finding.ts';
import { findMeaning } from './schema.ts';

/** A value as it was meant. */
export interface ValueHint {
  readonly hint: string;
  /** What to write in place of the whole value, as YAML and JSON both take it; absent where only a person can tell. */
  readonly text?: string;
}

/** The same value as the kind that is wanted: only quotes and brackets around it change. */
export function sameValue(value: unknown, expected: readonly string[], at: Place): ValueHint | undefined {
  const written = at.source.text.slice(at.start, at.end);
  const wants = (kind: string): boolean => expected.includes(kind);
  if (wants('a boolean')) {
    if (/^["'](?:true|false)["']$/.test(written)) return withoutQuotes(written);
    // Words of YAML 1.1.
    const isTrue = /^(?:yes|on)$/i.test(written);
    if (isTrue || /^(?:no|off)$/i.test(written)) return { hint: `write ${isTrue}`, text: String(isTrue) };
  }
  if (wants('a number') || wants('a whole number'))
    if (/^["']-?\d+(?:\.\d+)?["']$/.test(written)) return withoutQuotes(written);
  if (wants('a string')) {
    if (typeof value === 'number' || typeof value === 'boolean')
      return { hint: 'put it in quotes', text: `"${written}"` };
    // A template or placeholder without quotes is a map.
    if (/^\{\{?[\w .-]+\}\}?$/.test(written)) return { hint: 'put it in quotes', text: `'${written}'` };
    const [only, ...more]: readonly unknown[] = Array.isArray(value) ? value : [];
    if (typeof only === 'string' && more.length === 0 && !holdsCredentials(only))
      return { hint: 'write it without [ ]', text: JSON.stringify(only) };
  }
  if (!wants('a list') || (typeof value !== 'string' && typeof value !== 'number')) return undefined;
  const item = /^[|>]|[,\n]/.test(written) ? JSON.stringify(value) : written;
  return { hint: 'put it in [ ]', text: `[${item}]` };
}

const withoutQuotes = (written: string): ValueHint => ({
  hint: 'remove the quotes',
  text: written.slice(1, -1),
});

/** Keys that fit in a hint. */
export const MAX_KEYS = 20;

/** How a value of these kinds is written; of an object, with its keys: those that are needed as they stand there. */
export function formHint(schema: z.ZodType, path: Path, expected: readonly string[]): string {
  const keys = expected.includes('an object') ? keysOf(schema, path) : [];
  if (keys.length === 0 || keys.length > MAX_KEYS) return kindHint(expected);
  const needed = keys.filter(({ optional }) => !optional).map(({ key }) => key);
  const [first = '', ...others] = keys.filter(({ optional }) => optional).map(({ key }) => key);
  const example = needed.length === 0 ? [first] : needed;
  const further = needed.length === 0 || first === '' ? others : [first, ...others];
  const otherKinds = expected.filter((kind) => kind !== 'an object');
  const or = otherKinds.length === 0 ? '' : `, or ${kindHint(otherKinds).slice('write '.length)}`;
  const rest = further.length === 0 ? '' : `; further keys: ${further.join(', ')}`;
  const name = path.at(-1);
  const key = typeof name === 'string' ? `${name}: ` : '';
  return `write ${key}{${example.map((each) => `${each}: …`).join(', ')}}${or}${rest}`;
}

interface ObjectKey {
  readonly key: string;
  readonly optional: boolean;
}

function keysOf(schema: z.ZodType, path: Path): readonly ObjectKey[] {
  // Of several shapes nobody can tell which was meant.
  const shapes = findSchemas(schema, path).filter((one) => knownKeys(one).length > 0);
  if (shapes.length !== 1) return [];
  return shapes
    .flatMap(knownKeys)
    .map((key) => ({ key, optional: findMeaning(schema, [...path, key]).optional }));
}

const kindHint = (expected: readonly string[]): string =>
  `write ${expected.map((kind) => WAYS[kind] ?? kind).join(' or ')}`;

/** How a kind of value is written. */
const WAYS: Readonly<Record<string, string>> = {
  'a string': 'one text',
  'a list': 'a list, [a, b]',
  'an object': 'keys with values, indented below it or in { }',
  'a boolean': 'true or false',
  'a number': 'a number, without quotes',
  'a whole number': 'a number without a fraction and without quotes',
};
