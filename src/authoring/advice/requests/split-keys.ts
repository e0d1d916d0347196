/* Keys that have dots or slashes in them, which end a step of a path: metadata.app.kubernetes.io/name. */
import { say, todo, type Finding } from '../../../base/finding.ts';
import type { JsonValue } from '../../../base/json.ts';
import { requestFinding } from './findings.ts';

/** Keys of one object that are looked at. */
const MAX_KEYS = 500;

/** The steps to a value of the body whose path was written without regard to a key with dots or slashes in it. */
export function findSplitKey(
  written: string,
  roots: { readonly payload: JsonValue; readonly item?: JsonValue | undefined },
): readonly string[] | undefined {
  const plain = written.replaceAll(/\.?\[["']?([^\]"']*)["']?\]/g, '.$1').replace(/^\./, '');
  const [, root, rest = ''] = /^(?:(payload|item)\.)?(.+)$/.exec(plain) ?? [];
  const value = root === 'item' ? roots.item : roots.payload;
  const keys = value === undefined ? undefined : keysTo(value, rest);
  if (keys === undefined || !keys.some((key) => /[./]/.test(key))) return undefined;
  return root === undefined ? keys : [root, ...keys];
}

/** Each place of the body is come by once, as what is left of the path depends on the place. */
function keysTo(value: JsonValue, rest: string): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value).slice(0, MAX_KEYS) as [string, JsonValue][]) {
    if (rest === key) return inner === null ? undefined : [key];
    if (key === '' || !rest.startsWith(key) || !/[./]/.test(rest[key.length] ?? '')) continue;
    const within = keysTo(inner, rest.slice(key.length + 1));
    if (within !== undefined) return [key, ...within];
  }
  return undefined;
}

/** Keys with dots in them, which conditions asked for; a key with slashes alone a condition can read. */
export function splitKeyNotes(missing: readonly string[], payload: JsonValue): readonly Finding[] {
  const notes = new Map<string, Finding>();
  for (const name of missing) {
    const keys = findSplitKey(name, { payload });
    const key = keys?.find((step) => step.includes('.'));
    if (keys === undefined || key === undefined) continue;
    const text = say`${key} is one key of the body, and a condition cannot read it, because a dot ends a step of its path: ${todo}take the request without that part of the condition, and decide in a transform, which returns null to skip it`;
    notes.set(key, requestFinding('split_key', text, { paths: keys }));
  }
  return [...notes.values()];
}
