import { quoted, shorten, type Finding, type Place } from '../finding.ts';
import type { z } from 'zod';
import { type LocatedValue, type Path, formatPath } from './located.ts';
import { describeValue } from './describe-value.ts';
import { didYouMean } from './did-you-mean.ts';
import type { DocumentFacts, PartFacts, SchemaName } from './finding-facts.ts';
import { isBelowSecret, isSecretPath, valuesAt } from './secret-ranges.ts';
import { findSchemasOf, kindsAt, knownKeys } from './schema-keys.ts';

/**
 * Checks a part of a document against a schema. All findings at once, each at its place: UNKNOWN_KEY, MISSING_KEY,
 * WRONG_TYPE, INVALID_VALUE. `of` names what the schema is for.
 */
export function validate<S extends z.ZodType>(
  located: LocatedValue,
  schema: S,
  of?: SchemaName,
): { readonly value?: z.output<S>; readonly findings: readonly Finding[] } {
  const result = schema.safeParse(located.value);
  return result.success
    ? { value: result.data, findings: [] }
    : { findings: fromZodError(result.error, located, schema, of) };
}

/** The findings behind a zod error, in the file's order; `schema` is the one that made it, for the names of known keys. */
export function fromZodError(
  error: z.ZodError,
  root: LocatedValue,
  schema: z.ZodType,
  of?: SchemaName,
): readonly Finding[] {
  const mistyped = new Set(
    error.issues.filter(({ code }) => code === 'invalid_type').map((issue) => formatPath(pathOf(issue))),
  );
  const context: IssueContext = { root, schema, base: [], ...(of === undefined ? {} : { of }) };
  return error.issues
    .filter(
      (issue) => issue.code === 'invalid_type' || !isBound(issue) || !mistyped.has(formatPath(pathOf(issue))),
    )
    .flatMap((issue) => fromIssue(issue, context))
    .toSorted((a, b) => (a.at?.start ?? 0) - (b.at?.start ?? 0));
}

type Issue = z.core.$ZodIssue;

interface IssueContext extends Omit<PartFacts, 'path'> {
  /** Path before the issue's own, inside a union. */
  readonly base: Path;
}

function fromIssue(issue: Issue, context: IssueContext): readonly Finding[] {
  const path = [...context.base, ...pathOf(issue)];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(context, path, key));
    case 'invalid_type':
      return [wrongType(context, path, [kindName(issue.expected)])];
    case 'invalid_value':
      return [notOneOf(context, path, issue.values)];
    case 'too_small':
    case 'too_big': {
      return [invalid(context, path, `must be ${bound(issue)}`, { check: 'bound' })];
    }
    case 'not_multiple_of':
      return [
        invalid(context, path, `must be a multiple of ${String(issue.divisor)}`, { check: 'multiple' }),
      ];
    case 'invalid_format': {
      const form = issue.message === '' ? `a ${issue.format}` : issue.message.replace(/^must be /, '');
      return [invalid(context, path, `must be ${form}`, { check: 'form' })];
    }
    case 'invalid_union':
      return fromUnion(issue, context, path);
    case 'invalid_key':
      return issue.issues.map(({ code, message }) =>
        wrongName(context, path, code === 'too_small' ? 'a name that is not empty' : message),
      );
    case 'invalid_element':
      return issue.issues.flatMap((inner) => fromIssue(inner, { ...context, base: path }));
    case 'custom':
      return [invalid(context, path, issue.message, { check: 'form' })];
  }
}

const factsAt = ({ root, schema, of }: IssueContext, path: Path): PartFacts => ({
  root,
  schema,
  path,
  ...(of === undefined ? {} : { of }),
});

/** A value that is not allowed; `problem` continues its name. */
function invalid(
  context: IssueContext,
  path: Path,
  problem: string,
  check: Omit<DocumentFacts['INVALID_VALUE'], keyof PartFacts>,
): Finding {
  const { root } = context;
  const part = root.at(path);
  const found = describeValue(part.value, { secret: isSecretPath(path) });
  const facts: DocumentFacts['INVALID_VALUE'] = { ...factsAt(context, path), ...check };
  const message = `${formatPath(part.path)} ${problem}, found ${found}`;
  return finding('INVALID_VALUE', message, root.place(path), facts);
}

function notOneOf(context: IssueContext, path: Path, values: readonly unknown[]): Finding {
  const { value } = context.root.at(path);
  const taken = values.map(String);
  if (value === undefined) return wrongType(context, path, [listed(taken)]);
  const texts = values.map((each) => JSON.stringify(each) ?? '');
  const problem = `must be ${listed(texts)}`;
  return invalid(context, path, problem, { check: 'values', taken });
}

function wrongName(context: IssueContext, path: Path, message: string): Finding {
  const { root } = context;
  const problem = `${formatPath(root.at(path).path)} must be ${message}`;
  const facts: DocumentFacts['INVALID_VALUE'] = { ...factsAt(context, path), check: 'name' };
  return finding('INVALID_VALUE', problem, root.place(path, 'key'), facts);
}

function pathOf(issue: Issue): Path {
  return issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
}

/** Bounds are checked on anything that has a length, so a wrong type would be reported twice. */
function isBound(issue: Issue): boolean {
  return issue.code === 'too_small' || issue.code === 'too_big';
}

/** The branch that came closest: not refused at its own root, fewest findings; else the kinds all branches take. */
function fromUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  context: IssueContext,
  path: Path,
): readonly Finding[] {
  const branches = issue.errors.filter((errors) => !errors.some((inner) => refusedAtRoot(inner)));
  const [best] = branches.toSorted((a, b) => a.length - b.length);
  if (best !== undefined) {
    const inside = { ...context, base: path };
    return best.flatMap((inner) => fromIssue(inner, inside));
  }
  const kinds = [...new Set(kindsAt(context.schema, path))];
  const { value } = context.root.at(path);
  // A discriminator takes fixed texts alone: another is the wrong value, not the wrong type.
  const isOther = typeof value === 'string' && kinds.every((kind) => kind.startsWith('"'));
  const texts = kinds.map((kind) => kind.slice(1, -1));
  return [isOther ? notOneOf(context, path, texts) : wrongType(context, path, kinds)];
}

function refusedAtRoot(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function unknownKey(context: IssueContext, path: Path, key: string): Finding {
  const { root } = context;
  const object = root.at(path).path;
  const where = object.length === 0 ? '' : ` in ${formatPath(object)}`;
  const at = root.place([...path, key], 'key');
  // In the place of a secret the key may be the secret: `token: {secret}`.
  const isSecret = isBelowSecret(path) && root.at([...path, key]).value === null;
  const facts: DocumentFacts['UNKNOWN_KEY'] = { ...factsAt(context, path), key };
  return {
    ...finding('UNKNOWN_KEY', `unknown key${isSecret ? '' : ` "${shorten(key)}"`}${where}`, at, facts),
    hides: [
      ...(isSecret ? [{ start: at.start, end: at.end }] : []),
      ...(mayBeSecret(context, path, key)
        ? valuesAt(root, [...path, key], { areAll: didYouMean(key, SECRET_WORDS) !== undefined })
        : []),
    ],
  };
}

/** What the keys of secrets are called, for those that are misspelt. */
const SECRET_WORDS = ['token', 'secret', 'password', 'passphrase', 'apiKey', 'credentials', 'signingKey'];

/** Whether an unknown key may be a misspelt one of a secret: by its look, or because one stands in the same object. */
function mayBeSecret({ root, schema }: IssueContext, path: Path, key: string): boolean {
  const known = findSchemasOf(schema, path, root.value).flatMap(knownKeys);
  return (
    known.length === 0 ||
    [...known, key].some((name) => isSecretPath([...path, name])) ||
    didYouMean(key, SECRET_WORDS) !== undefined
  );
}

function wrongType(context: IssueContext, path: Path, expected: readonly string[]): Finding {
  const { root } = context;
  const part = root.at(path);
  const at = root.place(path);
  const name = formatPath(part.path);
  const wanted = expected.join(' or ');
  const facts = factsAt(context, path);
  if (part.value === undefined)
    return finding('MISSING_KEY', `${name} is missing, expected ${wanted}`, at, facts);
  const found = describeValue(part.value, { secret: isSecretPath(path) });
  return finding('WRONG_TYPE', `${name} must be ${wanted}, found ${found}`, at, { ...facts, expected });
}

function finding(code: keyof DocumentFacts, message: string, at: Place, facts: object): Finding {
  return { severity: 'error', code, message: quoted(message), at, facts };
}

/** A bound of a text, a list or a number in words. */
function bound(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const [limit, word] =
    issue.code === 'too_small'
      ? [issue.minimum, issue.inclusive === false ? 'above' : 'at least']
      : [issue.maximum, issue.inclusive === false ? 'below' : 'at most'];
  const text = String(limit);
  if (issue.origin === 'string') {
    const isBlankRule = issue.code === 'too_small' && text === '1';
    return isBlankRule ? 'a string that is not empty' : `${word} ${text} characters long`;
  }
  if (issue.origin === 'array') return `a list of ${word} ${text} ${text === '1' ? 'entry' : 'entries'}`;
  return `${word} ${text}`;
}

/** A kind of value as messages call it. */
function kindName(expected: string): string {
  switch (expected) {
    case 'array':
      return 'a list';
    case 'object':
    case 'record':
      return 'an object';
    case 'int':
      return 'a whole number';
    case 'null':
      return 'null';
    default:
      return `a ${expected}`;
  }
}

function listed(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? '') : `one of ${values.join(', ')}`;
}
