/*
 * One body, walked once: its fields by their names, from which is told which path was meant by one that finds nothing, in
 * which list a name stands, and where a text is. Paths that end in a path's last name, or in one that is written alike, are
 * compared with it step by step: what each step costs is set so that what people get wrong most often costs least (another
 * spelling, a wrapper too many or too few, a position in a list), one step too many or too few costs less than another step
 * in its place, and different names in all places are no suggestion.
 */
import { didYouMean } from '../../../base/document/document.ts';
import { spelling } from '../../../base/document/facts.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { isReserved } from '../../../engine/mapping/facts.ts';

/** A path of a body, with its value. */
export interface KnownPath {
  readonly keys: readonly string[];
  readonly value: JsonValue;
}

/** A path that may have been meant. */
export interface PathCandidate extends KnownPath {
  /** How far it is from the path that was written. */
  readonly cost: number;
}

/** A body, which is walked at the first question. */
export interface BodyIndex {
  readonly body: JsonValue;
  /** Fields that have a value, the nearest to the root first; of the elements of a list each with the first that has it. */
  readonly fields: () => readonly KnownPath[];
  /** What was meant by the steps of a path: the best candidate, or two that are as good; none where more are. */
  readonly find: (keys: readonly string[]) => readonly PathCandidate[];
}

/** Fields of a body that are looked at. */
const MAX_LOOKED_AT = 3_000;
const MAX_LEVELS = 9;
/** Elements of one list, the first of which stands for those that have the same fields. */
const MAX_ELEMENTS = 20;
/** Last names that are compared letter by letter. */
const MAX_ALIKE = 500;
/** Steps of a path that is compared. */
const MAX_STEPS = 12;

/** Names that hold a whole event, here and in other tools: they are added and left out most often. */
const WRAPPERS = new Set(
  'data payload body event object resource json $json item items record request req input message msg params attributes fields content result webhook trigger hook entity details detail properties new current after'.split(
    ' ',
  ),
);

const COSTS = {
  spelt: 0.25,
  alike: 1,
  wrapper: 1,
  wrappers: 1.25,
  oneWrapper: 2.5,
  index: 0.6,
  step: 2,
  other: 3,
} as const;
const MAX_COST = 4;
/** Of one whose last name is only written alike. */
const MAX_COST_ALIKE = 2;

export function createBodyIndex(body: JsonValue): BodyIndex {
  let known: readonly KnownPath[] | undefined;
  let names: Names | undefined;
  const fields = (): readonly KnownPath[] => (known ??= [...pathsOf(body)]);
  return {
    body,
    fields,
    find: (keys) => {
      if (keys.length === 0 || keys.length > MAX_STEPS || isThere(body, keys)) return [];
      names ??= namesOf(fields());
      return best(keys, candidatesFor(keys, names));
    },
  };
}

/** By the last name of each path, and by all of its names as one word. */
interface Names {
  readonly byLast: ReadonlyMap<string, readonly KnownPath[]>;
  readonly byWord: ReadonlyMap<string, readonly KnownPath[]>;
}

function namesOf(fields: readonly KnownPath[]): Names {
  return {
    byLast: Map.groupBy(fields, ({ keys }) => spelling(keys.at(-1) ?? '')),
    byWord: Map.groupBy(fields, ({ keys }) => spelling(keys.filter((key) => !isIndex(key)).join(''))),
  };
}

/** Keys of a body as templates and conditions write them: a name that would mean another thing gets its root. */
export const bodyPath = (keys: readonly string[], isRooted = false): string =>
  (isRooted || keys.length === 0 || isReserved(keys[0] ?? '') || isIndex(keys[0] ?? '')
    ? ['payload', ...keys]
    : keys
  ).join('.');

/** Fields that no list is on the way to: what a path names without a position. */
export const outsideLists = ({ keys }: KnownPath): boolean => !keys.some(isIndex);

/** Lists of objects, but for those within other lists. */
export function listsIn(index: BodyIndex): readonly (KnownPath & { readonly value: readonly JsonValue[] })[] {
  return index.fields().flatMap((field) => {
    const { keys, value } = field;
    const isList = Array.isArray(value) && value.some(isJsonObject) && outsideLists(field);
    return isList ? [{ keys, value: value as readonly JsonValue[] }] : [];
  });
}

/** Paths of a body that have a value, the nearest to the root first. */
function* pathsOf(body: JsonValue): Generator<KnownPath> {
  const seen = new Set<string>();
  let level: readonly KnownPath[] = [{ keys: [], value: body }];
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth += 1) {
    const next: KnownPath[] = [];
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
  // What a path cannot name is told in other words.
  const entries = isJsonObject(value) ? Object.entries(value).slice(0, MAX_LOOKED_AT) : [];
  return entries.filter(([key]) => /^[\p{L}\p{N}_$@:-]+$/u.test(key));
}

export const isIndex = (key: string): boolean => /^\d+$/.test(key);

/** Whether the body has the path, or a null on the way: that is not set, and nothing else is meant. */
function isThere(body: JsonValue, keys: readonly string[]): boolean {
  let value: JsonValue | undefined = body;
  for (const key of keys) {
    if (value === null) return true;
    if (typeof value !== 'object' || !Object.hasOwn(value, key)) return false;
    value = (value as Readonly<Record<string, JsonValue>>)[key];
  }
  return true;
}

function candidatesFor(keys: readonly string[], { byLast, byWord }: Names): readonly PathCandidate[] {
  const last = keys.at(-1) ?? '';
  const same = (byLast.get(spelling(last)) ?? []).flatMap((known) => candidate(keys, known, MAX_COST) ?? []);
  // user_name for user.name
  const joined = (byWord.get(spelling(keys.join(''))) ?? []).filter(
    (known) => !same.some((each) => each.keys === known.keys),
  );
  if (same.length + joined.length > 0)
    return [...same, ...joined.map((known) => ({ ...known, cost: COSTS.spelt * 2 }))];
  return [...byLast.values()]
    .slice(0, MAX_ALIKE)
    .filter(([first]) => isAlike(last, first?.keys.at(-1) ?? ''))
    .flatMap((list) => list.flatMap((known) => candidate(keys, known, MAX_COST_ALIKE) ?? []));
}

function candidate(keys: readonly string[], known: KnownPath, limit: number): PathCandidate | undefined {
  const last = stepCost(keys.at(-1) ?? '', known.keys.at(-1) ?? '');
  const cost = last + alignmentCost(keys.slice(0, -1), known.keys.slice(0, -1));
  if (cost > limit || isOtherThing(keys, known.keys, cost)) return undefined;
  return { ...known, cost };
}

/**
 * Another thing beside the one that is not there: issue.creator.name for issue.assignee.name. Only where the whole path
 * begins in another way it is more likely that its beginning is wrong.
 */
function isOtherThing(keys: readonly string[], found: readonly string[], cost: number): boolean {
  return cost >= COSTS.other && keys.length > 2 && keys[0] === found[0];
}

/** What it costs to make one path of the other: steps left out, added, or written in another way. */
function alignmentCost(keys: readonly string[], found: readonly string[]): number {
  let row = found.reduce<readonly number[]>(
    (sums, key) => [...sums, (sums.at(-1) ?? 0) + addedCost(key)],
    [0],
  );
  for (const key of keys) {
    const left = leftOutCost(key);
    const next = [(row[0] ?? 0) + left];
    for (const [at, other] of found.entries())
      next.push(
        Math.min(
          (row[at + 1] ?? 0) + left,
          (next[at] ?? 0) + addedCost(other),
          (row[at] ?? 0) + stepCost(key, other),
        ),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

const isWrapper = (key: string): boolean => WRAPPERS.has(key.toLowerCase());
const leftOutCost = (key: string): number =>
  isIndex(key) ? COSTS.index : isWrapper(key) ? COSTS.wrapper : COSTS.step;
const addedCost = leftOutCost;

function stepCost(key: string, other: string): number {
  if (key === other) return 0;
  if (isIndex(key) && isIndex(other)) return COSTS.spelt;
  if (spelling(key) === spelling(other)) return COSTS.spelt;
  if (isAlike(key, other)) return COSTS.alike;
  if (isWrapper(key) && isWrapper(other)) return COSTS.wrappers;
  return isWrapper(key) || isWrapper(other) ? COSTS.oneWrapper : COSTS.other;
}

/** One and many, a letter or two apart, or a name that has the other as one of its words: amount, amount_paid. */
function isAlike(key: string, other: string): boolean {
  const [a, b] = [spelling(key), spelling(other)];
  if (`${a}s` === b || `${b}s` === a) return true;
  if (Math.max(a.length, b.length) < 4 || isIndex(a) || isIndex(b)) return false;
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

/** The nearest; of those as near, the ones with the longest common beginning, then those that can be printed. */
function best(keys: readonly string[], candidates: readonly PathCandidate[]): readonly PathCandidate[] {
  const rank = ({ keys: found, cost, value }: PathCandidate): number =>
    cost * 1_000 - commonSteps(keys, found) * 10 + (typeof value === 'object' ? 5 : 0);
  const ranked = candidates.map((each) => ({ each, rank: rank(each) }));
  const least = Math.min(...ranked.map((each) => each.rank));
  const found = ranked.filter((each) => each.rank - least < 1).map(({ each }) => each);
  return found.length > MAX_AS_GOOD ? [] : found;
}

/** More that are as good say nothing. */
const MAX_AS_GOOD = 2;

function commonSteps(keys: readonly string[], found: readonly string[]): number {
  const end = keys.findIndex((key, at) => key !== found[at]);
  return end === -1 ? keys.length : end;
}
