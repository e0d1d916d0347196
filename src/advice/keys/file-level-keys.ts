/**
 * Keys of a mapping that stand beside `mappings:`, once for the whole file: each mapping has its own, so what to write is
 * the key in each mapping that it was meant for, and never that it goes.
 */
import { didYouMean, formatPlace, type LocatedValue, type Path } from '../../document/document.ts';
import { lineColumn } from '../../document/facts.ts';
import { type MeantKey } from '../schema-words.ts';
import { isJsonObject } from '../../json.ts';
import { MAPPING_ADVICE } from '../vocabulary/mapping-keys.ts';
import { MappingSchema, pathSettingsShape } from '../../mapping/facts.ts';
import { MAPPING_KEYS } from '../../mapping/mapping.ts';

/** More mappings are not named in one sentence. */
const MAX_NAMED = 4;
/** Of one mapping alone: two of an id or of one condition would never both act. */
const OF_ONE = new Set(['id', 'match']);

interface FileLevelKey {
  /** The whole file, `{mappings: [...]}`. */
  readonly root: LocatedValue;
  readonly key: string;
}

/** What to do with a key beside `mappings` that is one of a mapping, or nearly; undefined for others. */
export function fileLevelKey(root: LocatedValue, [key = '', ...more]: Path): MeantKey | undefined {
  if (typeof key !== 'string' || more.length > 0) return undefined;
  if (!MAPPING_KEYS.has(key)) return nearKey(root, key);
  const isKnown = MappingSchema.shape[key as keyof typeof MappingSchema.shape].safeParse(
    root.at([key]).value,
  ).success;
  const found = { root, key };
  const takers = takersOf(found);
  if (takers.length === 0) return { hint: nobodyTakes(found), isKnown };
  if (OF_ONE.has(key) && takers.length > 1)
    return { hint: `${key} is a key of a mapping: move it into the one it is of`, isKnown };
  return { hint: moveHint(found, takers), isKnown };
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

/** The mappings of the file that lack the key; those of a path where it is one of paths, as others cannot have it. */
function takersOf({ root, key }: FileLevelKey): readonly number[] {
  const list = root.at(['mappings']).value;
  if (!Array.isArray(list)) return [];
  return list.flatMap((mapping: unknown, index) => {
    if (!isJsonObject(mapping) || mapping[key] !== undefined) return [];
    return !isPathKey(key) || pathOf(mapping) !== undefined ? [index] : [];
  });
}

const isPathKey = (key: string): boolean => Object.hasOwn(pathSettingsShape, key);

function pathOf({ match }: Readonly<Record<string, unknown>>): string | undefined {
  const path = isJsonObject(match) ? match['path'] : undefined;
  return typeof path === 'string' && path.replaceAll('/', '').trim() !== '' ? path : undefined;
}

function nobodyTakes({ root, key }: FileLevelKey): string {
  const list = root.at(['mappings']).value;
  const mappings = Array.isArray(list) ? list.filter(isJsonObject) : [];
  return mappings.length > 0 && mappings.every((mapping) => mapping[key] !== undefined)
    ? `${key} is a key of a mapping, and each mapping of the file has its own: remove this one`
    : `${key} is a key of a mapping${isPathKey(key) ? ' with match.path' : ''}: write it in one`;
}

function moveHint({ root, key }: FileLevelKey, takers: readonly number[]): string {
  const names = takers.slice(0, MAX_NAMED).map((index) => nameOf(root, index));
  const others = takers.length - names.length;
  const listed = [...names, ...(others > 0 ? [`${others} more`] : [])];
  const last = listed.pop() ?? '';
  const where = listed.length === 0 ? last : `${listed.join(', ')} and ${last}`;
  return `${key} is a key of a mapping, and a file has none for all: move it into ${where}${sharing({ root, key }, takers)}`;
}

/** Settings of paths hold for the path, wherever they stand. */
function sharing({ root, key }: FileLevelKey, takers: readonly number[]): string {
  if (!isPathKey(key) || takers.length < 2) return '';
  const paths = new Set(takers.map((index) => pathOf(mappingAt(root, index)) ?? ''));
  const [path = ''] = paths;
  return paths.size === 1
    ? `, which share it as mappings of the path ${path}`
    : '; mappings of one path share it';
}

function mappingAt(root: LocatedValue, index: number): Readonly<Record<string, unknown>> {
  const { value } = root.at(['mappings', index]);
  return isJsonObject(value) ? value : {};
}

function nameOf(root: LocatedValue, index: number): string {
  const { id } = mappingAt(root, index);
  const at = root.place(['mappings', index]);
  return typeof id === 'string' ? `${id} (line ${lineColumn(at).line})` : `the mapping of ${formatPlace(at)}`;
}
