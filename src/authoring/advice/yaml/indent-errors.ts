/** Slips of indentation: a line that stands as deep as none around it. */
import {
  type BrokenLine,
  type LineError,
  columnOf,
  indentOf,
  isBlank,
  lineBelow,
  linesAbove,
  placeIn,
} from './broken-line.ts';

const BEGINS_KEY = /^ *(?:- +)*([\w.-]+):(?:\s|$)/;

/** A key that stands deeper than one object and less deep than the next; one space below a key with a value is a slip, too. */
export function betweenLevels(broken: BrokenLine): LineError | undefined {
  const below = /^ *(?:- +)*[\w.-]+: +[^\s"'|>[{&*!#]/.test(broken.line) ? lineBelow(broken) : undefined;
  const isBelow = below !== undefined && indentOf(below.line) === columnOf(broken.line) + 1;
  return keyBetween(isBelow ? below : broken);
}

function keyBetween(broken: BrokenLine): LineError | undefined {
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
function entry(key: string, broken: BrokenLine): LineError {
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
export function listBehindObject(broken: BrokenLine): LineError | undefined {
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
export function shallowBlock(broken: BrokenLine): LineError | undefined {
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
