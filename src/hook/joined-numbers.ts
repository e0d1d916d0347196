/*
 * Numbers that are sent as texts, and were joined where they should have been added: 0 and "6.83" and "1.12" give
 * 06.831.12. A result has such a text only where it is made of texts of the body, one behind the other.
 */
import { oneLine } from '../boundary/boundary.ts';
import type { Warning } from '../action.ts';
import type { JsonValue } from '../json.ts';
import type { Scope } from '../mapping/mapping.ts';
import { warn } from './action-fields.ts';
import { leavesIn } from './slip-warnings.ts';

/** Digits with a point in them that begin with 0, or have one more point. */
const JOINED = /(?<![\w.])(?:0\d{1,15}\.\d{1,15}|\d{1,16}\.\d{2,30})(?:\.\d{1,30}){0,20}(?!\.?\w)/g;
const DECIMAL = /^\d{1,15}\.\d{1,15}$/;
const MAX_DECIMAL_CHARS = 31;
/** Texts of a result that are looked at. */
const MAX_JOINED = 20;
const MAX_PATH_CHARS = 80;

/** Warns of such a text; `json` is the result, `input` what the transform was called with. */
export function warnOfJoinedNumbers(
  warnings: Warning[],
  json: string,
  { scope: { request, item }, input }: { readonly scope: Scope; readonly input: string },
): void {
  const found = [...new Set(json.match(JOINED))]
    .filter((text) => (text.startsWith('0') && !text.startsWith('0.')) || text.split('.').length > 2)
    .filter((text) => !input.includes(text));
  if (found.length === 0) return;
  const decimals = item === undefined ? decimalsIn('payload', request.payload) : decimalsIn('item', item);
  for (const text of found.slice(0, MAX_JOINED)) {
    const parts =
      partsOf(text, decimals) ?? (text.startsWith('0') ? partsOf(text.slice(1), decimals) : undefined);
    const paths = (parts ?? []).flatMap((part) => decimals.get(part) ?? []);
    if (paths.length > 0) return warnOf(warnings, paths);
  }
}

/** Texts of the body that are a number with a point, each with its first place. */
function decimalsIn(root: string, value: JsonValue): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [path, leaf] of leavesIn(root, value))
    if (typeof leaf === 'string' && DECIMAL.test(leaf) && !found.has(leaf))
      found.set(leaf, oneLine(path.join(''), MAX_PATH_CHARS));
  return found;
}

/** The decimals that make up a text, one behind the other. Each place of the text is tried once. */
function partsOf(text: string, decimals: ReadonlyMap<string, string>): readonly string[] | undefined {
  const ways: (readonly string[] | undefined)[] = [[]];
  for (let from = 0; from < text.length; from += 1) {
    const before = ways[from];
    if (before === undefined) continue;
    for (let end = from + 3; end <= Math.min(text.length, from + MAX_DECIMAL_CHARS); end += 1) {
      const part = text.slice(from, end);
      if (ways[end] === undefined && decimals.has(part)) ways[end] = [...before, part];
    }
  }
  return ways[text.length];
}

function warnOf(warnings: Warning[], paths: readonly string[]): void {
  const [first = '', ...others] = [...new Set(paths)];
  const names = [first, ...others.slice(0, 2)].join(', ');
  const name = /\]\.([A-Za-z_$][\w$]*)$/.exec(first)?.[1];
  const call = name === undefined ? `Number(${first})` : `total + Number(line.${name})`;
  warn(warnings, {
    code: 'joined_numbers',
    message: `the result has ${names} joined in place of added: ${others.length === 0 ? 'it is a text' : 'they are texts'} with a number in it, and + puts a text behind what stands before it; write Number(…) around each, such as ${call}`,
  });
}
