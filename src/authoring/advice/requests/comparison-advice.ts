/* Comparisons that cannot do what they seem to, for the kinds of what was sent, with the rule that asks what was meant. */
import { say, todo, write, type Sentence } from '../../../base/finding.ts';
import { isJsonObject, isNumeric, isScalar, sameValue, type JsonValue } from '../../../base/json.ts';
import { MIRRORED } from '../rule-parts.ts';
import { findDifference, sayDifference } from './difference.ts';
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

export const isOrder = (operator: string): boolean => Object.hasOwn(MIRRORED, operator);

/** Why what was sent and what is asked for are never equal, or in no order; undefined where their kinds fit. */
export function adviseOnComparison(rule: KnownRule): Sentence | undefined {
  const { operator, operands } = rule;
  const [first, second] = operands;
  if (first === undefined || second === undefined || operands.length > 2) return undefined;
  if (!/^(?:[=!]==?|[<>]=?|in)$/.test(operator)) return undefined;
  const isSecond = second.name !== undefined && (operator === 'in' || first.name === undefined);
  const [sent, asked] = isSecond ? [second, first] : [first, second];
  if (sent.name === undefined || sent.value === null) return undefined;
  return Array.isArray(sent.value) ? adviseOnList(rule, sent, asked) : adviseOnKinds(rule, sent, asked);
}

function adviseOnKinds(rule: KnownRule, sent: Operand, asked: Operand): Sentence | undefined {
  const { operator } = rule;
  const how = operator === 'in' ? undefined : findDifference(sent.value, asked.value, operator);
  if (how === undefined) return undefined;
  const found = say`${sent.name ?? ''} is ${describe(sent.value ?? null)}`;
  if (how.code === 'texts_in_order') {
    const number = asked.name === undefined ? (numberIn(asked.value) ?? null) : { '+': [asked.written] };
    return say`${found}, and texts are compared letter by letter: ${write(withOperand(rule, asked, number))}`;
  }
  if (how.code === 'texts_by_letter') return say`${found}; ${sayDifference(how)}`;
  if (
    isJsonObject(sent.value ?? null) &&
    Object.hasOwn(sent.value as object, '#text') &&
    isScalar(asked.value ?? null)
  )
    return say`${found} with attributes, whose text is ${JSON.stringify(`${sent.name ?? ''}.#text`)}: ${write(withOperand(rule, sent, { var: `${sent.name ?? ''}.#text` }))}`;
  const literal =
    how.code === 'kinds' && asked.name === undefined ? asKindOf(asked.value, sent.value) : undefined;
  if (literal !== undefined)
    return say`${found}, and ${describe(asked.value ?? null)} is never equal to it: ${write(withOperand(rule, asked, literal))}`;
  // Where the two are merely not equal, what stands elsewhere in the request is surer.
  const isCertain =
    how.code === 'kinds_in_order' || (operator.startsWith('!') && typeof sent.value !== typeof asked.value);
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

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 50;

/** A list where one value is compared, or where one value is looked for in a list of objects. */
function adviseOnList(rule: KnownRule, list: Operand, asked: Operand): Sentence | undefined {
  const { operator } = rule;
  const { name = '', value = null } = list;
  const elements = (value as readonly JsonValue[]).slice(0, MAX_ELEMENTS);
  const what = say`${name} is ${describe(value)}`;
  if (isOrder(operator)) {
    const length = `${name}.length`;
    return say`${what}; how many it has is ${length}: ${write(withOperand(rule, list, variable(length)))}`;
  }
  if (operator === 'in' && Array.isArray(asked.value)) {
    const some = ruleText('some', [variable(name), { in: [variable(''), asked.written] }]);
    return say`${what}, and "in" looks for one value: ${write(some)}`;
  }
  const { value: wanted } = asked;
  if (!isScalar(wanted) || elements.length === 0) return undefined;
  const negate = (text: string): string => (operator.startsWith('!') ? `{"!": [${text}]}` : text);
  if (!elements.some(isJsonObject))
    return operator === 'in'
      ? undefined
      : say`${what}, which is never equal to one value: ${write(negate(ruleText('in', [asked.written, variable(name)])))}`;
  const fields = elements.flatMap(scalarsIn);
  const field =
    fields.find((each) => sameValue(each.value, wanted)) ??
    fields.find((each) => inSmall(each.value) === inSmall(wanted));
  const some = ruleText('some', [
    variable(name),
    { '===': [variable(field?.path ?? 'FIELD'), asked.written] },
  ]);
  return field === undefined
    ? say`${what}: ${write(negate(some))}, with one of the fields that its elements have (${fieldsOf(elements.find(isJsonObject) ?? {})})`
    : say`${what}, and ${field.path} of one of them is ${shown(field.value)}: ${write(negate(some))}`;
}

const inSmall = (value: JsonValue | undefined): string => plain(value).toLowerCase();

/** Texts that people take for "no", and every one of which counts as true. */
const NO = /^\s*(?:false|no|off|0|null)\s*$/i;

/** A text such as "false", asked for its truth. */
export function adviseOnTruth({ name, value }: Operand): Sentence | undefined {
  if (name === undefined || typeof value !== 'string' || !NO.test(value)) return undefined;
  const rule = ruleText('!==', [variable(name), value]);
  return say`${name} is ${describe(value)}, and every text but the empty one counts as true: ${todo}ask ${rule} in its place`;
}
