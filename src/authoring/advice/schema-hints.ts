/** What is known of words and values of others, where a schema takes its own alone. */
import type { LocatedValue, Path } from '../../base/document/document.ts';

/** A value as it was probably meant. */
export interface ValueHint {
  readonly hint: string;
  /** What to write in place of the whole value, as YAML and JSON both take it; absent where only a person can tell. */
  readonly text?: string;
}

/** What an unknown key means elsewhere. */
export interface KeyAdvice {
  readonly hint: string;
  readonly rename?: string;
  /** The key of the same object that the hint has the reader write in its place, where a new name alone is not enough. */
  readonly means?: string;
  /** The key that has to stand beside it, where it is a word of others only there. */
  readonly beside?: string;
  /** Of several keys of one object with the same group only the first is told: they are one mistake. */
  readonly group?: string;
  /** The hint for a value, beside the other keys of its object, where the value says more. Such a value is no secret. */
  readonly hintFor?: (value: unknown, beside: unknown) => string | undefined;
}

/** A key that has another name here. */
export const calledHere = (name: string): KeyAdvice => ({
  hint: `rename it to "${name}"`,
  rename: name,
});

/** What repeats runs and deliveries, where others have one key for it. */
export const AGAIN: KeyAdvice = {
  hint: 'remove it: an agent that is away is waited for (gateway.holdHours), and deliveries are tried again, without a key; a run that began and failed is repeated where its mapping says retry: {on: [timeout, exit, error], attempts: 3}',
};

/** Several words of which the same is known, with a blank between them. */
export const alike = <Known>(words: string, known: Known): Readonly<Record<string, Known>> =>
  Object.fromEntries(words.split(' ').map((word) => [word, known]));

/** Words that stand in an object of that name. */
export const below = (
  block: string,
  words: Readonly<Record<string, KeyAdvice>>,
): Readonly<Record<string, KeyAdvice>> =>
  Object.fromEntries(Object.entries(words).map(([word, advice]) => [`${block}.${word}`, advice]));

/** Seconds of each unit. */
const UNITS: readonly (readonly [unit: RegExp, seconds: number])[] = [
  [/^ms$/i, 0.001],
  [/^(?:s|secs?|seconds?)?$/i, 1],
  [/^(?:m|mins?|minutes?)$/i, 60],
  [/^(?:h|hours?)$/i, 3_600],
  [/^(?:d|days?)$/i, 86_400],
];

/** The seconds of a number, with a unit or without; undefined where the unit is not known. */
export function secondsIn(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? [];
  const seconds = UNITS.find(([pattern]) => pattern.test(unit))?.[1];
  return digits === undefined || seconds === undefined ? undefined : Number(digits) * seconds;
}

/** What a room knows of the words and values of others. */
export interface SchemaAdvice {
  /** What unknown keys mean elsewhere, and what they are called here; below the root as `verify.secret`. */
  readonly keys?: Readonly<Record<string, KeyAdvice>>;
  /** What a key of another program's file is called here, by the values of the whole. */
  readonly otherFile?: (root: LocatedValue, path: Path) => KeyHint | undefined;
  /** How a value was meant that is of the wrong kind or not among those known; `key` as above, lists left out. */
  readonly value?: (key: string, value: unknown, beside: unknown) => ValueHint | undefined;
  /** What to write for a key that is missing, beside the others of its object. */
  readonly missing?: (key: string, beside: unknown) => string | undefined;
}

export interface KeyHint {
  readonly hint: string;
  /** Whether it is known what the value means, and so, which part of it is a secret. */
  readonly isKnown?: boolean;
  readonly rename?: string;
  /** Keys that are there when the hint was followed. */
  readonly repaired?: readonly Path[];
}
