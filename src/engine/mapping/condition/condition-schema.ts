import { OPERATORS } from './condition-check.ts';

/** What an editor shows beside an operator. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  var: 'A value of the request by its path: a bare name reads the payload; headers., query., path, source, item and index have their own names.',
  missing: 'Those of the named variables that the request does not have.',
  missing_some: 'Empty where at least the given number of the variables is there.',
  if: 'Condition, value, otherwise; further pairs may stand in between.',
  and: 'Holds where all conditions hold.',
  or: 'Holds where one of the conditions holds.',
  '!': 'Holds where the condition does not.',
  '!!': 'Holds where the value is there and is not empty, 0 or false.',
  '===': 'Equal, and of the same type.',
  '!==': 'Not equal, or of another type.',
  '==': 'Equal; a text and a number are compared as numbers.',
  '!=': 'Not equal; a text and a number are compared as numbers.',
  '<': 'Less than; with three operands: the second is between the others.',
  '<=': 'Less than or equal; with three operands: the second is between the others, or equal to one.',
  in: 'Holds where the first operand is in the second, a list or a text.',
  cat: 'The operands as one text.',
  substr: 'A part of a text: start, length.',
  map: 'A list with every element changed; the element is {"var": ""}.',
  filter: 'The elements of a list for which the condition holds.',
  all: 'Holds where the condition holds for every element of a list.',
  some: 'Holds where the condition holds for at least one element of a list.',
  none: 'Holds where the condition holds for no element of a list.',
};

const RULE = '#/definitions/rule';
const OPERAND = '#/definitions/operand';

/** An operand that stands without a list around it. */
const SINGLE = [{ $ref: RULE }, { type: ['string', 'number', 'boolean', 'null'] }];

/**
 * JSON Schemas of conditions, for completion in editors: `definitions` of the schema that refers to `rule`. They are
 * looser than the compiler, which says more about a wrong condition.
 */
export function conditionDefinitions(): Readonly<Record<string, object>> {
  const operators = [...OPERATORS].map(([operator, { min, max }]) => {
    const description = DESCRIPTIONS[operator];
    const most = max === Infinity ? {} : { maxItems: max };
    const list = { type: 'array', items: { $ref: OPERAND }, minItems: min, ...most };
    const anyOf = [list, ...(min <= 1 ? SINGLE : [])];
    return [operator, { ...(description && { description }), anyOf }] as const;
  });
  return {
    rule: {
      description: 'A JsonLogic condition: one operator with its operands.',
      type: 'object',
      properties: Object.fromEntries(operators),
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
    },
    operand: { anyOf: [...SINGLE, { type: 'array', items: { $ref: OPERAND } }] },
  };
}
