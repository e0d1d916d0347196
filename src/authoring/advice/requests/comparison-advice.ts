/* Comparisons that cannot do what they seem to, for the kinds of what was sent, with the rule that asks what was meant. */
import { shorten } from '../../../base/document/document.ts';
import { say, todo, write, type Sentence } from '../../../base/finding.ts';
import { isJsonObject, isNumeric, isScalar, sameValue, type JsonValue } from '../../../base/json.ts';
import { nameOfVariable, operationOf } from '../../../engine/mapping/facts.ts';
import { createBodyIndex, outsideLists } from './body-index.ts';
import { findDifference, sayDifference } from './difference.ts';

/** Reads what a variable of a rule reads; undefined where there is nothing, or what was there was not kept. */
export type ReadVariable = (name: string) => JsonValue | undefined;

/** An operand of a rule: a variable with what it found, or a constant. */
interface Operand {
  /** The rule of the operand, as written. */
  readonly written: JsonValue;
  readonly value: JsonValue | undefined;
  /** Of a variable. */
  readonly name?: string;
}

/** What was sent beside what is asked for. */
interface Comparison {
  readonly operator: string;
  readonly name: string;
  readonly value: JsonValue;
  readonly asked: Operand;
  /** The same rule with another operand in the place of what was sent, or of what is asked for. */
  readonly writeSent: (written: JsonValue) => string;
  readonly writeAsked: (written: JsonValue) => string;
}

/** Why what was sent and what is asked for are never equal, or in no order; undefined where their kinds fit. */
export function adviseOnComparison(rule: JsonValue, read: ReadVariable): Sentence | undefined {
  const compared = comparisonOf(rule, read);
  if (compared === undefined) return undefined;
  return Array.isArray(compared.value) ? adviseOnList(compared) : adviseOnKinds(compared);
}

function comparisonOf(rule: JsonValue, read: ReadVariable): Comparison | undefined {
  const { operator, operands } = operationOf(rule) ?? { operator: '', operands: [] };
  const [first, second] = operands.map((operand) => readOperand(operand, read));
  if (!/^(?:[=!]==?|[<>]=?|in)$/.test(operator) || operands.length !== 2) return undefined;
  if (first === undefined || second === undefined) return undefined;
  const isSecond = second.name !== undefined && (operator === 'in' || first.name === undefined);
  const [sent, asked] = isSecond ? [second, first] : [first, second];
  const { name, value = null } = sent;
  if (name === undefined || value === null || asked.value === undefined) return undefined;
  const inPlaceOf =
    (old: Operand) =>
    (written: JsonValue): string =>
      ruleText(
        operator,
        [first, second].map((operand) => (operand === old ? written : operand.written)),
      );
  return { operator, name, value, asked, writeSent: inPlaceOf(sent), writeAsked: inPlaceOf(asked) };
}

/** Undefined where it is computed. */
function readOperand(written: JsonValue, read: ReadVariable): Operand | undefined {
  const isList = Array.isArray(written);
  if (isList ? !(written as readonly JsonValue[]).some(isJsonObject) : !isJsonObject(written))
    return { written, value: written };
  const name = nameOfVariable(written);
  if (name === undefined) return undefined;
  const [, fallback] = operationOf(written)?.operands ?? [];
  return { written, name, value: read(name) ?? fallback };
}

function adviseOnKinds(compared: Comparison): Sentence | undefined {
  const { operator, name, value, asked, writeSent, writeAsked } = compared;
  const how = operator === 'in' ? undefined : findDifference(value, asked.value, operator);
  if (how === undefined) return undefined;
  const found = say`${name} is ${describe(value)}`;
  if (how.code === 'texts_in_order') {
    const number = asked.name === undefined ? (numberIn(asked.value) ?? null) : { '+': [asked.written] };
    return say`${found}, and texts are compared letter by letter: ${write(writeAsked(number))}`;
  }
  if (how.code === 'texts_by_letter') return say`${found}; ${sayDifference(how)}`;
  if (isJsonObject(value) && Object.hasOwn(value, '#text') && isScalar(asked.value ?? null)) {
    const text = `${name}.#text`;
    return say`${found} with attributes, whose text is ${JSON.stringify(text)}: ${write(writeSent({ var: text }))}`;
  }
  const literal = how.code === 'kinds' && asked.name === undefined ? asKindOf(asked.value, value) : undefined;
  if (literal !== undefined)
    return say`${found}, and ${describe(asked.value ?? null)} is never equal to it: ${write(writeAsked(literal))}`;
  // Where the two are merely not equal, what stands elsewhere in the request is surer.
  const isCertain =
    how.code === 'kinds_in_order' || (operator.startsWith('!') && typeof value !== typeof asked.value);
  return isCertain ? say`${found}; ${sayDifference(how)}` : undefined;
}

/**
 * The constant as the kind of what was sent, where that can be meant: a word is no other number. A text that is the same
 * number keeps its own spelling: 1.10 is not 1.1.
 */
function asKindOf(constant: JsonValue | undefined, sent: JsonValue | undefined): JsonValue | undefined {
  if (typeof sent === 'string') {
    const asText = plain(constant);
    const isAlike = isNumeric(constant) ? numberIn(sent) !== undefined : inSmall(sent) === asText;
    return isAlike ? (numberIn(sent) === constant ? sent : asText) : undefined;
  }
  if (typeof sent === 'boolean') return { true: true, false: false }[plain(constant)];
  return isNumeric(sent) ? numberIn(constant) : undefined;
}

/** Elements of a list that are looked at, and levels of their fields. */
const MAX_ELEMENTS = 50;
const MAX_LEVELS = 4;

/** A list where one value is compared, or where one value is looked for in a list of objects. */
function adviseOnList({ operator, name, value, asked }: Comparison): Sentence | undefined {
  const { value: wanted, written } = asked;
  const elements = (value as readonly JsonValue[]).slice(0, MAX_ELEMENTS);
  if (!isScalar(wanted) || elements.length === 0 || /^[<>]/.test(operator)) return undefined;
  const what = say`${name} is ${describe(value)}`;
  const negate = (text: string): string => (operator.startsWith('!') ? `{"!": [${text}]}` : text);
  if (!elements.some(isJsonObject))
    return operator === 'in'
      ? undefined
      : say`${what}, which is never equal to one value: ${write(negate(ruleText('in', [written, variable(name)])))}`;
  const fields = elements
    .flatMap((element) => createBodyIndex(element).fields().filter(outsideLists))
    .filter((field) => isScalar(field.value) && field.keys.length <= MAX_LEVELS);
  const field =
    fields.find((each) => sameValue(each.value, wanted)) ??
    fields.find((each) => inSmall(each.value) === inSmall(wanted));
  if (field === undefined) return say`${what}: ${todo}ask one of the fields of its elements with "some"`;
  const path = field.keys.join('.');
  const some = ruleText('some', [variable(name), { '===': [variable(path), written] }]);
  return say`${what}, and ${path} of one of them is ${shown(field.value)}: ${write(negate(some))}`;
}

const inSmall = (value: JsonValue | undefined): string => plain(value).toLowerCase();

/** Texts that people take for "no", and every one of which counts as true. */
const NO = /^\s*(?:false|no|off|0|null)\s*$/i;

/** A text such as "false", asked for its truth. */
export function adviseOnTruth(name: string, value: JsonValue | undefined): Sentence | undefined {
  if (typeof value !== 'string' || !NO.test(value)) return undefined;
  const rule = ruleText('!==', [variable(name), value]);
  return say`${name} is ${describe(value)}, and every text but the empty one counts as true: ${todo}ask ${rule} in its place`;
}

export function ruleText(operator: string, operands: readonly JsonValue[]): string {
  return shorten(JSON.stringify({ [operator]: operands }), 300);
}

export const variable = (name: string): JsonValue => ({ var: name });

/** A value in a sentence: `the text "a"`, `a list of objects`. */
export function describe(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return describeList(value as readonly JsonValue[]);
  if (typeof value === 'string') return `the text ${shown(value)}`;
  if (typeof value === 'boolean') return `the boolean ${value}`;
  return isNumeric(value) ? `the number ${String(value)}` : 'an object';
}

function describeList([first]: readonly JsonValue[]): string {
  if (first === undefined) return 'an empty list';
  if (isJsonObject(first)) return 'a list of objects';
  return typeof first === 'string' ? 'a list of texts' : isNumeric(first) ? 'a list of numbers' : 'a list';
}

/** A value as text: a text itself, anything else as JSON. */
const plain = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

/** A value as JSON, cut. */
const shown = (value: JsonValue): string => shorten(JSON.stringify(value), 80);

/** The number that a text is, as JavaScript reads it; undefined for any other. */
function numberIn(value: JsonValue | undefined): number | undefined {
  if (isNumeric(value)) return Number(value);
  if (typeof value !== 'string' || !/^\s*-?\d+(?:\.\d+)?\s*$/.test(value)) return undefined;
  return Number(value);
}
