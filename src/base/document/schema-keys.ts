import type { z } from 'zod';
import type { Path } from './located.ts';

/** The parts of zod's public schema definitions that are read here. */
export interface SchemaDefinition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly catchall?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly getter?: () => z.ZodType;
  readonly entries?: Readonly<Record<string, string | number>>;
  readonly values?: readonly unknown[];
}

/** The schemas that a path leads to: several where unions lie on the way. */
export function findSchemas(schema: z.ZodType, path: Path): readonly z.ZodType[] {
  let schemas = unwrap(schema);
  for (const step of path) {
    schemas = schemas.flatMap((current) => {
      const { shape, element, valueType } = definitionOf(current);
      const next = typeof step === 'number' ? (element ?? valueType) : (shape?.[step] ?? valueType);
      return next === undefined ? [] : unwrap(next);
    });
  }
  return schemas;
}

/** As `findSchemas`, without the options of a union that a value's own literals rule out: `kind: command` is no `kind: model`. */
export function findSchemasOf(schema: z.ZodType, path: Path, root: unknown): readonly z.ZodType[] {
  let schemas = findSchemas(schema, []);
  let value = root;
  for (const step of path) {
    schemas = agreeing(schemas, value).flatMap((one) => findSchemas(one, [step]));
    value = isObject(value) ? value[step] : undefined;
  }
  return agreeing(schemas, value);
}

/** All options where none agrees: then nobody can tell. */
function agreeing(options: readonly z.ZodType[], value: unknown): readonly z.ZodType[] {
  if (options.length < 2 || !isObject(value)) return options;
  const found = options.filter((option) =>
    Object.entries(definitionOf(option).shape ?? {}).every(
      ([key, one]) => !isFixed(one) || value[key] === undefined || one.safeParse(value[key]).success,
    ),
  );
  return found.length === 0 ? options : found;
}

/** Whether a schema allows only texts that it names. */
function isFixed(schema: z.ZodType): boolean {
  return unwrap(schema).every((one) => ['literal', 'enum'].includes(definitionOf(one).type));
}

/** Whether a value has members: an object or a list. */
export function isObject(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** What a schema takes at a path, in words such as `a number`; empty where the path leads nowhere. */
export function kindsAt(schema: z.ZodType, path: Path): readonly string[] {
  return findSchemas(schema, path).flatMap(kindsOf);
}

/** Keys an object schema names; none for anything else. */
export function knownKeys(schema: z.ZodType): readonly string[] {
  return Object.keys(definitionOf(schema).shape ?? {});
}

/** The schema inside a wrapper that does not change what it takes. */
export function wrappedBy({ type, innerType, in: input }: SchemaDefinition): z.ZodType | undefined {
  return innerType ?? (type === 'pipe' ? input : undefined);
}

function kindsOf(schema: z.ZodType): readonly string[] {
  const { type, values, entries } = definitionOf(schema);
  switch (type) {
    case 'object':
    case 'record':
      return ['an object'];
    case 'array':
      return ['a list'];
    case 'literal':
      return (values ?? []).map((value) => JSON.stringify(value) ?? 'nothing');
    case 'enum':
      return Object.values(entries ?? {}).map((value) => JSON.stringify(value));
    case 'null':
      return ['null'];
    default:
      return [`a ${type}`];
  }
}

/** A schema without the wrappers that do not change what it takes; the options of a union. */
function unwrap(schema: z.ZodType): readonly z.ZodType[] {
  const definition = definitionOf(schema);
  const { type, options, getter } = definition;
  if (type === 'union') return (options ?? []).flatMap(unwrap);
  if (type === 'lazy' && getter !== undefined) return unwrap(getter());
  const inner = wrappedBy(definition);
  return inner === undefined ? [schema] : unwrap(inner);
}

export function definitionOf(schema: z.ZodType): SchemaDefinition {
  return schema._zod.def;
}
