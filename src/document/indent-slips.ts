/** Slips of indentation: a line that stands as deep as none around it, and texts of several lines that need a |. */
import { SECRET_KEY } from '../telemetry/telemetry.ts';
import { positionOf } from './line-column.ts';
import type { BrokenLine, YamlSlip } from './yaml-slip.ts';

/** Longer texts are not repeated in a hint. */
const MAX_SHOWN = 400;
/** More lines above are not looked at. */
const MAX_LINES = 500;

export function findIndentSlip(line: BrokenLine): YamlSlip | undefined {
  return unevenText(line) ?? valueAndKeys(line) ?? betweenLevels(line);
}

/** The line behind one that is not blank. */
function nextOf({ source, lineStart, line }: BrokenLine): BrokenLine | undefined {
  const from = lineStart + line.length + 1;
  const found = /^[ \t]*\S.*$/m.exec(source.text.slice(from));
  return found === null ? undefined : { source, lineStart: from + found.index, line: found[0] };
}

const KEY_LINE = /^ *(?:- +)*([\w.-]+):(?:\s|$)/;

/** A key with a value of one word, and deeper below it a line with a key: that one is indented wrongly, or the value is too much. */
function valueAndKeys(line: BrokenLine): YamlSlip | undefined {
  const [, head = '', key = '', value = ''] =
    /^( *(?:- +)*([\w.-]+): +)([^\s"'|>[{&*!#]\S*)\s*$/.exec(line.line) ?? [];
  const next = nextOf(line);
  const deeper = next === undefined ? 0 : indentOf(next.line) - columnOf(line.line);
  if (key === '' || next === undefined || deeper <= 0 || !KEY_LINE.test(next.line)) return undefined;
  if (deeper === 1) return betweenLevels(next);
  const start = line.lineStart + head.length;
  return {
    message: `${key} has a value in its line, and keys below it`,
    at: { source: line.source, start, end: start + value.length },
    hint: `a key has one of the two: move the value into a key of its own below ${key}, or indent what follows as deep as ${key}`,
  };
}

const indentOf = (line: string): number => /^ */.exec(line)?.[0].length ?? 0;

/** The column of what stands behind a dash, else of the line. */
const columnOf = (line: string): number => /^ *(?:- +)*/.exec(line)?.[0].length ?? 0;

/** A text that goes on in the next lines, one of which has `: ` in it. */
export function textOfLines({ source, lineStart, line }: BrokenLine): YamlSlip | undefined {
  const [, head = '', key = '', first = ''] =
    /^(\s*(?:- +)?([\w.-]+): +)([^\s"'|>[{&*!#].*)$/.exec(line) ?? [];
  if (key === '' || SECRET_KEY.test(key) || !/\s/.test(first.trimEnd())) return undefined;
  const below = nextOf({ source, lineStart, line });
  // One space is a slip, no text that goes on.
  if (below !== undefined && indentOf(below.line) === columnOf(line) + 1) return betweenLevels(below);
  const column = columnOf(line);
  const from = lineStart + line.length + 1;
  const rest = source.text.slice(from).split('\n');
  const next = rest.findIndex((one) => one.trim() !== '' && indentOf(one) <= column);
  const own = rest.slice(0, next === -1 ? rest.length : next);
  while (own.at(-1)?.trim() === '') own.pop();
  if (!own.some((one) => /:(?:\s|$)/.test(one))) return undefined;
  const indent = ' '.repeat(column + 2);
  const text = ['|', ...[first, ...own].map((one) => `${indent}${one.trim()}`.trimEnd())].join('\n');
  const shown = `${key}: ${text.replaceAll(/^ +/gm, '  ')}`;
  const start = lineStart + head.length;
  const place = { source, start, end: from + own.join('\n').length };
  return {
    message: `the text of ${key} has several lines, and in one of them ": ", which begins a key`,
    at: place,
    hint:
      shown.length > MAX_SHOWN
        ? `write ${key}: | and the whole text below it, indented by two spaces`
        : `write\n${shown}`,
    edit: { at: place, text },
  };
}

/** A text behind | whose first line is indented deeper than a later one. */
function unevenText({ source, lineStart, line }: BrokenLine): YamlSlip | undefined {
  const own = indentOf(line);
  const above = linesAbove(source.text, lineStart);
  const opener = above.findIndex((one) => one.trim() !== '' && indentOf(one) < own);
  const text = above[opener];
  const [, head = '', key = ''] = /^( *(?:- +)?([\w.-]+): *[|>])[-+]?\s*(?:#.*)?$/.exec(text ?? '') ?? [];
  const first = above.slice(0, opener).findLast((one) => one.trim() !== '');
  if (text === undefined || key === '' || first === undefined || indentOf(first) <= own) return undefined;
  const start = lineStart - above.slice(0, opener + 1).join('\n').length - 1;
  const sign = { source, start: start + head.length, end: start + head.length };
  const depth = String(own - columnOf(text));
  const lineNumber = positionOf(source.text, lineStart).line;
  return {
    message: `this line of the text of ${key} is indented by ${own} spaces, and its first line by ${indentOf(first)}, which tells YAML where the text ends`,
    at: { source, start: lineStart + own, end: lineStart + line.length },
    hint: `indent the first line no deeper than line ${lineNumber}; where its spaces are meant, write ${key}: ${head.slice(-1)}${depth}`,
    edit: { at: sign, text: depth },
  };
}

/** The lines above, the nearest first. */
function linesAbove(text: string, lineStart: number): readonly string[] {
  return text
    .slice(0, Math.max(0, lineStart - 1))
    .split('\n')
    .slice(-MAX_LINES)
    .toReversed();
}

/** A key that stands deeper than one object and less deep than the next. */
function betweenLevels({ source, lineStart, line }: BrokenLine): YamlSlip | undefined {
  const [, key = ''] = KEY_LINE.exec(line) ?? [];
  const own = indentOf(line);
  const above = linesAbove(source.text, lineStart);
  const levels = levelsAbove(above);
  if (own === 0 && above.some((one) => one.startsWith('- ')) && !line.startsWith('-'))
    return entry(key, { source, lineStart, line });
  if (key === '' || levels.some(({ column }) => column === own)) return undefined;
  const [near, other] = levels.toSorted((a, b) => Math.abs(a.column - own) - Math.abs(b.column - own));
  if (near === undefined) return undefined;
  const isSure = other === undefined || Math.abs(other.column - own) > Math.abs(near.column - own);
  const next = source.text
    .slice(lineStart + line.length + 1)
    .split('\n')
    .find((one) => one.trim() !== '');
  const isAlone = next === undefined || indentOf(next) <= near.column;
  const spaces = (count: number): string => (count === 1 ? '1 space' : `${count} spaces`);
  return {
    message: `${key} is indented by ${spaces(own)}, and no key above it stands so deep`,
    at: { source, start: lineStart, end: lineStart + own + key.length },
    hint: isSure
      ? `indent it by ${spaces(near.column)}, as ${near.key}`
      : `indent it by ${spaces(near.column)}, as ${near.key}, or by ${spaces(other.column)}, as ${other.key}`,
    ...(isSure && isAlone
      ? { edit: { at: { source, start: lineStart, end: lineStart + own }, text: ' '.repeat(near.column) } }
      : {}),
  };
}

/** A key at the left of a file that is a list. */
function entry(key: string, { source, lineStart }: BrokenLine): YamlSlip {
  return {
    message: `the lines above are entries of a list, and ${key} begins none`,
    at: { source, start: lineStart, end: lineStart + key.length },
    hint: `begin each entry with a dash, - ${key}: …, and indent its other lines by two spaces; a key of the entry above is indented by two spaces, too`,
  };
}

interface Level {
  readonly column: number;
  readonly key: string;
}

/** The keys that are open above a line, from the inside out. */
function levelsAbove(lines: readonly string[]): readonly Level[] {
  const levels: Level[] = [];
  let limit = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const [, dash = '', key = ''] = /^ *(- +)?([\w.-]+):(?:\s|$)/.exec(line) ?? [];
    const indent = indentOf(line);
    if (key === '' || indent >= limit) continue;
    const column = columnOf(line);
    if (column < limit) levels.push({ column, key });
    limit = dash === '' ? column : indent;
    if (limit === 0) break;
  }
  return levels;
}
