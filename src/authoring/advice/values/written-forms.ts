import type { z } from 'zod';
import type { Path } from '../../../base/document/document.ts';
import { findSchemas, knownKeys } from '../../../base/document/facts.ts';
import { findMeaning } from '../schema.ts';

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
  return `write ${key}{${example.map((key) => `${key}: …`).join(', ')}}${or}${rest}`;
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

/** How a value of these kinds is written. */
function kindHint(expected: readonly string[]): string {
  const ways = expected.map((kind) => WAYS[kind] ?? kind);
  return `write ${ways.join(' or ')}`;
}

/** How a kind of value is written. */
const WAYS: Readonly<Record<string, string>> = {
  'a string': 'one text',
  'a list': 'a list, [a, b]',
  'an object': 'keys with values, indented below it or in { }',
  'a boolean': 'true or false',
  'a number': 'a number, without quotes',
  'a whole number': 'a number without a fraction and without quotes',
};
