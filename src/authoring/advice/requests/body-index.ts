/**
 * Indexes one body by the paths of its fields, and finds which path was meant by one that finds nothing.
 * Two paths are near where they differ in one place only: steps that were left out or added there, one step
 * that is written otherwise, or a position in a list.
 */
import { didYouMean } from '../../../base/document/document.ts';
import { spelling } from '../../../base/document/facts.ts';
import { isJsonObject, type JsonValue, valueAt } from '../../../base/json.ts';
import { isReserved } from '../../../engine/mapping/facts.ts';

export interface BodyPath {
  readonly keys: readonly string[];
  readonly value: JsonValue;
}

/** The body is walked at the first question. */
export interface BodyIndex {
  readonly body: JsonValue;
  /**
   * Returns the fields that have a value, nearest to the root first. Of the elements of a list it returns
   * each field with the first element that has it.
   */
  readonly fields: () => readonly BodyPath[];
  /** Returns the nearest path, or two that are as near, or none where more are. */
  readonly find: (keys: readonly string[]) => readonly BodyPath[];
}

const MAX_LOOKED_AT = 3_000;
const MAX_LEVELS = 9;
const MAX_ELEMENTS = 20;
const MAX_STEPS = 12;
const MAX_AS_NEAR = 2;

export function createBodyIndex(body: JsonValue): BodyIndex {
  let known: readonly BodyPath[] | undefined;
  const fields = (): readonly BodyPath[] => (known ??= [...pathsOf(body)]);
  return {
    body,
    fields,
    find: (keys) =>
      keys.length === 0 || keys.length > MAX_STEPS || isThere(body, keys)
        ? []
        : (withDottedKey(keys, body) ?? nearest(keys, fields())),
  };
}

/** Writes keys of a body as templates and conditions do. A name that would mean another thing gets its root. */
export const bodyPath = (keys: readonly string[], isRooted = false): string =>
  (isRooted || keys.length === 0 || isReserved(keys[0] ?? '') || isIndex(keys[0] ?? '')
    ? ['payload', ...keys]
    : keys
  ).join('.');

/** Whether no list is on the way, so that a path names the field without a position. */
export const outsideLists = ({ keys }: BodyPath): boolean => !keys.some(isIndex);

function* pathsOf(body: JsonValue): Generator<BodyPath> {
  const seen = new Set<string>();
  let level: readonly BodyPath[] = [{ keys: [], value: body }];
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth += 1) {
    const next: BodyPath[] = [];
    for (const { keys, value } of level) {
      for (const [key, inner] of entriesOf(value)) {
        const path = [...keys, key];
        const general = path.map((each) => (isIndex(each) ? '0' : each)).join('.');
        const isHolder = typeof inner === 'object';
        if (inner === null || (seen.has(general) && !isHolder)) continue;
        if (seen.size >= MAX_LOOKED_AT || next.length >= MAX_LOOKED_AT) return;
        if (!seen.has(general) && !isIndex(key)) yield { keys: path, value: inner };
        seen.add(general);
        if (isHolder) next.push({ keys: path, value: inner });
      }
    }
    level = next;
  }
}

function entriesOf(value: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (Array.isArray(value)) {
    const elements = (value as readonly JsonValue[]).slice(0, MAX_ELEMENTS);
    return elements.map((element, index) => [String(index), element] as const);
  }
  // A key that no path can name is described in other words.
  const entries = isJsonObject(value) ? Object.entries(value).slice(0, MAX_LOOKED_AT) : [];
  return entries.filter(([key]) => /^[\p{L}\p{N}_$@:-]+$/u.test(key));
}

export const isIndex = (key: string): boolean => /^\d+$/.test(key);

/** A null on the way counts as there: the field is not set, and no other path is meant. */
function isThere(body: JsonValue, keys: readonly string[]): boolean {
  let value: JsonValue | undefined = body;
  for (const key of keys) {
    if (value === null) return true;
    if (typeof value !== 'object' || !Object.hasOwn(value, key)) return false;
    value = (value as Readonly<Record<string, JsonValue>>)[key];
  }
  return true;
}

/** Finds the same names where some of them are one key with dots, which a template writes in brackets. */
function withDottedKey(keys: readonly string[], body: JsonValue): readonly BodyPath[] | undefined {
  const start = keys.findIndex((_, at) => !isThere(body, keys.slice(0, at + 1)));
  const [before, after] = [keys.slice(0, start), keys.slice(start)];
  const inside = valueAt(body, before);
  for (let end = after.length; end > 1; end -= 1) {
    const value = valueAt(inside, [after.slice(0, end).join('.'), ...after.slice(end)]);
    if (value === undefined) continue;
    return [{ keys: [...before, `[${after.slice(0, end).join('.')}]`, ...after.slice(end)], value }];
  }
  return undefined;
}

/** Among paths that are as near, those with the longest common beginning come first, then those that can be printed. */
function nearest(keys: readonly string[], fields: readonly BodyPath[]): readonly BodyPath[] {
  const ranked = fields.flatMap((field) => {
    const far = distance(keys, field.keys);
    const common = commonSteps(keys, field.keys, (a, b) => a === b);
    const rank = far * 1_000 - common * 10 + (typeof field.value === 'object' ? 5 : 0);
    return far <= MAX_DISTANCE ? [{ field, rank }] : [];
  });
  const least = Math.min(...ranked.map(({ rank }) => rank));
  const found = ranked.filter(({ rank }) => rank - least < 1).map(({ field }) => field);
  return found.length > MAX_AS_NEAR ? [] : found;
}

/** Another spelling, a position, a step that is written otherwise, steps too many or too few. */
const DISTANCES = { spelling: 0.25, position: 0.5, step: 1, further: 0.5 } as const;
const MAX_DISTANCE = 2;

/** Returns Infinity where two paths differ in more than one place. */
function distance(keys: readonly string[], found: readonly string[]): number {
  const start = commonSteps(keys, found);
  const [left, right] = [keys.slice(start), found.slice(start)];
  const end = commonSteps(left.toReversed(), right.toReversed());
  const [written, there] = [left, right].map((steps) => steps.slice(0, steps.length - end)) as [
    string[],
    string[],
  ];
  const isSpelt = keys.join('.') === found.join('.') ? 0 : DISTANCES.spelling;
  const positions = there.some(isIndex) || written.some(isIndex) ? DISTANCES.position : 0;
  const [names, others] = [written, there].map((steps) => steps.filter((step) => !isIndex(step))) as [
    string[],
    string[],
  ];
  // For example, user_name may stand for user.name.
  if (spelling(names.join('')) === spelling(others.join(''))) return isSpelt + positions;
  if (names.length === 0 || others.length === 0)
    return end === 0
      ? Infinity
      : DISTANCES.step + positions + DISTANCES.further * (names.length + others.length - 1);
  // The elements of a list are what is read, whatever stands before them.
  const [name = '', more] = names;
  const isOne = more === undefined && isAlike(name, others.at(-1) ?? '');
  return isOne && (others.length === 1 || positions > 0)
    ? DISTANCES.step + positions + DISTANCES.further * (others.length - 1)
    : Infinity;
}

const isSameStep = (a: string, b: string): boolean => spelling(a) === spelling(b);

function commonSteps(
  keys: readonly string[],
  found: readonly string[],
  isSame: (a: string, b: string) => boolean = isSameStep,
): number {
  const end = keys.findIndex((key, at) => found[at] === undefined || !isSame(key, found[at]));
  return end === -1 ? keys.length : end;
}

/**
 * Names are alike if they are one and many, a letter or two apart, or if one has the other as a word:
 * amount, amount_paid.
 */
function isAlike(key: string, other: string): boolean {
  const [a, b] = [spelling(key), spelling(other)];
  if (`${a}s` === b || `${b}s` === a) return true;
  if (Math.max(a.length, b.length) < 4) return false;
  const isNearLength = Math.abs(a.length - b.length) <= Math.max(1, a.length / 3);
  if (isNearLength && didYouMean(key, [other]) !== undefined) return true;
  return isWordOf(key, other) || isWordOf(other, key);
}

function isWordOf(key: string, other: string): boolean {
  return key.length >= 3 && wordsIn(other).includes(key.toLowerCase());
}

const wordsIn = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[-_\s]+/);
