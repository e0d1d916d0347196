import { didYouMean } from '../../document/document.ts';
import { spelling } from '../../document/facts.ts';

/** The zone that was probably meant: its city, or a near name. */
export function nearTimeZone(written: string): string | undefined {
  const zones = Intl.supportedValuesOf('timeZone');
  const city = spelling(written.split('/').at(-1) ?? '');
  const found = zones.find((zone) => spelling(zone.split('/').at(-1) ?? '') === city);
  return found ?? didYouMean(written, zones);
}
