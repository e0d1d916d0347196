import { ExactNumber, type JsonObject, type JsonValue } from '../../../base/json.ts';

/** A value as template text: text verbatim, numbers and booleans as text, lists and objects as compact JSON. */
export function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' && !(value instanceof ExactNumber) ? compactJson(value) : String(value);
}

/** `JSON.stringify` for values of any depth: a body may be nested deeper than the stack is. */
function compactJson(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return writeIteratively(value);
    throw error;
  }
}

interface Container {
  readonly entries: Iterator<readonly [string | number, JsonValue]>;
  readonly list: boolean;
  empty: boolean;
}

function writeIteratively(root: JsonValue): string {
  const pieces: string[] = [];
  const open: Container[] = [];
  const write = (value: JsonValue): void => {
    if (typeof value !== 'object' || value === null || value instanceof ExactNumber) {
      pieces.push(JSON.stringify(value));
      return;
    }
    const list = Array.isArray(value);
    pieces.push(list ? '[' : '{');
    const entries = list
      ? (value as readonly JsonValue[]).entries()
      : Object.entries(value as JsonObject).values();
    open.push({ entries, list, empty: true });
  };
  write(root);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const next = top.entries.next();
    if (next.done === true) {
      pieces.push(top.list ? ']' : '}');
      open.pop();
      continue;
    }
    const [key, value] = next.value;
    if (!top.empty) pieces.push(',');
    top.empty = false;
    if (!top.list) pieces.push(JSON.stringify(key), ':');
    write(value);
  }
  return pieces.join('');
}
