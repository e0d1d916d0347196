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
  hint: `here it is called "${name}"`,
  rename: name,
});

/** Several words that mean the same, with a blank between them. */
export const alike = (words: string, advice: KeyAdvice): Readonly<Record<string, KeyAdvice>> =>
  Object.fromEntries(words.split(' ').map((word) => [word, advice]));

/** Words that stand in an object of that name. */
export const below = (
  block: string,
  words: Readonly<Record<string, KeyAdvice>>,
): Readonly<Record<string, KeyAdvice>> =>
  Object.fromEntries(Object.entries(words).map(([word, advice]) => [`${block}.${word}`, advice]));

const SECONDS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  sec: 1,
  secs: 1,
  second: 1,
  seconds: 1,
  m: 60,
  min: 60,
  mins: 60,
  minute: 60,
  minutes: 60,
  h: 3_600,
  hour: 3_600,
  hours: 3_600,
  d: 86_400,
  day: 86_400,
  days: 86_400,
};

const BYTES: Readonly<Record<string, number>> = {
  b: 1,
  k: 1_024,
  kb: 1_024,
  kib: 1_024,
  m: 1_048_576,
  mb: 1_048_576,
  mib: 1_048_576,
  g: 1_073_741_824,
  gb: 1_073_741_824,
  gib: 1_073_741_824,
};

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  y: true,
  false: false,
  no: false,
  off: false,
  n: false,
};

/** The seconds of a number, with a unit or without; undefined where the unit is not known. */
export function secondsIn(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? [];
  const word = unit === '' ? 's' : unit.toLowerCase();
  return digits !== undefined && Object.hasOwn(SECONDS, word)
    ? Number(digits) * (SECONDS[word] ?? Number.NaN)
    : undefined;
}

/** A number with a unit, a number in quotes, or a word for true and false, where a number or boolean is expected. */
export function guessValue(key: string, value: unknown, expected: readonly string[]): ValueHint | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (expected.includes('a boolean')) {
    const word = text.toLowerCase();
    const meant = Object.hasOwn(BOOLEANS, word) ? BOOLEANS[word] : undefined;
    return meant === undefined
      ? { hint: 'write true or false, without quotes' }
      : { hint: `write ${String(meant)}, without quotes`, text: String(meant) };
  }
  if (!expected.includes('a number') && !expected.includes('a whole number')) return undefined;
  if (/^-?\d+(\.\d+)?$/.test(text)) return { hint: 'remove the quotes', text };
  return withUnit(key, text);
}

function withUnit(key: string, text: string): ValueHint | undefined {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text) ?? [];
  if (digits === '') return undefined;
  const word = unit.toLowerCase();
  if (/[Bb]ytes$/.test(key)) return counted(Number(digits) * (BYTES[word] ?? Number.NaN), 'bytes');
  const seconds = secondsIn(text) ?? Number.NaN;
  if (/[Ss]econds$/.test(key)) return counted(seconds, 'seconds');
  if (key.endsWith('Ms')) return counted(seconds * 1_000, 'milliseconds');
  if (/[Hh]ours$/.test(key)) return counted(seconds / 3_600, 'hours');
  return /[Dd]ays$/.test(key) ? counted(seconds / 86_400, 'days') : undefined;
}

function counted(amount: number, unit: string): ValueHint | undefined {
  if (!Number.isInteger(amount)) return undefined;
  return { hint: `it is a number of ${unit}: write ${String(amount)}`, text: String(amount) };
}
