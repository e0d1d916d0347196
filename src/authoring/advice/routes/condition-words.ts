import { inWords } from '../../../base/document/facts.ts';
import { readsSecret } from '../rules/conditions.ts';
import { shownField } from './asked.ts';
import type { JsonValue } from '../../../base/json.ts';
import { conjunctsOf, namesRead, operationOf } from '../../../engine/mapping/facts.ts';

const COMPARED: Readonly<Record<string, string>> = {
  '===': 'is',
  '==': 'equals',
  '!==': 'is not',
  '!=': 'does not equal',
  '<': 'is less than',
  '<=': 'is at most',
  '>': 'is more than',
  '>=': 'is at least',
};
const OF_LIST: Readonly<Record<string, string>> = { some: 'one', all: 'every one', none: 'none' };

/**
 * Says what has to hold, e.g. `action is "opened" and not draft`. A value that is compared with a secret is not shown.
 */
export function conditionWords(rule: JsonValue | undefined): string {
  const conjuncts = conjunctsOf(rule);
  return conjuncts.map((each) => truthWords(each, conjuncts.length > 1)).join(' and ');
}

/** A value in the place of a condition holds if it is neither missing nor empty. */
function truthWords(rule: JsonValue, isPart: boolean): string {
  return operationOf(rule)?.operator === 'var' ? `${wordsOf(rule, isPart)} is set` : wordsOf(rule, isPart);
}

function wordsOf(rule: JsonValue, isPart: boolean): string {
  const operation = operationOf(rule);
  if (operation === undefined) return JSON.stringify(rule);
  const { operator, operands } = operation;
  const [first = null, second = null] = operands;
  if (operator === 'var') return nameOf(first);
  if (operator === 'and' || operator === 'or') {
    const words = operands.map((each) => truthWords(each, true)).join(` ${operator} `);
    return isPart && operands.length > 1 ? `(${words})` : words;
  }
  if (operator === '!!') return truthWords(first, isPart);
  if (operator === '!') return `not ${truthWords(first, true)}`;
  if (operator === 'missing') return `${inWords(operands.flat().map(nameOf), 'or')} is missing`;
  const ofList = OF_LIST[operator];
  if (ofList !== undefined) return `of ${wordsOf(first, true)} ${ofList}: ${truthWords(second, true)}`;
  if (readsSecret(rule)) return `${inWords(namesRead(rule))} is as written`;
  if (operator === 'in') return containedWords(first, second);
  const compared = COMPARED[operator];
  if (compared === undefined) return JSON.stringify(rule);
  if (operands.length === 3) {
    const signs = operands.map((each) => wordsOf(each, true));
    return signs.join(` ${operator} `);
  }
  return `${wordsOf(first, true)} ${compared} ${wordsOf(second, true)}`;
}

function containedWords(first: JsonValue, second: JsonValue): string {
  if (!Array.isArray(second)) return `${wordsOf(second, true)} contains ${wordsOf(first, true)}`;
  const [only, ...more] = second as readonly JsonValue[];
  const list = (second as readonly JsonValue[]).map((each) => wordsOf(each, true));
  return more.length === 0 && only !== undefined
    ? `${wordsOf(first, true)} is ${list[0]}`
    : `${wordsOf(first, true)} is ${inWords(list, 'or')}`;
}

const nameOf = (name: JsonValue): string =>
  name === ''
    ? 'the value itself'
    : typeof name === 'string'
      ? shownField(name.split('.'))
      : JSON.stringify(name);
