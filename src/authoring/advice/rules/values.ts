/** Values that are missing, of another kind than the one that is wanted, or not among those that are taken. */
import { isSecretPath } from '../../../base/document/document.ts';
import { formatPath, type PartFacts } from '../../../base/document/facts.ts';
import { type Confidence, type Finding, quoted } from '../../../base/finding.ts';
import type { Facts } from '../facts.ts';
import { type AnyRule, hint, near, nearName, rule } from '../rule.ts';
import { findMeaning } from '../schema.ts';
import { formHint, sameValue, type ValueHint } from '../value-forms.ts';
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

const EMPTY =
  'give it a value, or remove the key; lines that belong to the key must be indented deeper than the key';

/** A secret is kept outside of the file. */
const SECRET =
  "put the secret itself into the environment or a file, and write where it is: ['${NAME}'] or [{file: PATH}]";

function ofMissing({ root, schema, path }: PartFacts): string {
  const { description } = findMeaning(schema, path);
  const object = formatPath(root.at(path.slice(0, -1)).path);
  return `add "${String(path.at(-1))}" to ${object}${description === undefined ? '' : `: ${description}`}`;
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

export const VALUES: readonly AnyRule[] = [
  value('WRONG_TYPE', 'same-value', 'likely', (facts, { at }) =>
    at === undefined || isSecretPath(facts.path) ? undefined : sameValue(valueOf(facts), facts.expected, at),
  ),
  hint('WRONG_TYPE', ['comment-in-its-place', 'likely'], (facts, { at }) =>
    at !== undefined && valueOf(facts) === null ? findCommentValue(at) : undefined,
  ),
  hint('WRONG_TYPE', ['empty', 'guess'], (facts) => (valueOf(facts) === null ? EMPTY : undefined)),
  hint('WRONG_TYPE', ['form', 'guess'], ({ schema, path, expected }) =>
    path.at(-1) === 'secrets' ? SECRET : formHint(schema, path, expected),
  ),
  hint('MISSING_KEY', ['meaning', 'certain'], ofMissing),
  value('INVALID_VALUE', 'long-number', 'certain', (facts) =>
    facts.check === 'form' ? longNumber(facts) : undefined,
  ),
  hint('INVALID_VALUE', ['name', 'certain'], ({ check }) =>
    check === 'name' ? 'rename the key' : undefined,
  ),
  hint('INVALID_VALUE', ['secret', 'certain'], ({ path }) => (path.includes('secrets') ? SECRET : undefined)),
  nearName('INVALID_VALUE', (facts) => {
    const written = valueOf(facts);
    return near(typeof written === 'string' ? written : '', facts.taken ?? []);
  }),
  hint('INVALID_VALUE', ['meaning', 'guess'], meaning),
];
