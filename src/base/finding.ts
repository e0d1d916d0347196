/**
 * A finding: what is wrong, or most likely not as it was meant, in an operator's files or with a request. It is data from
 * its first moment to its last: whoever reports it gives code, place and facts; sentences are made once and can only be
 * printed (`Sentence`), never read, stored or compared.
 */

/** A file's text with the name it is printed under (relative to the working directory where it lies below it). */
export interface SourceText {
  readonly file: string;
  readonly text: string;
  /** Whether this is a file of an OpenClaw gateway, which knows no keys but its own. */
  readonly isOpenClaw?: boolean;
  /** Ranges that hold literal secrets, in order: printed source lines show dots there. */
  readonly secrets?: readonly { readonly start: number; readonly end: number }[];
}

/** A range of a source file. Offsets are 0-based UTF-16 units, `end` exclusive. */
export interface Place {
  readonly source: SourceText;
  readonly start: number;
  readonly end: number;
}

/** A change of a file that mends a finding: the text at a place becomes another. */
export interface TextEdit {
  readonly at: Place;
  readonly text: string;
}

/** Who may read it: who writes mappings, who runs the service, who sends the request. Each reads what the next may, too. */
export type Audience = 'author' | 'operator' | 'sender';

/** What a finding on a request is about. */
export interface FindingSubject {
  /** `file:line:column` in the operator's files, where they are not at hand as they were then. */
  readonly place?: string;
  /** The mapping, where several were considered. */
  readonly mapping?: { readonly id: string; readonly at?: string };
  /** The key of the mapping, e.g. `messageTemplate`, or the field of the request, cut to 80 characters. */
  readonly field?: string;
  /** The element of a batch, counted from 0. */
  readonly index?: number;
  /** Paths and names of the request in its sentence; they decide whether a reader who may see only the operator's words may see it. */
  readonly paths?: readonly string[];
  /** The setting that took part, as the file writes it. */
  readonly setting?: string;
  /** The setting did what it is there for, so there is nothing to do. */
  readonly isFine?: boolean;
  /** The setting says how a run ended, and what to write. */
  readonly isOfRun?: true;
  /** What rendered empty. */
  readonly expression?: string;
}

export interface Finding {
  /** `error` refuses the file; `warning` does not. */
  readonly severity: 'error' | 'warning';
  /** Stable: SCREAMING_SNAKE of files, snake_case of requests. Each has a page and a case. */
  readonly code: string;
  /** What is wrong, what was found, what is expected: lower case, no full stop, values cut to 80 characters. */
  readonly message: Sentence;
  /** Default `author`. */
  readonly audience?: Audience;
  /** Absent where the finding belongs to no file, e.g. a command line option. */
  readonly at?: Place;
  /** The part of a request that a finding is about, beside its place. */
  readonly subject?: FindingSubject;
  /** Further places that explain the finding, e.g. the first of two duplicates. */
  readonly labels?: readonly { readonly at: Place; readonly text: Sentence }[];
  /** What advice needs to know, by code: see the `*Facts` of the module that reports it. */
  readonly facts?: object;
  /** Ranges of the file that no finding may show: nobody knows what stands there. */
  readonly hides?: readonly { readonly start: number; readonly end: number }[];
  /** The finding is about a choice that may be meant, not a mistake in a line; it is printed last, without lines of the file. */
  readonly isGeneral?: boolean;
  /** The finding is about what a stranger or an agent could do; no comment in the file hides it. */
  readonly isOfSafety?: boolean;
  /** What to do about it, by `advice`. */
  readonly hint?: Sentence;
  /** The hint as a change of the file, where it is mechanical: `check --fix` makes it. */
  readonly edit?: TextEdit;
}

/** A finding on a request as its answer and `--json` have it: an ignored field, a fallback, or what is wrong. */
export interface RequestFindingJson {
  readonly code: string;
  /** Absent where it is about the whole request. */
  readonly field?: string;
  readonly message: string;
  /** The element of a batch, counted from 0. */
  readonly index?: number;
}

/** The facts of a finding that is stored: only the operator's own words and names that Sluice defines. */
export type KeptFacts = Readonly<Record<string, string | number | boolean>>;

/**
 * A finding on a request without its sentences, as a decision keeps it: who shows it makes them, in the words of that
 * day. `at` is `file:line:column` in the operator's files or modules.
 */
export type StoredFinding<Code extends string = string, Facts extends object = KeptFacts> = Readonly<{
  code: Code;
  at?: string;
  facts?: Facts;
}>;

/** A text that a sender wrote, among facts. */
interface SentText {
  readonly sent: string;
}

/** What is to be done, as a part of a sentence: printers may set it apart. */
export interface Fix {
  /** The verb, such as `write`; all of it where nothing is to be pasted. */
  readonly verb: string;
  /** What is pasted as it stands: a rule, an expression, a key with its value. */
  readonly line?: string;
  /** Where to, such as `in verify of the mapping`. */
  readonly where?: string;
  /** What for, such as `to ask each of its elements`: it stands before the verb. */
  readonly purpose?: string;
}

type SentencePart = string | Fix;

/**
 * Something that the engine has read or compiled, and that may be in order: advice looks at it for what was hardly meant.
 * What else it holds is typed by the module that gives it (`*Subjects`).
 */
export interface Subject {
  readonly kind: string;
}

/**
 * A sentence of ours, from our words, the operator's own text and what a sender wrote. It is no text, so nothing can take
 * it apart, store it or compare it: only printers make a text of it, for people (`printSentence`).
 */
export class Sentence {
  readonly #parts: readonly SentencePart[];

  constructor(parts: readonly SentencePart[]) {
    // Words and the operator's own text are one piece, so that what is looked for in it is found across them.
    this.#parts = parts.reduce<readonly SentencePart[]>((joined, part) => {
      const last = joined.at(-1);
      return typeof part === 'string' && typeof last === 'string'
        ? [...joined.slice(0, -1), last + part]
        : [...joined, part];
    }, []);
  }

  static partsOf(sentence: Sentence): readonly SentencePart[] {
    return sentence.#parts;
  }

  /** @throws always: what is stored is read back one day. Store code and facts. */
  toJSON(): never {
    throw new Error('a sentence is printed, not stored');
  }

  /** @throws always: what is a text can be compared. */
  toString(): never {
    throw new Error('a sentence is printed by printSentence');
  }
}

/** Makes a sentence: say`unknown key ${key}`. A bare text is the operator's own. */
export function say(
  words: TemplateStringsArray,
  ...values: readonly (string | number | SentText | Fix | Sentence)[]
): Sentence {
  const parts = words.flatMap((word, index): readonly SentencePart[] => {
    const value = values[index];
    if (value === undefined) return [word];
    if (value instanceof Sentence) return [word, ...Sentence.partsOf(value)];
    if (typeof value === 'object') return [word, 'sent' in value ? value.sent : value];
    return [word, String(value)];
  });
  return new Sentence(parts);
}

/** Says that something is to be written: say`${name} is a list: ${write(rule)}`. */
export const write = (line: string, where?: string, purpose?: string): Fix => ({
  verb: 'write',
  line,
  ...(where === undefined ? {} : { where }),
  ...(purpose === undefined ? {} : { purpose }),
});

/** Stands before what is to be done, where nothing is pasted: say`the bytes are TLS: ${todo}call it as http`. */
export const todo: Fix = { verb: '' };

/** A text that another program or a schema worded, as a sentence. */
export const quoted = (text: string): Sentence => new Sentence([text]);

/** Joins sentences, with `; ` between them. */
export const joinSentences = (sentences: readonly Sentence[]): Sentence =>
  new Sentence(
    sentences.flatMap((each, at) => {
      const parts = Sentence.partsOf(each);
      return at === 0 || parts.length === 0 ? parts : ['; ', ...parts];
    }),
  );

/** The same sentence with each of its texts changed, e.g. with secrets covered. */
export const mapSentence = (sentence: Sentence, change: (text: string) => string): Sentence =>
  new Sentence(
    Sentence.partsOf(sentence).map((part) =>
      typeof part === 'string'
        ? change(part)
        : (Object.fromEntries(
            Object.entries(part).map(([key, text]) => [key, change(text as string)]),
          ) as unknown as Fix),
    ),
  );

/** A sentence where it first says what to do: what stands before, and what behind. Only printers call it. */
export function splitAtFix(sentence: Sentence): {
  readonly before: Sentence;
  readonly fix?: Fix;
  readonly after: Sentence;
} {
  const parts = Sentence.partsOf(sentence);
  const at = parts.findIndex((part) => typeof part === 'object');
  if (at === -1) return { before: sentence, after: new Sentence([]) };
  const [before, after] = [parts.slice(0, at), parts.slice(at + 1)].map((some) => new Sentence(some));
  return { before, fix: parts[at] as Fix, after } as ReturnType<typeof splitAtFix>;
}

export const hasFix = (sentence: Sentence): boolean => splitAtFix(sentence).fix !== undefined;

/** The text of a sentence, for people. Only printers call this. */
export function printSentence(sentence: Sentence): string {
  let text = '';
  for (const part of Sentence.partsOf(sentence))
    text += typeof part === 'string' ? part : begun(fixText(part), text.endsWith('. '));
  return text;
}

const fixText = ({ verb, line, where, purpose }: Fix): string =>
  [purpose, verb, line, where].filter((part) => part !== undefined).join(' ');

const begun = (text: string, isBeginning: boolean): string =>
  isBeginning ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text;

/** A finding in one sentence: what is wrong; what to do. */
export const inLine = ({ message, hint }: Pick<Finding, 'message' | 'hint'>): Sentence =>
  hint === undefined ? message : say`${message}; ${hint}`;

export const printInLine = (finding: Pick<Finding, 'message' | 'hint'>): string =>
  printSentence(inLine(finding));

/** The finding as data, for the answer and `--json`. */
export function requestFindingToJson(finding: Finding): RequestFindingJson {
  const { field, index } = finding.subject ?? {};
  return {
    code: finding.code,
    ...(field === undefined ? {} : { field }),
    message: printInLine(finding),
    ...(index === undefined ? {} : { index }),
  };
}

/** Cuts a text to so many characters for a message; a text that was cut ends in `…`. */
export function shorten(text: string, limit = 80): string {
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}

/** `1 run`, or `2 runs`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** `a, b and c`, or `a, b or c`. */
export function inWords(parts: readonly string[], joint: 'and' | 'or' = 'and'): string {
  const type = joint === 'and' ? 'conjunction' : 'disjunction';
  return new Intl.ListFormat('en-GB', { type }).format(parts);
}

const MINUTE = 60;

/** Prints a time as `1800 s (30 min)`. */
export function spanOf(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds} s`;
  const minutes = seconds / MINUTE;
  const rounded = minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 6) / 10} h`;
  return `${seconds} s (${rounded})`;
}
