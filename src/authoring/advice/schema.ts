import type { z } from 'zod';
import type { Path } from '../../base/document/document.ts';
import { definitionOf, findSchemas, wrappedBy } from '../../base/document/facts.ts';

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
