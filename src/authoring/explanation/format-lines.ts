import { styleText } from 'node:util';
import { isJsonObject } from '../../base/json.ts';
import { clearControl, clearLine } from '../../base/telemetry/telemetry.ts';

/** Colours a text, or leaves it. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

export const painter =
  (color = false): Paint =>
  (style, text) =>
    color ? styleText(style, text, { validateStream: false }) : text;

/** Clears a text of several lines, and sets it off by a bar so that none of its lines looks like output of ours. */
export function indent(text: string): string[] {
  return barred(text).map((each) => `    ${each}`);
}

const barred = (text: string): readonly string[] =>
  clearControl(text)
    .split('\n')
    .map((each) => `| ${each}`.trimEnd());

/** Bars every text of several lines in data, and only clears other texts. */
export function barredTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\n') ? barred(value).join('\n') : clearControl(value);
  if (Array.isArray(value)) return value.map(barredTexts);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [clearLine(key), barredTexts(each)]));
}

/** Wraps a text behind a mark. A part between braces stays on one line, as a person copies it. */
export function wrap(
  mark: string,
  text: string,
  { columns = Infinity }: { readonly columns?: number | undefined },
): readonly string[] {
  const space = columns - mark.length;
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(clearLine(text).trim())) {
    // A part that fits on no line stays: the terminal breaks it, and copying does not.
    const isFull = line !== '' && line.length + word.length > space && word.length <= space;
    if (isFull) lines.push(line);
    line = isFull || line === '' ? word.trimStart() : `${line}${word}`;
  }
  const indented = ' '.repeat(mark.length);
  return [...lines, line].map((each, number) => `${number === 0 ? mark : indented}${each}`);
}

function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{') at = (closeOf(text, at) ?? at + 1) - 1;
    if (text[at + 1] !== ' ' || text[at] === ' ') continue;
    words.push(text.slice(from, at + 1));
    from = at + 1;
  }
  return [...words, text.slice(from)];
}

/** Returns undefined where the text was cut before the bracket ends. */
function closeOf(text: string, open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}
