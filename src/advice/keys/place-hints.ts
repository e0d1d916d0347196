/** How it is said where a key belongs, and what to write there. */
import type { LocatedValue, Path } from '../../document/document.ts';
import { formatPath, inWords, isObject, positionOf } from '../../document/facts.ts';
import type { Misplaced } from './key-places.ts';

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
