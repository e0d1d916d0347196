import { didYouMean, replaceWithin } from '../../base/document/document.ts';
import {
  quoted,
  say,
  type Confidence,
  type Finding,
  type Sentence,
  type Subject,
  type TextEdit,
} from '../../base/finding.ts';
import type { Facts, Subjects } from './facts.ts';

/** What mends a finding, as data: the text at its place (or at others) becomes another. */
export interface Fix {
  readonly edit: TextEdit;
  /** Changes at other places, without which the edit is none. */
  readonly also?: readonly TextEdit[];
}

/**
 * One thing that is known of a mistake: it looks at a finding of the engine (`on`), and says what to do about it. `find`
 * is asked first and is cheap; `say` and `fix` only for what is shown. Deleting a rule takes nothing else with it.
 */
export interface Rule<Code extends keyof Facts, Match> {
  readonly on: Code;
  /** Unique among the rules on a code; names what was written, not the cure: `near-name`. */
  readonly name: string;
  /** How sure the hint is. Of several rules that match the surest speaks, and of equals the first of the list. */
  readonly confidence: Confidence;
  readonly find: (facts: Facts[Code], finding: Finding) => Match | undefined;
  readonly say: (match: Match, finding: Finding) => Sentence;
  /** Absent where only a person can do it. */
  readonly fix?: (match: Match, finding: Finding) => Fix | undefined;
  /** The same mistake by its own place, where the engine knows only how far it came. */
  readonly closer?: (match: Match, finding: Finding) => Pick<Finding, 'at' | 'message'>;
  /** Whether it is now known that the value is no secret: then it is shown. */
  readonly shows?: (match: Match) => boolean;
}

/** A rule whose facts were looked at: what is kept of it in one list with all others. */
export interface AnyRule {
  readonly on: string;
  readonly name: string;
  readonly confidence: Confidence;
  /** What it declares to mend with: a change of the file, where one is sure, or words alone. */
  readonly mends: 'edit' | 'words';
  /** What it adds to a finding; undefined where it has nothing to say. */
  advise(finding: Finding): Partial<Finding> | undefined;
}

/** Declares a rule. */
export function rule<Code extends keyof Facts, Match>({
  on,
  name,
  confidence,
  find,
  say,
  fix,
  closer,
  shows,
}: Rule<Code, Match>): AnyRule {
  return {
    on,
    name,
    confidence,
    mends: fix === undefined ? 'words' : 'edit',
    advise: (finding) => {
      // The reporter of the room types the facts of each code.
      const match = finding.facts === undefined ? undefined : find(finding.facts as Facts[Code], finding);
      if (match === undefined) return undefined;
      return {
        hint: say(match, finding),
        confidence,
        ...fix?.(match, finding),
        ...closer?.(match, finding),
        ...(shows?.(match) === true && { hides: ofKey(finding) }),
      };
    },
  };
}

/** A key that may be a secret itself stays hidden. */
const ofKey = ({ at, hides = [] }: Finding): Finding['hides'] & {} =>
  hides.filter(({ start }) => start === at?.start);

/** The surest first. */
const ORDER: readonly Confidence[] = ['certain', 'likely', 'guess'];

/** A finding with what the surest of its rules says; as it is where it has a hint, or none of them knows it. */
export function withAdvice(finding: Finding, rules: readonly AnyRule[]): Finding {
  if (finding.hint !== undefined) return finding;
  const own = rules.filter(({ on }) => on === finding.code);
  for (const sureness of ORDER)
    for (const { advise } of own.filter(({ confidence }) => confidence === sureness)) {
      const said = advise(finding);
      if (said !== undefined) return { ...finding, ...said };
    }
  return finding;
}

/** A rule without a fix: `hint` says what to do, or nothing. */
export function hint<Code extends keyof Facts>(
  on: Code,
  [name, confidence]: readonly [name: string, confidence: Confidence],
  find: (facts: Facts[Code], finding: Finding) => Sentence | string | undefined,
): AnyRule {
  const said = (found: Sentence | string): Sentence => (typeof found === 'string' ? quoted(found) : found);
  return rule({ on, name, confidence, find, say: said });
}

/** A word, and the one that was meant. */
export interface Renamed {
  readonly from: string;
  readonly to: string;
}

/** The word that was meant by another, where one of them is near. */
export function near(from: string, words: Iterable<string>): Renamed | undefined {
  const to = didYouMean(from, words);
  return to === undefined ? undefined : { from, to };
}

/** A rule on a word that was meant as another, which then stands in its place. */
export function nearName<Code extends keyof Facts>(
  on: Code,
  find: (facts: Facts[Code]) => Renamed | undefined,
  words: (renamed: Renamed) => Sentence = ({ to }) => say`did you mean "${to}"?`,
): AnyRule {
  return rule({
    on,
    name: 'near-name',
    confidence: 'likely',
    find,
    say: words,
    fix: ({ from, to }, { at }) => {
      const edit = at && replaceWithin(at, from, to);
      return edit && { edit };
    },
  });
}

/** The same advice on each finding of a code, where no other rule on it knows more. */
export function remedy(on: string, hint: Sentence, confidence: Confidence = 'certain'): AnyRule {
  return { on, name: 'remedy', confidence, mends: 'words', advise: () => ({ hint, confidence }) };
}

/** What a look found: a finding but for what the look says of all of its findings. */
export type Found = Omit<Finding, 'code' | 'severity' | 'confidence'> & {
  /** One of the look's, or that of the finding in whose place it stands; default the look's first. */
  readonly code?: string;
  /** Only of a finding that stands in the place of others, which refuse the file. */
  readonly severity?: Finding['severity'];
  /** Findings of the engine that say less of the same: they go. */
  readonly replaces?: readonly Finding[];
};

/** With the edit that replaces what is written at its place, where the file has it so. */
export function replacing(found: Found, from: string, to: string): Found {
  const edit = found.at && replaceWithin(found.at, from, to);
  return edit === undefined ? found : { ...found, edit };
}

/**
 * A finding of advice's own: it looks at something that the engine took, and says what was hardly meant. Its findings are
 * warnings and refuse nothing; their hint stands in them or comes from a rule on their code.
 */
export interface Look<Kind extends keyof Subjects> {
  readonly on: Kind;
  /** In the registry of codes by being named here. */
  readonly codes: readonly [string, ...string[]];
  /** Where several looks have one code. */
  readonly name?: string;
  /** Default `certain`. */
  readonly confidence?: Confidence;
  readonly find: (subject: Subjects[Kind]) => readonly Found[];
}

/** A look whose subjects were typed: what is kept of it in one list with all others. */
export interface AnyLook {
  readonly on: string;
  readonly codes: readonly string[];
  lookAt(subject: Subject): readonly (Finding & Pick<Found, 'replaces'>)[];
}

/** Declares a look. */
export function look<Kind extends keyof Subjects>({ on, codes, confidence, find }: Look<Kind>): AnyLook {
  return {
    on,
    codes,
    lookAt: (subject) =>
      // The room that gives the subject types each kind.
      find(subject as unknown as Subjects[Kind]).map((found) => ({
        severity: 'warning',
        code: codes[0],
        ...(confidence === undefined ? {} : { confidence }),
        ...found,
      })),
  };
}
