/**
 * Operators of other languages that have no name here: what they ask for, in operators that there are. Where an operand
 * is missing or cannot be meant, the hint shows the form alone: such a rule has to be thought of, not written by itself.
 */
import { didYouMean } from '../../document/document.ts';
import { spelling } from '../../document/facts.ts';
import { isJsonObject } from '../../json.ts';
import { OPERATORS } from '../../mapping/facts.ts';
import { compareTo } from './field-rules.ts';

/** What other languages call an operator. */
export const SYNONYMS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    '===': '= eq equals equal is',
    '!==': 'ne <> neq notEquals',
    '!': 'not NOT',
    '>': 'gt',
    '>=': 'gte',
    '<': 'lt',
    '<=': 'lte',
    and: '&& AND',
    or: '|| OR',
    in: 'contains includes has oneOf',
    cat: 'concat',
    some: 'any',
    all: 'every',
  }).flatMap(([operator, words]) => words.split(' ').map((word) => [word, operator])),
);

/** Synonyms whose operands go the other way round: what is searched stands first. */
export const SWAPPED: ReadonlySet<string> = new Set(['contains', 'includes', 'has']);

/** Whether a name is one of an operator, here or elsewhere, or nearly so. */
export function isOperatorName(name: string): boolean {
  if (OPERATORS.has(name) || name === 'log' || Object.hasOwn(SYNONYMS, name)) return true;
  return foreignOperatorHint(name, []) !== undefined || didYouMean(name, OPERATORS.keys()) !== undefined;
}

const MAX_SHOWN = 160;

const shown = (value: unknown): string => JSON.stringify(value).slice(0, MAX_SHOWN);

/** What is read where no operand says it. */
const EXAMPLE = { var: 'name' };

interface OperatorHint {
  readonly hint: string;
  /** The rule to write, as JSON; absent where it has to be thought of. */
  readonly rule?: string;
}

/** The hint for an operator that is not known; undefined where it says nothing. */
export function foreignOperatorHint(
  operator: string,
  operands: readonly unknown[],
): OperatorHint | undefined {
  const name = spelling(operator);
  if (name === 'notin' || name === 'nin' || name === '!in') return notInHint(operands);
  const read = readOperand(operands[0]);
  const value = read ?? EXAMPLE;
  if (PATTERNS.has(name)) return patternHint(value);
  const { rule, isKnown = false } = formOf(name, value, operands) ?? {};
  return rule && written(rule, read !== undefined && isKnown);
}

function written(rule: object, isWhole: boolean): OperatorHint {
  const text = shown(rule);
  return isWhole ? { hint: `write ${text}`, rule: text } : { hint: `write a rule like ${text}` };
}

/** What is asked of a text, of whether there is a value, and whether it is empty. */
const OF_TEXT = /^(?:starts|begins|ends)with$|^has(?:prefix|suffix)$|^(?:not|doesnot)contains?$/;
const OF_PRESENCE = /^(?:exists|isset|defined|present)$/;

/** The rule for a value that is read; `isKnown` where the operands say all of it. */
function formOf(
  name: string,
  value: object,
  operands: readonly unknown[],
): { readonly rule: object | undefined; readonly isKnown: boolean } | undefined {
  const [, wanted, to] = operands;
  if (OF_TEXT.test(name)) {
    const isText = typeof wanted === 'string' && wanted !== '';
    const isKnown = operands.length === 2 && (isText || (typeof wanted === 'number' && /contain/.test(name)));
    return { rule: compareTo(name, value, isKnown ? wanted : 'text'), isKnown };
  }
  const isKnown = operands.length === 1;
  if (OF_PRESENCE.test(name)) return { rule: compareTo(name, value, undefined), isKnown };
  if (name === 'isempty' || name === 'empty') return { rule: { '!': value }, isKnown };
  if (name !== 'between') return undefined;
  const isEmpty = typeof wanted === 'number' && typeof to === 'number' && wanted > to;
  const hasBounds = operands.length === 3 && isBound(wanted) && isBound(to) && !isEmpty;
  return { rule: { '<=': hasBounds ? [wanted, value, to] : [0, value, 100] }, isKnown: hasBounds };
}

const PATTERNS: ReadonlySet<string> = new Set(['regex', 'regexp', 'match', 'matches', '=~', 'like', 'glob']);

function patternHint(value: object): OperatorHint {
  const hint = `conditions know no patterns: a part of a text is found by {"in": ["part", ${shown(value)}]}, its beginning by {"===": [{"substr": [${shown(value)}, 0, 4]}, "part"]}; a pattern needs a transform, which returns null for what it does not want`;
  return { hint };
}

/** What an operand reads: a rule as it is, and a text as the name of a variable. */
function readOperand(operand: unknown): object | undefined {
  if (typeof operand === 'string') return operand.trim() === '' ? undefined : { var: operand };
  return isJsonObject(operand) ? operand : undefined;
}

const isConstant = (operand: unknown): boolean => typeof operand === 'string' || typeof operand === 'number';

const isBound = (operand: unknown): boolean => typeof operand === 'number' || isJsonObject(operand);

/** Either operand may be the one that is read: a value in a list that is written, or a text in what was sent. */
function notInHint(operands: readonly unknown[]): OperatorHint {
  const [needle, hay] = operands;
  const isKnown =
    operands.length === 2 &&
    (isJsonObject(hay) ? isJsonObject(needle) || isConstant(needle) : Array.isArray(hay) && hay.length > 0);
  const read = isKnown && !isJsonObject(hay) ? readOperand(needle) : needle;
  return isKnown && read !== undefined
    ? written({ '!': { in: [read, hay] } }, true)
    : written({ '!': { in: [EXAMPLE, ['a', 'b']] } }, false);
}
