/*
 * Several parts of a condition that each go on within the same list: they are meant of one element, so that one `some`
 * asks for all of it.
 */
import type { JsonValue } from '../../json.ts';
import { conjunctsOf, namesRead } from '../../mapping/mapping.ts';
import { elementPart, type ElementPart } from './missing-advice.ts';
import { variable, type ReadVariable } from './rule-operands.ts';

/** Letters of a condition that is given whole. */
const MAX_CONDITION = 500;

export interface JoinedElements {
  readonly list: string;
  /** The parts that become one, as written. */
  readonly rules: readonly JsonValue[];
  readonly text: string;
}

/** The condition with one rule in place of all parts that ask elements of the list of one of them. */
export function joinElements(
  whole: JsonValue | undefined,
  failed: JsonValue,
  read: ReadVariable,
): JoinedElements | undefined {
  const parts =
    whole === undefined ? [] : conjunctsOf(whole).map((rule) => ({ rule, part: partOf(rule, read) }));
  const own = partOf(failed, read);
  const joined = parts.filter(
    ({ part }) => part?.operator === 'some' && part.list === own?.list && part.name === own.name,
  );
  if (own?.operator !== 'some' || joined.length < 2) return undefined;
  const rules = joined.map(({ rule }) => rule);
  const one = { some: [variable(own.list), { and: joined.flatMap(({ part }) => part?.asked ?? []) }] };
  const left = parts.flatMap(({ rule }) => (rule === rules[0] ? [one] : rules.includes(rule) ? [] : [rule]));
  const condition = JSON.stringify(left.length === 1 ? one : { and: left });
  const write =
    condition.length > MAX_CONDITION
      ? `in place of these ${rules.length} parts write ${JSON.stringify(one)}`
      : `write when: ${condition}`;
  return {
    list: own.list,
    rules,
    text: `${own.list} is a list: to ask one element for all of it ${write}`,
  };
}

/** What a part asks of elements; undefined where it reads something else, too. */
function partOf(rule: JsonValue, read: ReadVariable): ElementPart | undefined {
  const [name, ...others] = namesRead(rule);
  return name === undefined || others.length > 0 || read(name) !== undefined
    ? undefined
    : elementPart(name, rule, read);
}
