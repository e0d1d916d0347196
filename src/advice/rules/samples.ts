/** What templates read that samples of requests do not have. */
import { say, type Sentence } from '../../finding.ts';
import { emptyPath } from '../dialects/paths.ts';
import type { AdviceNote, EvaluationAdvice } from '../requests/evaluation-advice.ts';
import { look, replacing, type Found } from '../rule.ts';
import { adviseOnReads } from '../samples/sample-advice.ts';
import type { SampledMapping } from '../samples/sampled-mapping.ts';
import { isSlip } from '../samples/slips.ts';
import { countReads, type CountedRead } from '../samples/template-reads.ts';

function pathsOf(subject: SampledMapping): readonly Found[] {
  const { mapping, taken, scopes, named } = subject;
  if (scopes.length === 0) return [];
  const what = mapping.forEach === undefined ? named(taken) : `elements in ${taken.length} ${named(taken)}`;
  const reads = [...mapping.templates.values()].flatMap((template) =>
    countReads(template, scopes)
      .filter((read) => read.total > 0 && !isKnownEmpty(read))
      .map((read) => ({ ...read, template })),
  );
  const [never, now] = [reads.filter(isNever), reads.filter((read) => !isNever(read))];
  const advice = never.length === 0 ? [] : adviseOnReads(subject, never);
  const others = new Set(now.map(({ path }) => path));
  return [
    ...never.flatMap((read) => unknown(read, { what, others, advice }) ?? []),
    ...now.flatMap((read) => sometimes(read, what, read.template.source)),
  ];
}

const isNever = ({ absent, total }: CountedRead): boolean => absent.length === total;

/** What is told without samples, or is no field of a request. */
function isKnownEmpty({ path, at }: CountedRead): boolean {
  const keys = path.split('.');
  return (
    /^(?:now|path|index|item)$/.test(path) ||
    emptyPath(keys, at, { of: 'template', withItem: true }) !== undefined
  );
}

interface Context {
  /** `samples of issues`. */
  readonly what: string;
  /** Paths that samples have, as they are read. */
  readonly others: ReadonlySet<string>;
  readonly advice: readonly EvaluationAdvice[];
}

function unknown(read: CountedRead, { what, others, advice }: Context): Found | undefined {
  const { path, at, total, blank } = read;
  const isGuarded = blank.length < total;
  const message = say`${path} is absent in ${total} of ${total} ${what}`;
  const [near] = mostFrequent(advice.flatMap(({ instead }) => instead.get(path) ?? []));
  const [only, ...more] = near?.names ?? [];
  const isOne = only !== undefined && more.length === 0 && near?.value !== undefined;
  if (isGuarded)
    return isOne && isSlip(path, only) && !others.has(only) ? meant(read, only, message) : undefined;
  const [note] = mostFrequent(
    advice.flatMap(({ notes = [] }) => notes.filter(({ code }) => TELLING.has(code))),
  );
  if (isOne) return meant(read, only, message);
  if (near !== undefined) return { message, at, hint: say`the samples have ${near.text}` };
  if (note !== undefined && isAbout(note, path)) return { message, at, hint: say`${note.text}` };
  const hint = say`where only other events have it, guard it with {{#if}} or default, and keep a sample that has it`;
  return { message, at, hint, isGeneral: true };
}

/** What a request is, so that paths find nothing. */
const TELLING: ReadonlySet<string> = new Set([
  'body_is_list',
  'body_is_empty',
  'body_is_text',
  'list_read',
  'json_in_one_field',
  'json_text',
  'split_key',
]);

/** A field that is a text explains only what is read below it. */
const isAbout = ({ code, names }: AdviceNote, path: string): boolean =>
  code !== 'json_text' || names.some((name) => path.startsWith(name));

function meant(read: CountedRead, near: string, message: Sentence): Found {
  const { at, path, inBlock } = read;
  const lastOf = (keys: string): string => keys.split('.').at(-1) ?? '';
  const hint = say`did you mean ${near}?`;
  return inBlock
    ? replacing({ message, at, hint }, lastOf(path), lastOf(near))
    : replacing({ message, at, hint }, path, near);
}

function mostFrequent<Text extends { readonly names: readonly string[]; readonly code?: string }>(
  found: readonly Text[],
): readonly Text[] {
  const groups = [...Map.groupBy(found, ({ code = '', names }) => `${code} ${names.join(' ')}`).values()];
  return groups.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** Printed in some samples, and in others nothing, between other words. */
function sometimes(
  { path, at, total, blank: found, expression = '' }: CountedRead,
  what: string,
  source: string,
): readonly Found[] {
  const blank = found.filter(({ sample }) => sample.knownEmpty?.has(expression) !== true);
  const lines = source.split('\n').filter((line) => line.trim() !== '');
  const isLineOfItsOwn = lines.length > 1 && lines.some((line) => line.trim() === `{{${expression}}}`);
  if (blank.length === 0 || isLineOfItsOwn) return [];
  return [
    {
      code: 'TEMPLATE_SOMETIMES_MISSING',
      message: say`${path} is missing in ${blank.length} of ${total} ${what}, and nothing is printed there`,
      at,
      hint: say`guard with {{#if ${path}}}, or write {{default ${path} "none"}}`,
    },
  ];
}

export const SAMPLES = [
  look({
    on: 'sampled-mapping',
    codes: ['TEMPLATE_UNKNOWN_PATH', 'TEMPLATE_SOMETIMES_MISSING'],
    confidence: 'likely',
    find: pathsOf,
  }),
];
