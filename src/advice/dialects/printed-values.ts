/* Bodies in which a program printed a value of its own in place of JSON, and how that program writes JSON. */

/** What follows the place of the error is looked at so far. */
const MAX_LOOKED_AT = 400;
const MAX_SHAPE_CHARS = 40;

const PYTHON =
  'this is how Python or a Jinja template prints a value: send {{ … | tojson }} (in Home Assistant {{ … | to_json }}), json.dumps(…), or json= of requests';
const SINGLE =
  'single quotes are how Python, a Jinja template or JavaScript prints a value, not JSON: send json.dumps(…), {{ … | tojson }} (in Home Assistant {{ … | to_json }}) or JSON.stringify(…); in a text of your own write double quotes';
const JAVASCRIPT = 'this is how JavaScript prints an object, not JSON: send JSON.stringify(…)';
const RUBY = 'this is how Ruby prints a hash, not JSON: send hash.to_json';
const JAVA =
  'this is how Java and Groovy print a map, not JSON: send JsonOutput.toJson(map), or writeValueAsString(map) of Jackson';
const UNQUOTED = `keys and texts stand in double quotes: a program sends JSON.stringify(…), and in a shell single quotes stand around the whole body: -d '{"key": "value"}'`;

const IS_PYTHON = /[:,[]\s?(?:True|False|None)\b/;

type Printed = readonly (readonly [RegExp, string])[];

/** By what stands at the place of the error; the first that fits. */
const PRINTED: Printed = [
  [/^(?:True|False|None)\b/, PYTHON],
  [/^'/, SINGLE],
  [/^(?:=>|nil\b)/, RUBY],
  [/^object [A-Z]\w{0,40}\]/, JAVASCRIPT],
];
/** The same where a key should stand. */
const PRINTED_KEYS: Printed = [
  [/^:\w{1,80}\s?=>/, RUBY],
  [/^\w{1,80}=(?![=>])/, JAVA],
  [/^\w{1,80}:\s?(?:'|\{ \w)/, JAVASCRIPT],
  [/^[A-Za-z_$][\w$-]{0,80}\s?:/, UNQUOTED],
];

/** What was found at the place of an error, where a program printed it, and what to send; no value is in the words. */
export function findPrinted(text: string, at: number, isKey: boolean): string | undefined {
  const rest = text.slice(at, at + MAX_LOOKED_AT);
  const found = [...PRINTED, ...(isKey ? PRINTED_KEYS : [])].find(([form]) => form.test(rest))?.[1];
  const how = found === SINGLE && IS_PYTHON.test(rest) ? PYTHON : found;
  return how === undefined ? undefined : `found ${shapeOf(rest)}: ${how}`;
}

/** How it is written, without the sender's words. */
function shapeOf(rest: string): string {
  const shape = rest
    .replaceAll(/'[^'\n]*'/g, "'…'")
    .replaceAll(/"[^"\n]*"/g, '"…"')
    .replaceAll(/[^\s'"{}[\]():,=>…]+/gu, (word) => (/^(?:True|False|None|nil)$/.test(word) ? word : '…'))
    .replaceAll(/\s+/g, ' ');
  return shape.length > MAX_SHAPE_CHARS ? `${shape.slice(0, MAX_SHAPE_CHARS).trimEnd()} …` : shape;
}
