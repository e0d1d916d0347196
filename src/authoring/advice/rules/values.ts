/** Values that are missing, of another kind than the one that is wanted, or not among those that are taken. */
import { isSecretPath } from '../../../base/document/document.ts';
import { type ValueHint, secondsIn } from '../schema-hints.ts';
import { findSchemas, formatPath, keyText, type PartFacts } from '../../../base/document/facts.ts';
import { type Confidence, type Finding, quoted } from '../../../base/finding.ts';
import type { Facts } from '../facts.ts';
import { type AnyRule, hint, near, nearName, rule } from '../rule.ts';
import { findMeaning } from '../schema.ts';
import { likelySeconds } from '../values/long-seconds.ts';
import { otherShape } from '../values/other-shapes.ts';
import { formHint } from '../values/written-forms.ts';
import { valueHint, wordsOf } from '../vocabulary.ts';
import { findCommentValue } from '../yaml/text-errors.ts';

const keyOf = ({ path }: PartFacts): string => String(path.at(-1));
const valueOf = ({ root, path }: PartFacts): unknown => root.at(path).value;

/** A rule that says what to write in place of the whole value. */
const value = <Code extends 'WRONG_TYPE' | 'INVALID_VALUE'>(
  on: Code,
  name: string,
  confidence: Confidence,
  find: (facts: Facts[Code], finding: Finding) => ValueHint | undefined,
): AnyRule =>
  rule({
    on,
    name,
    confidence,
    find,
    say: ({ hint }) => quoted(hint),
    fix: ({ text }, { at }) => (at === undefined || text === undefined ? undefined : { edit: { at, text } }),
  });

function ofOthers(facts: PartFacts): ValueHint | undefined {
  const known = valueHint(facts);
  // Of a secret only what is to be written, never what would repeat it.
  return known !== undefined && isSecretPath(facts.path) ? { hint: known.hint } : known;
}

function inOtherShape(facts: Facts['WRONG_TYPE'], { at }: Finding): ValueHint | undefined {
  const { schema, path, expected } = facts;
  const schemas = findSchemas(schema, path);
  const part = { key: keyOf(facts), secret: isSecretPath(path), value: valueOf(facts), expected, schemas };
  return at && otherShape({ ...part, at });
}

const EMPTY =
  'give it a value, or remove the key; lines that belong to the key must be indented deeper than the key';

function ofMissing({ root, schema, path }: PartFacts): string {
  const { description } = findMeaning(schema, path);
  const object = formatPath(root.at(path.slice(0, -1)).path);
  return `add "${String(path.at(-1))}" to ${object}${description === undefined ? '' : `: ${description}`}`;
}

function milliseconds(facts: Facts['INVALID_VALUE']): ValueHint | undefined {
  const seconds =
    facts.check === 'bound' ? likelySeconds(keyOf(facts), valueOf(facts), facts.limit ?? 0) : undefined;
  return seconds === undefined
    ? undefined
    : { hint: `write ${keyOf(facts)}: ${seconds}: the unit is seconds`, text: String(seconds) };
}

/** A number that is too long to be one, as it stands in the file. */
function longNumber(facts: PartFacts): ValueHint | undefined {
  const { source, start, end } = facts.root.place(facts.path);
  const text = `"${source.text.slice(start, end)}"`;
  const written = valueOf(facts);
  return typeof written === 'number' && !Number.isSafeInteger(written) && /^"-?\d+"$/.test(text)
    ? { hint: `write ${keyOf(facts)}: ${text}`, text }
    : undefined;
}

/** What a value means, where the schema says so; else that it may be left out, or has to be corrected. */
function meaning({ schema, path }: PartFacts): string {
  // Of an element the list says it.
  const named = path.slice(0, path.findLastIndex((step) => typeof step === 'string') + 1);
  const { description, optional } = findMeaning(schema, named);
  if (description !== undefined) return `correct it; ${String(named.at(-1))}: ${description}`;
  return optional ? 'correct it, or remove the key: it is optional' : 'correct the value';
}

/** Checks of which vocabularies know what else was meant. */
const ASKED: ReadonlySet<string> = new Set(['form', 'values']);

export const VALUES: readonly AnyRule[] = [
  value('WRONG_TYPE', 'value-of-others', 'certain', ofOthers),
  value('WRONG_TYPE', 'written-number-or-flag', 'certain', (facts) =>
    guessValue(keyOf(facts), valueOf(facts), facts.expected),
  ),
  value('WRONG_TYPE', 'other-shape', 'likely', inOtherShape),
  hint('WRONG_TYPE', ['comment-in-its-place', 'likely'], (facts, { at }) =>
    at !== undefined && valueOf(facts) === null ? findCommentValue(at) : undefined,
  ),
  hint('WRONG_TYPE', ['empty', 'guess'], (facts) => (valueOf(facts) === null ? EMPTY : undefined)),
  hint('WRONG_TYPE', ['form', 'guess'], ({ schema, path, expected }) => formHint(schema, path, expected)),
  hint('MISSING_KEY', ['of-what-stands-beside', 'certain'], (facts) => {
    const { root, path } = facts;
    return wordsOf(facts).missing?.(keyText(path), root.at(path.slice(0, -1)).value);
  }),
  hint('MISSING_KEY', ['meaning', 'certain'], ofMissing),
  value('INVALID_VALUE', 'milliseconds', 'certain', milliseconds),
  value('INVALID_VALUE', 'value-of-others', 'certain', (facts) =>
    ASKED.has(facts.check) ? valueHint(facts) : undefined,
  ),
  value('INVALID_VALUE', 'long-number', 'certain', (facts) =>
    facts.check === 'form' ? longNumber(facts) : undefined,
  ),
  hint('INVALID_VALUE', ['name', 'certain'], ({ check }) =>
    check === 'name' ? 'rename the key' : undefined,
  ),
  nearName('INVALID_VALUE', (facts) => {
    const written = valueOf(facts);
    return near(typeof written === 'string' ? written : '', facts.taken ?? []);
  }),
  hint('INVALID_VALUE', ['meaning', 'guess'], meaning),
];

/** In bytes, by the first letter. */
const BYTES: Readonly<Record<string, number>> = { b: 1, k: 1_024, m: 1_048_576, g: 1_073_741_824 };

const bytesIn = (unit: string): number =>
  /^(?:b|[kmg](?:i?b)?)$/i.test(unit) ? (BYTES[unit.charAt(0).toLowerCase()] ?? Number.NaN) : Number.NaN;

/** A number with a unit, a number in quotes, or a word for true and false, where a number or boolean is expected. */
function guessValue(key: string, value: unknown, expected: readonly string[]): ValueHint | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (expected.includes('a boolean')) {
    const isTrue = /^(?:true|yes|on|y)$/i.test(text);
    if (!isTrue && !/^(?:false|no|off|n)$/i.test(text))
      return { hint: 'write true or false, without quotes' };
    return { hint: `write ${isTrue}, without quotes`, text: String(isTrue) };
  }
  if (!expected.includes('a number') && !expected.includes('a whole number')) return undefined;
  if (/^-?\d+(\.\d+)?$/.test(text)) return { hint: 'remove the quotes', text };
  return withUnit(key, text);
}

function withUnit(key: string, text: string): ValueHint | undefined {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text) ?? [];
  if (digits === '') return undefined;
  if (/[Bb]ytes$/.test(key)) return counted(Number(digits) * bytesIn(unit), 'bytes');
  const seconds = secondsIn(text) ?? Number.NaN;
  if (/[Ss]econds$/.test(key)) return counted(seconds, 'seconds');
  if (key.endsWith('Ms')) return counted(seconds * 1_000, 'milliseconds');
  if (/[Hh]ours$/.test(key)) return counted(seconds / 3_600, 'hours');
  return /[Dd]ays$/.test(key) ? counted(seconds / 86_400, 'days') : undefined;
}

function counted(amount: number, unit: string): ValueHint | undefined {
  if (!Number.isInteger(amount)) return undefined;
  return { hint: `write ${String(amount)}: it is a number of ${unit}`, text: String(amount) };
}
