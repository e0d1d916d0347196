import { quoted, say } from '../finding.ts';
import type { z } from 'zod';
import type { Finding, Place } from '../finding.ts';
import type { LocatedValue, Path } from './located.ts';
import { describeValue } from './describe-value.ts';
import { didYouMean } from './did-you-mean.ts';
import { replaceWithin, withEdit } from './text-edit.ts';
import { bound, kindName, listed } from './kind-words.ts';
import { formatPath, keyText } from './path-text.ts';
import { findKeySlips, type KeySlips } from './key-slips.ts';
import { otherShape } from './other-shapes.ts';
import { meantKey, type SchemaAdvice } from './meant-key.ts';
import { meantSeconds } from './long-seconds.ts';
import { formHint } from './written-forms.ts';
import { guessValue, type ValueHint } from './value-hints.ts';
import { isBelowSecret, isSecretPath, valuesAt } from './secret-ranges.ts';
import { shorten } from './shorten.ts';
import { findMeaning, findSchemas, findSchemasOf, kindsOf, knownKeys } from './schema-keys.ts';

/**
 * Checks a part of a document against a schema. All findings at once, each at its place: UNKNOWN_KEY (with a
 * did-you-mean), MISSING_KEY, WRONG_TYPE, INVALID_VALUE.
 */
export function validate<S extends z.ZodType>(
  located: LocatedValue,
  schema: S,
  advice: SchemaAdvice = {},
): { readonly value?: z.output<S>; readonly diagnostics: readonly Finding[] } {
  const result = schema.safeParse(located.value);
  return result.success
    ? { value: result.data, diagnostics: [] }
    : { diagnostics: fromZodError(result.error, located, schema, advice) };
}

/** The findings behind a zod error, in the file's order; `schema` is the one that made it, for the names of known keys. */
export function fromZodError(
  error: z.ZodError,
  root: LocatedValue,
  schema: z.ZodType,
  advice: SchemaAdvice = {},
): readonly Finding[] {
  const mistyped = new Set(
    error.issues.filter(({ code }) => code === 'invalid_type').map((issue) => formatPath(pathOf(issue))),
  );
  const repairs: Repairs = { made: new Set(), missing: new Map() };
  const slips = slipsIn(error, root, schema);
  return error.issues
    .filter(
      (issue) => issue.code === 'invalid_type' || !isBound(issue) || !mistyped.has(formatPath(pathOf(issue))),
    )
    .flatMap((issue) => fromIssue(issue, { root, schema, base: [], advice, repairs, told: slips.keys }))
    .concat(slips.diagnostics)
    .filter((found) => !repairs.made.has(repairs.missing.get(found) ?? ''))
    .toSorted((a, b) => (a.at?.start ?? 0) - (b.at?.start ?? 0));
}

/** Slips of keys in the objects that zod names. */
function slipsIn({ issues }: z.ZodError, root: LocatedValue, schema: z.ZodType): KeySlips {
  const found = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? [findKeySlips({ root, schema, path: pathOf(issue), keys: issue.keys })]
      : [],
  );
  return {
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
    keys: new Set(found.flatMap(({ keys }) => [...keys])),
  };
}

type Issue = z.core.$ZodIssue;

interface Context {
  readonly root: LocatedValue;
  readonly schema: z.ZodType;
  /** Path before the issue's own, inside a union. */
  readonly base: Path;
  readonly advice: SchemaAdvice;
  readonly repairs: Repairs;
  /** Paths of which a finding says all. */
  readonly told: ReadonlySet<string>;
}

/** Keys that are missing, by their findings, and those that the remedy of another finding brings: one mistake is one finding. */
interface Repairs {
  readonly made: Set<string>;
  readonly missing: Map<Finding, string>;
}

function fromIssue(issue: Issue, context: Context): readonly Finding[] {
  const path = [...context.base, ...pathOf(issue)];
  switch (issue.code) {
    case 'unrecognized_keys':
      return firstOfGroups(issue.keys, context, path)
        .filter((key) => !context.told.has(formatPath([...path, key])))
        .map((key) => unknownKey(context, path, key));
    case 'invalid_type':
      if (context.told.has(formatPath(path))) return [];
      return [wrongType(context, path, [kindName(issue.expected)])];
    case 'invalid_value':
      return [notOneOf(context, path, issue.values)];
    case 'too_small':
    case 'too_big':
      return [outOfBounds(context, path, issue)];
    case 'not_multiple_of':
      return [invalid(context, path, { problem: `must be a multiple of ${String(issue.divisor)}` })];
    case 'invalid_format':
      return [
        invalidAsAdvised(
          context,
          path,
          `must be ${issue.message === '' ? `a ${issue.format}` : issue.message.replace(/^must be /, '')}`,
        ),
      ];
    case 'invalid_union':
      return fromUnion(issue, context, path);
    case 'invalid_key':
      return issue.issues.map(({ message }) => wrongName(context, path, message));
    case 'invalid_element':
      return issue.issues.flatMap((inner) => fromIssue(inner, { ...context, base: path }));
    case 'custom':
      return [invalidAsAdvised(context, path, issue.message)];
  }
}

/** A value that is not taken; `problem` continues its name. */
function invalid(
  context: Context,
  path: Path,
  {
    problem,
    hint = valueHint(context, path),
  }: { readonly problem: string; readonly hint?: string | undefined },
): Finding {
  const { root } = context;
  const part = root.at(path);
  const found = describeValue(part.value, { secret: isSecretPath(path) });
  return finding(
    'INVALID_VALUE',
    `${formatPath(part.path)} ${problem}, found ${found}`,
    root.place(path),
    hint,
  );
}

/** Too small or too large; seconds that are too many may be milliseconds. */
function outOfBounds(
  context: Context,
  path: Path,
  issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
): Finding {
  const key = String(path.at(-1));
  const { value } = context.root.at(path);
  const limit = issue.code === 'too_big' ? Number(issue.maximum) : 0;
  const seconds = meantSeconds(key, value, limit);
  const hint = seconds === undefined ? undefined : `the unit is seconds: write ${key}: ${seconds}`;
  const found = invalid(context, path, { problem: `must be ${bound(issue)}`, hint });
  const at = context.root.place(path);
  return seconds === undefined ? found : withEdit(found, { at, text: String(seconds) });
}

/** The same with what the room says of the value, where it says something. */
function invalidAsAdvised(context: Context, path: Path, problem: string): Finding {
  const meant = adviceOn(context, path) ?? inQuotes(context, path, problem);
  const found = invalid(context, path, { problem, hint: meant?.hint });
  return meant === undefined ? found : withValue(found, context.root.place(path), meant);
}

/** A number that is too long to be one, as it stands in the file. */
function inQuotes({ root }: Context, path: Path, problem: string): ValueHint | undefined {
  const { source, start, end } = root.place(path);
  const text = `"${source.text.slice(start, end)}"`;
  return problem.startsWith('must be in quotes') && /^"-?\d+"$/.test(text)
    ? { hint: `write ${String(path.at(-1))}: ${text}`, text }
    : undefined;
}

/** A value that is none of those that are taken. */
function notOneOf(context: Context, path: Path, values: readonly unknown[]): Finding {
  const { root } = context;
  const { value } = root.at(path);
  if (value === undefined) return wrongType(context, path, [listed(values.map(String))]);
  const written = typeof value === 'string' ? value : '';
  const taken = values.map((each) => JSON.stringify(each) ?? '');
  const problem = `must be ${listed(taken, written)}`;
  if (adviceOn(context, path) !== undefined) return invalidAsAdvised(context, path, problem);
  const near = didYouMean(written, values.map(String));
  const found = invalid(context, path, { problem, hint: near && `did you mean "${near}"?` });
  return withEdit(found, near === undefined ? undefined : replaceWithin(root.place(path), written, near));
}

function wrongName({ root }: Context, path: Path, message: string): Finding {
  const problem = `${formatPath(root.at(path).path)} must be ${message}`;
  return finding('INVALID_VALUE', problem, root.place(path, 'key'), 'rename the key');
}

/** The keys without those that belong to one before them, as the room says. */
function firstOfGroups(keys: readonly string[], { advice }: Context, path: Path): readonly string[] {
  const groups = keys.map((key) => {
    const full = keyText([...path, key]);
    return advice.keys !== undefined && Object.hasOwn(advice.keys, full)
      ? advice.keys[full]?.group
      : undefined;
  });
  return keys.filter((_, index) => groups[index] === undefined || groups.indexOf(groups[index]) === index);
}

function pathOf(issue: Issue): Path {
  return issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
}

/** Bounds are checked on anything that has a length, so a wrong type would be reported twice. */
function isBound(issue: Issue): boolean {
  return issue.code === 'too_small' || issue.code === 'too_big';
}

/** The branch that came closest: not refused at its own root, fewest findings; else the kinds all branches take. */
function fromUnion(issue: z.core.$ZodIssueInvalidUnion, context: Context, path: Path): readonly Finding[] {
  const branches = issue.errors.filter((errors) => !errors.some((inner) => refusedAtRoot(inner)));
  const [best] = branches.toSorted((a, b) => a.length - b.length);
  // One mistake is one finding, where the whole value is known.
  if (best !== undefined && adviceOn(context, path) !== undefined) return [wrongShape(context, path)];
  if (best !== undefined) return best.flatMap((inner) => fromIssue(inner, { ...context, base: path }));
  const kinds = kindsIn(context, path);
  const { value } = context.root.at(path);
  // A discriminator takes fixed texts alone: another is the wrong value, not the wrong type.
  const isOther = typeof value === 'string' && kinds.every((kind) => kind.startsWith('"'));
  const texts = kinds.map((kind) => kind.slice(1, -1));
  return [isOther ? notOneOf(context, path, texts) : wrongType(context, path, kinds)];
}

/** A value of a right kind that is known to be of another shape than any that is taken. */
function wrongShape(context: Context, path: Path): Finding {
  const found = wrongType(context, path, kindsIn(context, path));
  return { ...found, message: say`${found.message} of another shape` };
}

function kindsIn({ schema }: Context, path: Path): readonly string[] {
  return [...new Set(findSchemas(schema, path).flatMap(kindsOf))];
}

function refusedAtRoot(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function unknownKey(context: Context, path: Path, key: string): Finding {
  const { root, schema, advice, repairs } = context;
  const { hint, isKnown, rename, edit, repaired = [] } = meantKey({ root, schema, advice, path, key });
  for (const each of repaired) repairs.made.add(formatPath(each));
  const object = root.at(path).path;
  const where = object.length === 0 ? '' : ` in ${formatPath(object)}`;
  const at = root.place([...path, key], 'key');
  // In the place of a secret the key may be the secret: `token: {secret}`.
  const isSecret = isBelowSecret(path) && root.at([...path, key]).value === null;
  const found = {
    ...finding('UNKNOWN_KEY', `unknown key${isSecret ? '' : ` "${shorten(key)}"`}${where}`, at, hint),
    hides: [
      ...(isKnown || !mayBeSecret(context, path, key)
        ? []
        : valuesAt(root, [...path, key], { areAll: didYouMean(key, SECRET_WORDS) !== undefined })),
      ...(isSecret ? [{ start: at.start, end: at.end }] : []),
    ],
  };
  // Renamed only where the other name is free: two keys of one name would be the next finding.
  const isFree = rename !== undefined && root.at([...path, rename]).value === undefined;
  return withEdit(found, isFree ? replaceWithin(at, key, rename) : edit);
}

/** What the keys of secrets are called, for those that are misspelt. */
const SECRET_WORDS = ['token', 'secret', 'password', 'passphrase', 'apiKey', 'credentials', 'signingKey'];

/** Whether an unknown key may be a misspelt one of a secret: by its look, or because one stands in the same object. */
function mayBeSecret({ root, schema }: Context, path: Path, key: string): boolean {
  const known = findSchemasOf(schema, path, root.value).flatMap(knownKeys);
  return (
    known.length === 0 ||
    [...known, key].some((name) => isSecretPath([...path, name])) ||
    didYouMean(key, SECRET_WORDS) !== undefined
  );
}

function wrongType(context: Context, path: Path, expected: readonly string[]): Finding {
  const { root } = context;
  const part = root.at(path);
  const wanted = expected.join(' or ');
  if (part.value === undefined) return missingKey(context, path, wanted);
  const secret = isSecretPath(path);
  const message = `${formatPath(part.path)} must be ${wanted}, found ${describeValue(part.value, { secret })}`;
  const at = root.place(path);
  const meant =
    withoutText(adviceOn(context, path), secret) ??
    guessValue(String(path.at(-1)), part.value, expected) ??
    otherShape({
      key: String(path.at(-1)),
      secret,
      value: part.value,
      expected,
      schemas: findSchemas(context.schema, path),
      at,
    });
  if (meant !== undefined) return withValue(finding('WRONG_TYPE', message, at, meant.hint), at, meant);
  if (part.value === null) return { ...finding('WRONG_TYPE', message, at), facts: { isEmpty: true } };
  return finding('WRONG_TYPE', message, at, formHint(context.schema, path, expected));
}

function missingKey({ root, schema, repairs, advice }: Context, path: Path, wanted: string): Finding {
  const { description } = findMeaning(schema, path);
  const object = formatPath(root.at(path.slice(0, -1)).path);
  const message = `${formatPath(root.at(path).path)} is missing, expected ${wanted}`;
  const hint =
    advice.missing?.(keyText(path), root.at(path.slice(0, -1)).value) ??
    `add "${String(path.at(-1))}" to ${object}${description === undefined ? '' : `: ${description}`}`;
  const found = finding('MISSING_KEY', message, root.place(path), hint);
  repairs.missing.set(found, formatPath(path));
  return found;
}

/** What the room says of the value at a path. */
function adviceOn({ root, advice }: Context, path: Path): ValueHint | undefined {
  return advice.value?.(keyText(path), root.at(path).value, root.at(path.slice(0, -1)).value);
}

/** Of a secret only what is to be written, never what would repeat it. */
function withoutText<Hint extends ValueHint | undefined>(meant: Hint, secret: boolean): Hint | ValueHint {
  return meant !== undefined && secret ? { hint: meant.hint } : meant;
}

function withValue(found: Finding, at: Place, { text }: ValueHint): Finding {
  return withEdit(found, text === undefined ? undefined : { at, text });
}

/** What a value means, where the schema says so; else that it may be left out, or has to be corrected. */
function valueHint({ schema }: Context, path: Path): string {
  const { description, optional } = findMeaning(schema, path);
  if (description !== undefined) return `${String(path.at(-1))}: ${description}`;
  return optional ? 'correct it, or remove the key: it is optional' : 'correct the value';
}

function finding(code: string, message: string, at: Finding['at'], hint?: string): Finding {
  return {
    severity: 'error',
    code,
    message: quoted(message),
    ...(at === undefined ? {} : { at }),
    ...(hint === undefined || hint === '' ? {} : { hint: quoted(hint) }),
  };
}
