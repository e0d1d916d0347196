/* Equalities, `in` and truth of values whose kinds do not fit, with the rule that asks what was meant. */
import { say, todo, write, type Sentence } from '../../finding.ts';
import { kindWord } from './difference.ts';
import { isJsonObject, isScalar, type JsonValue, sameValue } from '../../json.ts';
import {
  describe,
  fieldsOf,
  numberIn,
  plain,
  ruleText,
  scalarsIn,
  shown,
  variable,
  withOperand,
  type KnownRule,
  type Operand,
} from './rule-operands.ts';

const STRICT: ReadonlySet<string> = new Set(['===', '!==']);
const EQUALITY: ReadonlySet<string> = new Set(['==', '===', '!=', '!==']);

export const isEqualityOperator = (operator: string): boolean => EQUALITY.has(operator);

/** Why the two sides of an equality are never equal, whatever values of their kinds are sent. */
export function adviseOnEquality(rule: KnownRule): Sentence | undefined {
  const [first, second] = rule.operands;
  if (first === undefined || second === undefined) return undefined;
  const [subject, wanted] = first.name === undefined ? [second, first] : [first, second];
  const { name, value } = subject;
  const isBlank = (one: JsonValue | undefined): boolean => one === null || one === '';
  if (name !== undefined && value !== wanted.value && isBlank(value) && isBlank(wanted.value))
    return adviseOnBlank(rule.operator, name, value);
  if (name === undefined || value === undefined || value === null || !isScalar(wanted.value))
    return undefined;
  if (Array.isArray(value)) return adviseOnList(rule, { list: subject, wanted });
  if (isJsonObject(value)) return adviseOnObject(rule, subject, [wanted.value]);
  return STRICT.has(rule.operator) ? adviseOnKinds(rule, { subject, wanted }) : undefined;
}

/** `null` and the empty text are both "nothing" to who writes the condition. */
function adviseOnBlank(operator: string, name: string, value: JsonValue | undefined): Sentence {
  const isNot = operator.startsWith('!');
  const rule = JSON.stringify({ [isNot ? '!!' : '!']: variable(name) });
  return say`${name} is ${JSON.stringify(value)} here, which is not ${value === null ? '""' : 'null'}: ${write(rule)}, which ${isNot ? 'holds only for a value' : 'holds for null, "" and a field that is not there'}`;
}

/** A number, a boolean and a text are never equal; told with the remedy where they look the same. */
function adviseOnKinds(
  rule: KnownRule,
  { subject, wanted }: { readonly subject: Operand; readonly wanted: Operand },
): Sentence | undefined {
  const [a, b] = [subject.value, wanted.value];
  if (!isScalar(a) || !isScalar(b) || kindWord(a) === kindWord(b)) return undefined;
  const texts = [a, b].filter((value) => typeof value === 'string');
  if (texts.length !== 1) return undefined;
  const whose = typeof a === 'string' ? sourceOf(subject.name ?? '') : '';
  const how = rule.operator === '!==' ? 'always different from' : 'never equal to';
  const what = say`${subject.name ?? ''} is ${describe(a)}${whose}, and ${describe(b)} is ${how} it`;
  const meant = asKindOf(b, a);
  if (wanted.name !== undefined || meant === undefined) return what;
  const isWord = typeof a === 'boolean' && !/^(?:true|false)$/.test(plain(b));
  const remedy = typeof a === 'string' ? 'put it in quotes, ' : isWord ? '' : 'take the quotes off, ';
  return say`${what}: ${remedy}${write(withOperand(rule, wanted, meant))}`;
}

const sourceOf = (name: string): string =>
  /^(?:headers|query)\./.test(name) ? ' (headers and parameters are always texts)' : '';

/** The constant as the kind of what was sent; a text for a number only where it is one. */
function asKindOf(constant: JsonValue, sent: JsonValue): JsonValue | undefined {
  // A text that is the same number keeps its own spelling: 1.10 is not 1.1.
  if (typeof sent === 'string') return numberIn(sent) === constant ? sent : plain(constant);
  if (typeof sent === 'boolean') return truthIn(constant);
  return numberIn(constant);
}

/** What people write for true and false: YAML takes only these two words for them. */
function truthIn(constant: JsonValue): boolean | undefined {
  const word = plain(constant).toLowerCase();
  if (/^(?:true|yes|y|on|1)$/.test(word)) return true;
  return /^(?:false|no|n|off|0)$/.test(word) ? false : undefined;
}

/** An object where a text is asked for: the field that has it. */
function adviseOnObject(
  rule: KnownRule,
  subject: Operand,
  wanted: readonly JsonValue[],
): Sentence | undefined {
  const { name, value } = subject;
  if (name === undefined || value === undefined) return undefined;
  const found = findScalar(value, wanted);
  if (found === undefined) {
    const fields = fieldsOf(
      value,
      (field) => isScalar(field) && wanted.some((each) => kindWord(each) === kindWord(field)),
    );
    const which = fields === '' ? `it has ${fieldsOf(value)}` : say`ask one of its fields (${fields})`;
    return say`${name} is an object, which is never equal to ${describe(wanted[0] ?? '')}: ${which}, ${name}.FIELD`;
  }
  const path = `${name}.${found.path}`;
  return say`${name} is an object, and ${path} is ${shown(found.value)}${found.note}: ${write(withOperand(rule, subject, variable(path)))}`;
}

interface FoundScalar {
  readonly path: string;
  readonly value: JsonValue;
  readonly note: string;
}

function findScalar(value: JsonValue, wanted: readonly JsonValue[]): FoundScalar | undefined {
  let near: FoundScalar | undefined;
  for (const found of scalarsIn(value)) {
    if (wanted.some((each) => sameValue(each, found.value))) return { ...found, note: '' };
    const isNear = wanted.some((each) => lower(each) === lower(found.value));
    if (isNear) near ??= { ...found, note: ' (upper and lower case count)' };
  }
  return near;
}

const lower = (value: JsonValue): JsonValue => (typeof value === 'string' ? value.toLowerCase() : value);

/** A list where one value is compared, or where one value is looked for in a list of objects. */
function adviseOnList(
  rule: KnownRule,
  { list, wanted }: { readonly list: Operand; readonly wanted: Operand },
): Sentence | undefined {
  const { name, value } = list;
  if (name === undefined || !Array.isArray(value) || !isScalar(wanted.value)) return undefined;
  const elements = value as readonly JsonValue[];
  const negate = (text: string): string => (rule.operator.startsWith('!') ? `{"!": [${text}]}` : text);
  if (!elements.some(isJsonObject)) {
    if (rule.operator === 'in' || elements.length === 0) return undefined;
    return say`${name} is ${describe(value)}, and no list is equal to ${describe(wanted.value)}: ${write(negate(ruleText('in', [wanted.written, variable(name)])))}`;
  }
  const fields = elements
    .slice(0, MAX_ELEMENTS)
    .flatMap((element) => findScalar(element, [wanted.value as JsonValue]) ?? []);
  const field = fields.find(({ note }) => note === '') ?? fields[0];
  const path = field?.path ?? 'FIELD';
  const some = ruleText('some', [variable(name), { '===': [variable(path), wanted.written] }]);
  const what = say`${name} is a list of objects, so ${describe(wanted.value)} is never in it`;
  if (field !== undefined)
    return say`${what}; ${path} of an element is ${shown(field.value)}${field.note}: ${write(negate(some))}`;
  return say`${what}: ${write(negate(some))}, with one of the fields that its elements have (${fieldsOf(elements.find(isJsonObject) ?? {})})`;
}

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 50;

/** Why `in` cannot find what it looks for. */
export function adviseOnIn(rule: KnownRule): Sentence | undefined {
  const [needle, hay] = rule.operands;
  if (needle === undefined || hay === undefined) return undefined;
  const { value: sought } = needle;
  const { value: where } = hay;
  if (sought === undefined || sought === null || where === undefined || where === null) return undefined;
  if (Array.isArray(where)) return adviseOnInList(rule, { needle, hay, list: where as readonly JsonValue[] });
  if (hay.name === undefined) return undefined;
  if (isJsonObject(where)) return adviseOnInObject(hay.name, where, needle);
  if (typeof where !== 'string')
    return say`"in" looks in a list or in a text, and ${hay.name} is ${describe(where)}`;
  const isCase =
    typeof sought === 'string' &&
    !where.includes(sought) &&
    where.toLowerCase().includes(sought.toLowerCase());
  return isCase ? say`${hay.name} has it in other letters: upper and lower case count` : undefined;
}

function adviseOnInList(
  rule: KnownRule,
  {
    needle,
    hay,
    list,
  }: { readonly needle: Operand; readonly hay: Operand; readonly list: readonly JsonValue[] },
): Sentence | undefined {
  const { value: sought, name } = needle;
  if (name !== undefined && isJsonObject(sought)) return adviseOnObject(rule, needle, list.filter(isScalar));
  if (name !== undefined && Array.isArray(sought)) {
    const some = ruleText('some', [variable(name), { in: [variable(''), hay.written] }]);
    return say`${name} is ${describe(sought as JsonValue)}, and "in" looks for one value: ${write(some)}`;
  }
  if (!isScalar(sought)) return undefined;
  if (hay.name !== undefined && list.some(isJsonObject))
    return adviseOnList(rule, { list: hay, wanted: needle });
  if (list.some((element) => sameValue(element, sought))) return undefined;
  const same = list.find(
    (element) =>
      isScalar(element) && kindWord(element) !== kindWord(sought) && String(element) === String(sought),
  );
  const [what, where] = [needle.name ?? say`what is looked for`, hay.name ?? 'the list'];
  if (same !== undefined)
    return say`${where} has ${describe(same)}, and ${what} is ${describe(sought)}: a text and a number are never equal, ${typeof sought === 'string' ? 'take the quotes off the one, or put them on the other' : 'put quotes on the one, or take them off the other'}`;
  const near = list.find((element) => typeof element === 'string' && lower(element) === lower(sought));
  return near === undefined
    ? undefined
    : say`${where} has ${shown(near)}, and ${what} is ${shown(sought)}: upper and lower case count`;
}

function adviseOnInObject(name: string, where: JsonValue, { value, written }: Operand): Sentence {
  const what = say`"in" looks in a list or in a text, and ${name} is an object`;
  const isField = typeof value === 'string' && isJsonObject(where) && Object.hasOwn(where, value);
  if (isField)
    return say`${what} with a field of that name: ${write(ruleText('!!', [variable(`${name}.${value}`)]))}`;
  const found = isScalar(value) ? findScalar(where, [value]) : undefined;
  if (found === undefined) return say`${what}, with the fields ${fieldsOf(where)}`;
  const path = `${name}.${found.path}`;
  return say`${what}; ${path} is ${shown(found.value)}${found.note}: ${write(ruleText('===', [variable(path), written]))}`;
}

/** Texts that people take for "no", and every one of which counts as true; with its counterpart, where it has one. */
const NO: Readonly<Record<string, string | undefined>> = {
  false: 'true',
  no: 'yes',
  off: 'on',
  '0': undefined,
  null: undefined,
};

/** A text such as "false", asked for its truth. */
export function adviseOnTruth({ name, value }: Operand): Sentence | undefined {
  if (name === undefined || typeof value !== 'string') return undefined;
  const word = value.trim().toLowerCase();
  if (!Object.hasOwn(NO, word)) return undefined;
  const yes = NO[word];
  const rule =
    yes === undefined
      ? ruleText('!==', [variable(name), value])
      : ruleText('===', [variable(name), inStyleOf(value, yes)]);
  return say`${name} is ${describe(value)}, and every text but the empty one counts as true: ${todo}ask ${rule}`;
}

/** A word as the sender would write it, who wrote the other one: "True" beside "False", since case counts. */
function inStyleOf(written: string, word: string): string {
  const own = written.trim();
  if (own === own.toLowerCase()) return word;
  return own === own.toUpperCase() ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1);
}
