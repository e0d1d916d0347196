/**
 * Where a key belongs that stands in the wrong object: the objects of the schema that take it, nearest first: those
 * around the place (from the inside out), then those inside it, then those beside it, then those further away.
 */
import type { z } from 'zod';
import type { LocatedValue, Path } from '../../document/document.ts';
import { findSchemas, findSchemasOf, knownKeys } from '../../document/facts.ts';
import { isStrict } from '../schema.ts';

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
