import { shorten } from '../../../base/finding.ts';
import { isJsonObject } from '../../../base/json.ts';
import type { JsonValue } from '../../../base/request.ts';
import { clearLine, SECRET_KEY } from '../../../base/telemetry/telemetry.ts';

const MAX_VALUE_CHARS = 200;

/** Prints a value of the payload on one line. */
export function value(found: JsonValue | undefined): string {
  return found === undefined ? 'missing' : cut(clearLine(JSON.stringify(found)));
}

/** Cuts a text to 200 characters. */
export const cut = (text: string): string => shorten(text, MAX_VALUE_CHARS);

/** Shows a path of the request with its value: lists and objects by their size, and secrets not at all. */
export function shownAs(path: string, found: JsonValue): string {
  if (Array.isArray(found)) return `${path} (a list of ${found.length})`;
  if (isJsonObject(found)) return `${path} (an object)`;
  const isSecret = typeof found === 'string' && path.split('.').some((key) => SECRET_KEY.test(key));
  return `${path} (${isSecret ? '…' : shorten(JSON.stringify(found), 100)})`;
}
