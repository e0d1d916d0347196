/** What a key of `match` that names headers or fields is as a condition, with the user's own names and values. */
import { printSentence } from '../../finding.ts';
import { printRule } from '../rule-parts.ts';
import { isJsonObject } from '../../json.ts';
import { holdsCredentials, isSecretPath } from '../../document/document.ts';
import { fieldRules, joined } from '../dialects/field-rules.ts';
import { verifyFor } from '../proof-headers.ts';

/** The hint for such a key; undefined where it has another form, or a value that may be a secret. */
export function hintForFields(root: string): (value: unknown, beside: unknown) => string | undefined {
  return (value, beside) => {
    const fields = fieldsIn(value);
    if (fields === undefined) return undefined;
    if (mayHoldSecret(fields)) return root === 'headers.' ? proofHint(fields) : undefined;
    const rules = fieldRules(fields, root);
    const when = isJsonObject(beside) ? beside['when'] : undefined;
    const rule = rules && joined('and', isJsonObject(when) ? [when, ...rules] : rules);
    return rule && `write in its place when: ${printRule(rule)}`;
  };
}

/** Headers one of which proves the sender. */
function proofHint(fields: object): string | undefined {
  const names = Object.keys(fields);
  const header = names.find((name) => verifyFor(name) !== undefined);
  const verify = header === undefined ? undefined : verifyFor(header);
  if (header === undefined || verify === undefined) return undefined;
  const more = names.length > 1 ? '; a condition on the others is when' : '';
  return `${printSentence(verify)}, in its place: ${header.toLowerCase()} proves who sends, and that is judged before a condition is asked${more}`;
}

/** `{field: value}`, `{name: field, value: …}`, or a list of either. */
function fieldsIn(value: unknown): object | undefined {
  if (isJsonObject(value)) {
    const { name, value: wanted, ...others } = value;
    return typeof name === 'string' && wanted !== undefined && Object.keys(others).length === 0
      ? { [name]: wanted }
      : value;
  }
  if (!Array.isArray(value)) return undefined;
  const parts = value.map((each) => (isJsonObject(each) ? fieldsIn(each) : undefined));
  return parts.includes(undefined) || parts.length === 0 ? undefined : Object.assign({}, ...parts);
}

function mayHoldSecret(fields: object): boolean {
  return Object.entries(fields).some(
    ([name, value]) =>
      isSecretPath([name]) ||
      /signature|api-?key/i.test(name) ||
      (typeof value === 'object' && value !== null ? mayHoldSecret(value) : holdsCredentials(String(value))),
  );
}
