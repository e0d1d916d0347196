import { ownValue, valueAt, type JsonValue } from '../../base/json.ts';
import { isFormFile } from '../../base/payload/payload.ts';
import type { Scope } from './compiled-mapping.ts';

/**
 * What conditions and templates can read. At the root seven names are reserved; any other name reads the payload, so
 * a payload's own `path` is `payload.path`. Only own properties are ever read: a payload cannot reach a prototype.
 */
export const RESERVED_NAMES = ['payload', 'headers', 'query', 'path', 'now', 'item', 'index'] as const;
export type ReservedName = (typeof RESERVED_NAMES)[number];

/** Reads a value from a scope; undefined where it is missing. */
export type Reader = (scope: Scope) => JsonValue | undefined;

export function isReserved(name: string): name is ReservedName {
  return (RESERVED_NAMES as readonly string[]).includes(name);
}

/** Reads a name at the root: a reserved one, else a key of the payload. */
function readRoot(scope: Scope, name: string): JsonValue | undefined {
  switch (name) {
    case 'payload':
      return scope.request.payload;
    case 'headers':
      return scope.request.headers;
    case 'query':
      return scope.request.query;
    case 'path':
      return scope.request.path;
    case 'now':
      return new Date(scope.request.receivedAt).toISOString();
    case 'item':
      return scope.item;
    case 'index':
      return scope.index;
    default:
      return ownValue(scope.request.payload, name);
  }
}

/**
 * The list that a value is to who asks for one: of a request whose format cannot tell, a lone element is a list of one,
 * and an empty text none. Undefined where it is no list.
 */
export function listOf({ request }: Scope, value: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  const { maybeLists, payload } = request;
  if (maybeLists === undefined || value === undefined || value === null || value === payload)
    return undefined;
  if (typeof value === 'string') return value === '' ? [] : [value];
  return maybeLists === 'elements' || isFormFile(value) ? [value] : undefined;
}

/** Compiles a path such as `['repository', 'full_name']`; no keys at all is the whole payload. */
export function compileReader(keys: readonly string[]): Reader {
  const [root, ...rest] = keys;
  if (root === undefined) return (scope) => scope.request.payload;
  const [first, second] = rest;
  if (first === undefined) return (scope) => readRoot(scope, root);
  if (second === undefined) return (scope) => ownValue(readRoot(scope, root), first);
  return (scope) => valueAt(readRoot(scope, root), rest);
}

/** A path without the `payload.` that may be left out. */
export const withoutPayload = (path: string): string => path.replace(/^payload\./, '');

/** One spelling for paths that read the same: `payload.source` and `source` share the key `["payload","source"]`. */
export function canonicalPath(keys: readonly string[]): string {
  const [root] = keys;
  const full = root === undefined || !isReserved(root) ? ['payload', ...keys] : keys;
  return JSON.stringify(full);
}
