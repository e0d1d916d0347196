/* A condition on what the elements of a list have: it chooses the request, and a transform the elements of it. */
import { isJsonObject, type JsonValue } from '../json.ts';
import { namesRead } from '../mapping/mapping.ts';
import { codeOfRule, codeOfSteps, splitRule, transformFile, whenOf } from './transform-files.ts';

/** What the list is called in a condition, and how a name of the condition is one of an element. */
export interface ElementNames {
  readonly id: string;
  readonly list: string;
  /** The name within the element; undefined of a name that is none of the element. */
  readonly ofElement: (name: string) => string | undefined;
}

/** The lines of the mapping, and the file that leaves out the other elements where it can be written. */
export interface ElementForm {
  readonly when: string;
  readonly file: string | undefined;
}

/** The condition for requests with such an element; undefined where no part of it reads one. */
export function elementForm(rule: JsonValue | undefined, names: ElementNames): ElementForm | undefined {
  const { list, ofElement, id } = names;
  const isOfElement = (part: JsonValue): boolean =>
    namesRead(part).some((name) => ofElement(name) !== undefined);
  const { within, left } = splitRule(rule, isOfElement);
  const when = whenOf([
    ...left,
    { some: [{ var: list }, joined(within.map((each) => rename(each, ofElement)))] },
  ]);
  if (within.length === 0 || when === undefined) return undefined;
  const codeOf = (name: string): string => `item${codeOfSteps((ofElement(name) ?? name).split('.'))}`;
  const checks = within.map((each) => codeOfRule(each, codeOf));
  const isKnown = within.every((each) => namesRead(each).every((name) => ofElement(name) !== undefined));
  const file =
    isKnown && !checks.includes(undefined)
      ? transformFile({ id }, { lines: [], checks: checks.flatMap((code) => code ?? []), returned: '{}' })
      : undefined;
  return { when, file };
}

const joined = (rules: readonly JsonValue[]): JsonValue =>
  rules.length === 1 ? (rules[0] ?? null) : { and: rules };

/** The rule with the names of the element. */
function rename(rule: JsonValue, ofElement: ElementNames['ofElement']): JsonValue {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).map((each) => rename(each, ofElement));
  if (!isJsonObject(rule)) return rule;
  return Object.fromEntries(
    Object.entries(rule).map(([key, value]) => {
      const [name, ...more] = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
      const own = key === 'var' && typeof name === 'string' ? ofElement(name) : undefined;
      if (own === undefined) return [key, rename(value, ofElement)];
      return [key, more.length === 0 ? own : [own, ...more]];
    }),
  );
}
