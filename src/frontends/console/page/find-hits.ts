/** Finds what a search matches in the tree of a payload. */
import { entriesOf, NumberText, sizeOf, type ExactValue } from './exact-json.ts';
import { count } from './format.ts';

const MAX_LOOKED_AT = 300_000;
const MAX_HITS = 200;

export interface SearchHits {
  /** The paths of what was found and of everything above it. */
  readonly paths: ReadonlySet<string>;
  readonly text: string;
}

/** Returns undefined where nothing is searched for. */
export function findHits(value: ExactValue, root: string, wanted: string): SearchHits | undefined {
  if (wanted === '') return undefined;
  const paths = new Set<string>([root]);
  let looked = 0;
  let found = 0;
  const open: { readonly path: string; readonly value: ExactValue }[] = [{ path: root, value }];
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

export function leafText(value: ExactValue): string {
  if (typeof value === 'string') return value.slice(0, 100_000);
  if (value instanceof NumberText) return value.text;
  return typeof value === 'object' && value !== null ? '' : String(value);
}
