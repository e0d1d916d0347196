/** Keys that are unknown where they stand: mistyped names, and keys of another object. */
import { didYouMean, isSecretPath, type Path, replaceWithin } from '../../../base/document/document.ts';
import {
  findSchemas,
  findSchemasOf,
  knownKeys,
  longerWord,
  type SchemaName,
  spelling,
  type UnknownKeyFacts,
} from '../../../base/document/facts.ts';
import { type Confidence, type Finding, quoted } from '../../../base/finding.ts';
import { MAPPING_KEYS } from '../../../engine/mapping/mapping.ts';
import { findKeyPlace, placeHint, takesAt } from '../key-places.ts';
import { type AnyRule, type Fix, rule } from '../rule.ts';
import { kindsWith } from '../schema.ts';
import { MAX_KEYS } from '../value-forms.ts';

interface KeyHint {
  readonly hint: string;
  /** Whether it is known what the value means, and so, which part of it is a secret. */
  readonly isKnown?: boolean;
  readonly rename?: string;
  /** The key that is there when the hint was followed. */
  readonly repaired?: Path;
}

/** More kinds are not listed. */
const MAX_KINDS = 4;

/** `<<: *common`, a merge key of YAML 1.1. */
function mergeKey({ key }: UnknownKeyFacts): KeyHint | undefined {
  return key === '<<'
    ? { hint: 'write the keys that it stands for in its place: YAML 1.2 has no merge keys' }
    : undefined;
}

/** A key beside `mappings` that is one of a mapping. */
function keyOfEach({ of, path, key }: UnknownKeyFacts): KeyHint | undefined {
  return of === 'mapping file' && path.length === 0 && MAPPING_KEYS.has(key)
    ? {
        hint: `move it into each mapping that it is for: ${key} is a key of a mapping, and a file has none for all`,
      }
    : undefined;
}

/** The nearest of names that are known here; where that name is taken, nothing is renamed to it. */
function nearName(unknown: UnknownKeyFacts): KeyHint | undefined {
  const { root, path, key } = unknown;
  const names = knownHere(unknown);
  const near = didYouMean(key, names);
  const name = near ?? longerWord(key, names);
  if (name === undefined) return undefined;
  const there = [...path, name];
  if (root.at(there).value !== undefined) return { hint: `remove it, as ${name} is there already` };
  const isFit = isKnownAs(unknown, there);
  return {
    hint: `did you mean "${name}"?`,
    isKnown: isFit && !isSecretPath(there),
    repaired: there,
    ...(near === undefined ? {} : { rename: near }),
  };
}

/** The object that the key belongs in; a name that differs in its spelling alone stands here. */
function otherPlace(unknown: UnknownKeyFacts): KeyHint | undefined {
  const { key } = unknown;
  if (knownHere(unknown).some((name) => spelling(name) === spelling(key))) return undefined;
  const place = findKeyPlace(unknown);
  return place && { hint: placeHint(unknown, place), isKnown: true, repaired: [...place, key] };
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

/** Where keys are listed that are too many for a hint. */
const PAGES: Readonly<Record<SchemaName, string>> = {
  configuration: 'docs/configuration.md',
  mapping: 'docs/mappings.md',
  'mapping file': 'docs/mappings.md',
  'request file': 'docs/golden-cases.md',
  'sender file': 'docs/senders.md',
};

function noWord(unknown: UnknownKeyFacts): KeyHint {
  const known = knownHere(unknown);
  const page = unknown.of === undefined ? '' : `; ${PAGES[unknown.of]} lists the keys`;
  return {
    hint: `remove it${known.length <= MAX_KEYS ? `; the keys here are: ${known.join(', ')}` : page}`,
  };
}

/** Whether the value is one of another key. */
function isKnownAs(unknown: UnknownKeyFacts, other: Path): boolean {
  const { root, path, key } = unknown;
  return takesAt(unknown, other, root.at([...path, key]).value);
}

function knownHere({ root, schema, path }: UnknownKeyFacts): readonly string[] {
  return [...new Set(findSchemasOf(schema, path, root.value).flatMap(knownKeys))];
}

type Find = (unknown: UnknownKeyFacts) => KeyHint | undefined;

/** The first that knows the key speaks. */
const KNOWN: readonly (readonly [name: string, confidence: Confidence, find: Find])[] = [
  ['merge-key', 'certain', mergeKey],
  ['key-of-each-mapping', 'certain', keyOfEach],
  ['other-place', 'likely', otherPlace],
  ['other-kind', 'likely', otherKind],
  ['near-name', 'likely', nearName],
  ['no-word', 'guess', noWord],
];

/** The key that is there when what is said of an unknown one was done. */
export const repairedBy = (unknown: UnknownKeyFacts): Path | undefined =>
  KNOWN.map(([, , find]) => find(unknown)).find((known) => known !== undefined)?.repaired;

function renamed(
  { rename, facts: { key } }: KeyHint & { readonly facts: UnknownKeyFacts },
  { at }: Finding,
): Fix | undefined {
  const edit = rename === undefined ? undefined : at && replaceWithin(at, key, rename);
  return edit && { edit };
}

export const UNKNOWN_KEYS: readonly AnyRule[] = KNOWN.map(([name, confidence, find]) =>
  rule({
    on: 'UNKNOWN_KEY',
    name,
    confidence,
    find: (facts) => {
      const known = find(facts);
      return known && { ...known, facts };
    },
    say: ({ hint }) => quoted(hint),
    ...(name === 'near-name' && { fix: renamed }),
    // Of a value that is known to be no secret.
    shows: ({ isKnown = false }) => isKnown,
  }),
);
