import { DATE_TOKENS } from '../../mapping/facts.ts';

/** The letters of a format, for messages. */
export const DATE_LETTERS =
  'yyyy is the year, MM the month, dd the day, HH the hour, mm the minute, ss the second';

/** Letters of strftime (Python, Ruby, Liquid). */
const PERCENT: Readonly<Record<string, string>> = {
  Y: 'yyyy',
  y: 'yyyy',
  m: 'MM',
  b: 'MMM',
  B: 'MMM',
  d: 'dd',
  e: 'dd',
  a: 'EEE',
  A: 'EEE',
  H: 'HH',
  I: 'HH',
  M: 'mm',
  S: 'ss',
  F: 'yyyy-MM-dd',
  T: 'HH:mm:ss',
  R: 'HH:mm',
  D: 'MM/dd/yyyy',
};

/** Letters of PHP's `date`. */
const PHP: Readonly<Record<string, string>> = {
  Y: 'yyyy',
  y: 'yyyy',
  m: 'MM',
  n: 'MM',
  M: 'MMM',
  F: 'MMM',
  d: 'dd',
  j: 'dd',
  D: 'EEE',
  l: 'EEE',
  H: 'HH',
  G: 'HH',
  h: 'HH',
  g: 'HH',
  i: 'mm',
  s: 'ss',
};

/** Parts of the time that Go writes in its formats. */
const GO: Readonly<Record<string, string>> = {
  '2006': 'yyyy',
  January: 'MMM',
  Jan: 'MMM',
  Monday: 'EEE',
  Mon: 'EEE',
  '01': 'MM',
  '02': 'dd',
  '15': 'HH',
  '03': 'HH',
  '04': 'mm',
  '05': 'ss',
  '1': 'MM',
  '2': 'dd',
  _2: 'dd',
  '3': 'HH',
};

/** Letters of moment, dayjs, Java and others, which mean nothing here or something else beside their neighbours. */
const SLIPS: readonly (readonly [RegExp, string])[] = [
  [/YYYY/g, 'yyyy'],
  [/(?<![A-Za-z])(?:YY|yy)(?![A-Za-z])/g, 'yyyy'],
  [/(?<![A-Za-z])Do(?![A-Za-z])/g, 'dd'],
  [/(?<![A-Za-z])D(?![A-Za-z])/g, 'dd'],
  [/(?<![A-Za-z])(?:dddd|ddd|EEEE|cccc|ccc)(?![A-Za-z])/g, 'EEE'],
  [/DD/g, 'dd'],
  [/MMMM|LLLL?/g, 'MMM'],
  [/(?<![A-Za-z])d(?=[-/. ]{1,2}M{1,4}(?!M))|(?<=M[-/.] ?)d(?![A-Za-z])/g, 'dd'],
  [/(?<![A-Za-z])M(?=[-/.] ?(?:dd|yyyy))|(?<=(?:dd|yyyy)[-/.] ?)M(?![A-Za-z])/g, 'MM'],
  [/(?<=(?:yyyy|dd)[-/. ]?)mm|mm(?=[-/. ]?(?:yyyy|dd))/g, 'MM'],
  [/(?<=(?:HH|hh)[:.]?)MM|MM(?=:?(?:ss|SS))/g, 'mm'],
  [/(?<![A-Za-z])(?:hh|h|H)(?=:?mm)/g, 'HH'],
  [/(?<=mm:?)SS(?!S)/g, 'ss'],
  [/(?<=ss)[.,]S{3,}/g, ''],
  [/(?<=HH:mm(?::ss)?) ?[aA](?![A-Za-z])/g, ''],
];

/** A part of a format: letters for the time, or a text that is printed. */
interface Part {
  readonly text: string;
  readonly isLiteral: boolean;
}

/** What was meant by a format with letters or quotes of other tools. */
export interface MeantFormat {
  /** Formats and texts in their order, where a text has letters that a format would replace. */
  readonly parts: readonly Part[];
  /** One format for all; undefined where only several calls print what was meant. */
  readonly format: string | undefined;
}

/** The format that was meant by one with letters of other tools; undefined where it is right, or anybody's guess. */
export function findMeantFormat(written: string): MeantFormat | undefined {
  const parts = joined(partsOf(written));
  const meant = parts.map(({ text }) => text).join('');
  // Brackets alone may be wanted in the text.
  if (meant === written || (written.includes('[') && meant === unbracketed(written))) return undefined;
  const isOne = parts.every(({ isLiteral, text }) => !isLiteral || !hasTokens(text));
  return { parts, format: isOne ? meant : undefined };
}

/** The same as one format. */
export function meantDateFormat(written: string): string | undefined {
  return findMeantFormat(written)?.format;
}

/** A layout of Go as a format here; as it is where it has no part of Go's reference time. */
export function goDateFormat(layout: string): string {
  return goParts(layout)
    .map(({ text }) => text)
    .join('');
}

/** A digit alone is a part of the time only where it is a word of its own. */
const GO_WORDS = /(2006|January|Jan|Monday|Mon|0[1-5]|15|_2(?!\d)|(?<!\w)[123](?!\w))/g;

const goParts = (layout: string): readonly Part[] => replaced(layout.replace(/ ?PM/, ''), GO_WORDS, GO);

function partsOf(written: string): readonly Part[] {
  if (/%-?[A-Za-z]/.test(written)) return replaced(written, /%-?([A-Za-z])/g, PERCENT);
  if (/2006|15:04/.test(written)) return goParts(written);
  if (isPhp(written)) return replaced(written, /(?<!\\)([A-Za-z])/g, PHP).map(withoutBackslashes);
  return quotedParts(written).map((part) =>
    part.isLiteral ? part : { text: slipped(part.text), isLiteral: false },
  );
}

/** Single letters, with some that only a date can mean: `d.m.Y H:i`. */
function isPhp(written: string): boolean {
  const words = written.replaceAll(/\\[A-Za-z]/g, ' ').match(/[A-Za-z]+/g) ?? [];
  const isSingle = words.length > 1 && words.every((word) => word.length === 1 && Object.hasOwn(PHP, word));
  return isSingle && words.some((word) => 'YiFjlnG'.includes(word));
}

const withoutBackslashes = (part: Part): Part =>
  part.isLiteral ? { ...part, text: part.text.replaceAll('\\', '') } : part;

/** What a tool writes for the parts of the time, in place of its letters; between them stand texts. */
function replaced(
  written: string,
  letters: RegExp,
  meanings: Readonly<Record<string, string>>,
): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of written.matchAll(letters)) {
    const meant = meanings[match[1] ?? ''];
    if (meant === undefined) continue;
    parts.push(
      { text: written.slice(from, match.index), isLiteral: true },
      { text: meant, isLiteral: false },
    );
    from = match.index + match[0].length;
  }
  return [...parts, { text: written.slice(from), isLiteral: true }];
}

/** Texts between quotes (Java, Luxon, date-fns) or brackets (moment, dayjs). */
function quotedParts(written: string): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of written.matchAll(/'((?:[^']|'')*)'|\[([^[\]]*)\]/g)) {
    const text = (match[1] ?? match[2] ?? '').replaceAll("''", "'");
    // Marks round the time itself are printed.
    if (text !== '' && (!/\p{L}/u.test(text) || isTime(text))) continue;
    parts.push(
      { text: written.slice(from, match.index), isLiteral: false },
      { text: text === '' ? "'" : text, isLiteral: true },
    );
    from = match.index + match[0].length;
  }
  return [...parts, { text: written.slice(from), isLiteral: false }];
}

const isTime = (text: string): boolean =>
  hasTokens(text) && !/\p{L}/u.test(slipped(text).replaceAll(DATE_TOKENS, ''));
const hasTokens = (text: string): boolean => text.search(DATE_TOKENS) !== -1;
const unbracketed = (written: string): string => written.replaceAll(/\[([^[\]]*)\]/g, '$1');

function slipped(text: string): string {
  let meant = text;
  for (const [slip, right] of SLIPS) meant = meant.replaceAll(slip, right);
  return meant;
}

/** Texts that a format prints as they are become a part of it. */
function joined(parts: readonly Part[]): readonly Part[] {
  const found: Part[] = [];
  for (const { text, isLiteral } of parts) {
    if (text === '') continue;
    const isOwn = isLiteral && hasTokens(text);
    const last = found.at(-1);
    if (last !== undefined && last.isLiteral === isOwn)
      found[found.length - 1] = { text: last.text + text, isLiteral: isOwn };
    else found.push({ text, isLiteral: isOwn });
  }
  return found;
}
