import { didYouMean, isSecretPath, type Path, replaceWithin } from '../../../base/document/document.ts';
import {
  findSchemasOf,
  formatPath,
  knownKeys,
  longerWord,
  type PartFacts,
  type SchemaName,
  spelling,
  type UnknownKeyFacts,
} from '../../../base/document/facts.ts';
import type { Finding } from '../../../base/finding.ts';
import { SESSION_KEYS } from '../../../engine/config/facts.ts';
import { MAPPING_KEYS } from '../../../engine/mapping/mapping.ts';
import { findKeyPlace, placeHint, takesAt } from '../key-places.ts';
import type { Join, Rules } from '../rule.ts';

interface KeyAdvice {
  readonly hint: string;
  /** Whether the meaning of the value is known, and so which part of it is a secret. */
  readonly isKnown?: boolean;
  readonly rename?: string | undefined;
  /** The key that is there when the hint was followed. */
  readonly repaired?: Path;
}

const MAX_KEYS = 20;

/** Matches `<<: *common`, a merge key of YAML 1.1. */
const mergeKey = ({ key }: UnknownKeyFacts): KeyAdvice | undefined =>
  key === '<<'
    ? { hint: 'write the keys that it stands for in its place: YAML 1.2 has no merge keys' }
    : undefined;

const keyOfEach = ({ of, path, key }: UnknownKeyFacts): KeyAdvice | undefined =>
  of === 'mapping file' && path.length === 0 && MAPPING_KEYS.has(key)
    ? {
        hint: `move it into each mapping that it is for: ${key} is a key of a mapping, and a file has none for all`,
      }
    : undefined;

/** A name that differs only in its spelling, or by an s, belongs to this object. */
function otherPlace(unknown: UnknownKeyFacts): KeyAdvice | undefined {
  const { key } = unknown;
  const written = [spelling(key), spelling(key).replace(/s$/, '')];
  const longer = longerWord(key, knownHere(unknown));
  if (longer !== undefined && takesAt(unknown, [...unknown.path, longer], valueOf(unknown))) return undefined;
  if (knownHere(unknown).some((name) => written.includes(spelling(name)))) return undefined;
  const place = findKeyPlace(unknown);
  return place && { hint: placeHint(unknown, place), isKnown: true, repaired: [...place, key] };
}

const ofOpenClaw = ({ path, key }: UnknownKeyFacts): KeyAdvice | undefined => {
  const ours = path.join('.') === 'hooks' ? SESSION_KEYS[key] : undefined;
  return ours === undefined ? undefined : { hint: `write sessionKeys: {${ours}: …} in its place` };
};

const valueOf = ({ root, path, key }: UnknownKeyFacts): unknown => root.at([...path, key]).value;

/** Nothing is renamed to a name that is already used. */
function nearKey(unknown: UnknownKeyFacts): KeyAdvice | undefined {
  const { root, path, key } = unknown;
  const names = knownHere(unknown);
  const near = didYouMean(key, names);
  const name = near ?? longerWord(key, names);
  if (name === undefined) return undefined;
  const there = [...path, name];
  if (root.at(there).value !== undefined) return { hint: `remove it, as ${name} is there already` };
  const isFit = takesAt(unknown, there, valueOf(unknown));
  if (near === undefined && !isFit) return undefined;
  return {
    hint: `did you mean "${name}"?`,
    isKnown: isFit && !isSecretPath(there),
    repaired: there,
    rename: near,
  };
}

interface OtherWord {
  /** The file, the objects around the key, and the key. */
  readonly place: RegExp;
  readonly hint: string;
  /** The key that stands in its place then. */
  readonly to?: string;
}

/** What is written here for keys of other tools. */
const OTHER_WORDS: readonly OtherWord[] = [
  {
    place: /^mapping (match )?(headers?|events?|filters?|conditions?|if)$/,
    hint: `write what is asked for in match, as when: {'===': [{var: headers.x-github-event}, push]}, or with the name of a field in place of headers.…; a secret in a header belongs in verify`,
  },
  {
    place: /^mapping (\w*[sS]ecret|signature)$/,
    hint: `write verify: {scheme: NAME, secrets: ['\${SECRET}']} beside match: NAME is a scheme of docs/senders.md, and SECRET a variable of the environment`,
  },
  {
    place: /^mapping (prompt|template|body)$/,
    hint: `rename it to messageTemplate, where {{name}} prints a field of the request; what is only your own words is instructions`,
  },
  {
    place: /^mapping agent(Id)?$/,
    hint: `write runner: NAME, one of gateway.runners, such as one of kind: openclaw with agent: …; without it gateway.runner takes the turn`,
  },
  {
    place: /^mapping verify (\w+[sS]ecret|\w*([tT]oken|[kK]ey)|password|value)$/,
    hint: `write secrets: ['\${NAME}'] in its place, a list; NAME is the variable of the environment that has it`,
    to: 'secrets',
  },
  {
    place: /^mapping verify secrets \d+ (env|var|name)$/,
    hint: `write file: PATH in its place, or '\${NAME}' in place of the braces and all in them, with the name of the variable`,
    to: 'file',
  },
  {
    place: /^mapping challenge \w+[tT]oken$/,
    hint: `write token: '\${NAME}' in its place`,
    to: 'token',
  },
  {
    place: /^mapping dedupe (header|field|path)$/,
    hint: `write key: '{{headers.NAME}}' in its place, with the name of the header in small letters, or key: '{{NAME}}' for a field of the body`,
    to: 'key',
  },
  {
    place: / runners?( \w+)? (command|cmd|exec|script)$/,
    hint: `write argv: [claude, -p, '{{prompt}}'] in its place: the command and each of its words, as a list`,
    to: 'argv',
  },
];

function otherWord({ of, root, path, key }: UnknownKeyFacts): KeyAdvice | undefined {
  const written = [of ?? '', ...path, key].join(' ');
  const word = OTHER_WORDS.find(({ place }) => place.test(written));
  if (word?.to === undefined) return word && { hint: word.hint };
  const there = [...path, word.to];
  return root.at(there).value === undefined
    ? { hint: word.hint, repaired: there }
    : { hint: `remove it, as ${word.to} is there already` };
}

const PAGES: Readonly<Record<SchemaName, string>> = {
  configuration: 'docs/configuration.md',
  mapping: 'docs/mappings.md',
  'mapping file': 'docs/mappings.md',
  'request file': 'docs/cases-and-transforms.md',
  'sender file': 'docs/senders.md',
};

function noWord(unknown: UnknownKeyFacts): KeyAdvice {
  const known = knownHere(unknown);
  const page = unknown.of === undefined ? '' : `; ${PAGES[unknown.of]} lists the keys`;
  return {
    hint: `remove it${known.length <= MAX_KEYS ? `; the keys here are: ${known.join(', ')}` : page}`,
  };
}

function knownHere({ root, schema, path }: UnknownKeyFacts): readonly string[] {
  return [...new Set(findSchemasOf(schema, path, root.value).flatMap(knownKeys))];
}

const adviceOn = (unknown: UnknownKeyFacts): KeyAdvice =>
  mergeKey(unknown) ??
  ofOpenClaw(unknown) ??
  keyOfEach(unknown) ??
  otherWord(unknown) ??
  otherPlace(unknown) ??
  nearKey(unknown) ??
  noWord(unknown);

export const UNKNOWN_KEYS: Rules = {
  UNKNOWN_KEY: [
    (facts, { at, hides = [] }) => {
      const { hint, rename, isKnown = false } = adviceOn(facts);
      const edit = rename === undefined ? undefined : at && replaceWithin(at, facts.key, rename);
      // Where the value is known to be no secret, only the key stays hidden, which may be a secret
      // itself.
      return { hint, edit, ...(isKnown && { hides: hides.filter(({ start }) => start === at?.start) }) };
    },
  ],
};

const wholePath = ({ root, path }: Pick<PartFacts, 'root' | 'path'>): string =>
  formatPath(root.at(path).path);

function repairedIn({ code, facts }: Finding): readonly string[] {
  if (code !== 'UNKNOWN_KEY' || facts === undefined) return [];
  const unknown = facts as UnknownKeyFacts;
  const { repaired: path } = adviceOn(unknown);
  return path === undefined ? [] : [wholePath({ ...unknown, path })];
}

/**
 * A key may be missing only because it stands there under another name, or in another place. Then one
 * finding reports both.
 */
export const joinedKeys: Join = {
  on: ['UNKNOWN_KEY', 'MISSING_KEY'],
  join: (found) => {
    if (!found.some(({ code }) => code === 'MISSING_KEY')) return found;
    const repaired = new Set(found.flatMap(repairedIn));
    return found.filter(
      ({ code, facts }) => code !== 'MISSING_KEY' || !repaired.has(wholePath(facts as PartFacts)),
    );
  },
};
