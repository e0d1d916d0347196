/**
 * Operators of other languages that have no name here: what they ask for, in operators that there are. Where an operand
 * is missing or cannot be meant, the hint shows the form alone: such a rule has to be thought of, not written by itself.
 */
const MAX_SHOWN = 160;

const shown = (value: unknown): string => JSON.stringify(value).slice(0, MAX_SHOWN);

/** What is read where no operand says it. */
const EXAMPLE = { var: 'name' };

/** The hint for an operator that is not known; undefined where it says nothing. */
export function foreignOperatorHint(operator: string, operands: readonly unknown[]): string | undefined {
  const name = operator.toLowerCase().replaceAll(/[\s_-]/g, '');
  const read = readOperand(operands[0]);
  const value = read ?? EXAMPLE;
  const [, wanted] = operands;
  const text = typeof wanted === 'string' ? wanted : '';
  const hint = (rule: object, isKnown: boolean): string =>
    `write ${read === undefined || !isKnown ? 'a rule like ' : ''}${shown(rule)}`;
  switch (name) {
    case 'startswith':
    case 'beginswith':
    case 'hasprefix': {
      const isKnown = operands.length === 2 && text !== '';
      const start = isKnown ? text : 'text';
      return hint({ '===': [{ substr: [value, 0, start.length] }, start] }, isKnown);
    }
    case 'endswith':
    case 'hassuffix': {
      const isKnown = operands.length === 2 && text !== '';
      const end = isKnown ? text : 'text';
      return hint({ '===': [{ substr: [value, -end.length] }, end] }, isKnown);
    }
    case 'notin':
    case 'nin':
      return notInHint(operands);
    case 'notcontains':
    case 'doesnotcontain': {
      const isKnown = operands.length === 2 && isConstant(wanted);
      return hint({ '!': { in: [isKnown ? wanted : 'text', value] } }, isKnown);
    }
    case 'exists':
    case 'isset':
    case 'defined':
    case 'present':
      return hint({ '!!': value }, operands.length === 1);
    case 'isempty':
    case 'empty':
      return hint({ '!': value }, operands.length === 1);
    case 'between': {
      const [, from, to] = operands;
      const isKnown = operands.length === 3 && isBound(from) && isBound(to);
      return hint({ '<=': isKnown ? [from, value, to] : [0, value, 100] }, isKnown);
    }
    case 'regex':
    case 'regexp':
    case 'match':
    case 'matches':
    case '=~':
    case 'like':
    case 'glob':
      return `conditions know no patterns: a part of a text is found by {"in": ["part", ${shown(value)}]}, its beginning by {"===": [{"substr": [${shown(value)}, 0, 4]}, "part"]}; a pattern needs a transform, which returns null for what it does not want`;
    default:
      return undefined;
  }
}

/** What an operand reads: a rule as it is, and a text as the name of a variable. */
function readOperand(operand: unknown): object | undefined {
  if (typeof operand === 'string') return operand.trim() === '' ? undefined : { var: operand };
  return isRule(operand) ? operand : undefined;
}

const isRule = (operand: unknown): operand is object =>
  typeof operand === 'object' && operand !== null && !Array.isArray(operand);

const isConstant = (operand: unknown): boolean => typeof operand === 'string' || typeof operand === 'number';

const isBound = (operand: unknown): boolean => typeof operand === 'number' || isRule(operand);

/** Either operand may be the one that is read: a value in a list that is written, or a text in what was sent. */
function notInHint(operands: readonly unknown[]): string {
  const [needle, hay] = operands;
  const isKnown =
    operands.length === 2 && (isRule(hay) ? isRule(needle) || isConstant(needle) : Array.isArray(hay));
  const read = isKnown && !isRule(hay) ? readOperand(needle) : needle;
  return isKnown && read !== undefined
    ? `write ${shown({ '!': { in: [read, hay] } })}`
    : `write a rule like ${shown({ '!': { in: [EXAMPLE, ['a', 'b']] } })}`;
}
