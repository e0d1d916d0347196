import { printSentence, type Finding, type Sentence } from '../../src/base/finding.ts';

/** A sentence as people read it; the empty text where there is none. */
export const said = (sentence: Sentence | undefined): string =>
  sentence === undefined ? '' : printSentence(sentence);

/** A finding with its sentences as texts, to compare it with an expected one. */
export type SaidFinding = Omit<Finding, 'message' | 'hint' | 'labels' | 'facts'> & {
  readonly message: string;
  readonly hint?: string;
  readonly labels?: readonly { readonly at: NonNullable<Finding['at']>; readonly text: string }[];
};

export function saidFinding({ message, hint, labels, facts: _facts, ...rest }: Finding): SaidFinding {
  return {
    ...rest,
    message: said(message),
    ...(hint === undefined ? {} : { hint: said(hint) }),
    ...(labels === undefined ? {} : { labels: labels.map(({ at, text }) => ({ at, text: said(text) })) }),
  };
}
