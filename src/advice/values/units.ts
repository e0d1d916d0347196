/** Numbers with a unit, numbers in quotes, and words for true and false. */
import { secondsIn, type ValueHint } from '../schema-hints.ts';

/** In bytes, by the first letter. */
const BYTES: Readonly<Record<string, number>> = { b: 1, k: 1_024, m: 1_048_576, g: 1_073_741_824 };

const bytesIn = (unit: string): number =>
  /^(?:b|[kmg](?:i?b)?)$/i.test(unit) ? (BYTES[unit.charAt(0).toLowerCase()] ?? Number.NaN) : Number.NaN;

/** A number with a unit, a number in quotes, or a word for true and false, where a number or boolean is expected. */
export function guessValue(key: string, value: unknown, expected: readonly string[]): ValueHint | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (expected.includes('a boolean')) {
    const isTrue = /^(?:true|yes|on|y)$/i.test(text);
    if (!isTrue && !/^(?:false|no|off|n)$/i.test(text))
      return { hint: 'write true or false, without quotes' };
    return { hint: `write ${isTrue}, without quotes`, text: String(isTrue) };
  }
  if (!expected.includes('a number') && !expected.includes('a whole number')) return undefined;
  if (/^-?\d+(\.\d+)?$/.test(text)) return { hint: 'remove the quotes', text };
  return withUnit(key, text);
}

function withUnit(key: string, text: string): ValueHint | undefined {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(text) ?? [];
  if (digits === '') return undefined;
  if (/[Bb]ytes$/.test(key)) return counted(Number(digits) * bytesIn(unit), 'bytes');
  const seconds = secondsIn(text) ?? Number.NaN;
  if (/[Ss]econds$/.test(key)) return counted(seconds, 'seconds');
  if (key.endsWith('Ms')) return counted(seconds * 1_000, 'milliseconds');
  if (/[Hh]ours$/.test(key)) return counted(seconds / 3_600, 'hours');
  return /[Dd]ays$/.test(key) ? counted(seconds / 86_400, 'days') : undefined;
}

function counted(amount: number, unit: string): ValueHint | undefined {
  if (!Number.isInteger(amount)) return undefined;
  return { hint: `write ${String(amount)}: it is a number of ${unit}`, text: String(amount) };
}
