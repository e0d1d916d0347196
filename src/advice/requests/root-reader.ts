import { valueAt, type JsonValue } from '../../json.ts';
import type { HookRequest } from '../../request.ts';

/** Reads from the whole request, as a template does outside of all blocks. */
export function readerOf(
  { payload, headers, query, path }: HookRequest,
  item: JsonValue | undefined,
): (name: string) => JsonValue | undefined {
  return (name) => {
    const keys = name.replaceAll(/\.?\[(\w+)\]/g, '.$1').split('.');
    const [root = ''] = keys;
    const all = { payload, headers, query, path, ...(item === undefined ? {} : { item }) };
    return Object.hasOwn(all, root) ? valueAt(all, keys) : valueAt(payload, keys);
  };
}
