import { holdsCredentials, isSecretPath, type Path } from '../../../base/document/document.ts';
import {
  definitionOf,
  findSchemas,
  formatPath,
  knownKeys,
  longerWord,
  type PartFacts,
  spelling,
  wrappedBy,
} from '../../../base/document/facts.ts';
import type { Place } from '../../../base/finding.ts';
import { findSender } from '../../../engine/senders/senders.ts';
import { writtenProof } from '../proofs/written-verify.ts';
import { type Advice, nearName, type Rules } from '../rule.ts';
import { findCommentValue } from '../yaml/line-errors.ts';

const keyOf = ({ path }: PartFacts): string => String(path.at(-1));
const valueOf = ({ root, path }: PartFacts): unknown => root.at(path).value;

const EMPTY =
  'give it a value, or remove the key; lines that belong to the key must be indented deeper than the key';

const SECRET =
  "put the secret itself into the environment or a file, and write where it is: ['${NAME}'] or [{file: PATH}]";

function sameValue(value: unknown, expected: readonly string[], at: Place): Advice | undefined {
  const written = at.source.text.slice(at.start, at.end);
  const wants = (kind: string): boolean => expected.includes(kind);
  const become = (hint: string, text: string): Advice => ({ hint, edit: { at, text } });
  if (wants('a boolean')) {
    if (/^["'](?:true|false)["']$/.test(written)) return become('remove the quotes', written.slice(1, -1));
    // YAML 1.1 reads such words as a boolean.
    const isTrue = /^(?:yes|on)$/i.test(written);
    if (isTrue || /^(?:no|off)$/i.test(written)) return become(`write ${isTrue}`, String(isTrue));
  }
  if (wants('a number') || wants('a whole number'))
    if (/^["']-?\d+(?:\.\d+)?["']$/.test(written)) return become('remove the quotes', written.slice(1, -1));
  if (wants('a string')) {
    if (typeof value === 'number' || typeof value === 'boolean')
      return become('put it in quotes', `"${written}"`);
    // A template or placeholder without quotes is a map.
    if (/^\{\{?[\w .-]+\}\}?$/.test(written)) return become('put it in quotes', `'${written}'`);
    const [only, ...more]: readonly unknown[] = Array.isArray(value) ? value : [];
    if (typeof only === 'string' && more.length === 0 && !holdsCredentials(only))
      return become('write it without [ ]', JSON.stringify(only));
  }
  if (!wants('a list') || (typeof value !== 'string' && typeof value !== 'number')) return undefined;
  return become('put it in [ ]', `[${/^[|>]|[,\n]/.test(written) ? JSON.stringify(value) : written}]`);
}

const WAYS: Readonly<Record<string, string>> = {
  'a string': 'one text',
  'a list': 'a list, [a, b]',
  'an object': 'keys with values, indented below it or in { }',
  'a boolean': 'true or false',
  'a number': 'a number, without quotes',
  'a whole number': 'a number without a fraction and without quotes',
};

/** Writes how a value of these kinds looks, and the keys of an object where there is one kind. */
function formHint({ schema, path, expected }: PartFacts & { readonly expected: readonly string[] }): string {
  const kinds = `write ${expected.map((kind) => WAYS[kind] ?? kind).join(' or ')}`;
  const shapes = findSchemas(schema, path).map(knownKeys);
  const [keys = [], ...others] = shapes.filter((each) => each.length > 0);
  const isListed = expected.includes('an object') && others.length === 0 && keys.length > 0;
  return isListed && keys.length <= MAX_KEYS ? `${kinds}; its keys are: ${keys.join(', ')}` : kinds;
}

const MAX_KEYS = 20;

const GENERAL_SCHEMES =
  'write the general scheme by which this sender proves itself: hmac for a signature with a secret, header or token where it sends the secret itself, basic for a user and a password, or oidc for a signed token (JWT); docs/senders.md shows their keys';
const SCHEME_WORDS: Readonly<Record<string, string>> = { bearer: 'token', apikey: 'header', jwt: 'oidc' };

/** Says how a scheme is written that was called by its hash, or by a sender without a scheme of its own. */
function otherScheme(written: string): string | undefined {
  const [, hash] = /^(?:hmac[-_]?)?sha-?(1|256|384|512)$/i.exec(written) ?? [];
  const algorithm = hash === '256' ? '' : `, algorithm: sha${hash}`;
  if (hash !== undefined)
    return `write scheme: hmac${algorithm}, header: NAME with the header of the signature, and prefix: TEXT where a text stands before it there`;
  const verify = findSender(written)?.verify;
  const word = SCHEME_WORDS[spelling(written)];
  if (word !== undefined) return `write scheme: ${word}`;
  return verify && `write scheme: ${writtenProof(verify)}`;
}

function longNumber(facts: PartFacts): Advice | undefined {
  const at = facts.root.place(facts.path);
  const text = `"${at.source.text.slice(at.start, at.end)}"`;
  const written = valueOf(facts);
  return typeof written === 'number' && !Number.isSafeInteger(written) && /^"-?\d+"$/.test(text)
    ? { hint: `write ${keyOf(facts)}: ${text}`, edit: { at, text } }
    : undefined;
}

/** Says what the schema says about a value, or else that it may be left out or has to be corrected. */
function meaning(schema: PartFacts['schema'], path: Path): string {
  // The list describes its elements.
  const named = path.slice(0, path.findLastIndex((step) => typeof step === 'string') + 1);
  const { description, optional } = findMeaning(schema, named);
  if (description !== undefined) return `correct it; ${String(named.at(-1))}: ${description}`;
  return optional ? 'correct it, or remove the key: it is optional' : 'correct the value';
}

/** Returns the description of a key without its full stop, and whether the key may be left out. */
function findMeaning(
  schema: PartFacts['schema'],
  path: Path,
): { readonly description?: string; readonly optional: boolean } {
  const key = path.at(-1);
  if (typeof key !== 'string') return { optional: false };
  const layers = findSchemas(schema, path.slice(0, -1)).flatMap((parent) =>
    layersOf(definitionOf(parent).shape?.[key]),
  );
  const described = layers.find(({ description }) => description !== undefined);
  const description = described?.description?.replace(/\.$/, '');
  const optional = layers.some((layer) => OPTIONAL.has(definitionOf(layer).type));
  return { optional, ...(description === undefined ? {} : { description }) };
}

const OPTIONAL: ReadonlySet<string> = new Set(['optional', 'default', 'prefault']);

function layersOf(schema: PartFacts['schema'] | undefined): readonly PartFacts['schema'][] {
  return schema === undefined ? [] : [schema, ...layersOf(wrappedBy(definitionOf(schema)))];
}

export const VALUES: Rules = {
  WRONG_TYPE: [
    (facts, { at }) =>
      at === undefined || isSecretPath(facts.path)
        ? undefined
        : sameValue(valueOf(facts), facts.expected, at),
    (facts, { at }) => (valueOf(facts) === null ? ((at && findCommentValue(at)) ?? EMPTY) : undefined),
    (facts) => (keyOf(facts) === 'secrets' ? SECRET : formHint(facts)),
  ],
  MISSING_KEY: [
    ({ root, schema, path }) => {
      const { description } = findMeaning(schema, path);
      const object = formatPath(root.at(path.slice(0, -1)).path);
      return `add "${String(path.at(-1))}" to ${object}${description === undefined ? '' : `: ${description}`}`;
    },
  ],
  INVALID_VALUE: [
    (facts) => (facts.check === 'form' ? longNumber(facts) : undefined),
    ({ check }) => (check === 'name' ? 'rename the key' : undefined),
    ({ path }) => (path.includes('secrets') ? SECRET : undefined),
    (facts) => (keyOf(facts) === 'scheme' ? otherScheme(String(valueOf(facts))) : undefined),
    (facts, finding) => {
      const written = valueOf(facts);
      if (typeof written !== 'string') return undefined;
      const longer = longerWord(written, facts.taken ?? []);
      return nearName(written, facts.taken ?? [], finding) ?? (longer && `did you mean "${longer}"?`);
    },
    (facts) => (keyOf(facts) === 'scheme' ? GENERAL_SCHEMES : undefined),
    ({ schema, path }) => meaning(schema, path),
  ],
};
