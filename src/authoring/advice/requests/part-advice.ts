/**
 * Advises on the comparisons that a mapping failed by. It reads the rule as written and what its variables
 * found, and says nothing of what was not stored.
 */
import { hasFix, say, todo, write, shorten } from '../../../base/finding.ts';
import type { Finding, Sentence, StoredFinding } from '../../../base/finding.ts';
import { fieldAt, isJsonObject, isNumeric, valueAt, type JsonValue } from '../../../base/json.ts';
import { holdsUnkept, type HookRequest } from '../../../base/request.ts';
import {
  type ConditionTrace,
  type ConsideredMapping,
  withoutPayload,
} from '../../../engine/mapping/mapping.ts';
import { compileReader, nameOfVariable, namesRead, operationOf } from '../../../engine/mapping/facts.ts';
import type { BodyIndex } from './body-index.ts';
import { failedParts, ofNode } from './condition-leaves.ts';
import { findDifference, numberIn, sayDifference } from './difference.ts';
import type { FoundText, Suggestion } from './evaluation-advice.ts';
import { requestFinding, type PartCode } from './findings.ts';
import { findText, type Suggestions } from './near-paths.ts';
import { shownAs, value } from './shown-values.ts';

interface PartAdviceSources {
  readonly request: HookRequest;
  readonly body: BodyIndex;
  readonly suggestions: Suggestions;
}

/** Advises on each comparison that a mapping failed by. */
export function adviseOnParts(
  considered: readonly ConsideredMapping[],
  known: PartAdviceSources,
): readonly Finding[] {
  return considered.flatMap((mapping) => {
    // Nobody knows which of several alternatives was meant.
    const isOne = mapping.failed?.part === 'when' && mapping.failed.node.leaf;
    return failedParts(mapping)
      .filter(({ found }) => !holdsUnkept(found))
      .flatMap((node) => adviseOnPart(node, known))
      .filter(({ code }) => isOne || code === 'leaf_advice');
  });
}

function adviseOnPart(node: ConditionTrace, known: PartAdviceSources): readonly Finding[] {
  const { found, expected, missing, result, rule } = node;
  const { suggestions, request } = known;
  const { operator = '' } = operationOf(rule) ?? {};
  const how = result === 'false' ? findDifference(found, expected, operator) : undefined;
  const finding = (code: PartCode, text: Sentence): Finding => ofNode(code, node, text);
  if (how !== undefined) {
    const fix = ofSameKind(node);
    // Where the two are merely not equal, a text found elsewhere in the request is more certain.
    if (hasFix(fix) || /^[<>]/.test(operator))
      return [finding('leaf_advice', say`${sayDifference(how)}${fix}`)];
  }
  const other = missing === undefined ? inOtherElement(rule, request) : inElements(missing, rule, request);
  if (other !== undefined) return [finding('leaf_advice', other)];
  const named = missing === undefined ? undefined : suggestions.get(missing);
  const there =
    typeof expected === 'string' && expected !== found ? findText(expected, known, found) : undefined;
  const isNamed =
    hasValue(named, expected) || named?.names.some((name) => withoutPayload(name) === there?.at) === true;
  // A text that was found tells more about the variable that was meant than its name does.
  const near = there === undefined || isNamed ? named : undefined;
  return [
    ...(near === undefined
      ? []
      : [requestFinding('instead', insteadText(near, node), { at: node.at, paths: near.names })]),
    ...(how === undefined ? [] : [finding('difference', say`${sayDifference(how)}${asSent(how, node)}`)]),
    ...(isNamed || there === undefined ? [] : [elsewhere(there, node)]),
  ];
}

/**
 * Writes an equality whose constant has the kind of what was sent. A text that is the same number keeps its
 * own spelling: 1.10 is not 1.1.
 */
function ofSameKind(node: ConditionTrace): Sentence {
  const { found, expected } = node;
  if (typeof found === 'string' && isNumeric(expected) && numberIn(found) === Number(expected))
    return ruleFix(node, { literal: found });
  if (typeof found === 'boolean' && expected === String(found)) return ruleFix(node, { literal: found });
  if (isNumeric(found) && typeof expected === 'string') return ruleFix(node, { literal: numberIn(expected) });
  return say``;
}

/** Where an element has the text that `items.0.name`, or the list itself, was asked for, this is the rule for all of them. */
function inOtherElement(rule: JsonValue, request: HookRequest): Sentence | undefined {
  const { operator = '', operands = [] } = operationOf(rule) ?? {};
  const isIn = operator === 'in';
  const at = isIn ? 1 : operands.findIndex((operand) => /\.\d+\./.test(nameOfVariable(operand) ?? ''));
  const name = nameOfVariable(operands[at]) ?? '';
  const [, list = '', rest = ''] = (isIn ? /^(.+)$/ : /^(.*?)\.\d+\.(.+)$/).exec(name) ?? [];
  const elements = compileReader(list.split('.'))({ request });
  const wanted = operands[1 - at];
  if (!/^(?:==|in$)/.test(operator) || !Array.isArray(elements) || typeof wanted !== 'string')
    return undefined;
  if (holdsUnkept(elements)) return undefined;
  const all = elements as readonly JsonValue[];
  const fields = isIn ? all.flatMap((each) => (isJsonObject(each) ? Object.keys(each) : [])) : [rest];
  const field = fields.find((one) => all.some((each) => fieldAt(each, one.split('.')) === wanted));
  if (field === undefined) return undefined;
  const asked = { some: [{ var: list }, { [isIn ? '===' : operator]: [{ var: field }, wanted] }] };
  return say`${isIn ? 'an' : 'another'} element of ${list} has it: ${write(JSON.stringify(asked), undefined, 'to ask each of them')}`;
}

/** Where a path leads into a list, such as the body, the rule is asked of the elements. */
function inElements(missing: string, rule: JsonValue, { payload }: HookRequest): Sentence | undefined {
  const keys = withoutPayload(missing.replaceAll(/\[\*?\]/g, '')).split('.');
  const ends = [0, ...keys.map((_, index) => index + 1)];
  const end = ends.find((each) => Array.isArray(valueAt(payload, keys.slice(0, each)))) ?? 0;
  const [list, field] = [keys.slice(0, end), keys.slice(end)];
  const elements = valueAt(payload, list);
  const all = Array.isArray(elements) ? (elements as readonly JsonValue[]) : [];
  if (field.length === 0 || !all.some((each) => fieldAt(each, field) !== undefined)) return undefined;
  const own = JSON.stringify(rule).replaceAll(JSON.stringify(missing), JSON.stringify(field.join('.')));
  const asked = `{"some":[{"var":"${list.join('.') || 'payload'}"},${own}]}`;
  return say`${list.join('.') || 'the body'} is a list: ${write(asked, undefined, 'to ask each of its elements')}`;
}

const hasValue = (near: Suggestion | undefined, expected: JsonValue | undefined): boolean =>
  expected !== undefined && near?.shown === shownAs(near?.names[0] ?? '', expected);

function insteadText(near: Suggestion, node: ConditionTrace): Sentence {
  const { names, shown } = near;
  const [name = ''] = names;
  if (name.includes('['))
    return say`the request has ${shown}: ${todo}read it in a transform, as a condition reads no key with dots`;
  const fix = hasValue(near, node.expected)
    ? ruleFix(node, { variable: name, literal: node.expected }, ' ')
    : say``;
  return hasFix(fix)
    ? say`the request has ${shown}: did you mean that?${fix}`
    : say`the request has ${shown}: ${todo}read ${names.join(' or ')}`;
}

const SAME: ReadonlySet<string> = new Set(['case', 'white_space', 'punctuation', 'begins_with_more']);

const asSent = ({ code, facts = {} }: StoredFinding, node: ConditionTrace): Sentence =>
  code === 'kinds' && typeof node.found !== 'object'
    ? say`: ${todo}compare with ${String(facts['sent'])}`
    : SAME.has(code)
      ? ruleFix(node, { literal: node.found })
      : say``;

function elsewhere(there: FoundText, node: ConditionTrace): Finding {
  const { at, text, isTrue = false } = there;
  const written = typeof node.missing === 'string' ? [node.missing] : namesRead(node.rule);
  const isRooted = !at.startsWith('headers.') && written.some((name) => name.startsWith('payload.'));
  const path = isRooted ? `payload.${at}` : at;
  const literal = isTrue ? true : text;
  const message = say`${path} is ${value(literal)}: did you mean that?${ruleFix(node, { variable: path, literal }, ' ')}`;
  return { ...requestFinding('found_elsewhere', message, { at: node.at, paths: [at] }), facts: there };
}

/** Writes an equality with another variable or constant, behind `before`; undefined for any other rule. */
function ruleFix(
  { rule }: ConditionTrace,
  { variable, literal }: { readonly variable?: string; readonly literal: JsonValue | undefined },
  before = ': ',
): Sentence {
  const { operator = '', operands = [] } = operationOf(rule) ?? {};
  // Nobody knows which of two variables was meant.
  const isLiteral = operands.some((operand) => !isJsonObject(operand));
  if (!operator.startsWith('==') || literal === undefined || !isLiteral) return say``;
  const written = operands.map((operand): JsonValue => {
    if (!isJsonObject(operand)) return literal;
    return variable === undefined ? operand : { var: variable };
  });
  return say`${before}${write(shorten(JSON.stringify({ [operator]: written }), 300))}`;
}
