import type { z } from 'zod';
import type { Path } from '../../base/document/document.ts';
import {
  definitionOf,
  findSchemas,
  findSchemasOf,
  isFixed,
  knownKeys,
  wrappedBy,
} from '../../base/document/facts.ts';
import { memberAt } from '../../base/json.ts';

/**
 * Returns the other options of a union that name a key, by the word that tells them apart, and the word of
 * the one that is meant.
 */
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

/** Whether a schema is an object that refuses keys it does not name. */
export function isStrict(schema: z.ZodType): boolean {
  const { type, catchall } = definitionOf(schema);
  return type === 'object' && catchall !== undefined && definitionOf(catchall).type === 'never';
}

/** Returns the description of a key without its full stop, and whether the key may be left out. */
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

function layersOf(schema: z.ZodType | undefined): readonly z.ZodType[] {
  return schema === undefined ? [] : [schema, ...layersOf(wrappedBy(definitionOf(schema)))];
}
