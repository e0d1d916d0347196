import { didYouMean, spelling } from '../../document/document.ts';

/** Abbreviations that people write for the zone of a place. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  est: 'America/New_York',
  edt: 'America/New_York',
  et: 'America/New_York',
  cst: 'America/Chicago',
  ct: 'America/Chicago',
  mst: 'America/Denver',
  pst: 'America/Los_Angeles',
  pdt: 'America/Los_Angeles',
  pt: 'America/Los_Angeles',
  bst: 'Europe/London',
  ist: 'Asia/Kolkata',
  jst: 'Asia/Tokyo',
  mesz: 'Europe/Berlin',
};

/** The zone that was probably meant: its city, an abbreviation, or a near name. */
export function meantTimeZone(written: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = spelling(written.split('/').at(-1) ?? '');
  const found = zones.find((zone) => spelling(zone.split('/').at(-1) ?? '') === city);
  if (found !== undefined) return found;
  const word = written.trim().toLowerCase();
  return Object.hasOwn(ABBREVIATIONS, word) ? ABBREVIATIONS[word] : didYouMean(written, zones);
}
