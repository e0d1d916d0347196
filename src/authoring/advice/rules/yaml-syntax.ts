/** Explains texts that YAML cannot read. Each rule knows one slip by the line at which the parser fails. */
import { firstStumbles, type DocumentFacts, type SyntaxFacts } from '../../../base/document/facts.ts';
import { type Finding, type SourceText } from '../../../base/finding.ts';
import { withAdvice, type Advice, type Join, type Rule, type Rules } from '../rule.ts';
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

/** Rules on a line that cannot be read. Each failure is judged before failures are joined. */
export const LINE_RULES = SLIPS.map(
  (find): Rule<DocumentFacts['YAML_SYNTAX']> =>
    ({ parser }, { at }) =>
      parser && at && find(lineAt(at.source, parser.offset)),
);

export const YAML_SYNTAX: Rules = {
  YAML_SYNTAX: [
    ({ strange }) => {
      if (strange === undefined) return undefined;
      const { count, sign, isUnseen, edit } = strange;
      const plain = sign === '：' ? 'a plain colon and a space' : isUnseen ? 'the word anew' : 'plain spaces';
      const where = count === 1 ? '' : `in ${count} keys, `;
      return { hint: `${where}write ${plain}: it came with a text that was pasted`, edit };
    },
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
};

function parserOf({ facts }: Finding): SyntaxFacts | undefined {
  const known: DocumentFacts['YAML_SYNTAX'] | undefined = facts;
  return known?.parser;
}

/** Failures of one slip become one finding. */
export const yamlStumbles: Join = {
  on: ['YAML_SYNTAX', 'NON_STRING_KEY', 'YAML_TAB', 'MULTIPLE_DOCUMENTS', 'DUPLICATE_KEY'],
  join: (found) => {
    const parser = found.map(parserOf).find((each) => each !== undefined);
    const source = found[0]?.at?.source;
    if (source === undefined || parser === undefined) return found;
    const stumbles = parser.stumbles().map((each) => closer(each, source));
    return [...firstStumbles(stumbles), ...found.filter((each) => parserOf(each) === undefined)];
  },
};

function closer(stumble: Finding, source: SourceText): Finding {
  const here = { ...stumble, ...(stumble.at && { at: { ...stumble.at, source } }) };
  if (stumble.code === 'YAML_TAB') return here;
  const known = withAdvice({ ...here, code: 'YAML_SYNTAX' }, LINE_RULES);
  return known.hint === undefined ? here : known;
}
