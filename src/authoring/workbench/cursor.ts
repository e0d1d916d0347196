/**
 * Reads what stands at the cursor of a mapping file from the text alone, because it is often no YAML while somebody types.
 */

export interface Cursor {
  readonly fileName: string;
  readonly text: string;
  readonly pos: number;
  /** Whether a person asked for it, and did not only type. */
  readonly explicit: boolean;
}

type TextPosition = Pick<Cursor, 'text' | 'pos'>;

export const lineBefore = ({ text, pos }: TextPosition): string =>
  text.slice(text.lastIndexOf('\n', pos - 1) + 1, pos);

const lineAt = (at: TextPosition): string => lineBefore(at) + (at.text.slice(at.pos).split('\n', 1)[0] ?? '');

/** Returns the path, name or operator that the cursor is in; empty for none. */
export function wordAt(at: TextPosition): string {
  const column = lineBefore(at).length;
  const words = [...lineAt(at).matchAll(/[\w$/-]+(?:\.(?:[\w$-]+|\[[^\][]+\]))*/g)];
  const isHere = ({ index, 0: word }: RegExpExecArray): boolean =>
    index <= column && column <= index + word.length;
  return words.find(isHere)?.[0] ?? '';
}

/** Returns what the names of an expression are fields of, within `each` and `with`; empty outside. */
export function blockAt({ text, pos }: TextPosition): string {
  const open = [''];
  const signs = /\{\{~?([#^/])\s*(\w+)\s*(?:payload\.)?([\w.$-]*)/g;
  for (const [, sign, helper, path = ''] of text.slice(0, pos).matchAll(signs)) {
    const outer = open.at(-1) ?? '';
    const own = outer === '' ? path : `${outer}.${path}`;
    if (sign === '/') open.pop();
    else open.push(helper === 'each' ? `${own}.0` : helper === 'with' ? own : outer);
  }
  return open.at(-1) ?? '';
}

/** Returns the mapping around the cursor. A file is a list of mappings, which may be under `mappings`, or one mapping. */
function mappingAt({ text, pos }: TextPosition): string {
  const list =
    /^(?:(?:#.*|---.*|[ \t\r]*)\n)*( *)-\s/.exec(text) ?? /^ *mappings:.*\n(?: *#.*\n)*( *)-\s/m.exec(text);
  if (list === null) return text;
  const items = [...text.matchAll(new RegExp(`^${list[1] ?? ''}-\\s`, 'gm'))].map(({ index }) => index);
  return text.slice(
    items.findLast((start) => start <= pos) ?? 0,
    items.find((start) => start > pos),
  );
}

/** Returns the hook name of the mapping around the cursor; undefined where it names none. */
export const hookNameAt = (at: TextPosition): string | undefined =>
  /\bpath:\s*["']?\/?([\w./-]*[\w.-])/.exec(mappingAt(at))?.[1];

/** Returns the keys of its list, without `payload`; undefined where it has no forEach. */
export const forEachAt = (at: TextPosition): readonly string[] | undefined =>
  /\bforEach:\s*["']?(?:payload\b\.?)?([\w.$-]*)/.exec(mappingAt(at))?.[1]?.split('.').filter(Boolean);
