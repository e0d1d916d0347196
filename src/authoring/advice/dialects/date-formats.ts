/** The letters of a format, for messages. */
export const DATE_LETTERS =
  'yyyy is the year, MM the month, dd the day, HH the hour, mm the minute, ss the second';

/** Letters of strftime (Python, Ruby, Liquid). */
const PERCENT: Readonly<Record<string, string>> = {
  Y: 'yyyy',
  m: 'MM',
  b: 'MMM',
  B: 'MMM',
  d: 'dd',
  a: 'EEE',
  A: 'EEE',
  H: 'HH',
  I: 'HH',
  M: 'mm',
  S: 'ss',
  F: 'yyyy-MM-dd',
  T: 'HH:mm:ss',
};

/** Letters of moment, dayjs, Java and others, which mean nothing here or something else beside their neighbours. */
const SLIPS: readonly (readonly [RegExp, string])[] = [
  [/YYYY/g, 'yyyy'],
  [/(?<![A-Za-z])(?:YY|yy)(?![A-Za-z])/g, 'yyyy'],
  [/(?<![A-Za-z])D(?![A-Za-z])/g, 'dd'],
  [/(?<![A-Za-z])(?:dddd|ddd|EEEE)(?![A-Za-z])/g, 'EEE'],
  [/DD/g, 'dd'],
  [/MMMM/g, 'MMM'],
  [/(?<![A-Za-z])M(?=[-/.] ?(?:dd|yyyy))|(?<=(?:dd|yyyy)[-/.] ?)M(?![A-Za-z])/g, 'MM'],
  [/(?<=(?:yyyy|dd)[-/. ]?)mm|mm(?=[-/. ]?(?:yyyy|dd))/g, 'MM'],
  [/(?<=(?:HH|hh)[:.]?)MM|MM(?=:?(?:ss|SS))/g, 'mm'],
  [/(?<![A-Za-z])(?:hh|h|H)(?=:?mm)/g, 'HH'],
  [/(?<=mm:?)SS(?!S)/g, 'ss'],
  [/(?<=HH:mm(?::ss)?) ?[aA](?![A-Za-z])/g, ''],
];

/** The format that was meant by one with letters of other tools; undefined where it is right, or has texts of its own. */
export function ownDateFormat(written: string): string | undefined {
  if (/(?<!^)'(?!$)|[[\\]/.test(written)) return undefined;
  const own = written.includes('%')
    ? written.replaceAll(/%-?([A-Za-z])/g, (letter, name: string) => PERCENT[name] ?? letter)
    : SLIPS.reduce((text, [slip, right]) => text.replaceAll(slip, right), written);
  return own === written ? undefined : own;
}
