/** Conditions as plain fields with their values; what is not certain is no rule. */
import { printRule, type RuleHint, writing } from '../rule-parts.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { isOperatorName } from './operators.ts';
import { compare, fieldRules, joined, ofElement, pathHere, type FieldRule } from './field-rules.ts';

/** Longer rules are not written out. */
const MAX_RULE_CHARS = 400;

/** What to say of such a condition, and the rule as JSON; undefined where the object is none. */
export function conditionOfTool(value: JsonObject, isElement = false): RuleHint | undefined {
  const own = plainRule(value);
  if (own === undefined) return undefined;
  const rule = printRule(isElement ? ofElement(own) : own);
  return rule.length > MAX_RULE_CHARS ? undefined : writing(rule);
}

/** The rule that such a condition means, or a rule of ours. */
export function ruleOfOthers(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const [name = '', ...more] = Object.keys(value);
  const isOurs = more.length === 0 && isOperatorName(name);
  return conditionOfTool(value)?.rule ?? (isOurs ? printRule(value) : undefined);
}

/** Roots of other tools that hold the body or the headers. */
const ROOTS: Readonly<Record<string, string>> = {
  headers: 'headers.',
  header: 'headers.',
  query: 'query.',
  body: 'payload.',
  payload: 'payload.',
};

/** `{action: opened, draft: false}`: no key is an operator here, and each has a value. Or a comparison of json-rules-engine. */
function plainRule(value: JsonObject): FieldRule | undefined {
  const { fact, field = fact, operator } = value;
  if (typeof field === 'string' && typeof operator === 'string')
    return compare(operator, pathHere(field) ?? field, value['value']);
  const entries = Object.entries(value);
  if (entries.some(([name]) => isOperatorName(name) || !/^[\w$@.-]+$/.test(name) || name.startsWith('$')))
    return undefined;
  const rules = entries.map(([name, wanted]) => {
    const root = Object.hasOwn(ROOTS, name) && isJsonObject(wanted) ? ROOTS[name] : undefined;
    if (root !== undefined) return fieldRules(wanted as object, root);
    const path = pathHere(name);
    return path === undefined ? undefined : fieldRules({ [path]: wanted }, '');
  });
  const known = rules.flatMap((rule) => rule ?? []);
  return rules.includes(undefined) ? undefined : joined('and', known);
}
