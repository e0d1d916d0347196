/* Numbers as they are written for people: with thousands separators, a decimal comma, a currency or a unit. */

const MAX_CHARS = 40;

/** What stands around the only number of a text. */
const ONE_NUMBER = /^\D{0,12}\d[\d.,'’\s]{0,24}\D{0,12}$/u;

interface Reading {
  /** The digits with their separators. */
  readonly form: RegExp;
  /** What is called on the text, and gives a number in a text. */
  readonly code: string;
  readonly read: (text: string) => string;
}

const READINGS: readonly Reading[] = [
  // 1,200.00 and 85 %: but not 1,200, which may have a decimal comma.
  {
    form: /^\d{1,3}(?:([,'’\s])\d{3})*\.\d{1,2}$|^\d{1,3}(?:['’\s]\d{3})+$|^\d{1,3}(?:,\d{3}){2,}$|^\d+$/u,
    code: String.raw`.replace(/[^\d.-]/g, '')`,
    read: (text) => text.replaceAll(/[^\d.-]/g, ''),
  },
  // 1.200,00 and 12,5
  {
    form: /^\d{1,3}(?:[.'’\s]\d{3})*,\d{1,2}$|^\d+,\d{1,2}$|^\d{1,3}(?:\.\d{3}){2,}$/u,
    code: String.raw`.replace(/[^\d,-]/g, '').replace(',', '.')`,
    read: (text) => text.replaceAll(/[^\d,-]/g, '').replace(',', '.'),
  },
];

/** How JavaScript makes a number of such a text, and which; undefined where it may be read in two ways, or not at all. */
export function readWrittenNumber(
  text: string,
): { readonly code: string; readonly value: number } | undefined {
  if (text.length > MAX_CHARS || !ONE_NUMBER.test(text)) return undefined;
  const [digits = ''] = /\d[\d.,'’\s]*/u.exec(text) ?? [];
  const reading = READINGS.find(({ form }) => form.test(digits.trim()));
  if (reading === undefined) return undefined;
  const value = Number(reading.read(text));
  return Number.isFinite(value) && /\d/.test(reading.read(text)) ? { code: reading.code, value } : undefined;
}
