import { didYouMean, replaceWithin } from '../../base/document/document.ts';
import { quoted, say, Sentence, type Finding, type TextEdit } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';
import type { CodeFacts, Subjects } from './facts.ts';

/** What is known of a mistake, in the parts of a finding. A text is what to do, where there is no more. */
export type Advice =
  | Sentence
  | string
  | {
      readonly hint: Sentence | string;
      readonly edit?: TextEdit | undefined;
      /** The same mistake by its own place, where the engine knows only how far it came. */
      readonly at?: Finding['at'];
      readonly message?: Sentence;
      /** Less than the engine hides, where it is now known that a value is no secret. */
      readonly hides?: Finding['hides'];
    };

/** One thing that is known of a mistake: it looks at a finding of the engine, and says what to do about it. */
export type Rule<Known> = (facts: Known, finding: Finding) => Advice | undefined;

/** Rules by the code of the finding. Of several that know a mistake the first speaks: the surest stands first. */
export type Rules = { readonly [Code in keyof CodeFacts]?: readonly Rule<CodeFacts[Code]>[] };

/** A finding with what the first of its rules says; as it is where it has a hint, or none of them knows it. */
export function withAdvice(finding: Finding, rules: readonly Rule<never>[] = []): Finding {
  if (finding.hint !== undefined || finding.facts === undefined) return finding;
  for (const rule of rules) {
    // The reporter of the room types the facts of each code.
    const advice = rule(finding.facts as never, finding);
    if (advice === undefined) continue;
    if (typeof advice === 'string') return { ...finding, hint: quoted(advice) };
    if (advice instanceof Sentence) return { ...finding, hint: advice };
    const { hint, ...more } = advice;
    return { ...finding, hint: typeof hint === 'string' ? quoted(hint) : hint, ...defined(more) };
  }
  return finding;
}

/** The word that was meant by another, where one of them is near: it then stands in its place. */
export function nearName(
  from: string,
  words: Iterable<string>,
  { at }: Finding,
  sayIt = (to: string): Sentence => say`did you mean "${to}"?`,
): Advice | undefined {
  const to = didYouMean(from, words);
  return to === undefined ? undefined : { hint: sayIt(to), edit: at && replaceWithin(at, from, to) };
}

/** That one of some names is to be chosen. */
export const oneOf = (what: string, names: readonly string[]): string =>
  `choose one of the ${what}: ${names.join(', ') || '(none)'}`;

/** What a look found: a warning with the look's first code, where nothing else is said. */
export type LookFinding = Omit<Finding, 'code' | 'severity'> &
  Partial<Pick<Finding, 'code' | 'severity'>> & {
    /** Findings of the engine that say less of the same: they go. */
    readonly replaces?: readonly Finding[];
  };

/** With the edit that replaces what is written at its place, where the file has it so. */
export function replacing(found: LookFinding, from: string, to: string): LookFinding {
  return { ...found, ...defined({ edit: found.at && replaceWithin(found.at, from, to) }) };
}

/**
 * A finding of advice's own: it looks at something that the engine took, and says what was hardly meant. Its findings
 * refuse nothing; their hint stands in them or comes from a rule on their code.
 */
export type Look = {
  readonly [Kind in keyof Subjects]: {
    readonly on: Kind;
    /** In the registry of codes by being named here. */
    readonly codes: readonly [string, ...string[]];
    readonly find: (subject: Subjects[Kind]) => readonly LookFinding[];
  };
}[keyof Subjects];

/** One mistake that the engine meets as several findings, of which each by itself would lead astray. */
export interface Join {
  /** Its codes. */
  readonly on: readonly string[];
  /** Gets all findings of these codes in one file, in their order; gives those that are told. */
  readonly join: (found: readonly Finding[]) => readonly Finding[];
}
