import type { TextEdit } from '../../finding.ts';
import type { LocatedValue, Path } from '../../document/document.ts';
import { positionOf } from '../../document/facts.ts';

/** How a key is moved out of its object, to stand beside that; with the edit where both are lines of their own. */
export interface MoveOut {
  readonly how: string;
  readonly edit?: TextEdit;
}

/** `path` is the object in which the key stands, `name` what that is called. */
export function moveOut(root: LocatedValue, path: Path, key: string): MoveOut {
  const name = String(path.at(-1));
  const whole = root.place(path);
  const { text } = whole.source;
  const own = root.place([...path, key], 'key');
  if (text[whole.start] === '{') return { how: `move it behind the } of ${name}` };
  const from = positionOf(text, own.start).column;
  const columns = from - positionOf(text, root.place(path, 'key').start).column;
  const lines = `move it ${columns === 1 ? 'one column' : `${columns} columns`} to the left`;
  const edit = editOut(root, { path, key, columns });
  const isLast = edit?.isLast === true;
  return {
    how: isLast ? lines : `${lines}, below the last line of ${name}`,
    ...(edit === undefined ? {} : { edit: edit.edit }),
  };
}

/** The lines of the object with those of the key after the others; undefined where lines are shared. */
function editOut(
  root: LocatedValue,
  { path, key, columns }: { readonly path: Path; readonly key: string; readonly columns: number },
): { readonly edit: TextEdit; readonly isLast: boolean } | undefined {
  const whole = root.place(path);
  const { source } = whole;
  const { text } = source;
  const own = root.place([...path, key], 'key').start;
  const start = text.lastIndexOf('\n', own - 1) + 1;
  const end = lineEnd(text, root.place([...path, key]).end);
  const last = Math.max(end, lineEnd(text, whole.end));
  const others = root.at(path).value;
  const isAlone = typeof others !== 'object' || others === null || Object.keys(others).length < 2;
  if (isAlone || text.slice(start, own).trim() !== '') return undefined;
  const moved = text
    .slice(start, end)
    .split('\n')
    .map((line) => line.slice(Math.min(columns, line.length - line.trimStart().length)))
    .join('\n');
  const rest = text.slice(end + 1, last);
  const lines = rest === '' ? moved : `${rest}\n${moved}`;
  return { edit: { at: { source, start, end: last }, text: lines }, isLast: rest === '' };
}

/** The end of the line that an offset stands in or, behind a line break, of the line before it. */
function lineEnd(text: string, offset: number): number {
  const at = text.indexOf('\n', text[offset - 1] === '\n' ? offset - 1 : offset);
  return at === -1 ? text.length : at;
}
