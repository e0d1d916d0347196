import { type Finding, quoted, type Sentence } from '../../finding.ts';

/** What a hint on a rule writes. */
export interface RuleFacts {
  /** The rule, as JSON. */
  readonly rule?: string;
  /** Whether it stands for the whole of the one that was written. */
  readonly isWhole?: boolean;
}

/** A hint that ends with the rule to write, and that rule. */
export function writing(hint: string): { readonly hint: Sentence; readonly facts: RuleFacts } {
  const rule = /write (\{.*\})$/.exec(hint)?.[1];
  const isWhole = /^for (?:one|none) of several values/.test(hint);
  return { hint: quoted(hint), facts: { ...(rule === undefined ? {} : { rule }), isWhole } };
}

/** What a finding on a rule says of the one to write. */
export const ruleFacts = ({ facts = {} }: Finding): RuleFacts => facts;
