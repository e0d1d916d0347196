/** Keys of a mapping that stand beside `mappings:`, once for the whole file: each mapping has its own. */
import { didYouMean, type LocatedValue, type Path } from '../../document/document.ts';
import type { KeyHint } from '../schema-hints.ts';
import { MappingSchema } from '../../mapping/facts.ts';
import { MAPPING_KEYS } from '../../mapping/mapping.ts';

/** What to do with a key beside `mappings` that is one of a mapping, or nearly; undefined for others. */
export function fileLevelKey(root: LocatedValue, [key = '', ...more]: Path): KeyHint | undefined {
  if (typeof key !== 'string' || more.length > 0) return undefined;
  if (MAPPING_KEYS.has(key)) {
    const schema = MappingSchema.shape[key as keyof typeof MappingSchema.shape];
    return {
      hint: `move it into each mapping that it is for: ${key} is a key of a mapping, and a file has none for all`,
      isKnown: schema.safeParse(root.at([key]).value).success,
    };
  }
  const near = didYouMean(key, ['mappings', ...MAPPING_KEYS]);
  return near === undefined || near === 'mappings'
    ? undefined
    : { hint: `did you mean "${near}"? It is a key of a mapping: write it in each mapping of the file` };
}
