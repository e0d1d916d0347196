/* Bodies in which a program printed a value of its own in place of JSON, and how that program writes JSON. */
import { say, todo } from '../../finding.ts';

/** What follows the place of the error is looked at so far. */
const MAX_LOOKED_AT = 400;

/** Which program printed it, and what to send instead. */
export const PRINTED_WORDS = {
  python: say`this is how Python or a Jinja template prints a value: ${todo}send {{ … | tojson }} (in Home Assistant {{ … | to_json }}), json.dumps(…), or json= of requests`,
  single_quotes: say`single quotes are how Python, a Jinja template or JavaScript prints a value, not JSON: ${todo}send json.dumps(…), {{ … | tojson }} (in Home Assistant {{ … | to_json }}) or JSON.stringify(…); in a text of your own write double quotes`,
  javascript: say`this is how JavaScript prints an object, not JSON: ${todo}send JSON.stringify(…)`,
  ruby: say`this is how Ruby prints a hash, not JSON: ${todo}send hash.to_json`,
  java: say`this is how Java and Groovy print a map, not JSON: ${todo}send JsonOutput.toJson(map), or writeValueAsString(map) of Jackson`,
  unquoted_key: say`keys and texts stand in double quotes: a program sends JSON.stringify(…), and in a shell single quotes stand around the whole body: -d '{"key": "value"}'`,
} as const;

type Printer = keyof typeof PRINTED_WORDS;

const IS_PYTHON = /[:,[]\s?(?:True|False|None)\b/;

type Printed = readonly (readonly [RegExp, Printer])[];

/** By what stands at the place of the error; the first that fits. */
const PRINTED: Printed = [
  [/^(?:True|False|None)\b/, 'python'],
  [/^'/, 'single_quotes'],
  [/^(?:=>|nil\b)/, 'ruby'],
  [/^object [A-Z]\w{0,40}\]/, 'javascript'],
];
/** The same where a key should stand. */
const PRINTED_KEYS: Printed = [
  [/^:\w{1,80}\s?=>/, 'ruby'],
  [/^\w{1,80}=(?![=>])/, 'java'],
  [/^\w{1,80}:\s?(?:'|\{ \w)/, 'javascript'],
  [/^[A-Za-z_$][\w$-]{0,80}\s?:/, 'unquoted_key'],
];

/** Which program printed what stands at the place of an error. */
export function findPrinted(text: string, at: number, isKey: boolean): Printer | undefined {
  const rest = text.slice(at, at + MAX_LOOKED_AT);
  const found = [...PRINTED, ...(isKey ? PRINTED_KEYS : [])].find(([form]) => form.test(rest))?.[1];
  return found === 'single_quotes' && IS_PYTHON.test(rest) ? 'python' : found;
}
