/** Templates: those of other languages, expressions that are not closed, formats of dates, paths that find nothing. */
import { emptyPath } from '../dialects/paths.ts';
import { shorten } from '../../document/document.ts';
import { quoted, say, type Finding } from '../../finding.ts';
import { type TemplateCall, type TemplateSubject } from '../../mapping/facts.ts';
import { calculatedFile } from '../calculations.ts';
import { wholeHint } from '../dialects/calls.ts';
import { DATE_LETTERS, findMeantFormat, type MeantFormat } from '../dialects/date-formats.ts';
import { foreignExpression, rewriteExpressions } from '../dialects/expressions.ts';
import { findForeignMarks } from '../dialects/marks.ts';
import { foreignFinding, readForeign } from '../dialects/templates.ts';
import { hint, look, remedy, replacing, rule, type Fix, type Found } from '../rule.ts';

/** A template of another language, or with its expressions: one finding in place of all others. */
function otherLanguage(subject: TemplateSubject): Found | undefined {
  const { source, findings, isRight, placeOf } = subject;
  const foreign = readForeign(source);
  if (foreign !== undefined) return foreignFinding(foreign, subject);
  const [error] = findings;
  if (error === undefined) return undefined;
  const rewritten = rewriteExpressions(source);
  if (rewritten !== undefined && isRight(rewritten.template)) {
    const { start, end, middle, texts, template } = rewritten;
    const at = placeOf(start, end);
    const isAsWritten = at.source.text.slice(at.start, at.end) === source.slice(start, end);
    const hint = (texts.length > 1 ? wholeHint(template) : undefined) ?? `write ${texts.join(' and ')}`;
    return { ...error, hint: quoted(hint), ...(isAsWritten ? { edit: { at, text: middle } } : {}) };
  }
  const file = calculatedFile(subject);
  if (file === undefined) return undefined;
  return { ...error, message: say`${error.message}: templates do not calculate`, hint: quoted(file) };
}

/** Paths from the root that find nothing, whatever is sent. */
function emptyPaths({ reads: { paths } }: TemplateSubject): readonly Found[] {
  return paths.flatMap(({ keys, at, withItem }) => emptyPath(keys, at, { of: 'template', withItem }) ?? []);
}

/** Letters and quotes of other tools in the format of a date, where the template gives it as a text. */
function dateFormats({ reads: { calls } }: TemplateSubject): readonly Found[] {
  return calls.flatMap((call) => {
    const [, format] = call.args;
    if (call.name !== 'date' || format?.kind !== 'text') return [];
    const value = format.text.slice(1, -1);
    const meant = findMeantFormat(value);
    if (meant === undefined) return [];
    const isQuoted = /'[^']*'|\[[^\]]*\]|\\/.test(value);
    const found = {
      code: 'TEMPLATE_DATE_FORMAT',
      message: say`the format ${shorten(JSON.stringify(value))} has ${lettersOf(value, meant)}${isQuoted ? ', and what else it has is printed as it stands, without quotes or brackets' : ''}`,
      at: format.at,
    };
    if (meant.format !== undefined)
      return [
        replacing(
          { ...found, hint: say`did you mean ${JSON.stringify(meant.format)}?` },
          value,
          meant.format,
        ),
      ];
    const hint = say`a text whose letters would be replaced stands outside: write ${asCalls(meant, call)}`;
    return [{ ...found, hint }];
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
function asCalls({ parts }: MeantFormat, { args: [date], named }: TemplateCall): string {
  const path = date?.kind === 'path' ? date.text : 'time';
  const zone = named.find(({ key, value }) => key === 'tz' && value.kind === 'text');
  const tz = zone === undefined ? '' : ` tz=${zone.value.text}`;
  return parts.map(({ text, isLiteral }) => (isLiteral ? text : callFor(text, path, tz))).join('');
}

/** Spaces round a format belong to the text. */
function callFor(format: string, path: string, tz: string): string {
  const [, before = '', letters = '', after = ''] = /^(\s*)(\S.*\S|\S?)(\s*)$/.exec(format) ?? [];
  return letters === '' ? format : `${before}{{date ${path} ${JSON.stringify(letters)}${tz}}}${after}`;
}

export const TEMPLATE_LOOKS = [
  look({
    on: 'template',
    codes: [
      'TEMPLATE_FOREIGN_SYNTAX',
      'TEMPLATE_DATE_FORMAT',
      'FOREIGN_PATH',
      'HEADER_NAME_CASE',
      'ITEM_WITHOUT_FOR_EACH',
      'TOKEN_CARRIER_READ',
    ],
    find: (subject) => {
      const { source, findings, placeOf } = subject;
      // Its quotes are what is wrong with it.
      if (findings.some(({ facts }) => facts !== undefined && 'written' in facts)) return [];
      const marks = /[$<{=]/.test(source) ? findForeignMarks(source, placeOf) : [];
      const whole = marks.length > 0 || findings.length > 0 ? otherLanguage(subject) : undefined;
      if (whole !== undefined) return [{ ...whole, insteadOf: findings }];
      return [...marks, ...emptyPaths(subject), ...dateFormats(subject)];
    },
  }),
];

/** The expression that begins at or before an offset as it is written when it is closed, where its text tells its end. */
function closedAt(text: string, offset: number): string | undefined {
  const written = text.slice(text.lastIndexOf('{{', offset));
  const [four, name] = /^\{\{\{\{\s*([\w.]+)\s*\}{2,4}/.exec(text.slice(text.indexOf('{{{{'))) ?? [];
  if (four !== undefined) return `write {{${name ?? ''}}} in place of ${four}`;
  const [found, inside = ''] =
    /^\{\{([#/]?\s*[^{}\n]{1,80}?)\s*\}(?!\})/.exec(written) ??
    /^\{\{([#/]?\s*[\w.@[\]-]+)/.exec(written) ??
    [];
  return found === undefined ? undefined : `write {{${inside}}} in place of ${found}`;
}

/** The inside of the expression that an offset of the text stands in. */
function expressionAt(text: string, offset: number): string | undefined {
  const open = text.lastIndexOf('{{', offset);
  const close = open === -1 ? -1 : text.indexOf('}}', open);
  return close === -1 ? undefined : text.slice(open + 2, close).replace(/^~|~$/g, '');
}

/** The whole expression anew, where the file has it as the template does. */
function rewritten(
  {
    here,
    inside,
  }: { readonly here: NonNullable<ReturnType<typeof foreignExpression>>; readonly inside: string },
  { at }: Finding,
): Fix | undefined {
  if (here.inside === undefined || here.isOpening === true || at === undefined) return undefined;
  const { source, start } = at;
  const wanted = `{{${inside}}}`;
  const from = source.text.lastIndexOf('{{', start);
  if (!source.text.startsWith(wanted, from)) return undefined;
  return { edit: { at: { source, start: from, end: from + wanted.length }, text: `{{${here.inside}}}` } };
}

/** What to do, by the parser's name of the token that it did not expect. */
const TOKENS: Readonly<Record<string, string>> = {
  EOF: 'close it, e.g. with {{/if}} or {{/each}}',
  OPEN_ENDBLOCK: 'remove it, or open the block before it',
  INVERSE: 'put it between {{#if …}} and {{/if}}',
  OPEN_INVERSE_CHAIN: 'put it between {{#if …}} and {{/if}}',
  CLOSE_UNESCAPED: 'put a space between }} and a brace of your text',
  CLOSE: 'write {{name}}; literal braces as \\{{',
  INVALID: 'names with special characters are written in brackets: {{[my name]}}; literal braces as \\{{',
};
/** By the text of any other token. */
const SIGNS: Readonly<Record<string, string>> = {
  '|': 'write the helper first: {{upper title}}',
  '=': 'compare with a helper: {{#if (eq a b)}}',
};

/** Templates that cannot be used. */
export const TEMPLATES = [
  hint('TEMPLATE_SYNTAX', ['not-closed', 'certain'], (facts) => {
    if (facts.wrong === 'quotes') return `write ${facts.written.join(' and ')}`;
    if (facts.wrong === 'close') return `close it with {{/${facts.block}}}`;
    return facts.wrong === 'open' ? (closedAt(facts.text, facts.stop) ?? 'close it with }}') : undefined;
  }),
  rule({
    on: 'TEMPLATE_SYNTAX',
    name: 'expression-of-another-language',
    confidence: 'certain',
    find: (facts) => {
      const inside = facts.wrong === 'stop' ? expressionAt(facts.text, facts.stop) : undefined;
      const here = inside === undefined ? undefined : foreignExpression(inside);
      return inside === undefined || here === undefined ? undefined : { inside, here };
    },
    say: ({ here }) => quoted(here.hint),
    fix: rewritten,
  }),
  hint('TEMPLATE_SYNTAX', ['unexpected-sign', 'likely'], (facts) =>
    facts.wrong === 'stop' ? (TOKENS[facts.got] ?? SIGNS[facts.found]) : undefined,
  ),
  remedy(
    'TEMPLATE_NOT_SUPPORTED',
    say`write the text itself into the template, or compose it in a transform`,
  ),
  remedy('TEMPLATE_TOO_LONG', say`shorten it, or compose the text in a transform`),
];
