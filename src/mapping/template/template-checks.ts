import { quoted, say } from '../../finding.ts';
import {
  didYouMean,
  meantTimeZone,
  shorten,
  type Finding,
  type Place,
  type TextEdit,
} from '../../document/document.ts';
import { emptyPathFinding, itemFinding } from '../condition/empty-path.ts';
import { findingAt, type Report } from '../mapping-codes.ts';
import { blankName } from './blank-names.ts';
import { DATE_LETTERS, findMeantFormat, type MeantFormat } from './date-format.ts';
import { isTimeZone } from './template-date.ts';
import { meantBlock, meantCall } from './foreign-helpers.ts';
import { BLOCK_HELPERS, HELPER_SYNONYMS, HELPERS, isWholeNumber } from './template-helpers.ts';

export interface Located {
  readonly text: string;
  readonly at: Place;
}

/** Where a part of the tree stands in the file, and how it was written there. */
export type Locate = (loc: hbs.AST.SourceLocation) => Located;

/** Where findings of a template go. */
export interface TemplateReporter {
  readonly locate: Locate;
  readonly diagnostics: Finding[];
}

export function report(state: TemplateReporter, loc: hbs.AST.SourceLocation, finding: Report): void {
  state.diagnostics.push(findingAt(state.locate(loc).at, finding));
}

export function countText({ min, max }: { readonly min: number; readonly max: number }): string {
  const noun = (count: number): string => `${count} argument${count === 1 ? '' : 's'}`;
  if (max === Infinity) return `at least ${noun(min)}`;
  return min === max ? noun(min) : `${min} to ${noun(max)}`;
}

export function reportBlock(state: TemplateReporter, block: hbs.AST.BlockStatement, name: string): void {
  const isValue = Object.hasOwn(HELPERS, name);
  const operands = block.params.map(({ loc }) => state.locate(loc).text.trim());
  const hint = meantBlock(name, operands) ?? plainBlock(name, operands, isValue);
  report(state, block.path.loc, {
    code: isValue ? 'TEMPLATE_HELPER_USAGE' : 'TEMPLATE_UNKNOWN_HELPER',
    message: quoted(
      isValue ? `the helper "${name}" cannot be used as a block` : `unknown block helper "${shorten(name)}"`,
    ),
    hint: quoted(hint),
  });
}

/** A list or a flag in the place of a helper, where there is nothing behind it. */
function plainBlock(name: string, operands: readonly string[], isValue: boolean): string {
  const near = didYouMean(name, BLOCK_HELPERS);
  if (isValue) return `write {{#if (${name} …)}} to test it, or {{${name} …}} to print it`;
  if (operands.length === 0) return `write {{#if ${name}}} or {{#each ${name}}}`;
  return near === undefined
    ? `the block helpers are: ${BLOCK_HELPERS.map((each) => `#${each}`).join(' ')}; write {{#if (eq a b)}} to compare, {{#each list}} to repeat`
    : `did you mean "{{#${near} …}}"?`;
}

export function reportHelper(
  state: TemplateReporter,
  path: hbs.AST.PathExpression,
  { params, hash, type }: Pick<hbs.AST.MustacheStatement, 'params' | 'hash'> & { readonly type: string },
): void {
  const isName = path.original.includes('.') || /^[A-Z]/.test(path.original);
  const blank = isName && hash === undefined ? blankName(state.locate, [path, ...params]) : undefined;
  if (blank !== undefined) {
    const message = `"${shorten(path.original)}" is no helper, and a name ends at a blank`;
    report(state, path.loc, { code: 'TEMPLATE_UNKNOWN_HELPER', message: quoted(message), ...blank });
    return;
  }
  const synonym = Object.hasOwn(HELPER_SYNONYMS, path.original) ? HELPER_SYNONYMS[path.original] : undefined;
  const near = synonym ?? didYouMean(path.original, Object.keys(HELPERS));
  const isBlock = (BLOCK_HELPERS as readonly string[]).includes(path.original);
  const textOf = ({ loc }: hbs.AST.Node): string => state.locate(loc).text.trim();
  const named = Object.fromEntries((hash?.pairs ?? []).map(({ key, value }) => [key, textOf(value)]));
  const last = hash?.pairs.at(-1) ?? params.at(-1) ?? path;
  const call = synonym === undefined ? undefined : meantCall(path.original, params.map(textOf), named);
  report(state, path.loc, {
    code: isBlock ? 'TEMPLATE_HELPER_USAGE' : 'TEMPLATE_UNKNOWN_HELPER',
    message: quoted(
      isBlock ? `"${path.original}" is a block helper` : `unknown helper "${shorten(path.original)}"`,
    ),
    hint: quoted(
      isBlock
        ? `write {{#${path.original} …}}…{{/${path.original}}}`
        : near === undefined
          ? `the helpers are: ${Object.keys(HELPERS).join(' ')}`
          : call === undefined
            ? `did you mean "${near}"?`
            : `write ${type === 'SubExpression' ? `(${call})` : `{{${call}}}`}`,
    ),
    ...(call === undefined ? {} : { editAt: (at: Place) => wholeCall(at, state.locate(last.loc).at, call) }),
    ...(isBlock || near === undefined || call !== undefined
      ? {}
      : { replace: { from: path.original, to: near } }),
  });
}

/** The edit that writes a call anew, from the name of its helper to its last argument, on one line. */
function wholeCall(name: Place, last: Place, text: string): TextEdit | undefined {
  const { source, start } = name;
  const { end } = last;
  const written = source.text.slice(start, end);
  // A quote may end the text of the file that the template stands in.
  const isRisky = /[\n\\]/.test(written) || (text.includes('"') && !written.includes('"'));
  return end < start || isRisky ? undefined : { at: { source, start, end }, text };
}

/** A literal where a whole number belongs; what a path finds is looked at when it is rendered. */
export function checkCount(
  state: TemplateReporter,
  name: string,
  { second, usage }: { readonly second: hbs.AST.Expression | undefined; readonly usage: string },
): void {
  if (second === undefined || !second.type.endsWith('Literal')) return;
  const { value } = second as { readonly value?: unknown };
  if (isWholeNumber(value)) return;
  const found = shorten(JSON.stringify(value) ?? 'null');
  report(state, second.loc, {
    code: 'TEMPLATE_HELPER_USAGE',
    message: say`the helper "${name}" takes a whole number, 0 or more, as its second argument, found ${found}`,
    hint: say`write ${usage}`,
  });
}

export function checkNamed(state: TemplateReporter, hash: hbs.AST.Hash | undefined, helper: Named): void {
  for (const pair of hash?.pairs ?? []) {
    if (!helper.known.includes(pair.key)) report(state, pair.loc, unknownArgument(pair.key, helper));
    else if (pair.key === 'tz') checkZone(state, pair);
  }
}

/** A helper, and the arguments that it takes by name. */
interface Named {
  readonly name: string;
  readonly known: readonly string[];
}

function unknownArgument(key: string, { name, known }: Named): Report {
  const near = didYouMean(key, known);
  return {
    code: 'TEMPLATE_HELPER_USAGE',
    message: say`the helper "${name}" has no argument "${shorten(key)}="`,
    hint: quoted(
      near !== undefined
        ? `did you mean "${near}="?`
        : known.length === 0
          ? 'remove it'
          : `its arguments are: ${known.map((one) => `${one}=`).join(' ')}`,
    ),
  };
}

function checkZone(state: TemplateReporter, { value, loc }: hbs.AST.HashPair): void {
  if (value.type !== 'StringLiteral') return;
  const zone = (value as hbs.AST.StringLiteral).value;
  if (isTimeZone(zone)) return;
  const meant = meantTimeZone(zone);
  report(state, loc, {
    code: 'TEMPLATE_HELPER_USAGE',
    message: say`there is no time zone "${shorten(zone)}"`,
    ...(meant === undefined
      ? { hint: say`write a zone such as tz="Europe/Berlin"` }
      : { hint: say`did you mean tz="${meant}"?`, replace: { from: zone, to: meant } }),
  });
}

/** A path from the root that finds nothing, whatever is sent. */
export function checkRootPath(
  state: TemplateReporter & { readonly withItem: boolean },
  keys: readonly string[],
  path: hbs.AST.PathExpression,
): void {
  const finding = emptyPathFinding(keys) ?? (state.withItem ? undefined : itemFinding(keys, 'template'));
  if (finding !== undefined) report(state, path.loc, finding);
}

/** Letters and quotes of other tools in the format of a date, where the template gives it as a text. */
export function checkDateFormat(
  state: TemplateReporter,
  name: string,
  { params, hash }: { readonly params: readonly hbs.AST.Expression[]; readonly hash?: hbs.AST.Hash },
): void {
  const [date, format] = params;
  if (name !== 'date' || format?.type !== 'StringLiteral') return;
  const { value } = format as hbs.AST.StringLiteral;
  const meant = findMeantFormat(value);
  if (meant === undefined) return;
  const isQuoted = /'[^']*'|\[[^\]]*\]|\\/.test(value);
  report(state, format.loc, {
    severity: 'warning',
    code: 'TEMPLATE_DATE_FORMAT',
    message: say`the format ${shorten(JSON.stringify(value))} has ${lettersOf(value, meant)}${isQuoted ? ', and what else it has is printed as it stands, without quotes or brackets' : ''}`,
    ...(meant.format === undefined
      ? {
          hint: say`a text whose letters would be replaced stands outside: write ${asCalls(meant, date, hash)}`,
        }
      : {
          hint: say`did you mean ${JSON.stringify(meant.format)}?`,
          replace: { from: value, to: meant.format },
        }),
  });
}

/** Letters by what they print. */
const LETTERS: Readonly<Record<string, string>> = {
  yyyy: 'year',
  MM: 'month',
  dd: 'day',
  HH: 'hour',
  mm: 'minute',
  ss: 'second',
};

/** What is wrong with its letters: those of another part of the time, or of another tool. */
function lettersOf(written: string, { format = '' }: MeantFormat): string {
  const [own = [], right = []] = [written, format].map((each) => each.match(/([A-Za-z])\1*/g) ?? []);
  const at = own.findIndex((word, index) => word !== right[index]);
  const [word, place] = [own[at] ?? '', right[at] ?? ''];
  if (own.length !== right.length || LETTERS[word] === undefined || LETTERS[place] === undefined)
    return `letters of other tools; here ${DATE_LETTERS}`;
  return `${word}, which is the ${LETTERS[word]}, where the ${LETTERS[place]} belongs (${place})`;
}

/** One call for each part of the time, with the texts between them. */
function asCalls(
  { parts }: MeantFormat,
  date: hbs.AST.Expression | undefined,
  hash: hbs.AST.Hash | undefined,
): string {
  const path = date?.type === 'PathExpression' ? (date as hbs.AST.PathExpression).original : 'time';
  const zone = hash?.pairs.find(({ key }) => key === 'tz')?.value;
  const tz = zone?.type === 'StringLiteral' ? ` tz="${(zone as hbs.AST.StringLiteral).value}"` : '';
  return parts.map(({ text, isLiteral }) => (isLiteral ? text : callFor(text, path, tz))).join('');
}

/** Spaces round a format belong to the text. */
function callFor(format: string, path: string, tz: string): string {
  const [, before = '', letters = '', after = ''] = /^(\s*)(\S.*\S|\S?)(\s*)$/.exec(format) ?? [];
  return letters === '' ? format : `${before}{{date ${path} ${JSON.stringify(letters)}${tz}}}${after}`;
}

/** Arguments in the order of other tools: what is worked on stands first here. */
export function checkOrder(
  state: TemplateReporter,
  name: string,
  { params, path }: { readonly params: readonly hbs.AST.Expression[]; readonly path: hbs.AST.Node },
): void {
  const [first, second] = params;
  if (first === undefined || second?.type !== 'PathExpression') return;
  if (!standsBehind(name, first)) return;
  const [a, b] = [state.locate(first.loc), state.locate(second.loc)];
  const [written, value] = [shorten(a.text.trim()), shorten(b.text.trim())];
  report(state, path.loc, {
    code: 'TEMPLATE_HELPER_USAGE',
    message: say`the helper "${name}" takes the value first, found ${written}`,
    hint: say`write {{${name} ${value} ${written}}}`,
    editAt: () => swapped(a.at, b.at),
  });
}

/** Whether it is what the helper takes behind the value: a number, or the text of a format or a separator. */
function standsBehind(name: string, { type }: hbs.AST.Expression): boolean {
  if (['truncate', 'lines'].includes(name)) return type === 'NumberLiteral';
  return ['date', 'join'].includes(name) && type === 'StringLiteral';
}

/** The edit that turns two arguments round, each on a line. */
function swapped(first: Place, second: Place): TextEdit | undefined {
  const { source } = first;
  const { text } = source;
  if (second.start < first.end) return undefined;
  const [a, between, b] = [
    text.slice(first.start, first.end),
    text.slice(first.end, second.start),
    text.slice(second.start, second.end),
  ];
  if (/\n/.test(a + b)) return undefined;
  return { at: { source, start: first.start, end: second.end }, text: b + between + a };
}
