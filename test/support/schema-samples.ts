import type { z } from 'zod';
import type { Path } from '../../src/base/document/document.ts';

/** An object schema that refuses keys it does not name, and where it stands. */
export interface StrictObject {
  readonly path: Path;
  readonly schema: z.ZodType;
  readonly shape: Readonly<Record<string, z.ZodType>>;
  /** The objects around it, from the outermost. */
  readonly around: readonly z.ZodType[];
}

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly catchall?: z.ZodType;
}

const definitionOf = (schema: z.ZodType): Definition => schema._zod.def;

/** The strict objects of a schema that are reached by names alone, each option of a union by itself. */
export function strictObjects(
  schema: z.ZodType,
  path: Path = [],
  around: readonly z.ZodType[] = [],
): readonly StrictObject[] {
  const { type, shape = {}, options, innerType, in: input, catchall } = definitionOf(schema);
  const inner = innerType ?? (type === 'pipe' ? input : undefined);
  if (inner !== undefined) return strictObjects(inner, path, around);
  if (options !== undefined) return options.flatMap((option) => strictObjects(option, path, around));
  if (type !== 'object') return [];
  const below = Object.entries(shape).flatMap(([key, value]) =>
    strictObjects(value, [...path, key], [...around, schema]),
  );
  return catchall === undefined ? below : [{ path, schema, shape, around }, ...below];
}

const TEXTS = [
  'x',
  '/x',
  'https://a.example',
  '10.0.0.1',
  'Europe/Berlin',
  'projects/p/topics/t',
  'projects/p/subscriptions/s',
  '08:00',
  '2026-01-01',
  '2026-01-01T00:00:00Z',
  'text/xml',
  '${NAME}',
  'a@b.example',
  'x-name',
  '{body}',
  'v1={signature}',
];
const NUMBERS = [1, 8, 100, 200];

/** A value that a schema takes: of an object what is needed, of a union the first option. */
export function sampleOf(schema: z.ZodType): unknown {
  const {
    type,
    shape = {},
    element,
    valueType,
    options,
    innerType,
    in: input,
    values,
    entries,
  } = definitionOf(schema);
  const inner = innerType ?? (type === 'pipe' ? input : undefined);
  if (inner !== undefined) return sampleOf(inner);
  if (options?.[0] !== undefined) return sampleOf(options[0]);
  if (values !== undefined) return values[0];
  if (entries !== undefined) return Object.values(entries)[0];
  if (type === 'object') {
    const needed = Object.entries(shape).filter(([, value]) => !value.safeParse(undefined).success);
    return Object.fromEntries(needed.map(([key, value]) => [key, sampleOf(value)]));
  }
  if (type === 'array') return element === undefined ? [] : [sampleOf(element)];
  if (type === 'record') return valueType === undefined ? {} : { a: sampleOf(valueType) };
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'int') return NUMBERS.find((one) => schema.safeParse(one).success);
  return TEXTS.find((one) => schema.safeParse(one).success) ?? 'x';
}
