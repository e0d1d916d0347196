import { shorten } from '../../../base/document/document.ts';
import { isJsonObject, isNumeric, isScalar, type JsonValue } from '../../../base/json.ts';
import { nameOfVariable, operationOf } from '../../../engine/mapping/facts.ts';
import { createBodyIndex, outsideLists } from './body-index.ts';

/** Reads what a variable of a rule reads; undefined where there is nothing. */
export interface ReadVariable {
  (name: string): JsonValue | undefined;
  /** The list that a value is to who asks for one. */
  readonly asList?: (value: JsonValue | undefined) => JsonValue | undefined;
}

/** An operand of a rule: a variable with what it found, or a constant. */
export interface Operand {
  /** The rule of the operand, as written. */
  readonly written: JsonValue;
  readonly value: JsonValue | undefined;
  /** Of a variable. */
  readonly name?: string;
}

/** A rule whose operands are known: variables with a written name, and constants. */
export interface KnownRule {
  readonly operator: string;
  readonly operands: readonly Operand[];
}

/** Reads the operands of a rule; undefined where one of them is computed. */
export function readOperands(rule: JsonValue, read: ReadVariable): KnownRule | undefined {
  const parts = operationOf(rule);
  if (parts === undefined) return undefined;
  const operands: Operand[] = [];
  for (const written of parts.operands) {
    const operand = readOperand(written, read);
    if (operand === undefined) return undefined;
    operands.push(operand);
  }
  return { operator: parts.operator, operands };
}

function readOperand(written: JsonValue, read: ReadVariable): Operand | undefined {
  const isList = Array.isArray(written);
  if (isList ? !(written as readonly JsonValue[]).some(isJsonObject) : !isJsonObject(written))
    return { written, value: written };
  const name = nameOfVariable(written);
  if (name === undefined) return undefined;
  const [, fallback] = operationOf(written)?.operands ?? [];
  const value = read(name);
  return { written, name, value: value ?? fallback ?? value };
}

/** The same rule with one operand replaced, as JSON. */
export function withOperand({ operator, operands }: KnownRule, old: Operand, written: JsonValue): string {
  return ruleText(
    operator,
    operands.map((operand) => (operand === old ? written : operand.written)),
  );
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

function describeList(list: readonly JsonValue[]): string {
  const [first] = list;
  if (first === undefined) return 'an empty list';
  if (isJsonObject(first)) return 'a list of objects';
  return typeof first === 'string' ? 'a list of texts' : isNumeric(first) ? 'a list of numbers' : 'a list';
}

/** A value as text: a text itself, anything else as JSON. */
export const plain = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

/** A value as JSON, cut. */
export const shown = (value: JsonValue): string => shorten(JSON.stringify(value), 80);

/** The number that a text is, as JavaScript reads it; undefined for any other. */
export function numberIn(value: JsonValue | undefined): number | undefined {
  if (isNumeric(value)) return Number(value);
  if (typeof value !== 'string' || !/^\s*-?\d+(?:\.\d+)?\s*$/.test(value)) return undefined;
  return Number(value);
}

/** Names of an object's fields that a person can choose from. */
export function fieldsOf(value: JsonValue, fits: (field: JsonValue) => boolean = () => true): string {
  if (!isJsonObject(value)) return '';
  const names = Object.entries(value).flatMap(([name, field]) => (fits(field) ? [name.slice(0, 40)] : []));
  return `${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}`;
}

const MAX_DEPTH = 4;

/** The scalar fields of an object, the nearest first, by their paths below it. */
export function scalarsIn(value: JsonValue): readonly { readonly path: string; readonly value: JsonValue }[] {
  const fields = createBodyIndex(value).fields().filter(outsideLists);
  return fields.flatMap(({ keys, value: field }) =>
    isScalar(field) && keys.length <= MAX_DEPTH ? [{ path: keys.join('.'), value: field }] : [],
  );
}
