/** What of a payload's tree is in sight: lines that are open, and what a search found. */
import { entriesOf, ExactText, sizeOf, type Value } from './exact-json.ts';
import { count } from './format.ts';

/** Members shown at once. */
export const CHUNK = 100;
/** Values looked at by a search, and hits it shows. */
const MAX_LOOKED_AT = 300_000;
const MAX_HITS = 200;
/** Levels that are open at first. */
const OPEN_LEVELS = 2;

export interface Line {
  readonly path: string;
  readonly key: string;
  readonly level: number;
  readonly value: Value;
  readonly isOpen: boolean;
  /** Members that are not shown yet. */
  readonly more?: number;
}

/** What of the tree is open: chosen by the reader, or as it begins. */
export type Opened = ReadonlyMap<string, boolean>;

export interface Hits {
  readonly paths: ReadonlySet<string>;
  readonly text: string;
}

/** Paths of what was found and of everything above it; undefined where nothing is searched for. */
export function findHits(value: Value, root: string, wanted: string): Hits | undefined {
  if (wanted === '') return undefined;
  const paths = new Set<string>([root]);
  let looked = 0;
  let found = 0;
  const open: { readonly path: string; readonly value: Value }[] = [{ path: root, value }];
  for (let item = open.pop(); item !== undefined && looked < MAX_LOOKED_AT; item = open.pop()) {
    for (const [key, member] of entriesOf(item.value)) {
      looked += 1;
      const path = `${item.path}.${key}`;
      if (key.toLowerCase().includes(wanted) || leafText(member).toLowerCase().includes(wanted)) {
        found += 1;
        if (found <= MAX_HITS) addWay(paths, path);
      }
      if (sizeOf(member) > 0) open.push({ path, value: member });
    }
  }
  const cut = found > MAX_HITS ? `, the first ${MAX_HITS} are shown` : '';
  return { paths, text: `${count(found, 'hit')}${looked >= MAX_LOOKED_AT ? ' so far' : ''}${cut}` };
}

function addWay(paths: Set<string>, path: string): void {
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) paths.add(path.slice(0, at));
  paths.add(path);
}

function leafText(value: Value): string {
  if (typeof value === 'string') return value.slice(0, 100_000);
  if (value instanceof ExactText) return value.text;
  return typeof value === 'object' ? '' : String(value);
}

interface Showing {
  readonly opened: Opened;
  readonly shownOf: ReadonlyMap<string, number>;
  readonly hits: Hits | undefined;
}

/** The lines in sight, from the top. */
export function listLines(value: Value, root: string, { opened, shownOf, hits }: Showing): readonly Line[] {
  const lines: Line[] = [];
  const visit = (path: string, key: string, item: Value, level: number): void => {
    const size = sizeOf(item);
    const isOpen =
      size > 0 &&
      (hits === undefined
        ? (opened.get(path) ?? (level <= OPEN_LEVELS && size <= CHUNK)) || level === 1
        : hits.paths.has(path));
    lines.push({ path, key, level, value: item, isOpen });
    if (!isOpen) return;
    const shown = hits === undefined ? (shownOf.get(path) ?? CHUNK) : Infinity;
    let number = 0;
    for (const [name, member] of entriesOf(item)) {
      const memberPath = `${path}.${name}`;
      if (hits !== undefined && !hits.paths.has(memberPath)) continue;
      number += 1;
      if (number > shown) break;
      visit(memberPath, name, member, level + 1);
    }
    if (size > shown)
      lines.push({ path, key: '', level: level + 1, value: null, isOpen: false, more: size - shown });
  };
  visit(root, root, value, 1);
  return lines;
}
