/**
 * Finds where a key belongs that stands in the wrong object: in the nearest objects of the schema that
 * accept it with its value.
 */
import type { z } from 'zod';
import type { LocatedValue, Path } from '../../base/document/document.ts';
import {
  definitionOf,
  findSchemas,
  findSchemasOf,
  formatPath,
  isObject,
  knownKeys,
  positionOf,
} from '../../base/document/facts.ts';

const MAX_DEPTH = 4;

export interface MisplacedKey {
  readonly schema: z.ZodType;
  readonly root: LocatedValue;
  readonly path: Path;
  readonly key: string;
}

/** Whether a schema accepts a value at a path. The value behind a reference is not known. */
export function takesAt(
  { schema, root }: Pick<MisplacedKey, 'schema' | 'root'>,
  path: Path,
  value: unknown,
): boolean {
  const isReference = typeof value === 'string' && value.includes('${');
  return findSchemasOf(schema, path, root.value).some((one) => isReference || one.safeParse(value).success);
}

/** Returns the one nearest object that accepts the key; undefined where several are as near. */
export function findKeyPlace(misplaced: MisplacedKey): Path | undefined {
  for (const level of levelsAround(misplaced)) {
    const taking = level.filter((object) => takesKey(misplaced, object));
    if (taking.length > 0) return taking.length === 1 ? taking[0] : undefined;
  }
  return undefined;
}

function takesKey(misplaced: MisplacedKey, object: Path): boolean {
  const { schema, root, path, key } = misplaced;
  const isNamed = findSchemasOf(schema, object, root.value).some(
    (one) => isStrict(one) && knownKeys(one).includes(key),
  );
  return isNamed && takesAt(misplaced, [...object, key], root.at([...path, key]).value);
}

/** Whether a schema is an object that refuses keys it does not name. */
function isStrict(schema: z.ZodType): boolean {
  const { type, catchall } = definitionOf(schema);
  return type === 'object' && catchall !== undefined && definitionOf(catchall).type === 'never';
}

/** Yields the objects around the place, from the inside out, and then those below, level by level. */
function* levelsAround(misplaced: MisplacedKey): Generator<readonly Path[]> {
  const { path } = misplaced;
  const outwards = path.map((_, index) => path.slice(0, path.length - 1 - index));
  for (const object of outwards) yield [object];
  for (const object of [path, ...outwards]) {
    let level: readonly Path[] = [object];
    for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
      level = level.flatMap((each) => objectsIn(misplaced, each));
      yield level;
    }
  }
}

function objectsIn({ schema, root }: MisplacedKey, object: Path): readonly Path[] {
  const keys = new Set(findSchemasOf(schema, object, root.value).flatMap(knownKeys));
  return [...keys]
    .map((key) => [...object, key])
    .filter((inner) => findSchemas(schema, inner).some((one) => knownKeys(one).length > 0));
}

export function placeHint({ root, path, key }: MisplacedKey, place: Path): string {
  const name = root.at(place).path.length === 0 ? 'the top level' : formatPath(root.at(place).path);
  const isBeside = place.length === path.length - 1;
  if (root.at([...place, key]).value !== undefined)
    return `keep one of the two: ${key} belongs in ${name}, where it stands already`;
  if (isBeside && place.every((step, index) => step === path[index]))
    return `move it one level to the left: ${key} belongs beside ${String(path.at(-1))}, not in it`;
  if (place.length === 0 || !isObject(root.at(place).value)) return `move it into ${name}, where it belongs`;
  const { source, start } = root.place(place, 'key');
  return `move it into ${name} (line ${positionOf(source.text, start).line}), where it belongs`;
}
