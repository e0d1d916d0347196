/** Templates: those of other languages, expressions that are not closed, formats of dates, paths that find nothing. */
import { emptyPath } from '../dialects/paths.ts';
import { shorten } from '../../../base/document/document.ts';
import { say } from '../../../base/finding.ts';
import { HELPERS, type MappingFacts, type TemplateSubject } from '../../../engine/mapping/facts.ts';
import { DATE_LETTERS, ownDateFormat } from '../dialects/date-formats.ts';
import { findMarks, findLanguage } from '../dialects/marks.ts';
import { hint, look, remedy, replacing, type Found } from '../rule.ts';

/** Paths from the root that find nothing, whatever is sent. */
function emptyPaths({ reads: { paths } }: TemplateSubject): readonly Found[] {
  return paths.flatMap(({ keys, at, withItem }) => emptyPath(keys, at, { of: 'template', withItem }) ?? []);
}

/** Letters of other tools in the format of a date, where the template gives it as a text. */
function dateFormats({ reads: { calls } }: TemplateSubject): readonly Found[] {
  return calls.flatMap(({ name, args: [, format] }) => {
    if (name !== 'date' || format?.kind !== 'text') return [];
    const value = format.text.slice(1, -1);
    const own = ownDateFormat(value);
    if (own === undefined) return [];
    const found = {
      code: 'TEMPLATE_DATE_FORMAT',
      message: say`the format ${shorten(JSON.stringify(value))} has letters of other tools; here ${DATE_LETTERS}`,
      at: format.at,
      hint: say`did you mean ${JSON.stringify(own)}?`,
    };
    return [replacing(found, value, own)];
  });
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
      const language = findLanguage(subject);
      if (language !== undefined) return [{ ...language, replaces: findings }];
      const marks = /[$<{=]/.test(source) ? findMarks(source, placeOf) : [];
      return [...marks, ...emptyPaths(subject), ...dateFormats(subject)];
    },
  }),
];

/** Words of an expression: texts, what is in parentheses, names and numbers. */
const WORD = String.raw`(?:"[^"]*"|'[^']*'|\([^()]*\)|[\w.@[\]/-]+)`;

/** An expression that its line does not close, as it is when it is closed; with the values that its helper needs. */
function closed(tag: string): { readonly from: string; readonly to: string } | undefined {
  const [four, inBraces] = /^\{\{\{\{\s*([\w.]+)\s*\}{2,4}/.exec(tag) ?? [];
  if (four !== undefined) return { from: four, to: `{{${inBraces ?? ''}}}` };
  const [half, inHalf = ''] = /^\{\{([#/]?\s*[^{}]{1,80}?)\s*\}(?!\})/.exec(tag) ?? [];
  if (half !== undefined) return { from: half, to: `{{${inHalf}}}` };
  const [begun, name = ''] = /^\{\{[#/]?\s*([\w.@[\]-]+)/.exec(tag) ?? [];
  if (begun === undefined) return undefined;
  const count = Object.hasOwn(HELPERS, name) ? (HELPERS[name]?.min ?? 0) : begun.startsWith('{{#') ? 1 : 0;
  const values = new RegExp(String.raw`^(?:\s+${WORD}){0,${count}}`).exec(tag.slice(begun.length))?.[0] ?? '';
  return { from: begun + values, to: `${begun}${values}}}` };
}

/** An expression with what is missing in it, where it is certain what that is. */
function completed({ tag, lacks }: LackingTag): { readonly from: string; readonly to: string } | undefined {
  if (lacks === 'braces') return closed(tag);
  if (lacks === 'quote') return undefined;
  const to = tag
    .replaceAll(/(\w)\(([^()]*)\)/g, '$1 $2')
    .replaceAll(/\.?\[([\w-]+)(?![\w\]-])/g, '.[$1]')
    .replaceAll(/("[^"]*"|'[^']*')|\s*,\s*/g, (_, text?: string) => text ?? ' ')
    .replace(/(?=~?\}\}\}?$)/, lacks === 'parenthesis' ? ')' : '');
  return takesAll(to) ? { from: tag, to } : undefined;
}

/** Whether nothing but values is left, and a helper gets no more of them than it takes. */
function takesAll(tag: string): boolean {
  const [, name = '', values = ''] = /^\{\{\{?~?\s*([\w-]+)(.*?)~?\}\}/s.exec(tag) ?? [];
  const left = values.replaceAll(new RegExp(WORD, 'g'), '');
  if (left.trim() !== '') return false;
  const count = values.match(new RegExp(WORD, 'g'))?.length ?? 0;
  const { max = 0 } = Object.hasOwn(HELPERS, name) ? (HELPERS[name] ?? {}) : { max: count };
  return count <= max;
}

type LackingTag = Extract<MappingFacts['TEMPLATE_SYNTAX'], { readonly wrong: 'tag' }>;

const CALCULATED = 'make the text in a transform, as templates do not calculate';

/** What to do, by the parser's name of the token that it did not expect. */
const TOKENS: Readonly<Record<string, string>> = {
  EOF: 'close it, e.g. with {{/if}} or {{/each}}',
  OPEN_ENDBLOCK: 'remove it, or open the block before it',
  INVERSE: 'put it between {{#if …}} and {{/if}}',
  OPEN_INVERSE_CHAIN: 'put it between {{#if …}} and {{/if}}',
  CLOSE_UNESCAPED: 'put a space between }} and a brace of your text',
  NUMBER: CALCULATED,
  CLOSE: 'write {{name}}; literal braces as \\{{',
  CLOSE_SEXPR: 'remove it, as nothing is open there',
  INVALID: 'names with special characters are written in brackets: {{[my name]}}; literal braces as \\{{',
};
/** By the text of the token, which says more. */
const SIGNS: Readonly<Record<string, string>> = {
  '|': 'write a helper before its value: {{upper title}}, {{default title "none"}}',
  '=': 'compare with a helper: {{#if (eq a b)}}, {{#if (ne a b)}}',
  '&': 'join with a helper: {{#if (and a b)}}',
  '<': 'decide with match.when, or in a transform: templates do not compare sizes',
  '>': 'decide with match.when, or in a transform: templates do not compare sizes',
  '.': 'write the name without a dot before it: {{title}}',
  ...Object.fromEntries(['+', '*', '/', '%'].map((sign) => [sign, CALCULATED])),
};

/** Where it is not certain how the whole of it is meant. */
const COMPLETE: Readonly<Record<LackingTag['lacks'], string>> = {
  braces: 'close it with }}',
  quote: 'close it, or write it without a quote',
  bracket: 'close it with ]',
  parenthesis: 'close it with )',
  blank: 'write the helper first, a blank, and its values with blanks between them',
  'no-comma': 'write a blank in its place',
};

/** Templates that cannot be used. */
export const TEMPLATES = [
  hint('TEMPLATE_SYNTAX', ['not-closed', 'certain'], (facts) => {
    if (facts.wrong === 'close')
      return facts.block === 'else'
        ? 'write {{else}} in place of {{#else}}'
        : `close it with {{/${facts.block}}}`;
    if (facts.wrong !== 'tag') return undefined;
    const whole = completed(facts);
    return whole === undefined ? COMPLETE[facts.lacks] : `write ${whole.to} in place of ${whole.from}`;
  }),
  hint('TEMPLATE_SYNTAX', ['unexpected-sign', 'likely'], (facts) =>
    facts.wrong === 'stop' ? (SIGNS[facts.found] ?? TOKENS[facts.got]) : undefined,
  ),
  remedy(
    'TEMPLATE_NOT_SUPPORTED',
    say`write the text itself into the template, or compose it in a transform`,
  ),
  remedy('TEMPLATE_TOO_LONG', say`shorten it, or compose the text in a transform`),
];
