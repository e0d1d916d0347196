/*
 * Templates that read fields of the elements of a list, though the mapping makes one run of the whole body: the body is
 * the list itself, or it has the list below a key.
 */
import { say, write, type Sentence } from '../../../base/finding.ts';
import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import { fieldAt, isJsonObject, type JsonValue } from '../../../base/json.ts';
import { bodyPath, listsIn, type BodyIndex, type KnownPath } from './body-index.ts';
import { pathsIn } from './missing-paths.ts';

/** What was read of the elements of one list. */
export interface ElementReads {
  /** As `forEach` names the list. */
  readonly list: string;
  readonly count: number;
  /** Names that found nothing, as they are written. */
  readonly names: ReadonlySet<string>;
  readonly note: AdviceNote;
}

interface Read {
  readonly expression: string;
  readonly name: string;
  /** Steps within an element. */
  readonly keys: readonly string[];
}

type List = Pick<KnownPath, 'keys'> & { readonly value: readonly JsonValue[] };

/** Elements, lists and steps to them that are looked at; expressions that are written out. */
const MAX_ELEMENTS = 20;
const MAX_LISTS = 20;
const MAX_STEPS = 3;
const MAX_WRITTEN = 6;

/** The list whose elements have most of the names that found nothing; undefined where that explains nothing. */
export function findElementReads(evaluation: Evaluation, index: BodyIndex): ElementReads | undefined {
  if (evaluation.mapping === undefined || evaluation.mapping.forEach !== undefined) return undefined;
  const empty = emptyOutsideBlocks(evaluation);
  if (empty.length === 0) return undefined;
  const lists = Array.isArray(index.body) ? bodyAsList(index.body) : listsIn(index);
  const found = lists
    .filter(({ keys }) => keys.length <= MAX_STEPS)
    .slice(0, MAX_LISTS)
    .map((list) => ({ list, reads: empty.flatMap((each) => readOf(each, list) ?? []) }))
    .toSorted((a, b) => b.reads.length - a.reads.length)[0];
  if (found === undefined || !isSure(found.list, found.reads)) return undefined;
  const { list, reads } = found;
  const name = bodyPath(list.keys);
  const count = list.value.length;
  return {
    list: name,
    count,
    names: new Set(reads.map((each) => each.name)),
    note: noteOn(name, count, reads),
  };
}

/** One name that a single list has as well may mean another thing; of a body that is a list there is nothing else. */
const isSure = ({ keys }: List, reads: readonly Read[]): boolean =>
  keys.length === 0 ? reads.length > 0 : new Set(reads.map(({ name }) => name)).size > 1;

interface EmptyName {
  readonly expression: string;
  readonly name: string;
}

function emptyOutsideBlocks({ trace }: Evaluation): readonly EmptyName[] {
  const found = new Map<string, EmptyName>();
  for (const { empty } of trace.templates)
    for (const { expression, around } of empty) {
      if (around !== undefined) continue;
      for (const name of pathsIn(expression))
        found.set(`${expression} ${name}`, { expression: expression.trim(), name });
    }
  return [...found.values()];
}

const bodyAsList = (value: readonly JsonValue[]): readonly List[] =>
  value.some(isJsonObject) ? [{ keys: [], value }] : [];

/**
 * A name as a field of the elements: bare, or behind the name of the list, with or without an s. Through a list that
 * stands deeper, in one event, a name is read to print all of them.
 */
function readOf({ expression, name }: EmptyName, { keys, value: elements }: List): Read | undefined {
  const steps = name.replace(/^(?:payload|item)\./, '').split('.');
  const last = keys.at(-1) ?? '';
  const starts = keys.length > 1 ? [[]] : [[], [last], [last.replace(/s$/, '')]];
  for (const start of starts) {
    const rest = steps.slice(start.length);
    if (rest.length === 0 || start.some((key, at) => key !== steps[at])) continue;
    const has = (element: JsonValue): boolean => (fieldAt(element, rest) ?? null) !== null;
    if (elements.slice(0, MAX_ELEMENTS).some(has)) return { expression, name, keys: rest };
  }
  return undefined;
}

function noteOn(list: string, count: number, reads: readonly Read[]): AdviceNote {
  const shown = reads.slice(0, MAX_WRITTEN);
  const more = reads.length > shown.length ? ', …' : '';
  const items = shown.map((read) => `{{${withPath(read, ['item', ...read.keys])}}}`).join(', ') + more;
  const inBlock = shown.map((read) => `{{${withPath(read, read.keys)}}}`).join(' ');
  const isBody = list === 'payload';
  const facts = { list, count, items, inBlock };
  return {
    code: isBody ? 'body_is_list' : 'list_read',
    text: sayElementReads(facts),
    names: isBody ? [] : [list],
    facts,
  };
}

/** `items` and `inBlock`: the expressions of the mapping, as they read an element. */
export function sayElementReads({ list, count, items, inBlock }: NonNullable<AdviceNote['facts']>): Sentence {
  const size = `a list of ${String(count)}`;
  const what =
    list === 'payload'
      ? say`the body is ${size}`
      : say`${String(list)} is ${size}, and these names are of its elements`;
  return say`${what}: ${write(`forEach: ${String(list)}`, undefined, 'for one run per element')}, and ${String(items)}; for one run of all, {{#each ${String(list)}}}${String(inBlock)} {{/each}}`;
}

/** An expression with another path in the place of the one it has. */
const withPath = ({ expression, name }: Read, keys: readonly string[]): string =>
  expression
    .split(/(\s+|[()=]|"[^"]*"|'[^']*')/)
    .map((word) => (word === name ? keys.join('.') : word))
    .join('');
