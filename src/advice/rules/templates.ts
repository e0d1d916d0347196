/** Templates: those of other languages, expressions that are not closed, formats of dates, paths that find nothing. */
import { emptyPath } from '../dialects/paths.ts';
import { shorten } from '../../document/document.ts';
import { say } from '../../finding.ts';
import { type TemplateSubject } from '../../mapping/facts.ts';
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

/** What to do, by the parser's name of the token that it did not expect. */
const TOKENS: Readonly<Record<string, string>> = {
  EOF: 'close it, e.g. with {{/if}} or {{/each}}',
  OPEN_ENDBLOCK: 'remove it, or open the block before it',
  INVERSE: 'put it between {{#if …}} and {{/if}}',
  OPEN_INVERSE_CHAIN: 'put it between {{#if …}} and {{/if}}',
  CLOSE_UNESCAPED: 'put a space between }} and a brace of your text',
  NUMBER: 'make the text in a transform, as templates do not calculate',
  CLOSE: 'write {{name}}; literal braces as \\{{',
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
};

/** Templates that cannot be used. */
export const TEMPLATES = [
  hint('TEMPLATE_SYNTAX', ['not-closed', 'certain'], (facts) => {
    if (facts.wrong === 'close') return `close it with {{/${facts.block}}}`;
    return facts.wrong === 'open' ? (closedAt(facts.text, facts.stop) ?? 'close it with }}') : undefined;
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
