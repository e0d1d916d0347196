import { shorten } from '../../../base/document/document.ts';
import type { JsonValue } from '../../../base/request.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';

const MAX_VALUE_CHARS = 200;

/** A value of the payload on one line. */
export function value(found: JsonValue | undefined): string {
  return found === undefined ? 'missing' : cut(clearLine(JSON.stringify(found)));
}

/** At most 200 characters of it. */
export const cut = (text: string): string => shorten(text, MAX_VALUE_CHARS);

const MINUTE = 60;

/** `1800 s (30 min)`. */
export function spanOf(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds} s`;
  const minutes = seconds / MINUTE;
  const rounded = minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 6) / 10} h`;
  return `${seconds} s (${rounded})`;
}
