import { didYouMean, replaceWithin } from '../../base/document/document.ts';
import { quoted, say, Sentence, type Finding, type TextEdit } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';
import type { CodeFacts, Subjects } from './facts.ts';

/** What is known of a mistake, in the parts of a finding. A bare text says only what to do. */
export type Advice =
  | Sentence
  | string
  | {
      readonly hint: Sentence | string;
      readonly edit?: TextEdit | undefined;
      /** The exact place of the mistake, where the engine knows only how far it came. */
      readonly at?: Finding['at'];
      readonly message?: Sentence;
      /** Less than the engine hides, where a value is now known to be no secret. */
      readonly hides?: Finding['hides'];
    };

/** A rule looks at a finding of the engine, and says what to do about it. */
export type Rule<Known> = (facts: Known, finding: Finding) => Advice | undefined;

/** Rules by the code of the finding. The first that knows the mistake speaks, so the most certain one stands first. */
export type Rules = { readonly [Code in keyof CodeFacts]?: readonly Rule<CodeFacts[Code]>[] };

/** Adds what the first of the rules says. A finding that has a hint already, or that no rule knows, stays as it is. */
export function withAdvice(finding: Finding, rules: readonly Rule<never>[] = []): Finding {
  if (finding.hint !== undefined || finding.facts === undefined) return finding;
  for (const rule of rules) {
    // The reporter of the module types the facts of each code.
    const advice = rule(finding.facts as never, finding);
    if (advice === undefined) continue;
    if (typeof advice === 'string') return { ...finding, hint: quoted(advice) };
    if (advice instanceof Sentence) return { ...finding, hint: advice };
    const { hint, ...more } = advice;
    return { ...finding, hint: typeof hint === 'string' ? quoted(hint) : hint, ...defined(more) };
  }
  return finding;
}

/** Finds the word that was probably meant, and puts it in place of the other. */
export function nearName(
  from: string,
  words: Iterable<string>,
  { at }: Finding,
  sayIt = (to: string): Sentence => say`did you mean "${to}"?`,
): Advice | undefined {
  const to = didYouMean(from, words);
  return to === undefined ? undefined : { hint: sayIt(to), edit: at && replaceWithin(at, from, to) };
}

export const oneOf = (what: string, names: readonly string[]): string =>
  `choose one of the ${what}: ${names.join(', ') || '(none)'}`;

/** A finding of advice's own: a warning with the first code of its look, where nothing else is said. */
export type LookFinding = Omit<Finding, 'code' | 'severity'> &
  Partial<Pick<Finding, 'code' | 'severity'>> & {
    /** Findings of the engine that say less about the same mistake; they are removed. */
    readonly replaces?: readonly Finding[];
  };

/** Adds the edit that replaces what is written at the place, where the file has it so. */
export function replacing(found: LookFinding, from: string, to: string): LookFinding {
  return { ...found, ...defined({ edit: found.at && replaceWithin(found.at, from, to) }) };
}

/**
 * A look finds what the engine accepts but the author hardly meant. Its findings refuse nothing; their hint
 * stands in them or comes from a rule on their code.
 */
export type Look = {
  readonly [Kind in keyof Subjects]: {
    readonly on: Kind;
    /** The registry of codes reads these. */
    readonly codes: readonly [string, ...string[]];
    readonly find: (subject: Subjects[Kind]) => readonly LookFinding[];
  };
}[keyof Subjects];

/** One mistake that the engine reports as several findings, each of which would mislead. */
export interface Join {
  readonly on: readonly string[];
  /** Receives all findings of these codes in one file, in their order, and returns those that are shown. */
  readonly join: (found: readonly Finding[]) => readonly Finding[];
}
