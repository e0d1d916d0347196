/** Parts of JsonLogic rules, and hints that write one. */
import { shorten } from '../../base/document/document.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';

/** JSON as people write it, with a space after each colon and comma. */
export function printRule(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printRule).join(', ')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${printRule(one)}`)
    .join(', ')}}`;
}

/** A hint on a rule. */
export interface RuleHint {
  readonly hint: string;
  /** The rule that it writes, as JSON. */
  readonly rule?: string;
}

/** A hint that ends with the rule to write. */
export const writing = (rule: string, lead = 'write'): RuleHint => ({ hint: `${lead} ${rule}`, rule });

/** A value in a hint, as JSON. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 120);
}

/** A rule in a hint, such as the whole operand that reads a variable: with its default, where it has one. */
export function shownRule(rule: unknown): string {
  return printRule(rule).slice(0, 120);
}

export const quoteName = (text: string): string => `"${shorten(text)}"`;

/** The same rule with other names for its variables, with their defaults. */
export function renameVariables(rule: JsonValue, rename: (name: string) => string): JsonValue {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).map((each) => renameVariables(each, rename));
  if (!isJsonObject(rule)) return rule;
  const named = (names: JsonValue, count = Infinity): JsonValue =>
    Array.isArray(names)
      ? (names as readonly JsonValue[]).map((each, at) => (at < count ? named(each) : each))
      : typeof names === 'string'
        ? rename(names)
        : names;
  return Object.fromEntries(
    Object.entries(rule).map(([key, value]) => {
      if (key === 'var') return [key, named(value, 1)];
      return [key, key === 'missing' ? named(value) : renameVariables(value, rename)];
    }),
  );
}

/** An equality with several values: the rule for one of them, and for none where the operator negates. */
export function severalRule(operator: string, variable: unknown, values: unknown): RuleHint {
  const rule = `{"in": [${shownRule(variable)}, ${shown(values)}]}`;
  return operator.startsWith('!')
    ? writing(`{"!": [${rule}]}`, 'for none of several values write')
    : writing(rule, 'for one of several values write');
}

/** What to do in place of a condition that compares a secret. */
export const SECRET_HINT =
  'let verify compare it, and no condition: scheme header with the header that carries it, or scheme token for Authorization: Bearer';

/** What reads a variable with a secret's name. */
const SECRET_VARIABLE =
  /"var":\[?"[^"]*(?:token|secret|secrets|password|passwd|api[-_]?key|private[-_]?key|authorization)"/i;

/** Whether a rule, or what a hint makes of it, reads what has a secret's name: nothing that it is compared with is quoted. */
export function readsSecret(rule: object, hint?: string): boolean {
  return SECRET_VARIABLE.test(`${JSON.stringify(rule)}${hint ?? ''}`.replaceAll('": ', '":'));
}
