/** What a key was meant as that is unknown where it stands: a word of others, a mistyped name, or a key of another object. */
import { anchorHint } from './anchor-hints.ts';
import type { LocatedValue, Path } from './located.ts';
import { didYouMean, longerWord, spelling } from './did-you-mean.ts';
import { findKeyPlaces, takesAt, type Misplaced } from './key-places.ts';
import { placesHint, type PlaceHint } from './place-hints.ts';
import { findMeaning, findSchemas, findSchemasOf, kindsWith, knownKeys } from './schema-keys.ts';
import { keyText } from './path-text.ts';
import { isSecretPath } from './secret-ranges.ts';
import { secondsIn, type KeyAdvice, type ValueHint } from './value-hints.ts';
import { MAX_KEYS } from './written-forms.ts';

/** More kinds are not listed. */
const MAX_KINDS = 4;

export type ForeignKeys = (root: LocatedValue, path: Path) => MeantKey | undefined;

/** What a room knows of the words and values of others. */
export interface SchemaAdvice {
  /** What unknown keys mean elsewhere, and what they are called here; below the root as `verify.secret`. */
  readonly keys?: Readonly<Record<string, KeyAdvice>>;
  /** What a key of another program's file is called here, by the values of the whole. */
  readonly foreign?: ForeignKeys;
  /** How a value was meant that is of the wrong kind or not among those known; `key` as above, lists left out. */
  readonly value?: (key: string, value: unknown, beside: unknown) => ValueHint | undefined;
  /** What to write for a key that is missing, beside the others of its object. */
  readonly missing?: (key: string, beside: unknown) => string | undefined;
}

export interface UnknownKey extends Misplaced {
  readonly advice: {
    readonly keys?: Readonly<Record<string, KeyAdvice>>;
    readonly foreign?: ForeignKeys;
  };
}

export interface MeantKey extends PlaceHint {
  /** Whether it is known what the value means, and so, which part of it is a secret. */
  readonly isKnown?: boolean;
  readonly rename?: string;
  /** Keys that are there when the hint was followed. */
  readonly repaired?: readonly Path[];
}

export function meantKey(unknown: UnknownKey): MeantKey {
  const { root, path, key } = unknown;
  const anchor = anchorHint(root, path, key);
  if (anchor !== undefined) return { hint: anchor };
  return (
    wordOfOthers(unknown) ??
    unknown.advice.foreign?.(root, [...path, key]) ??
    otherName(unknown, missingKeys(unknown)) ??
    otherPlace(unknown) ??
    otherKind(unknown) ??
    otherName(unknown, knownHere(unknown)) ??
    lastMissing(unknown) ??
    outerWord(unknown) ?? { hint: `remove it${allKeys(unknown)}` }
  );
}

/** What the room knows of the word. */
function wordOfOthers(unknown: UnknownKey): MeantKey | undefined {
  const {
    root,
    advice: { keys = {} },
    path,
    key,
  } = unknown;
  const full = keyText([...path, key]);
  const advice = Object.hasOwn(keys, full) ? keys[full] : undefined;
  if (advice?.beside !== undefined && root.at([...path, advice.beside]).value === undefined) return undefined;
  // The other name is taken, so this key was meant as another one: `name` in a match that has its path.
  const isTaken = root.at([...path, advice?.rename ?? '']).value !== undefined;
  if (advice === undefined || (isTaken && otherPlace(unknown) !== undefined)) return undefined;
  const meant = advice.hintFor?.(root.at([...path, key]).value, root.at(path).value);
  const { hint, rename, means = rename } = advice;
  const seconds = secondsOf(rename, root.at([...path, key]).value);
  if (seconds !== undefined) return { hint: `write ${seconds}`, isKnown: true };
  return {
    hint: meant ?? hint,
    isKnown: meant !== undefined || isPlainWord(unknown, rename),
    ...(rename === undefined ? {} : { rename }),
    ...(means === undefined ? {} : { repaired: [[...path, means]] }),
  };
}

/** `ttl: 1h`: the name here and the number, where it is one of seconds. */
function secondsOf(rename: string | undefined, value: unknown): string | undefined {
  const seconds =
    typeof value === 'string' && rename?.endsWith('Seconds') === true ? secondsIn(value) : undefined;
  return seconds === undefined || !Number.isInteger(seconds) ? undefined : `${rename ?? ''}: ${seconds}`;
}

/** Whether a word of others has the value of a key that is no secret: of the one that it is called here, or of its own elsewhere. */
function isPlainWord(unknown: UnknownKey, rename: string | undefined): boolean {
  const { path, key } = unknown;
  const places = rename === undefined ? findKeyPlaces(unknown) : [path];
  const meant = places.map((object) => [...object, rename ?? key]);
  return meant.length > 0 && meant.every((each) => !isSecretPath(each) && isKnownAs(unknown, each));
}

/** The nearest of names that are known here. */
function otherName(unknown: UnknownKey, names: readonly string[]): MeantKey | undefined {
  const { path, key } = unknown;
  const near = didYouMean(key, names);
  const name = near ?? longerWord(key, names);
  if (name === undefined) return undefined;
  const there = [...path, name];
  const isFit = isKnownAs(unknown, there);
  const isSure = near !== undefined || (isFit && missingKeys(unknown).includes(name));
  return {
    hint: `did you mean "${name}"?`,
    isKnown: isFit && !isSecretPath(there),
    repaired: [there],
    ...(isSure ? { rename: name } : {}),
  };
}

/** The object that the key belongs into; a name that differs in its spelling alone stands here. */
function otherPlace(unknown: UnknownKey): MeantKey | undefined {
  const { key } = unknown;
  if (knownHere(unknown).some((name) => spelling(name) === spelling(key))) return undefined;
  const places = findKeyPlaces(unknown);
  if (places.length === 0) return undefined;
  const isKnown = places.every((object) => isKnownAs(unknown, [...object, key]));
  const repaired = places.length === 1 ? places.map((object) => [...object, key]) : [];
  return { ...placesHint(unknown, places), isKnown, repaired };
}

/** A key of another option of the union: `encoding` is one of scheme hmac, not of github. */
function otherKind(unknown: UnknownKey): MeantKey | undefined {
  const { root, schema, path, key } = unknown;
  const kinds = kindsWith(schema, { path, key, root: root.value });
  if (kinds === undefined) return undefined;
  const { name, own, others } = kinds;
  const there = [...path, key];
  const value = root.at(there).value;
  return {
    isKnown: !isSecretPath(there) && findSchemas(schema, there).some((one) => one.safeParse(value).success),
    hint: `${key} is a key of ${name}: ${others.slice(0, MAX_KINDS).join(' or ')}, not of ${name}: ${own}; remove it, or choose the other ${name}`,
  };
}

/** The one key that is missing, where one is unknown and its value fits: `login` for `user`. */
function lastMissing(unknown: UnknownKey): MeantKey | undefined {
  const { root, path } = unknown;
  const missing = missingKeys(unknown);
  const known = knownHere(unknown);
  const others = Object.keys(root.at(path).value ?? {}).filter((name) => !known.includes(name));
  const [name] = missing;
  if (name === undefined || missing.length > 1 || others.length > 1) return undefined;
  return isKnownAs(unknown, [...path, name])
    ? { hint: `did you mean "${name}", which is missing?`, repaired: [[...path, name]] }
    : undefined;
}

/** What the room knows of the word in an object around this one. */
function outerWord({ advice: { keys = {} }, path, key }: UnknownKey): MeantKey | undefined {
  const words = path.map((_, index) => keyText([...path.slice(0, path.length - 1 - index), key]));
  const word = words.find((each) => Object.hasOwn(keys, each));
  const advice = word === undefined ? undefined : keys[word];
  return advice === undefined
    ? undefined
    : {
        hint:
          advice.rename === undefined ? advice.hint : `it does not belong here, but outside: ${advice.hint}`,
      };
}

/** Whether the value is one of another key. */
function isKnownAs(unknown: UnknownKey, other: Path): boolean {
  const { root, path, key } = unknown;
  return takesAt(unknown, other, root.at([...path, key]).value);
}

function knownHere({ root, schema, path }: UnknownKey): readonly string[] {
  return [...new Set(findSchemasOf(schema, path, root.value).flatMap(knownKeys))];
}

function missingKeys(unknown: UnknownKey): readonly string[] {
  const { root, schema, path } = unknown;
  return knownHere(unknown).filter(
    (key) => root.at([...path, key]).value === undefined && !findMeaning(schema, [...path, key]).optional,
  );
}

function allKeys(unknown: UnknownKey): string {
  const known = knownHere(unknown);
  return known.length <= MAX_KEYS ? `; the keys here are: ${known.join(', ')}` : '';
}
