/**
 * A finding: what is wrong, or most likely not as it was meant, in an operator's files or with a request. It is data from
 * its first moment to its last: whoever reports it gives code, place and facts; sentences are made once and can only be
 * printed (`Sentence`), never read, stored or compared.
 */

/** A file's text with the name it is printed under (relative to the working directory where it lies below it). */
export interface SourceText {
  readonly file: string;
  readonly text: string;
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

/** How sure a finding, or a hint on it, is. `certain` cannot be otherwise; `guess` is one of several ways to read it. */
export type Confidence = 'certain' | 'likely' | 'guess';

/** Who may read it: who writes mappings, who runs the service, who sends the request. Each reads what the next may, too. */
export type Audience = 'author' | 'operator' | 'sender';

export interface Finding {
  /** `error` refuses the file; `warning` does not. */
  readonly severity: 'error' | 'warning';
  /** Stable: SCREAMING_SNAKE of files, snake_case of requests. Each has a page and a case. */
  readonly code: string;
  /** What is wrong, what was found, what is expected: lower case, no full stop, values cut to 80 characters. */
  readonly message: Sentence;
  /** Absent where the finding belongs to no file, e.g. a command line option. */
  readonly at?: Place;
  /** Further places that explain it, e.g. the first of two duplicates. */
  readonly labels?: readonly { readonly at: Place; readonly text: Sentence }[];
  /** What advice needs to know, by code: see the `*Facts` of the room that reports it. */
  readonly facts?: object;
  /** Ranges of the file that no finding may show: nobody knows what stands there. */
  readonly hides?: readonly { readonly start: number; readonly end: number }[];
  /** Of a choice that may be meant, and of no mistake in a line: it comes last, without lines of the file. */
  readonly isGeneral?: boolean;
  /** What to do about it, by `advice`. */
  readonly hint?: Sentence;
  /** How sure the hint is; `certain` where absent. */
  readonly confidence?: Confidence;
  /** The hint as a change of the file, where it is mechanical: `check --fix` makes it. */
  readonly edit?: TextEdit;
  /** Changes at other places, without which the edit is none. */
  readonly also?: readonly TextEdit[];
}

/**
 * What was found out about a request, as a decision keeps it: its code, its place and what it speaks of, all of it the
 * operator's own or a name of ours. Who shows it makes the sentence, in the words of that day.
 */
export interface StoredFinding {
  readonly code: string;
  /** `file:line:column` in the operator's files, or in a module of theirs. */
  readonly at?: string;
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
}

/** A text that a sender wrote: shown only to those who may read the request. */
interface Sent {
  readonly sent: string;
}

/**
 * Something that the engine has read or compiled, and that may be in order: advice looks at it for what was hardly meant.
 * What else it holds is typed by the room that gives it (`*Subjects`).
 */
export interface Subject {
  readonly kind: string;
}

/**
 * A sentence of ours, from our words, the operator's own text and what a sender wrote. It is no text, so nothing can take
 * it apart, store it or compare it: only printers make a text of it, for people (`printSentence`).
 */
export class Sentence {
  readonly #parts: readonly (string | Sent)[];

  constructor(parts: readonly (string | Sent)[]) {
    // Words and the operator's own text are one piece, so that what is looked for in it is found across them.
    this.#parts = parts.reduce<readonly (string | Sent)[]>((joined, part) => {
      const last = joined.at(-1);
      return typeof part === 'string' && typeof last === 'string'
        ? [...joined.slice(0, -1), last + part]
        : [...joined, part];
    }, []);
  }

  static partsOf(sentence: Sentence): readonly (string | Sent)[] {
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
  ...values: readonly (string | number | Sent | Sentence)[]
): Sentence {
  const parts = words.flatMap((word, index) => {
    const value = values[index];
    if (value === undefined) return [word];
    if (value instanceof Sentence) return [word, ...Sentence.partsOf(value)];
    return [word, typeof value === 'number' ? String(value) : value];
  });
  return new Sentence(parts);
}

/** A text that another program or a schema worded, as a sentence. */
export const quoted = (text: string): Sentence => new Sentence([text]);

/** The same sentence with each of its texts changed, e.g. with secrets covered. */
export const mapSentence = (sentence: Sentence, change: (text: string) => string): Sentence =>
  new Sentence(
    Sentence.partsOf(sentence).map((part) =>
      typeof part === 'string' ? change(part) : { sent: change(part.sent) },
    ),
  );

/** The text of a sentence, for people; with `hideSent` what a sender wrote is `…`. Only printers call it. */
export function printSentence(
  sentence: Sentence,
  { hideSent = false }: { readonly hideSent?: boolean } = {},
): string {
  return Sentence.partsOf(sentence)
    .map((part) => (typeof part === 'string' ? part : hideSent ? '…' : part.sent))
    .join('');
}

/** A finding in one line: what is wrong; what to do. Only printers call it. */
export function printInLine({ message, hint }: Pick<Finding, 'message' | 'hint'>): string {
  const said = printSentence(message);
  return hint === undefined ? said : `${said}; ${printSentence(hint)}`;
}
