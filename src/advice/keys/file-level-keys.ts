/**
 * Keys of a mapping that stand beside `mappings:`, once for the whole file: each mapping has its own, so what to write is
 * the key in each mapping that it was meant for, and never that it goes.
 */
import { didYouMean, formatPlace, type LocatedValue, type Path } from '../../document/document.ts';
import { inWords } from '../../document/facts.ts';
import { type MeantKey } from '../schema-words.ts';
import { isJsonObject } from '../../json.ts';
import { MAPPING_ADVICE } from '../vocabulary/mapping-keys.ts';
import { MappingSchema, pathSettingsShape } from '../../mapping/facts.ts';
import { MAPPING_KEYS } from '../../mapping/mapping.ts';

/** More mappings are not named in one sentence. */
const MAX_NAMED = 4;
/** Of one mapping alone: two of an id or of one condition would never both act. */
const OF_ONE = new Set(['id', 'match']);

/** What to do with a key beside `mappings` that is one of a mapping, or nearly; undefined for others. */
export function fileLevelKey(root: LocatedValue, [key = '', ...more]: Path): MeantKey | undefined {
  if (typeof key !== 'string' || more.length > 0) return undefined;
  if (!MAPPING_KEYS.has(key)) return nearKey(root, key);
  const schema = MappingSchema.shape[key as keyof typeof MappingSchema.shape];
  const takers = OF_ONE.has(key) ? [] : takersOf(root, key);
  const where = takers.length === 0 ? 'the one that it is for' : inWords(takers);
  const ofPath = Object.hasOwn(pathSettingsShape, key) ? ' with match.path' : '';
  return {
    hint: `${key} is a key of a mapping${ofPath}, and a file has none for all: move it into ${where}`,
    isKnown: schema.safeParse(root.at([key]).value).success,
  };
}

/** Keys that are written wrong, or words such as `defaults` around keys of a mapping. */
function nearKey(root: LocatedValue, key: string): MeantKey | undefined {
  const { keys: words = {} } = MAPPING_ADVICE;
  const word = Object.hasOwn(words, key) ? words[key] : undefined;
  if (word !== undefined && word.group === undefined)
    return { hint: `it is for a mapping, and not beside mappings; there ${word.hint}` };
  const near = didYouMean(key, ['mappings', ...MAPPING_KEYS]);
  if (near === 'mappings') return undefined;
  if (near !== undefined)
    return { hint: `did you mean "${near}"? It is a key of a mapping: write it in each mapping of the file` };
  const { value } = root.at([key]);
  const keys = isJsonObject(value) ? Object.keys(value) : [];
  if (keys.length === 0 || !keys.every((each) => MAPPING_KEYS.has(each))) return undefined;
  return {
    hint: `a file has no keys for all its mappings: write ${keys.join(' and ')} in each mapping, and remove ${key}`,
    isKnown: true,
  };
}

/** The mappings of the file that lack the key, by their ids and places. */
function takersOf(root: LocatedValue, key: string): readonly string[] {
  const list = root.at(['mappings']).value;
  const lacking = (Array.isArray(list) ? list : []).flatMap((mapping: unknown, index) =>
    isJsonObject(mapping) && mapping[key] === undefined ? [{ mapping, index }] : [],
  );
  const named = lacking.slice(0, MAX_NAMED).map(({ mapping: { id }, index }) => {
    const place = formatPlace(root.place(['mappings', index]));
    return typeof id === 'string' ? `${id} (${place})` : `the mapping of ${place}`;
  });
  const others = lacking.length - named.length;
  return others > 0 ? [...named, `${others} more`] : named;
}
