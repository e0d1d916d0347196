import type { styleText } from 'node:util';
import { clearControl } from '../telemetry/telemetry.ts';

/** Colours a text, or leaves it. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Text of several lines, cleared and set off by a bar. */
export function indent(text: string): string[] {
  return clearControl(text)
    .split('\n')
    .map((each) => `    | ${each}`.trimEnd());
}
