/** Explains texts that YAML cannot read. Each rule knows one slip by the line at which the parser fails. */
import type { DocumentFacts } from '../../../base/document/facts.ts';
import type { Advice, Rule, Rules } from '../rule.ts';
import {
  lineAt,
  missingBlank,
  quotesWithin,
  shallowBlock,
  templateInFlow,
  unquotedText,
  type BrokenLine,
} from '../yaml/line-errors.ts';

const SLIPS: readonly ((line: BrokenLine) => Advice | undefined)[] = [
  shallowBlock,
  missingBlank,
  quotesWithin,
  templateInFlow,
  unquotedText,
];

/** Finds what is wrong in the line that cannot be read. */
const slipOfLine: Rule<DocumentFacts['YAML_SYNTAX']> = ({ parser }, { at }) => {
  if (parser === undefined || at === undefined) return undefined;
  const line = lineAt(at.source, parser.offset);
  return SLIPS.map((find) => find(line)).find((advice) => advice !== undefined);
};

export const YAML_SYNTAX: Rules = {
  YAML_SYNTAX: [
    slipOfLine,
    ({ alias }) =>
      alias &&
      `mark an earlier value of this file with &${alias}, or repeat the text here in place of the alias, as an anchor holds in its own file only; a text that starts with * needs quotes`,
    ({ parser }) => {
      if (parser?.error === 'TAG_RESOLVE_FAILED') return 'remove the tag, or quote a text that starts with !';
      if (parser?.error === 'BAD_DQ_ESCAPE')
        return 'put the text in single quotes, where a backslash is only a backslash, or write it twice';
      return parser?.isOpen === true
        ? 'look for a bracket, brace or quote that is not closed before it'
        : 'compare the indentation with the lines around it: keys of one object begin in one column, and each entry of a list with a dash; quote a text that contains ": " or " #" or starts with a special character';
    },
  ],
  NON_STRING_KEY: [slipOfLine],
};
