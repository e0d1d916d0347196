/** Keys that are unknown where they stand: words of others, mistyped names, and keys of another object. */
import { didYouMean, isSecretPath, type Path, replaceWithin } from '../../../base/document/document.ts';
import type { KeyHint } from '../schema-hints.ts';
import {
  findSchemas,
  findSchemasOf,
  keyText,
  knownKeys,
  type UnknownKeyFacts,
  longerWord,
  spelling,
} from '../../../base/document/facts.ts';
import { type Confidence, type Finding, quoted } from '../../../base/finding.ts';
import { findKeyPlaces, takesAt, placesHint } from '../keys/key-places.ts';
import { type AnyRule, type Fix, rule } from '../rule.ts';
import { findMeaning, kindsWith } from '../schema.ts';
import { MAX_KEYS } from '../values/written-forms.ts';
import { wordsOf } from '../vocabulary.ts';

/** More kinds are not listed. */
const MAX_KINDS = 4;

/** `<<: *common`, a merge key of YAML 1.1. */
function mergeKey({ key }: UnknownKeyFacts): KeyHint | undefined {
  return key === '<<'
    ? { hint: 'write the keys that it stands for in its place: YAML 1.2 has no merge keys' }
    : undefined;
}

/** What is known of the word. */
function wordOfOthers(unknown: UnknownKeyFacts): KeyHint | undefined {
  const { root, path, key } = unknown;
  const { keys = {} } = wordsOf(unknown);
  const full = keyText([...path, key]);
  const advice = Object.hasOwn(keys, full) ? keys[full] : undefined;
  if (advice?.beside !== undefined && root.at([...path, advice.beside]).value === undefined) return undefined;
  // The other name is taken, so this key was meant as another one: `name` in a match that has its path.
  const isTaken = root.at([...path, advice?.rename ?? '']).value !== undefined;
  if (advice === undefined || (isTaken && otherPlace(unknown) !== undefined)) return undefined;
  const own = advice.hintFor?.(root.at([...path, key]).value, root.at(path).value);
  const { hint, rename, means = rename } = advice;
  return {
    hint: own ?? hint,
    isKnown: own !== undefined || isPlainWord(unknown, rename),
    ...(rename === undefined ? {} : { rename }),
    ...(means === undefined ? {} : { repaired: [[...path, means]] }),
  };
}

/** Whether a word of others has the value of a key that is no secret: of the one that it is called here, or of its own elsewhere. */
function isPlainWord(unknown: UnknownKeyFacts, rename: string | undefined): boolean {
  const { path, key } = unknown;
  const places = rename === undefined ? findKeyPlaces(unknown) : [path];
  const others = places.map((object) => [...object, rename ?? key]);
  return others.length > 0 && others.every((each) => !isSecretPath(each) && isKnownAs(unknown, each));
}

/** The nearest of names that are known here. */
function nearName(unknown: UnknownKeyFacts, names: readonly string[]): KeyHint | undefined {
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

/** The object that the key belongs in; a name that differs in its spelling alone stands here. */
function otherPlace(unknown: UnknownKeyFacts): KeyHint | undefined {
  const { key } = unknown;
  if (knownHere(unknown).some((name) => spelling(name) === spelling(key))) return undefined;
  const places = findKeyPlaces(unknown);
  if (places.length === 0) return undefined;
  const isKnown = places.every((object) => isKnownAs(unknown, [...object, key]));
  const repaired = places.length === 1 ? places.map((object) => [...object, key]) : [];
  return { hint: placesHint(unknown, places), isKnown, repaired };
}

/** A key of another option of the union: `encoding` is one of scheme hmac, not of github. */
function otherKind({ root, schema, path, key }: UnknownKeyFacts): KeyHint | undefined {
  const kinds = kindsWith(schema, { path, key, root: root.value });
  if (kinds === undefined) return undefined;
  const { name, own, others } = kinds;
  const there = [...path, key];
  const value = root.at(there).value;
  return {
    isKnown: !isSecretPath(there) && findSchemas(schema, there).some((one) => one.safeParse(value).success),
    hint: `remove it, or choose the other ${name}: ${key} is a key of ${name}: ${others.slice(0, MAX_KINDS).join(' or ')}, not of ${name}: ${own}`,
  };
}

function noWord(unknown: UnknownKeyFacts): KeyHint {
  const known = knownHere(unknown);
  return { hint: `remove it${known.length <= MAX_KEYS ? `; the keys here are: ${known.join(', ')}` : ''}` };
}

/** Whether the value is one of another key. */
function isKnownAs(unknown: UnknownKeyFacts, other: Path): boolean {
  const { root, path, key } = unknown;
  return takesAt(unknown, other, root.at([...path, key]).value);
}

function knownHere({ root, schema, path }: UnknownKeyFacts): readonly string[] {
  return [...new Set(findSchemasOf(schema, path, root.value).flatMap(knownKeys))];
}

function missingKeys(unknown: UnknownKeyFacts): readonly string[] {
  const { root, schema, path } = unknown;
  return knownHere(unknown).filter(
    (key) => root.at([...path, key]).value === undefined && !findMeaning(schema, [...path, key]).optional,
  );
}

type Find = (unknown: UnknownKeyFacts) => KeyHint | undefined;

/** The first that knows the key speaks. */
const KNOWN: readonly (readonly [name: string, confidence: Confidence, find: Find])[] = [
  ['merge-key', 'certain', mergeKey],
  ['word-of-others', 'certain', wordOfOthers],
  ['key-of-another-file', 'certain', (key) => wordsOf(key).otherFile?.(key.root, [...key.path, key.key])],
  ['other-place', 'likely', otherPlace],
  ['other-kind', 'likely', otherKind],
  ['near-name', 'likely', (key) => nearName(key, knownHere(key))],
  ['no-word', 'guess', noWord],
];

/** What is known of a key. */
export function keyHint(unknown: UnknownKeyFacts): KeyHint {
  for (const [, , find] of KNOWN) {
    const known = find(unknown);
    if (known !== undefined) return known;
  }
  return noWord(unknown);
}

/** Where the other name is taken, nothing is renamed to it. */
function hintBeside({ hint, rename }: KeyHint, { root, path }: UnknownKeyFacts): string {
  const isTaken = rename !== undefined && root.at([...path, rename]).value !== undefined;
  return isTaken ? `remove it, as ${rename} is there already` : hint;
}

/** Rules that may know another name. */
const RENAMING: ReadonlySet<string> = new Set(['word-of-others', 'near-name']);

/** Renamed only where the other name is free: two keys of one name would be the next finding. */
function renamed(
  { rename, facts: { root, path, key } }: KeyHint & { readonly facts: UnknownKeyFacts },
  { at }: Finding,
): Fix | undefined {
  const isFree = rename !== undefined && root.at([...path, rename]).value === undefined;
  const edit = isFree ? at && replaceWithin(at, key, rename) : undefined;
  return edit && { edit };
}

export const UNKNOWN_KEYS: readonly AnyRule[] = KNOWN.map(([name, confidence, find]) =>
  rule({
    on: 'UNKNOWN_KEY',
    name,
    confidence,
    find: (facts) => {
      const known = find(facts);
      return known && { ...known, hint: hintBeside(known, facts), facts };
    },
    say: ({ hint }) => quoted(hint),
    ...(RENAMING.has(name) && { fix: renamed }),
    // Of a value that is known to be no secret.
    shows: ({ isKnown = false }) => isKnown,
  }),
);
