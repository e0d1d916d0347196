/** Slips of indentation: a line that stands as deep as none around it, and texts of several lines that need a |. */
import { SECRET_KEY } from '../../telemetry/telemetry.ts';
import { positionOf } from '../../document/facts.ts';
import {
  type BrokenLine,
  type YamlSlip,
  columnOf,
  indentOf,
  isBlank,
  lineBelow,
  linesAbove,
  placeIn,
} from './broken-line.ts';

/** Longer texts are not repeated in a hint. */
const MAX_SHOWN = 400;

const BEGINS_KEY = /^ *(?:- +)*([\w.-]+):(?:\s|$)/;

/** A key with a value of one word, and deeper below it a line with a key: that one is indented wrongly, or the value is too much. */
export function valueAndKeys(line: BrokenLine): YamlSlip | undefined {
  const [, head = '', key = '', value = ''] =
    /^( *(?:- +)*([\w.-]+): +)([^\s"'|>[{&*!#]\S*)\s*$/.exec(line.line) ?? [];
  const next = lineBelow(line);
  const deeper = next === undefined ? 0 : indentOf(next.line) - columnOf(line.line);
  if (key === '' || next === undefined || deeper <= 0 || !BEGINS_KEY.test(next.line)) return undefined;
  if (deeper === 1) return betweenLevels(next);
  return {
    message: `${key} has a value in its line, and keys below it`,
    at: placeIn(line, head.length, value.length),
    hint: `a key has one of the two: move the value into a key of its own below ${key}, or indent what follows as deep as ${key}`,
  };
}

/** A text that goes on in the next lines, one of which has `: ` in it. */
export function textOfLines({ source, lineStart, line }: BrokenLine): YamlSlip | undefined {
  const [, head = '', key = '', first = ''] =
    /^(\s*(?:- +)?([\w.-]+): +)([^\s"'|>[{&*!#].*)$/.exec(line) ?? [];
  if (key === '' || SECRET_KEY.test(key) || !/\s/.test(first.trimEnd())) return undefined;
  const below = lineBelow({ source, lineStart, line });
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
export function unevenText(broken: BrokenLine): YamlSlip | undefined {
  const { source, lineStart, line } = broken;
  const own = indentOf(line);
  const above = linesAbove(broken);
  const opener = above.findIndex((one) => !isBlank(one) && indentOf(one.line) < own);
  const text = above[opener];
  const [, head = '', key = ''] =
    /^( *(?:- +)?([\w.-]+): *[|>])[-+]?\s*(?:#.*)?$/.exec(text?.line ?? '') ?? [];
  const first = above.slice(0, opener).findLast((one) => !isBlank(one))?.line;
  if (text === undefined || key === '' || first === undefined || indentOf(first) <= own) return undefined;
  const depth = String(own - columnOf(text.line));
  const lineNumber = positionOf(source.text, lineStart).line;
  return {
    message: `this line of the text of ${key} is indented by ${own} spaces, and its first line by ${indentOf(first)}, which tells YAML where the text ends`,
    at: placeIn(broken, own, line.length - own),
    hint: `indent the first line no deeper than line ${lineNumber}; where its spaces are meant, write ${key}: ${head.slice(-1)}${depth}`,
    edit: { at: placeIn(text, head.length, 0), text: depth },
  };
}

/** A key that stands deeper than one object and less deep than the next. */
export function betweenLevels(broken: BrokenLine): YamlSlip | undefined {
  const { line } = broken;
  const [, key = ''] = BEGINS_KEY.exec(line) ?? [];
  const own = indentOf(line);
  const above = linesAbove(broken);
  const levels = levelsAbove(above);
  if (own === 0 && above.some((one) => one.line.startsWith('- ')) && !line.startsWith('-'))
    return entry(key, broken);
  if (key === '' || levels.some(({ column }) => column === own)) return undefined;
  const [near, other] = levels.toSorted((a, b) => Math.abs(a.column - own) - Math.abs(b.column - own));
  if (near === undefined) return undefined;
  const isSure = other === undefined || Math.abs(other.column - own) > Math.abs(near.column - own);
  const next = lineBelow(broken);
  const isAlone = next === undefined || indentOf(next.line) <= near.column;
  const spaces = (count: number): string => (count === 1 ? '1 space' : `${count} spaces`);
  return {
    message: `${key} is indented by ${spaces(own)}, and no key above it stands so deep`,
    at: placeIn(broken, 0, own + key.length),
    hint: isSure
      ? `indent it by ${spaces(near.column)}, as ${near.key}`
      : `indent it by ${spaces(near.column)}, as ${near.key}, or by ${spaces(other.column)}, as ${other.key}`,
    ...(isSure && isAlone ? { edit: { at: placeIn(broken, 0, own), text: ' '.repeat(near.column) } } : {}),
  };
}

/** A key at the left of a file that is a list. */
function entry(key: string, broken: BrokenLine): YamlSlip {
  return {
    message: `the lines above are entries of a list, and ${key} begins none`,
    at: placeIn(broken, 0, key.length),
    hint: `begin each entry with a dash, - ${key}: …, and indent its other lines by two spaces; a key of the entry above is indented by two spaces, too`,
  };
}

interface Level {
  readonly column: number;
  readonly key: string;
}

/** The keys that are open above a line, from the inside out. */
function levelsAbove(lines: readonly BrokenLine[]): readonly Level[] {
  const levels: Level[] = [];
  let limit = Number.POSITIVE_INFINITY;
  for (const { line } of lines) {
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

/** `- id: b` below the keys of an object: two entries, of which the first has no dash. */
export function listBehindObject(broken: BrokenLine): YamlSlip | undefined {
  const [, indent = '', dash] = /^(\s*)(- +)[\w"'-]+\s*:/.exec(broken.line) ?? [];
  if (dash === undefined) return undefined;
  const above = linesAbove(broken).filter((one) => !isBlank(one) && !/^\s*#/.test(one.line));
  const sibling = above.find(({ line }) => indentOf(line) <= indent.length);
  const isKey = /^\s*[\w.-]+:(?: +[^\s#]|$)/.test(sibling?.line ?? '');
  if (sibling === undefined || !isKey || indentOf(sibling.line) < indent.length) return undefined;
  const block = above.slice(
    0,
    above.findIndex(({ line }) => indentOf(line) < indent.length) + 1 || undefined,
  );
  if (block.some(({ line }) => /^\s*- /.test(line) && indentOf(line) === indent.length)) return undefined;
  const [, key = ''] =
    /^\s*([\w.-]+):/.exec(block.findLast(({ line }) => indentOf(line) === indent.length)?.line ?? '') ?? [];
  return {
    message: 'an entry of a list begins here, and what stands before it is no entry',
    at: placeIn(broken, indent.length, dash.length),
    hint: `begin the first entry with a dash, too: write - ${key}: …, and indent the lines of that entry by two spaces more`,
  };
}

/** The text of a block (`key: |`) whose lines are not indented deeper than its key. */
export function shallowBlock(broken: BrokenLine): YamlSlip | undefined {
  const opener =
    linesAbove(broken)
      .find((one) => !isBlank(one))
      ?.line.trimEnd() ?? '';
  const [, indent = '', key] = /^(\s*(?:- +)?)([\w.-]+): *[|>][-+\d]*(?: +#.*)?$/.exec(opener) ?? [];
  const own = indentOf(broken.line);
  if (key === undefined || own > indent.length) return undefined;
  return {
    message: `the text of ${key} is not indented deeper than the key`,
    at: placeIn(broken, own, Math.max(broken.line.length - own, 1)),
    hint: `indent every line of the text by two spaces more than ${key}`,
  };
}
