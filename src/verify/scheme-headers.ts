import type { Scheme, Way } from './scheme.ts';
import { SCHEMES } from './schemes.ts';
import { TWILIO_HEADER } from './twilio.ts';

/** The schemes whose proof stands in a header of this name, whatever is in it. */
export const schemesOfHeader = (header: string): readonly string[] =>
  Object.entries(SCHEMES as Readonly<Record<string, Scheme>>).flatMap(([name, { ways }]) =>
    ways.some(({ way }) => headerOf(way) === header) ? [name] : [],
  );

/** The header of a proof; undefined where it stands in the body. */
export function headerOf(way: Way): string | undefined {
  if (way.kind === 'signature') return way.columns.header;
  if (way.kind === 'twilio') return TWILIO_HEADER;
  return way.kind === 'secret' ? way.header : undefined;
}
