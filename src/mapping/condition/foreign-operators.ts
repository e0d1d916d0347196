/**
 * Operators of other languages that have no name here: what they ask for, in operators that there are. Where an operand
 * is missing or cannot be meant, the hint shows the form alone: such a rule has to be thought of, not written by itself.
 */
import { spelling } from '../../document/document.ts';
import { isJsonObject } from '../../json.ts';

const MAX_SHOWN = 160;

const shown = (value: unknown): string => JSON.stringify(value).slice(0, MAX_SHOWN);

/** What is read where no operand says it. */
const EXAMPLE = { var: 'name' };

/** The hint for an operator that is not known; undefined where it says nothing. */
export function foreignOperatorHint(operator: string, operands: readonly unknown[]): string | undefined {
  const name = spelling(operator);
  if (name === 'notin' || name === 'nin' || name === '!in') return notInHint(operands);
  const read = readOperand(operands[0]);
  const value = read ?? EXAMPLE;
  if (PATTERNS.has(name)) return patternHint(value);
  const formed = FORMS.get(name)?.(value, operands);
  if (formed === undefined) return undefined;
  const isWhole = read !== undefined && formed.isKnown;
  return `write ${isWhole ? '' : 'a rule like '}${shown(formed.rule)}`;
}

/** Makes the rule for a value that is read; `isKnown` where the operands say all of it. */
type Form = (
  value: object,
  operands: readonly unknown[],
) => { readonly rule: object; readonly isKnown: boolean };

const startForm: Form = (value, operands) => {
  const text = textOf(operands);
  const start = text ?? 'text';
  return { rule: { '===': [{ substr: [value, 0, start.length] }, start] }, isKnown: text !== undefined };
};

const endForm: Form = (value, operands) => {
  const text = textOf(operands);
  const end = text ?? 'text';
  return { rule: { '===': [{ substr: [value, -end.length] }, end] }, isKnown: text !== undefined };
};

const notContainedForm: Form = (value, operands) => {
  const [, wanted] = operands;
  const isKnown = operands.length === 2 && isConstant(wanted) && wanted !== '';
  return { rule: { '!': { in: [isKnown ? wanted : 'text', value] } }, isKnown };
};

const presentForm: Form = (value, { length }) => ({ rule: isThere(value), isKnown: length === 1 });

const emptyForm: Form = (value, { length }) => ({ rule: { '!': value }, isKnown: length === 1 });

const betweenForm: Form = (value, operands) => {
  const [, from, to] = operands;
  const isEmpty = typeof from === 'number' && typeof to === 'number' && from > to;
  const isKnown = operands.length === 3 && isBound(from) && isBound(to) && !isEmpty;
  return { rule: { '<=': isKnown ? [from, value, to] : [0, value, 100] }, isKnown };
};

const FORMS: ReadonlyMap<string, Form> = new Map([
  ['startswith', startForm],
  ['beginswith', startForm],
  ['hasprefix', startForm],
  ['endswith', endForm],
  ['hassuffix', endForm],
  ['notcontains', notContainedForm],
  ['doesnotcontain', notContainedForm],
  ['exists', presentForm],
  ['isset', presentForm],
  ['defined', presentForm],
  ['present', presentForm],
  ['isempty', emptyForm],
  ['empty', emptyForm],
  ['between', betweenForm],
]);

const PATTERNS: ReadonlySet<string> = new Set(['regex', 'regexp', 'match', 'matches', '=~', 'like', 'glob']);

function patternHint(value: object): string {
  return `conditions know no patterns: a part of a text is found by {"in": ["part", ${shown(value)}]}, its beginning by {"===": [{"substr": [${shown(value)}, 0, 4]}, "part"]}; a pattern needs a transform, which returns null for what it does not want`;
}

/** The text that is looked for, where there are exactly a value and a text. */
function textOf(operands: readonly unknown[]): string | undefined {
  const [, wanted] = operands;
  return operands.length === 2 && typeof wanted === 'string' && wanted !== '' ? wanted : undefined;
}

/** What an operand reads: a rule as it is, and a text as the name of a variable. */
function readOperand(operand: unknown): object | undefined {
  if (typeof operand === 'string') return operand.trim() === '' ? undefined : { var: operand };
  return isJsonObject(operand) ? operand : undefined;
}

/** false and 0 are there, too. */
function isThere(value: object): object {
  const name = 'var' in value ? value.var : undefined;
  return typeof name === 'string' && name !== '' ? { '!': { missing: [name] } } : { '!!': value };
}

const isConstant = (operand: unknown): boolean => typeof operand === 'string' || typeof operand === 'number';

const isBound = (operand: unknown): boolean => typeof operand === 'number' || isJsonObject(operand);

/** Either operand may be the one that is read: a value in a list that is written, or a text in what was sent. */
function notInHint(operands: readonly unknown[]): string {
  const [needle, hay] = operands;
  const isKnown =
    operands.length === 2 &&
    (isJsonObject(hay) ? isJsonObject(needle) || isConstant(needle) : Array.isArray(hay) && hay.length > 0);
  const read = isKnown && !isJsonObject(hay) ? readOperand(needle) : needle;
  return isKnown && read !== undefined
    ? `write ${shown({ '!': { in: [read, hay] } })}`
    : `write a rule like ${shown({ '!': { in: [EXAMPLE, ['a', 'b']] } })}`;
}
