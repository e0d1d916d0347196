/** Numbers with a unit, numbers in quotes, and words for true and false. */
import { secondsIn, type ValueHint } from '../../document/document.ts';

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
