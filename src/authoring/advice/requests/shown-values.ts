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

/** How a path of the request and its value are told. */
export const shownAs = (name: string, found: JsonValue): string => `${name} (${JSON.stringify(found)})`;
