/** Works out what a mapping requires of a request, and which texts that leaves to each field. */
import type { JsonValue } from '../../../base/json.ts';
import {
  canonicalPath,
  conjunctsOf,
  hasDefault,
  nameOfVariable,
  operationOf,
} from '../../../engine/mapping/facts.ts';
import { bodyPath } from '../requests/body-index.ts';
import type { CompiledMapping } from '../../../engine/mapping/mapping.ts';

export interface NarrowedField {
  readonly field: string;
  readonly texts: ReadonlySet<string>;
}

function askedBy({ match: { source, when } }: CompiledMapping): readonly JsonValue[] {
  const ofSource = source === undefined ? [] : [{ '===': [{ var: 'payload.source' }, source] }];
  return [...ofSource, ...conjunctsOf(when?.rule)];
}

/** Returns undefined where the rule narrows nothing. A value that may be equal after a conversion does not count. */
function narrowedBy(rule: JsonValue): NarrowedField | undefined {
  const { operator, operands = [] } = operationOf(rule) ?? {};
  if (operator === 'or') return unionOf(operands.map(narrowedBy));
  const keys = operands.map(nameOfVariable).find(Boolean)?.split('.');
  if (keys === undefined || operands.length !== 2 || operands.some(hasDefault)) return undefined;
  const isAlwaysText = keys[0] === 'headers' || keys[0] === 'query';
  const isEqual = operator === '===' || (operator === '==' && isAlwaysText);
  const listed = operator === 'in' && Array.isArray(operands[1]) ? (operands[1] as readonly JsonValue[]) : [];
  const texts = isEqual ? operands.filter((each) => typeof each === 'string') : listed;
  if (texts.length === 0 || !texts.every((each) => typeof each === 'string')) return undefined;
  return { field: canonicalPath(keys), texts: new Set(texts) };
}

function unionOf(parts: readonly (NarrowedField | undefined)[]): NarrowedField | undefined {
  const [first] = parts;
  if (first === undefined || !parts.every((part) => part?.field === first.field)) return undefined;
  return { field: first.field, texts: new Set(parts.flatMap((part) => [...(part?.texts ?? [])])) };
}

/**
 * Writes a field as a condition does. Fields of the payload have no `payload` before them, unless the name
 * means something else then.
 */
export const shownField = ([root = '', ...keys]: readonly string[]): string =>
  root === 'payload' ? bodyPath(keys) : [root, ...keys].join('.');

export interface MappingDemands {
  readonly rules: readonly JsonValue[];
  readonly texts: ReadonlySet<string>;
  readonly narrowed: ReadonlyMap<string, ReadonlySet<string>>;
}

export function askedOf(mapping: CompiledMapping): MappingDemands {
  const rules = askedBy(mapping);
  const narrowed = new Map<string, ReadonlySet<string>>();
  for (const { field, texts } of rules.flatMap((rule) => narrowedBy(rule) ?? []))
    narrowed.set(field, narrowed.get(field)?.intersection(texts) ?? texts);
  return { rules, texts: new Set(rules.map((rule) => JSON.stringify(rule))), narrowed };
}

/** Whether `wide` matches every request that `narrow` matches: each rule of `wide` follows from those of `narrow`. */
export function asksNoMore(wide: MappingDemands, narrow: MappingDemands): boolean {
  return wide.rules.every((rule) => {
    if (narrow.texts.has(JSON.stringify(rule))) return true;
    const own = narrowedBy(rule);
    return own !== undefined && narrow.narrowed.get(own.field)?.isSubsetOf(own.texts) === true;
  });
}

/** Whether no request can match both, because a field would have to be two texts. */
export function areApart(one: MappingDemands, other: MappingDemands): boolean {
  return [...one.narrowed].some(
    ([field, texts]) => other.narrowed.get(field)?.isDisjointFrom(texts) === true,
  );
}
