import { didYouMean } from '../document/document.ts';
import type { HookRequest } from '../request.ts';
import { fieldAt, isJsonObject, valueAt, type JsonValue } from '../json.ts';

const ROOTS = ['payload', 'headers', 'query'] as const;
/** Places looked at for the last name of a path. */
const MAX_LOOKED_AT = 2_000;
const MAX_LEVELS = 6;

/**
 * What a variable that found nothing probably meant, among what the request has: a header or field of nearly that name,
 * or the same name elsewhere in the body.
 */
export function suggestPath(missing: string, request: HookRequest): string | undefined {
  const [first = '', ...rest] = missing.split('.');
  const isRoot = (ROOTS as readonly string[]).includes(first);
  const keys = isRoot ? rest : [first, ...rest];
  const root = isRoot ? (first as (typeof ROOTS)[number]) : 'payload';
  if (root !== 'payload') return suggestName(root, keys.join('.'), request);
  const prefix = isRoot ? 'payload.' : '';
  const behind = keys.findIndex((_, index) => index > 0 && holds(request.payload, keys.slice(index)));
  if (behind > 0) return prefix + keys.slice(behind).join('.');
  const outside = isRoot ? undefined : outsideBody(keys, request);
  if (outside !== undefined) return outside;
  const near = suggestSibling(keys, request.payload, prefix) ?? suggestKey(keys, request.payload, prefix);
  return near ?? elsewhere(keys, request.payload, prefix) ?? headerFor(keys.at(-1) ?? '', request);
}

/** The same name elsewhere; where the path begins rightly, no other thing of that name: actor.name for issue.assignee.name. */
function elsewhere(keys: readonly string[], payload: JsonValue, prefix: string): string | undefined {
  const found = findElsewhere(keys, payload, prefix);
  const [first = ''] = keys;
  if (meetsNull(keys, payload)) return undefined;
  const isOther =
    found !== undefined &&
    isJsonObject(payload) &&
    isJsonObject(payload[first]) &&
    keys.length > 2 &&
    !found.startsWith(`${prefix}${first}.`) &&
    !found.endsWith(keys.slice(-2).join('.'));
  return isOther ? undefined : found;
}

/** Whether something on the way is null: it is not set, and nothing else is meant. */
function meetsNull(keys: readonly string[], payload: JsonValue): boolean {
  return keys.some((_, index) => index > 0 && fieldAt(payload, keys.slice(0, index)) === null);
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

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 100;

/** The element of a list that has what another one has not, or what the list itself was asked for. */
function suggestSibling(keys: readonly string[], payload: JsonValue, prefix: string): string | undefined {
  let value: JsonValue | undefined = payload;
  for (const [at, key] of keys.entries()) {
    if (Array.isArray(value)) {
      const list = value as readonly JsonValue[];
      const rest = keys.slice(/^\d+$/.test(key) ? at + 1 : at);
      if (rest.length === 0) return undefined;
      const index = list.slice(0, MAX_ELEMENTS).findIndex((element) => holdsAny(element, rest));
      if (index === -1) return undefined;
      return prefix + [...keys.slice(0, at), String(index), ...rest].join('.');
    }
    value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return undefined;
}

/** A header or parameter whose name is near, or has the asked words in it. */
function suggestName(root: 'headers' | 'query', name: string, request: HookRequest): string | undefined {
  const names = Object.keys(request[root]);
  const plain = name.toLowerCase();
  const near =
    didYouMean(plain, names) ?? names.find((known) => known.includes(plain) || plain.includes(known));
  return near === undefined || near === name ? undefined : `${root}.${near}`;
}

/** The first key on the way that is not there, spelt as a key that is. */
function suggestKey(keys: readonly string[], payload: JsonValue, prefix: string): string | undefined {
  let value: JsonValue | undefined = payload;
  for (const [index, key] of keys.entries()) {
    if (!isJsonObject(value) && !Array.isArray(value)) return undefined;
    if (Object.hasOwn(value, key)) {
      value = (value as Readonly<Record<string, JsonValue>>)[key];
      continue;
    }
    const near = Array.isArray(value) ? listKey(value) : nearKey(key, Object.keys(value).slice(0, 500));
    if (near === undefined) return undefined;
    const rest = keys.slice(index + (Array.isArray(value) ? 0 : 1));
    const meant = (value as Readonly<Record<string, JsonValue>>)[near];
    // What is named has to be there.
    if (!holdsAny(meant, rest)) return undefined;
    return prefix + [...keys.slice(0, index), near, ...rest].join('.');
  }
  return undefined;
}

/** A key of nearly the name, or one that has the name as a word: amount and amount_paid. */
function nearKey(key: string, names: readonly string[]): string | undefined {
  const near = didYouMean(key, names);
  if (near !== undefined || key.length < 3) return near;
  const wordsOf = (name: string): readonly string[] => name.toLowerCase().split(/[-_\s]+/);
  return names.find(
    (name) => wordsOf(name).includes(key.toLowerCase()) || wordsOf(key).includes(name.toLowerCase()),
  );
}

function listKey(list: readonly JsonValue[]): string | undefined {
  return list.length === 0 ? undefined : '0';
}

/** Where the last keys of the path are found in the body: the nearest to its root. */
function findElsewhere(keys: readonly string[], payload: JsonValue, prefix: string): string | undefined {
  const tail = keys.slice(-2);
  let level: { readonly path: readonly string[]; readonly value: JsonValue }[] = [
    { path: [], value: payload },
  ];
  let looked = 0;
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth += 1) {
    const next: typeof level = [];
    for (const { path, value } of level) {
      if (!isJsonObject(value)) continue;
      if (path.length > 0 && holds(value, tail)) return prefix + [...path, ...tail].join('.');
      if (path.length > 0 && tail.length > 1 && holds(value, tail.slice(1)))
        return prefix + [...path, ...tail.slice(1)].join('.');
      for (const [key, item] of Object.entries(value)) {
        looked += 1;
        if (looked > MAX_LOOKED_AT) return undefined;
        next.push({ path: [...path, key], value: item });
      }
    }
    level = next;
  }
  return undefined;
}

/** Whether something stands at a path, through lists, too. */
const holdsAny = (value: JsonValue | undefined, keys: readonly string[]): boolean =>
  valueAt(value, keys) !== undefined;

/** Whether something stands at a path of fields. */
const holds = (value: JsonValue, keys: readonly string[]): boolean => fieldAt(value, keys) !== undefined;

/** A bare name is a field of the body: a parameter of the address and a header of the very name have roots of their own. */
function outsideBody(keys: readonly string[], request: HookRequest): string | undefined {
  const name = keys.join('.');
  if (Object.hasOwn(request.query, name)) return `query.${name}`;
  const header = name.toLowerCase();
  // `date` and `from` are names of fields as well.
  return header.includes('-') && Object.hasOwn(request.headers, header) ? `headers.${header}` : undefined;
}

/** Senders put some names into a header instead of the body. */
function headerFor(key: string, { headers }: HookRequest): string | undefined {
  const plain = key.toLowerCase().replaceAll('_', '-');
  if (plain.length < 4) return undefined;
  const found = Object.keys(headers).find((name) => name === plain || name.endsWith(`-${plain}`));
  return found === undefined ? undefined : `headers.${found}`;
}

/** What an element of a `forEach` has of a variable that found nothing, as the template writes it. */
export function suggestElement(missing: string, item: JsonValue): string | undefined {
  const keys = missing.replace(/^item\./, '').split('.');
  // `alert.labels` for the element of `alerts`: the first names may stand for the element itself.
  const behind = keys.findIndex((_, index) => holds(item, keys.slice(index)));
  if (behind !== -1) return `item.${keys.slice(behind).join('.')}`;
  const near = suggestKey(keys, item, 'item.');
  return near ?? findElsewhere(keys, item, 'item.');
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
    ([, value]) => Array.isArray(value) && holds((value as readonly JsonValue[])[0] ?? null, keys),
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

/** A text of the body, with its path. */
export interface FoundText {
  readonly at: string;
  readonly text: string;
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
    if (found.text === wanted) return found;
    const isNear = found.text.length <= MAX_NAME_CHARS && isAlike(wanted, found.text);
    if (isNear && found.text !== was) near ??= found;
  }
  return near;
}

/** `incident.trigger` and `incident.triggered`: at most a few letters are different, and one holds most of the other. */
function isAlike(wanted: string, text: string): boolean {
  if (text.length < 4 || wanted.length < 4) return false;
  const [a, b] = [wanted.toLowerCase(), text.toLowerCase()];
  return a.startsWith(b) || b.startsWith(a) || didYouMean(wanted, [text]) !== undefined;
}

/** Texts of a body, the nearest to its root first. */
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
        const at = path === '' ? key : `${path}.${key}`;
        if (typeof item === 'string') yield { at, text: item };
        else next.push({ path: at, value: item });
      }
    }
    level = next;
  }
}
