/* Comparisons of order that cannot do what they seem to: between texts, between a text and a number, with an object. */
import { say, todo, write, type Sentence } from '../../finding.ts';
import { isJsonObject, isNumeric, type JsonValue } from '../../json.ts';
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

const HOLDS: Readonly<Record<string, (a: number | string, b: number | string) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

export const isOrder = (operator: string): boolean => Object.hasOwn(HOLDS, operator);

/** What is wrong with the kinds of what an order compares; undefined where they fit. */
export function adviseOnOrder(rule: KnownRule): Sentence | undefined {
  const { operands } = rule;
  const [strange] = operands.filter(({ value }) => typeof value === 'object' && !isNumeric(value));
  if (strange !== undefined) return adviseOnStrange(rule, strange);
  const texts = operands.filter(({ value }) => typeof value === 'string');
  if (texts.length === operands.length) return adviseOnTexts(rule);
  const [text] = texts.filter(({ value }) => numberIn(value) === undefined);
  const number = operands.find(({ value }) => isNumeric(value));
  return text === undefined || number === undefined ? undefined : adviseOnMixed(rule, text, number);
}

/** Two texts of digits: compared letter by letter, which gives another answer than their numbers would. */
function adviseOnTexts(rule: KnownRule): Sentence | undefined {
  const { operator, operands } = rule;
  const numbers = operands.map(({ value }) => numberIn(value));
  if (numbers.includes(undefined)) return undefined;
  const texts = operands.map(({ value }) => plain(value));
  if (holdsInTurn(operator, numbers as number[]) === holdsInTurn(operator, texts)) return undefined;
  const hasConstant = operands.some(({ name }) => name === undefined);
  const written = operands.map((operand, index): JsonValue => {
    if (operand.name === undefined) return numbers[index] ?? null;
    return hasConstant || index > 0 ? operand.written : { '+': [operand.written] };
  });
  const how = hasConstant ? say`take the quotes off the number` : say`make a number of one of them`;
  return say`${named(operands[0])} and ${named(operands[1])} are both texts, and texts are compared letter by letter: ${how}, ${write(ruleText(operator, written))}`;
}

/** Whether each operand stands to the next as the operator says. */
function holdsInTurn(operator: string, values: readonly (number | string)[]): boolean {
  const holds = HOLDS[operator];
  return values.every((value, index) => {
    const next = values[index + 1];
    return next === undefined || holds?.(value, next) === true;
  });
}

/** A level, a state or another name in words. */
const WORD = /^\p{L}[\p{L} _-]{0,39}$/u;

/** A number and a text that is no number: neither is before the other. */
function adviseOnMixed(rule: KnownRule, text: Operand, number: Operand): Sentence {
  const { operator } = rule;
  const never = say`${named(text)} is a text, and ${named(number)} a number: "${operator}" between the two never holds`;
  if (text.name !== undefined && WORD.test(plain(text.value)))
    return say`${never}; where the sender writes words, list all that are meant: ${write(ruleText('in', [text.written, [plain(text.value)]]))}, with the other words of that kind behind ${JSON.stringify(plain(text.value))}`;
  return say`${never}; ${todo}ask another field, or compare in a transform`;
}

function named({ name, value }: Operand | undefined = { written: null, value: null }): string {
  const found = value === undefined || value === null ? 'nothing' : JSON.stringify(value).slice(0, 60);
  return name === undefined ? found : `${name} (${found})`;
}

/** A list or an object where a number is compared. */
function adviseOnStrange(rule: KnownRule, strange: Operand): Sentence | undefined {
  const { name, value } = strange;
  if (name === undefined || value === undefined || value === null) return undefined;
  if (Array.isArray(value)) {
    const length = withOperand(rule, strange, variable(`${name}.length`));
    return say`${name} is ${describe(value)}; how many it has is ${name}.length: ${write(length)}`;
  }
  if (!isJsonObject(value)) return undefined;
  const found = [...scalarsIn(value)].filter((field) => numberIn(field.value) !== undefined);
  const [only] = found;
  if (only === undefined || found.length > 1)
    return say`${name} is an object, with the fields ${fieldsOf(value)}: ${todo}compare one of them, ${name}.FIELD`;
  const path = `${name}.${only.path}`;
  return say`${name} is an object, and ${path} is ${shown(only.value)}: did you mean ${withOperand(rule, strange, variable(path))}`;
}
