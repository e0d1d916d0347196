/** How it is said where a key belongs, and what to write there. */
import { holdsCredentials, isSecretPath, type LocatedValue, type Path } from '../../document/document.ts';
import { findSchemasOf, formatPath, isObject, knownKeys, positionOf } from '../../document/facts.ts';
import type { TextEdit } from '../../finding.ts';
import { isScalar } from '../../json.ts';
import { findMeaning } from '../schema.ts';
import type { Misplaced } from './key-places.ts';
import { moveOut } from './move-key.ts';

/** More places than these are not told apart in one sentence. */
const MAX_PLACES = 4;
/** Longer values are not repeated. */
const MAX_VALUE = 80;
const TOP = 'the top level';

export interface PlaceHint {
  readonly hint: string;
  readonly edit?: TextEdit;
}

export function placesHint(unknown: Misplaced, places: readonly Path[]): PlaceHint {
  const { root, path, key } = unknown;
  const [place = [], ...others] = places;
  if (others.length > 0) {
    const names = places.slice(0, MAX_PLACES).map((each) => withMeaning(unknown, each));
    const last = names.pop() ?? '';
    return { hint: `${key} belongs in ${names.join(', ')} or ${last}: move it into the one you mean` };
  }
  if (root.at([...place, key]).value !== undefined) return { hint: takenPlace(unknown, place) };
  if (place.length === path.length - 1 && isPrefix(place, path)) return besideObject(unknown);
  if (!isObject(root.at(place).value)) return { hint: newObject(unknown, place) };
  return { hint: `${key} belongs in ${objectName(root, place)}${lineOf(root, place)}: move it there` };
}

/** An object, and in a few words what the key sets there. */
function withMeaning({ root, schema, key }: Misplaced, place: Path): string {
  const { description = '' } = findMeaning(schema, [...place, key]);
  const [meaning = ''] = description.split(/[.;:,]/);
  const words = meaning.charAt(0).toLowerCase() + meaning.slice(1);
  return `${objectName(root, place)}${words === '' ? '' : ` (${words})`}`;
}

function takenPlace({ root, key }: Misplaced, place: Path): string {
  const where = lineOf(root, [...place, key]);
  return `${key} belongs in ${objectName(root, place)}, where it stands already${where}: keep one of the two, there`;
}

/** One level too deep. */
function besideObject({ root, path, key }: Misplaced): PlaceHint {
  const { how, edit } = moveOut(root, path, key);
  const name = String(path.at(-1));
  return {
    hint: `${key} belongs beside ${name}, not in it: ${how}`,
    ...(edit === undefined ? {} : { edit }),
  };
}

/** An object that is not there yet, with what it needs and the key. */
function newObject(unknown: Misplaced, place: Path): string {
  const { root, schema, path, key } = unknown;
  const depth = place.findIndex((_, index) => !isObject(root.at(place.slice(0, index + 1)).value));
  const above = place.slice(0, depth);
  const [needed = []] = findSchemasOf(schema, place, root.value)
    .filter((one) => knownKeys(one).includes(key))
    .map((one) => knownKeys(one).filter((each) => !findMeaning(one, [each]).optional))
    .toSorted((one, other) => one.length - other.length);
  const others = needed.filter((each) => each !== key).map((each) => `${each}: …`);
  const members = [...others, `${key}: ${shown(root, [...path, key], [...place, key])}`].join(', ');
  const written = place
    .slice(depth)
    .reduceRight<string>((inner, step) => `{${String(step)}: ${inner}}`, `{${members}}`);
  const isHere = above.length === path.length && isPrefix(above, path);
  const around = objectName(root, above);
  const where = isHere ? 'in its place' : `${around === TOP ? 'at' : 'in'} ${around}`;
  return `${key} belongs in ${objectName(root, place)}: write ${written.slice(1, -1)} ${where}`;
}

/** The value where it is short and no secret. */
function shown(root: LocatedValue, from: Path, to: Path): string {
  const { value } = root.at(from);
  const text = typeof value === 'string' && /^[A-Za-z][\w.-]*$/.test(value) ? value : JSON.stringify(value);
  if (!isScalar(value) || isSecretPath(from) || isSecretPath(to) || text.length > MAX_VALUE) return '…';
  return typeof value === 'string' && holdsCredentials(value) ? '…' : text;
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
