import { didYouMean } from '../../document/document.ts';
import { fieldAt, isJsonObject, valueAt, type JsonValue } from '../../json.ts';
import { isReserved } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';
import type { FoundText } from './evaluation-advice.ts';
import { createPathFinder, type PathFinder } from './path-candidates.ts';

const ROOTS = ['payload', 'headers', 'query'] as const;
/** Places looked at for a text. */
const MAX_LOOKED_AT = 2_000;
const MAX_LEVELS = 6;

/** A path that may have been meant, as it is written, with its value. */
export interface NearPath {
  readonly path: string;
  readonly value?: JsonValue;
}

/**
 * What a variable that found nothing probably meant, among what the request has: a header or field of nearly that name,
 * or the same name elsewhere in the body. Two where both are as near.
 */
export function suggestPaths(
  missing: string,
  request: HookRequest,
  find: PathFinder = createPathFinder(request.payload),
): readonly NearPath[] {
  const [first = '', ...rest] = withDots(missing).split('.');
  const isRoot = (ROOTS as readonly string[]).includes(first);
  const keys = isRoot ? rest : [first, ...rest];
  if (first === 'headers' || first === 'query')
    return asPath(suggestName(first, keys.join('.'), request), request);
  const outside = isRoot ? undefined : outsideBody(keys, request);
  if (outside !== undefined) return asPath(outside, request);
  const found = find(keys).filter(({ keys: to }) => keys.length > 1 || !to.some(isIndex));
  if (found.length > 0) return found.map((each) => ({ path: written(each.keys, isRoot), value: each.value }));
  return asPath(headerFor(keys.at(-1) ?? '', request), request);
}

function asPath(path: string | undefined, { headers, query }: HookRequest): readonly NearPath[] {
  const value = path === undefined ? undefined : valueAt({ headers, query }, path.split('.'));
  return path === undefined ? [] : [value === undefined ? { path } : { path, value }];
}
const isIndex = (key: string): boolean => /^\d+$/.test(key);
const withDots = (path: string): string =>
  path.replaceAll(/\.?\[["']?([\w-]+)["']?\]/g, '.$1').replace(/^\./, '');

/** As a template and a condition write it; a name that would mean another thing gets its root. */
function written(keys: readonly string[], isRoot: boolean): string {
  const [first = ''] = keys;
  return `${isRoot || isReserved(first) || isIndex(first) ? 'payload.' : ''}${keys.join('.')}`;
}

/** Whether a suggestion has the last names of a path, or is spelt nearly so; else it merely ends in the same name. */
export function isNearPath(missing: string, near: string): boolean {
  const [a, b] = [missing, near].map((path) => path.replace(/^payload\./, '').split('.'));
  if (a === undefined || b === undefined) return false;
  const isEnd = a.join('.').endsWith(`.${b.join('.')}`) || isOutside(missing, near);
  const isSame = a.length > 1 && b.length > 1 && a.slice(-2).join('.') === b.slice(-2).join('.');
  const isSpelt =
    a.length === b.length &&
    a.every((name, at) => name === b[at] || didYouMean(name, [b[at] ?? '']) !== undefined);
  return isEnd || isSame || isSpelt;
}

const isOutside = (missing: string, near: string): boolean =>
  near === `query.${missing}` || near === `headers.${missing.toLowerCase()}`;

/** A header or parameter whose name is near, or has the asked words in it. */
function suggestName(root: 'headers' | 'query', name: string, request: HookRequest): string | undefined {
  const names = Object.keys(request[root]);
  const plain = name.toLowerCase();
  const near =
    didYouMean(plain, names) ?? names.find((known) => known.includes(plain) || plain.includes(known));
  return near === undefined || near === name ? undefined : `${root}.${near}`;
}

/** A bare name is a field of the body: a parameter of the address and a header of the very name have roots of their own. */
function outsideBody(keys: readonly string[], request: HookRequest): string | undefined {
  const name = keys.join('.');
  if (Object.hasOwn(request.query, name)) return `query.${name}`;
  const header = name.toLowerCase();
  // `date` and `from` are names of fields as well.
  return header.includes('-') && Object.hasOwn(request.headers, header) ? `headers.${header}` : undefined;
}

/** Headers of every request, which tell nothing of an event. */
const OF_HTTP =
  /^(?:accept|access|authorization|cache|connection|content|cookie|date|expect|forwarded|from|host|if|keep|origin|referer|sec|te|trailer|transfer|upgrade|user|via|x-forwarded|x-real)(?:-|$)/;

/** Senders put some names into a header instead of the body. */
function headerFor(key: string, { headers }: HookRequest): string | undefined {
  const plain = key.toLowerCase().replaceAll('_', '-');
  if (plain.length < 4) return undefined;
  const found = Object.keys(headers).find(
    (name) => !OF_HTTP.test(name) && (name === plain || name.endsWith(`-${plain}`)),
  );
  return found === undefined ? undefined : `headers.${found}`;
}

/** What an element of a `forEach` has of a variable that found nothing, as the template writes it. */
export function suggestElement(
  missing: string,
  find: PathFinder,
): readonly (NearPath & { readonly cost: number })[] {
  const keys = withDots(missing)
    .replace(/^item\./, '')
    .split('.');
  return find(keys).map(({ keys: to, value, cost }) => ({ path: `item.${to.join('.')}`, value, cost }));
}

/** Whether the body has a value at the path. */
export function hasValue(path: string, { payload }: HookRequest): boolean {
  const value = valueAt(payload, path.replace(/^payload\./, '').split('.'));
  return value !== null && value !== undefined;
}

/** The list whose elements have what `item.…` asks for, where the mapping has no `forEach`. */
export function suggestList(missing: string, { payload }: HookRequest): string | undefined {
  if (!missing.startsWith('item.') || !isJsonObject(payload)) return undefined;
  const keys = missing.split('.').slice(1);
  const found = Object.entries(payload).find(
    ([, value]) => Array.isArray(value) && fieldAt((value as readonly JsonValue[])[0], keys) !== undefined,
  );
  return found?.[0];
}

/** What elements of a list have of a name that found nothing inside `{{#each}}`. */
export function suggestInLists(
  missing: string,
  { payload }: HookRequest,
): { readonly field: string; readonly list: string } | undefined {
  if (!isJsonObject(payload) || missing.includes('.')) return undefined;
  for (const [list, value] of Object.entries(payload)) {
    const first = Array.isArray(value) ? (value as readonly JsonValue[])[0] : undefined;
    if (!isJsonObject(first)) continue;
    const near = didYouMean(missing, Object.keys(first)) ?? abbreviated(missing, Object.keys(first));
    if (near !== undefined) return { field: near, list };
  }
  return undefined;
}

/** msg for message, qty for quantity: the letters in order, from the first on. */
function abbreviated(short: string, names: readonly string[]): string | undefined {
  if (short.length < 2) return undefined;
  return names.find((name) => {
    if (name[0] !== short[0]) return false;
    let at = 0;
    for (const letter of name) if (letter === short[at]) at += 1;
    return at === short.length;
  });
}

/** Longer texts are no names of events. */
const MAX_NAME_CHARS = 60;

/**
 * Where in the body a text stands that a condition asked for at another place, or one that is nearly so; the nearest to
 * the root. `was` is what the condition found.
 */
export function findText(
  wanted: string,
  { payload }: HookRequest,
  was: JsonValue | undefined,
): FoundText | undefined {
  let near: FoundText | undefined;
  for (const found of textsIn(payload)) {
    // As a condition writes it.
    const at = written(found.at.split('.'), false);
    if (found.text === wanted) return { ...found, at };
    const isNear = found.text.length <= MAX_NAME_CHARS && isAlike(wanted, found.text);
    if (isNear && found.text !== was) near ??= { ...found, at };
  }
  return near;
}

/** `incident.trigger` and `incident.triggered`: at most a few letters are different, and one holds most of the other. */
function isAlike(wanted: string, text: string): boolean {
  if (text.length < 4 || wanted.length < 4) return false;
  const [a, b] = [wanted.toLowerCase(), text.toLowerCase()];
  return a.startsWith(b) || b.startsWith(a) || didYouMean(wanted, [text]) !== undefined;
}

/** Texts of a body that a condition can read, the nearest to its root first: none below a key with a dot in it. */
export function* textsIn(payload: JsonValue): Generator<FoundText> {
  let level: { readonly path: string; readonly value: JsonValue }[] = [{ path: '', value: payload }];
  let looked = 0;
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth += 1) {
    const next: typeof level = [];
    for (const { path, value } of level) {
      if (!isJsonObject(value)) continue;
      for (const [key, item] of Object.entries(value)) {
        looked += 1;
        if (looked > MAX_LOOKED_AT) return;
        if (key.includes('.')) continue;
        const at = path === '' ? key : `${path}.${key}`;
        if (typeof item === 'string') yield { at, text: item };
        else next.push({ path: at, value: item });
      }
    }
    level = next;
  }
}
