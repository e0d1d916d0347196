/** Rules that always hold: differences joined by `or`, and constants that are asked whether they hold. */
import { quoted, say } from '../../../base/finding.ts';
import type { Place } from '../../../base/document/document.ts';
import { isScalar } from '../../../base/json.ts';
import {
  canonicalPath,
  hasDefault,
  nameOfVariable,
  operationOf,
  type Operation,
} from '../../../engine/mapping/facts.ts';
import { replacing, type Found } from '../rule.ts';
import { quoteName } from '../rule-parts.ts';

/** A variable, and the constant that a rule compares it with. */
interface Comparison {
  readonly name: string;
  readonly value: unknown;
}

const COMPARING = /^(?:[=!]==?|[<>]=?)$/;

/** Two operands that are one thing: the rule says nothing about what was sent. */
export function checkItself({ operator, operands }: Operation, at: Place): Found | undefined {
  const [first, second] = operands.map(variablesAsOne);
  if (!COMPARING.test(operator) || operands.length !== 2 || first !== second) return undefined;
  const isTrue = operator.includes('=') && !operator.startsWith('!');
  return {
    message: say`"${operator}" compares a value with itself, which ${isTrue ? 'always holds' : 'never holds'}`,
    at,
    hint: say`name what it is to be compared with, as one of the two`,
  };
}

/** A rule as text, in which every spelling of a variable is the same. */
function variablesAsOne(rule: unknown): string {
  return JSON.stringify(rule, (_key, value: unknown) => {
    const name = nameOfVariable(value);
    return name === undefined || hasDefault(value) ? value : canonicalPath(name.split('.'));
  });
}

/** An `or` of two differences of one variable: whatever is sent, it differs from one of the two texts. */
export function checkAlternatives({ operator, operands }: Operation, at: Place): Found | undefined {
  if (operator !== 'or') return undefined;
  const differences = operands.map(differenceIn);
  const byName = Map.groupBy(differences, (one) => one && canonicalPath(one.name.split('.')));
  byName.delete(undefined);
  const differing = [...byName.values()].find((group) => new Set(group.map((one) => one?.value)).size > 1);
  const first = differing?.[0];
  if (first === undefined) return undefined;
  const isAll = differing?.length === differences.length;
  const found: Found = {
    message: say`this "or" can never be false: ${quoteName(first.name)} always differs from one of the values`,
    at,
    hint: quoted(
      isAll
        ? 'to take none of the values write "and" in place of "or"'
        : `to take none of the values join the rules about ${quoteName(first.name)} with "and"`,
    ),
  };
  return isAll ? replacing(found, 'or', 'and') : found;
}

/** A text or a number among the rules of `and` or `or`, where they are asked whether they hold: it counts as true. */
export function checkConstants({ operator, operands }: Operation, at: Place): Found | undefined {
  if (operator !== 'or' && operator !== 'and') return undefined;
  const constant = operands.find(
    (each) => typeof each === 'number' || (typeof each === 'string' && each !== ''),
  );
  if (constant === undefined) return undefined;
  const shown = JSON.stringify(constant);
  const is = `${shown} alone is no rule, and always counts as true`;
  const asked = operands.map((each) => comparisonIn(each, '=')?.name).find((each) => each !== undefined);
  return {
    message: quoted(
      operator === 'or' ? `this "or" can never be false: ${is}` : `${is}: it asks nothing in this "and"`,
    ),
    at,
    hint:
      operator === 'or' && asked !== undefined
        ? quoted(`write a rule in its place: {"===": [{"var": ${JSON.stringify(asked)}}, ${shown}]}`)
        : say`make it a rule, which names the field that has this value`,
  };
}

/** Of `{"!==": [variable, text]}`, or of a negated equality; a text that spells a number equals others that do. */
function differenceIn(rule: unknown): Comparison | undefined {
  const { operator, operands: [negated] = [] } = operationOf(rule) ?? {};
  const found = operator === '!' ? comparisonIn(negated, '=') : comparisonIn(rule, '!');
  return typeof found?.value === 'string' && Number.isNaN(Number(found.value)) ? found : undefined;
}

/** Of a variable and a constant, in either order. */
function comparisonIn(rule: unknown, sign: '!' | '='): Comparison | undefined {
  const { operator, operands = [] } = operationOf(rule) ?? {};
  if (operator !== `${sign}=` && operator !== `${sign}==`) return undefined;
  const name = operands.map(nameOfVariable).find((each) => each !== undefined);
  const value = operands.find(isScalar);
  return name === undefined || value === undefined ? undefined : { name, value };
}
