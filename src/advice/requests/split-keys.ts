/* Keys that have dots or slashes in them, which end a step of a path: metadata.app.kubernetes.io/name. */
import type { JsonValue } from '../../json.ts';
import { templatePath } from '../../mapping/mapping.ts';

/** Keys of one object that are looked at. */
const MAX_KEYS = 500;

/** The steps to a value of the body whose path was written without regard to a key with dots or slashes in it. */
export function findSplitKey(
  written: string,
  roots: { readonly payload: JsonValue; readonly item?: JsonValue | undefined },
): readonly string[] | undefined {
  const [, root, rest = ''] = /^(?:(payload|item)\.)?(.+)$/.exec(withoutBrackets(written)) ?? [];
  const value = root === 'item' ? roots.item : roots.payload;
  const keys = value === undefined ? undefined : keysTo(value, rest);
  if (keys === undefined || !keys.some((key) => /[./]/.test(key))) return undefined;
  return root === undefined ? keys : [root, ...keys];
}

function withoutBrackets(written: string): string {
  return written.replaceAll(/\.?\[["']?([^\]"']*)["']?\]/g, '.$1').replace(/^\./, '');
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

/** What a template has to write. Continues "the request has …". */
export function splitKeyInTemplate(keys: readonly string[]): string {
  return `it under one key whose name has dots or slashes in it: write ${templatePath(keys)}`;
}
