import type { styleText } from 'node:util';
import { shorten } from '../document/document.ts';
import type { JsonValue } from '../request.ts';
import { clearControl, clearLine } from '../telemetry/telemetry.ts';

/** Colours a text, or leaves it. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Text of several lines, cleared and set off by a bar. */
export function indent(text: string): string[] {
  return clearControl(text)
    .split('\n')
    .map((each) => `    | ${each}`.trimEnd());
}

const MAX_VALUE_CHARS = 200;

/** A value of the payload on one line. */
export function value(found: JsonValue | undefined): string {
  return found === undefined ? 'missing' : cut(clearLine(JSON.stringify(found)));
}

export function cut(text: string): string {
  return shorten(text, MAX_VALUE_CHARS);
}
