import type { z } from 'zod';
import { memberAt } from '../json.ts';
import type { Path } from './located.ts';

/** The parts of zod's public schema definitions that are read here. */
interface Definition {
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

/** The same, without the options of a union that a value's own literals rule out: `kind: command` is no `kind: model`. */
export function findSchemasOf(schema: z.ZodType, path: Path, root: unknown): readonly z.ZodType[] {
  let schemas = unwrap(schema);
  let value = root;
  for (const step of path) {
    schemas = agreeing(schemas, value).flatMap((one) => findSchemas(one, [step]));
    value = isObject(value) ? value[step] : undefined;
  }
  return agreeing(schemas, value);
}

/** The other options of a union that name a key, by the word that tells them apart, and the word of the one that is meant. */
export function kindsWith(
  schema: z.ZodType,
  { path, key, root }: { readonly path: Path; readonly key: string; readonly root: unknown },
): { readonly name: string; readonly own: string; readonly others: readonly string[] } | undefined {
  const options = findSchemas(schema, path).filter((one) => knownKeys(one).length > 0);
  const [own, ...rest] = findSchemasOf(schema, path, root).filter((one) => options.includes(one));
  if (own === undefined || rest.length > 0 || options.length < 2) return undefined;
  const name = knownKeys(own).find((each) => options.every((one) => isFixedAt(one, each)));
  const value = memberAt(root, [...path, name ?? '']);
  const takers = options.filter((one) => one !== own && knownKeys(one).includes(key));
  if (name === undefined || typeof value !== 'string' || takers.length === 0) return undefined;
  const others = takers.flatMap((one) => findSchemas(one, [name]).flatMap(wordsOf));
  return { name, own: value, others };
}

function isFixedAt(schema: z.ZodType, key: string): boolean {
  const own = definitionOf(schema).shape?.[key];
  return own !== undefined && isFixed(own);
}

function wordsOf(schema: z.ZodType): readonly string[] {
  const { values = [], entries = {} } = definitionOf(schema);
  return [...values, ...Object.values(entries)].map(String);
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

/** Whether a schema takes only texts that it names. */
function isFixed(schema: z.ZodType): boolean {
  return unwrap(schema).every((one) => ['literal', 'enum'].includes(definitionOf(one).type));
}

/** Whether a value has members: an object or a list. */
export function isObject(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Whether a schema is an object that refuses keys it does not name. */
export function isStrict(schema: z.ZodType): boolean {
  const { type, catchall } = definitionOf(schema);
  return type === 'object' && catchall !== undefined && definitionOf(catchall).type === 'never';
}

/** What a schema takes at a path, in words such as `a number`; empty where the path leads nowhere. */
export function kindsAt(schema: z.ZodType, path: Path): readonly string[] {
  return findSchemas(schema, path).flatMap(kindsOf);
}

/** Keys an object schema names; none for anything else. */
export function knownKeys(schema: z.ZodType): readonly string[] {
  return Object.keys(definitionOf(schema).shape ?? {});
}

/** What a schema says about a key: its description without a full stop, and whether the key may be left out. */
export function findMeaning(
  schema: z.ZodType,
  path: Path,
): { readonly description?: string; readonly optional: boolean } {
  const key = path.at(-1);
  if (typeof key !== 'string') return { optional: false };
  const layers = findSchemas(schema, path.slice(0, -1)).flatMap((parent) =>
    layersOf(definitionOf(parent).shape?.[key]),
  );
  const described = layers.find(({ description }) => description !== undefined);
  const description = described?.description?.replace(/\.$/, '');
  const optional = layers.some((layer) => OPTIONAL.has(definitionOf(layer).type));
  return { optional, ...(description === undefined ? {} : { description }) };
}

const OPTIONAL: ReadonlySet<string> = new Set(['optional', 'default', 'prefault']);

/** A schema and what it wraps, from outside to inside. */
function layersOf(schema: z.ZodType | undefined): readonly z.ZodType[] {
  return schema === undefined ? [] : [schema, ...layersOf(wrappedBy(definitionOf(schema)))];
}

/** The schema inside a wrapper that does not change what it takes. */
function wrappedBy({ type, innerType, in: input }: Definition): z.ZodType | undefined {
  return innerType ?? (type === 'pipe' ? input : undefined);
}

/** What a schema takes, in words. */
export function kindsOf(schema: z.ZodType): readonly string[] {
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

function definitionOf(schema: z.ZodType): Definition {
  return schema._zod.def;
}
