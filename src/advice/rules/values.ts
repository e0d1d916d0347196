/** Values that are missing, of another kind than the one that is wanted, or not among those that are taken. */
import {
  didYouMean,
  isSecretPath,
  meantSeconds,
  type ValueHint,
  replaceWithin,
} from '../../document/document.ts';
import { findSchemas, formatPath, keyText, type PartFacts } from '../../document/facts.ts';
import { type Finding, quoted, say } from '../../finding.ts';
import { type AnyRule, type Fix, rule } from '../rule.ts';
import { findMeaning } from '../schema.ts';
import { otherShape } from '../values/other-shapes.ts';
import { guessValue } from '../values/units.ts';
import { formHint } from '../values/written-forms.ts';
import { meantValue, wordsOf } from '../words.ts';
import { findCommentValue } from '../yaml/text-slips.ts';

const write = ({ text }: ValueHint, { at }: Finding): Fix | undefined =>
  at === undefined || text === undefined ? undefined : { edit: { at, text } };

const keyOf = ({ path }: PartFacts): string => String(path.at(-1));
const valueOf = ({ root, path }: PartFacts): unknown => root.at(path).value;

/** A number that is too long to be one, as it stands in the file. */
function longNumber(facts: PartFacts): ValueHint | undefined {
  const { source, start, end } = facts.root.place(facts.path);
  const text = `"${source.text.slice(start, end)}"`;
  const value = valueOf(facts);
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^"-?\d+"$/.test(text)
    ? { hint: `write ${keyOf(facts)}: ${text}`, text }
    : undefined;
}

/** What a value means, where the schema says so; else that it may be left out, or has to be corrected. */
function meaning({ schema, path }: PartFacts): string {
  const { description, optional } = findMeaning(schema, path);
  if (description !== undefined) return `${String(path.at(-1))}: ${description}`;
  return optional ? 'correct it, or remove the key: it is optional' : 'correct the value';
}

const WRONG_TYPE: readonly AnyRule[] = [
  rule({
    on: 'WRONG_TYPE',
    name: 'value-of-others',
    confidence: 'certain',
    find: (facts) => {
      const meant = meantValue(facts);
      // Of a secret only what is to be written, never what would repeat it.
      return meant !== undefined && isSecretPath(facts.path) ? { hint: meant.hint } : meant;
    },
    say: ({ hint }) => quoted(hint),
    fix: write,
  }),
  rule({
    on: 'WRONG_TYPE',
    name: 'written-number-or-flag',
    confidence: 'certain',
    find: (facts) => guessValue(keyOf(facts), valueOf(facts), facts.expected),
    say: ({ hint }) => quoted(hint),
    fix: write,
  }),
  rule({
    on: 'WRONG_TYPE',
    name: 'other-shape',
    confidence: 'likely',
    find: (facts, { at }) => {
      const { schema, path, expected } = facts;
      const value = valueOf(facts);
      const schemas = findSchemas(schema, path);
      return (
        at && otherShape({ key: keyOf(facts), secret: isSecretPath(path), value, expected, schemas, at })
      );
    },
    say: ({ hint }) => quoted(hint),
    fix: write,
  }),
  rule({
    on: 'WRONG_TYPE',
    name: 'comment-in-its-place',
    confidence: 'likely',
    find: (facts, { at }) => (at !== undefined && valueOf(facts) === null ? findCommentValue(at) : undefined),
    say: quoted,
  }),
  rule({
    on: 'WRONG_TYPE',
    name: 'empty',
    confidence: 'guess',
    find: (facts) => (valueOf(facts) === null ? true : undefined),
    say: () =>
      say`give it a value, or remove the key; lines that belong to the key must be indented deeper than the key`,
  }),
  rule({
    on: 'WRONG_TYPE',
    name: 'form',
    confidence: 'guess',
    find: ({ schema, path, expected }) => formHint(schema, path, expected),
    say: quoted,
  }),
];

const MISSING_KEY: readonly AnyRule[] = [
  rule({
    on: 'MISSING_KEY',
    name: 'of-what-stands-beside',
    confidence: 'certain',
    find: (facts) => {
      const { root, path } = facts;
      return wordsOf(facts).missing?.(keyText(path), root.at(path.slice(0, -1)).value);
    },
    say: quoted,
  }),
  rule({
    on: 'MISSING_KEY',
    name: 'meaning',
    confidence: 'certain',
    find: (facts) => facts,
    say: ({ root, schema, path }) => {
      const { description } = findMeaning(schema, path);
      const object = formatPath(root.at(path.slice(0, -1)).path);
      return say`add "${String(path.at(-1))}" to ${object}${description === undefined ? '' : `: ${description}`}`;
    },
  }),
];

const INVALID_VALUE: readonly AnyRule[] = [
  rule({
    on: 'INVALID_VALUE',
    name: 'milliseconds',
    confidence: 'certain',
    find: (facts) => {
      const { check, limit = 0 } = facts;
      const seconds = check === 'bound' ? meantSeconds(keyOf(facts), valueOf(facts), limit) : undefined;
      return seconds === undefined ? undefined : { key: keyOf(facts), text: String(seconds) };
    },
    say: ({ key, text }) => say`the unit is seconds: write ${key}: ${text}`,
    fix: ({ text }, { at }) => at && { edit: { at, text } },
  }),
  rule({
    on: 'INVALID_VALUE',
    name: 'value-of-others',
    confidence: 'certain',
    find: (facts) => (ASKED.has(facts.check) ? meantValue(facts) : undefined),
    say: ({ hint }) => quoted(hint),
    fix: write,
  }),
  rule({
    on: 'INVALID_VALUE',
    name: 'long-number',
    confidence: 'certain',
    find: (facts) => (facts.check === 'form' ? longNumber(facts) : undefined),
    say: ({ hint }) => quoted(hint),
    fix: write,
  }),
  rule({
    on: 'INVALID_VALUE',
    name: 'name',
    confidence: 'certain',
    find: ({ check }) => (check === 'name' ? true : undefined),
    say: () => say`rename the key`,
  }),
  rule({
    on: 'INVALID_VALUE',
    name: 'near-value',
    confidence: 'likely',
    find: (facts) => {
      const value = valueOf(facts);
      const written = typeof value === 'string' ? value : '';
      const near = didYouMean(written, facts.taken ?? []);
      return near === undefined ? undefined : { written, near };
    },
    say: ({ near }) => say`did you mean "${near}"?`,
    fix: ({ written, near }, { at }) => {
      const edit = at && replaceWithin(at, written, near);
      return edit && { edit };
    },
  }),
  rule({
    on: 'INVALID_VALUE',
    name: 'meaning',
    confidence: 'guess',
    find: (facts) => meaning(facts),
    say: quoted,
  }),
];

/** Checks of which vocabularies know what else was meant. */
const ASKED: ReadonlySet<string> = new Set(['form', 'values']);

export const VALUES: readonly AnyRule[] = [...WRONG_TYPE, ...MISSING_KEY, ...INVALID_VALUE];
