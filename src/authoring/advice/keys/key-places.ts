/**
 * Where a key belongs that stands in the wrong object: the objects of the schema that take it, nearest first: those
 * around the place (from the inside out), then those inside it, then those beside it, then those further away.
 */
import type { z } from 'zod';
import { type LocatedValue, type Path, didYouMean } from '../../../base/document/document.ts';
import {
  findSchemas,
  findSchemasOf,
  knownKeys,
  formatPath,
  inWords,
  isObject,
  positionOf,
} from '../../../base/document/facts.ts';
import { isStrict } from '../schema.ts';
import type { KeyHint } from '../schema-hints.ts';
import { MappingSchema } from '../../../engine/mapping/facts.ts';
import { MAPPING_KEYS } from '../../../engine/mapping/mapping.ts';

/** Objects are looked for so many levels below one that surrounds the place. */
const MAX_DEPTH = 4;

export interface Misplaced {
  readonly schema: z.ZodType;
  /** All that the schema is for. */
  readonly root: LocatedValue;
  /** The object in which the key stands. */
  readonly path: Path;
  readonly key: string;
}

/** Objects that take the key: those of the nearest level that take its value, too, else those of the nearest that take the key. */
export function findKeyPlaces(misplaced: Misplaced): readonly Path[] {
  const { root, key } = misplaced;
  const best = nearestLevel(misplaced);
  const free = best.filter((object) => root.at([...object, key]).value === undefined);
  const given = free.filter((object) => root.at(object).value !== undefined);
  return [given, free, best].find((one) => one.length > 0) ?? [];
}

function nearestLevel(misplaced: Misplaced): readonly Path[] {
  let nearest: readonly Path[] = [];
  for (const level of levelsAround(misplaced)) {
    const fitting = level.filter((object) => takesValue(misplaced, object));
    if (fitting.length > 0) return fitting;
    if (nearest.length === 0) nearest = level;
  }
  return nearest;
}

/** Whether a schema takes a value at a path; what a reference stands for is not known. */
export function takesAt(
  { schema, root }: Pick<Misplaced, 'schema' | 'root'>,
  path: Path,
  value: unknown,
): boolean {
  const isReference = typeof value === 'string' && value.includes('${');
  return findSchemasOf(schema, path, root.value).some((one) => isReference || one.safeParse(value).success);
}

/** By nearness, the objects that name the key. */
function* levelsAround(misplaced: Misplaced): Generator<readonly Path[]> {
  const { schema, root, path, key } = misplaced;
  const isTaker = (object: Path): boolean =>
    findSchemasOf(schema, object, root.value).some((one) => isStrict(one) && knownKeys(one).includes(key));
  const outwards = path.map((_, index) => path.slice(0, path.length - 1 - index));
  for (const object of outwards) yield [object].filter(isTaker);
  for (const object of [path, ...outwards]) {
    for (const level of levelsBelow(misplaced, object)) yield level.filter(isTaker);
  }
}

/** The objects below one, level by level. */
function* levelsBelow(misplaced: Misplaced, from: Path): Generator<readonly Path[]> {
  let level: readonly Path[] = [from];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
    level = level.flatMap((object) => objectsIn(misplaced, object));
    yield level;
  }
}

function objectsIn({ schema, root }: Misplaced, object: Path): readonly Path[] {
  const keys = new Set(findSchemasOf(schema, object, root.value).flatMap(knownKeys));
  return [...keys]
    .map((key) => [...object, key])
    .filter((inner) => findSchemas(schema, inner).some((one) => knownKeys(one).length > 0));
}

function takesValue(misplaced: Misplaced, object: Path): boolean {
  const { root, path, key } = misplaced;
  return takesAt(misplaced, [...object, key], root.at([...path, key]).value);
}

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
  const near = didYouMean(key, ['mappings', ...MAPPING_KEYS.keys()]);
  return near === undefined || near === 'mappings'
    ? undefined
    : { hint: `did you mean "${near}"? It is a key of a mapping: write it in each mapping of the file` };
}

/** More places than these are not told apart in one sentence. */
const MAX_PLACES = 4;
const TOP = 'the top level';

export function placesHint({ root, path, key }: Misplaced, places: readonly Path[]): string {
  const [place = [], ...others] = places;
  const names = places.slice(0, MAX_PLACES).map((each) => objectName(root, each));
  if (others.length > 0) return `move it into ${inWords(names, 'or')}, whichever you mean`;
  const belongs = `${key} belongs in ${inWords(names)}`;
  if (root.at([...place, key]).value !== undefined)
    return `keep one of the two: ${belongs}, where it stands already${lineOf(root, [...place, key])}`;
  if (place.length === path.length - 1 && isPrefix(place, path))
    return `move it one level to the left: ${key} belongs beside ${String(path.at(-1))}, not in it`;
  if (isObject(root.at(place).value))
    return `move it into ${inWords(names)}${lineOf(root, place)}, where it belongs`;
  return `write ${newObject(root, place, key)}, where it belongs`;
}

/** An object that is not there yet, with the key. */
function newObject(root: LocatedValue, place: Path, key: string): string {
  const depth = place.findIndex((_, index) => !isObject(root.at(place.slice(0, index + 1)).value));
  const written = place
    .slice(depth)
    .reduceRight<string>((inner, step) => `{${String(step)}: ${inner}}`, `{${key}: …}`);
  const around = objectName(root, place.slice(0, depth));
  return `${written.slice(1, -1)} ${around === TOP ? 'at' : 'in'} ${around}`;
}

function objectName(root: LocatedValue, path: Path): string {
  const { path: whole } = root.at(path);
  return whole.length === 0 ? TOP : formatPath(whole);
}

function lineOf(root: LocatedValue, path: Path): string {
  if (path.length === 0) return '';
  const { source, start } = root.place(path, 'key');
  return ` (line ${positionOf(source.text, start).line})`;
}

function isPrefix(inner: Path, outer: Path): boolean {
  return inner.every((step, index) => step === outer[index]);
}
