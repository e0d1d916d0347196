/** The letters of a format, for messages. */
export const DATE_LETTERS =
  'yyyy is the year, MM the month, dd the day, HH the hour, mm the minute, ss the second';

/** Letters of strftime (Python, Ruby, Liquid). */
const PERCENT: Readonly<Record<string, string>> = {
  Y: 'yyyy',
  m: 'MM',
  b: 'MMM',
  d: 'dd',
  a: 'EEE',
  H: 'HH',
  M: 'mm',
  S: 'ss',
  F: 'yyyy-MM-dd',
  T: 'HH:mm:ss',
};

/** Letters of moment, dayjs and others, which mean nothing here or something else beside their neighbours. */
const SLIPS: readonly (readonly [RegExp, string])[] = [
  [/YYYY/g, 'yyyy'],
  [/DD/g, 'dd'],
  [/(?<=(?:yyyy|dd)[-/. ]?)mm|mm(?=[-/. ]?(?:yyyy|dd))/g, 'MM'],
  [/(?<=(?:HH|hh)[:.]?)MM|MM(?=:?(?:ss|SS))/g, 'mm'],
  [/hh(?=:?mm)/g, 'HH'],
  [/(?<=mm:?)SS/g, 'ss'],
  [/\bddd\b/g, 'EEE'],
];

/** The format that was meant by one with letters of other tools; undefined where it is right, or anybody's guess. */
export function meantDateFormat(format: string): string | undefined {
  let meant = format.replaceAll(/%([A-Za-z])/g, (whole, letter: string) => PERCENT[letter] ?? whole);
  for (const [slip, right] of SLIPS) meant = meant.replaceAll(slip, right);
  return meant === format ? undefined : meant;
}
