/* What a mapping asks of a request of its path, and which texts that leaves to each of its fields. */
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

/** A field that has to be one of some texts. */
export interface NarrowedField {
  /** As `canonicalPath` writes it. */
  readonly field: string;
  readonly texts: ReadonlySet<string>;
}

/** The rules that all have to hold, `match.source` among them. */
function askedBy({ match: { source, when } }: CompiledMapping): readonly JsonValue[] {
  const ofSource = source === undefined ? [] : [{ '===': [{ var: 'payload.source' }, source] }];
  return [...ofSource, ...conjunctsOf(when?.rule)];
}

/** Undefined where the rule says nothing of the kind: what may be equal after a conversion counts as nothing. */
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

/** A field as a condition names it: those of the payload without `payload`, where no other name stands first then. */
export const shownField = ([root = '', ...keys]: readonly string[]): string =>
  root === 'payload' ? bodyPath(keys) : [root, ...keys].join('.');

/** What a mapping asks for, in the forms in which it is compared. */
export interface MappingDemands {
  readonly rules: readonly JsonValue[];
  readonly texts: ReadonlySet<string>;
  /** The texts that are left to each field. */
  readonly narrowed: ReadonlyMap<string, ReadonlySet<string>>;
}

export function askedOf(mapping: CompiledMapping): MappingDemands {
  const rules = askedBy(mapping);
  const narrowed = new Map<string, ReadonlySet<string>>();
  for (const { field, texts } of rules.flatMap((rule) => narrowedBy(rule) ?? []))
    narrowed.set(field, narrowed.get(field)?.intersection(texts) ?? texts);
  return { rules, texts: new Set(rules.map((rule) => JSON.stringify(rule))), narrowed };
}

/** Whether every request that `narrow` takes is one that `wide` takes: each rule of `wide` follows from those of `narrow`. */
export function asksNoMore(wide: MappingDemands, narrow: MappingDemands): boolean {
  return wide.rules.every((rule) => {
    if (narrow.texts.has(JSON.stringify(rule))) return true;
    const own = narrowedBy(rule);
    return own !== undefined && narrow.narrowed.get(own.field)?.isSubsetOf(own.texts) === true;
  });
}

/** Whether no request can be taken by both: a field would have to be two texts. */
export function areApart(one: MappingDemands, other: MappingDemands): boolean {
  return [...one.narrowed].some(
    ([field, texts]) => other.narrowed.get(field)?.isDisjointFrom(texts) === true,
  );
}
