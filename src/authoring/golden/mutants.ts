/**
 * Changes mapping files in one place each: it negates a condition, changes an operator or an operand, drops a part of a
 * rule or a template or a key, or swaps two mappings. A change that no golden case notices could go live unseen.
 */
import type { LocatedValue, Path, Place } from '../../base/document/document.ts';
import { isJsonObject, isNumeric, type JsonObject, type JsonValue } from '../../base/json.ts';
import { operationOf } from '../../engine/mapping/facts.ts';
import { MAPPING_KEYS } from '../../engine/mapping/mapping.ts';

export interface Mutant {
  readonly what: string;
  readonly at: Place;
  /** The id of the mapping, or its place in the file where it has none. */
  readonly mapping: string;
  /** The hook name; absent where the mapping accepts any. */
  readonly path?: string;
  /** The whole file as JSON, which YAML can read. */
  readonly text: string;
}

type MutantEdit = readonly [what: string, changed: JsonObject, path: Path];

const OTHER: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '==': '!=',
  '!=': '==',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  and: 'or',
  or: 'and',
  some: 'all',
  all: 'some',
  none: 'some',
};
const DROPPED: readonly string[] = [...MAPPING_KEYS].flatMap(([key, { actions }]) =>
  key === 'dedupe' || (actions !== undefined && !key.endsWith('Template')) ? [key] : [],
);
const EXPRESSION = /\{\{\{?~?\s*(?!else\b)[^#/!>{}\s][^{}]*\}\}\}?/g;

/** Yields all changes of one mapping file. */
export function mutantsOf(root: LocatedValue): readonly Mutant[] {
  const whole = root.exact([]);
  const list = isJsonObject(whole) ? (whole['mappings'] ?? [whole]) : whole;
  const entries = (Array.isArray(list) ? (list as readonly JsonValue[]) : []).filter(isJsonObject);
  const isAlone = isJsonObject(whole) && whole['mappings'] === undefined;
  const lead: Path = isAlone ? [] : isJsonObject(whole) ? ['mappings'] : [];
  const written = (all: readonly JsonValue[]): string => JSON.stringify(isAlone ? all[0] : all);
  return entries.flatMap((entry, index) => {
    const here = isAlone ? [] : [...lead, index];
    const { id } = entry;
    const path = pathOf(entry);
    const own = {
      mapping: typeof id === 'string' ? id : `mapping ${index + 1}`,
      ...(typeof path === 'string' ? { path } : {}),
    };
    const changed = [...changesOf(entry)].map(([what, other, inside]): Mutant => ({
      ...own,
      what,
      at: root.place([...here, ...inside]),
      text: written(entries.with(index, other)),
    }));
    const next = entries[index + 1];
    if (next === undefined || pathOf(next) !== path) return changed;
    const swap: Mutant = {
      ...own,
      what: 'it changes places with the next one',
      at: root.place(here),
      text: written(entries.with(index, next).with(index + 1, entry)),
    };
    return [...changed, swap];
  });
}

const pathOf = ({ match }: JsonObject): JsonValue | undefined =>
  isJsonObject(match) ? match['path'] : undefined;

function* changesOf(entry: JsonObject): Generator<MutantEdit> {
  const { match } = entry;
  const when = isJsonObject(match) ? match['when'] : undefined;
  if (isJsonObject(match) && when !== undefined) {
    const path = ['match', 'when'];
    const withRule = (rule: JsonValue): JsonObject => ({ ...entry, match: { ...match, when: rule } });
    yield ['the condition is negated', withRule({ '!': [when] }), path];
    for (const [what, rule] of changedRules(when)) yield [what, withRule(rule), path];
  }
  for (const key of DROPPED)
    if (entry[key] !== undefined) {
      const { [key]: _dropped, ...rest } = entry;
      yield [`${key} is dropped`, rest, [key]];
    }
  for (const [key, value] of Object.entries(entry)) {
    const [inner, text] = isJsonObject(value) ? ['key', value['key']] : [undefined, value];
    if (typeof text !== 'string' || key === 'match') continue;
    for (const { 0: expression, index } of text.matchAll(EXPRESSION)) {
      const left = text.slice(0, index) + text.slice(index + expression.length);
      const changed = inner === undefined ? left : { ...(value as JsonObject), [inner]: left };
      yield [`${expression} is dropped from ${key}`, { ...entry, [key]: changed }, [key]];
    }
  }
}

function* changedRules(rule: JsonValue): Generator<readonly [what: string, rule: JsonValue]> {
  const { operator = 'var', operands: list = [] } = operationOf(rule) ?? {};
  if (/^(?:var|missing)/.test(operator)) return;
  const other = OTHER[operator];
  if (other !== undefined) yield [`"${operator}" becomes "${other}"`, { [other]: list }];
  for (const [index, operand] of list.entries()) {
    const put = (value: JsonValue): JsonValue => ({ [operator]: list.with(index, value) });
    const shown = JSON.stringify(operand);
    if (typeof operand === 'string') yield [`${shown} becomes another text`, put(`${operand}~`)];
    else if (isNumeric(operand)) yield [`${shown} becomes one more`, put(Number(operand) + 1)];
    else if (Array.isArray(operand)) {
      const texts = operand as readonly JsonValue[];
      for (const [at, one] of texts.entries())
        yield [`${JSON.stringify(one)} is dropped from the list`, put(texts.toSpliced(at, 1))];
    } else for (const [what, changed] of changedRules(operand)) yield [what, put(changed)];
    if ((operator === 'and' || operator === 'or') && list.length > 1)
      yield [`part ${index + 1} of "${operator}" is dropped`, { [operator]: list.toSpliced(index, 1) }];
  }
}
