/** Rules that always hold: differences joined by `or`, and constants that are asked whether they hold. */
import { quoted, say } from '../../finding.ts';
import type { Place } from '../../document/document.ts';
import { isJsonObject, isScalar } from '../../json.ts';
import { canonicalPath, type Operation } from '../../mapping/facts.ts';
import { replacing, type Found } from '../rule.ts';
import { nameOfVariable, quoteName } from '../rule-parts.ts';

/** What a rule says that a variable is not. */
interface Difference {
  readonly name: string;
  readonly value: string | number | boolean;
  /** Of `!=` and `==`, for which a number equals each text that spells it. */
  readonly isLoose: boolean;
}

/** An `or` of two differences of one variable: whatever is sent, it differs from one of the two values. */
export function checkAlternatives({ operator, operands }: Operation, at: Place): Found | undefined {
  if (operator !== 'or') return undefined;
  const differences = operands.map(differenceIn);
  const first = differences.find(
    (one) =>
      one !== undefined &&
      differences.some(
        (other) =>
          other !== undefined &&
          isOfSame(one, other) &&
          (typeof one.value === typeof other.value || !(one.isLoose || other.isLoose)) &&
          one.value !== other.value &&
          !isOneNumber(one, other),
      ),
  );
  if (first === undefined) return undefined;
  const isAll = differences.every((each) => isOfSame(first, each));
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
  const told = JSON.stringify(constant);
  const is = `${told} alone is no rule, and always counts as true`;
  return {
    message: quoted(
      operator === 'or' ? `this "or" can never be false: ${is}` : `${is}: it asks nothing in this "and"`,
    ),
    at,
    hint: quoted(comparedHint(operands, operator)),
  };
}

/** The whole list of values where all the rules of an `or` ask for one variable; else the form of a rule. */
function comparedHint(operands: readonly unknown[], operator: 'and' | 'or'): string {
  const rules = operands.map((each) => comparisonIn(each, '='));
  const first = rules.find((each) => each !== undefined);
  const isOne =
    first !== undefined && rules.every((each, at) => isScalar(operands[at]) || isOfSame(first, each));
  if (operator === 'or' && isOne) {
    const values = operands.map((each, at) => JSON.stringify(isScalar(each) ? each : rules[at]?.value));
    return `to take each of the values write {"in": [{"var": ${JSON.stringify(first.name)}}, [${values.join(', ')}]]}`;
  }
  const alone = JSON.stringify(operands.find((each) => isScalar(each)));
  return `write {"===": [{"var": "NAME"}, ${alone}]} in its place, with the name of the field that is to be ${alone}`;
}

/** Whether one number equals both texts: 0 is `""` and `"0"`. */
function isOneNumber(one: Difference, other: Difference): boolean {
  return one.isLoose && other.isLoose && Number(one.value) === Number(other.value);
}

function isOfSame(one: Difference, other: Difference | undefined): boolean {
  const [a, b] = [one.name, other?.name].map((name) => name?.split('.'));
  return a !== undefined && b !== undefined && canonicalPath(a) === canonicalPath(b);
}

/** Of `{"!==": [variable, constant]}`, in either order, or of a negated equality. */
function differenceIn(rule: unknown): Difference | undefined {
  const [[operator, written] = []] = isJsonObject(rule) ? Object.entries(rule) : [];
  const operands: readonly unknown[] = Array.isArray(written) ? written : [written];
  if (operator === '!') return comparisonIn(operands[0], '=');
  return comparisonIn(rule, '!');
}

function comparisonIn(rule: unknown, sign: '!' | '='): Difference | undefined {
  const [[operator, operands] = []] = isJsonObject(rule) ? Object.entries(rule) : [];
  const isOfSign = operator === `${sign}=` || operator === `${sign}==`;
  if (!Array.isArray(operands) || !isOfSign) return undefined;
  const list = operands as readonly unknown[];
  const name = list.map(nameOfVariable).find((each) => each !== undefined);
  const value = list.find(isScalar);
  return name === undefined || value === undefined
    ? undefined
    : { name, value: value as Difference['value'], isLoose: operator === `${sign}=` };
}
