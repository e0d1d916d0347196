/** Texts that YAML cannot read: each rule knows one slip by the line at which the parser stumbles. */
import { type DocumentFacts, firstStumbles, type SyntaxFacts } from '../../../base/document/facts.ts';
import { type Confidence, type Finding, quoted, say, type SourceText } from '../../../base/finding.ts';
import type { Join } from '../join.ts';
import { type AnyRule, hint, remedy, rule, withAdvice } from '../rule.ts';
import { type BrokenLine, lineAt, type LineError } from '../yaml/broken-line.ts';
import { betweenLevels, listBehindObject, shallowBlock } from '../yaml/indent-errors.ts';
import { missingBlank, quotesWithin, templateInFlow } from '../yaml/line-errors.ts';
import { escapeError, unquotedText } from '../yaml/text-errors.ts';

function lineRule(
  name: string,
  confidence: Confidence,
  find: (line: BrokenLine, parser: SyntaxFacts) => LineError | undefined,
): AnyRule {
  return rule({
    on: 'YAML_SYNTAX',
    name,
    confidence,
    find: ({ parser }, { at }) => parser && at && find(lineAt(at.source, parser.offset), parser),
    say: ({ hint }) => quoted(hint),
    closer: ({ at, message }) => ({ at, message: say`invalid YAML: ${message}` }),
    ...(!WORDS_ALONE.has(name) && { fix: ({ edit }: LineError) => edit && { edit } }),
  });
}

/** Where the lines around a text have to move, too. */
const WORDS_ALONE: ReadonlySet<string> = new Set(['shallow-block', 'list-behind-object']);

/** Rules on a line that cannot be read; the first that knows it speaks. */
export const LINE_RULES: readonly AnyRule[] = [
  lineRule('escape', 'certain', ({ source }, { offset, error }) =>
    error === 'BAD_DQ_ESCAPE' ? escapeError(source, offset) : undefined,
  ),
  lineRule('shallow-block', 'certain', shallowBlock),
  lineRule('list-behind-object', 'certain', listBehindObject),
  lineRule('missing-blank', 'certain', missingBlank),
  lineRule('quotes-within', 'certain', quotesWithin),
  lineRule('template-in-flow', 'certain', templateInFlow),
  lineRule('unquoted', 'certain', unquotedText),
  lineRule('between-levels', 'likely', betweenLevels),
  rule({
    on: 'YAML_TAB',
    name: 'spaces',
    confidence: 'certain',
    find: () => true,
    say: () => say`replace every tab at the beginning of a line with two spaces for each level`,
  }),
];

export const YAML_SYNTAX: readonly AnyRule[] = [
  ...LINE_RULES,
  rule({
    on: 'YAML_SYNTAX',
    name: 'strange-keys',
    confidence: 'certain',
    find: ({ strange }) => strange,
    say: ({ count, sign, isUnseen }) => {
      const plain = sign === '：' ? 'a plain colon and a space' : isUnseen ? 'the word anew' : 'plain spaces';
      return say`${count === 1 ? '' : `in ${count} keys, `}write ${plain}: it came with a text that was pasted`;
    },
    fix: ({ edit }) => ({ edit }),
  }),
  hint(
    'YAML_SYNTAX',
    ['alias-of-another-file', 'certain'],
    ({ alias }) =>
      alias &&
      `mark an earlier value of this file with &${alias}, or repeat the text here in place of the alias, as an anchor holds in its own file only; a text that starts with * needs quotes`,
  ),
  hint('YAML_SYNTAX', ['other', 'guess'], ({ parser }) => {
    if (parser?.error === 'TAG_RESOLVE_FAILED') return 'remove the tag, or quote a text that starts with !';
    return parser?.isOpen === true
      ? 'look for a bracket, brace or quote that is not closed before it'
      : 'compare the indentation with the lines around it; quote a text that contains ": " or " #" or starts with a special character';
  }),
  remedy('NON_STRING_KEY', say`quote the key`),
  remedy(
    'MULTIPLE_DOCUMENTS',
    say`put each document into a file of its own, or make a list: begin the first line of each with "- ", indent all other lines by two spaces, and remove ---`,
  ),
];

function parserOf(finding: Finding): SyntaxFacts | undefined {
  const facts: DocumentFacts['YAML_SYNTAX'] | undefined = finding.facts;
  return facts?.parser;
}

/** Each stumble by its slip: then those that are of one slip are told once. */
export const yamlStumbles: Join = {
  on: ['YAML_SYNTAX', 'NON_STRING_KEY', 'YAML_TAB', 'MULTIPLE_DOCUMENTS', 'DUPLICATE_KEY'],
  join: (found) => {
    const parser = found.map(parserOf).find((each) => each !== undefined);
    const source = found[0]?.at?.source;
    if (source === undefined) return found;
    const stumbles = (parser?.stumbles() ?? []).map((each) => closer(each, source));
    if (parser === undefined) return found;
    return [...firstStumbles(stumbles), ...found.filter((each) => parserOf(each) === undefined)];
  },
};

function closer(stumble: Finding, source: SourceText): Finding {
  const here = { ...stumble, ...(stumble.at && { at: { ...stumble.at, source } }) };
  const code = stumble.code === 'YAML_TAB' ? stumble.code : 'YAML_SYNTAX';
  const known = withAdvice({ ...here, code }, LINE_RULES);
  return known.hint === undefined ? here : known;
}
