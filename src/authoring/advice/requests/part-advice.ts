/**
 * What is to be said of the comparisons that a mapping failed by, and of those that held for another reason than was meant.
 * It is made of the rule as written and of what its variables found, and says nothing of what was not kept.
 */
import { hasFix, say, todo, write, type Finding, type Sentence } from '../../../base/finding.ts';
import { shorten, type Place } from '../../../base/document/document.ts';
import { fieldAt, isJsonObject, valueAt, type JsonValue } from '../../../base/json.ts';
import { holdsUnkept, type HookRequest } from '../../../base/request.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import { type ConditionTrace, type ConsideredMapping, listOf } from '../../../engine/mapping/mapping.ts';
import {
  compileReader,
  isListOperator,
  nameOfVariable,
  namesRead,
  operationOf,
} from '../../../engine/mapping/facts.ts';
import type { BodyIndex } from './body-index.ts';
import {
  adviseOnComparison,
  adviseOnTruth,
  describe,
  ruleText,
  variable,
  type ReadVariable,
} from './comparison-advice.ts';
import { decidingLeaves, failedParts, readBy, type DecidingLeaf } from './condition-leaves.ts';
import { findDifference, sayDifference } from './difference.ts';
import type { FoundText } from './evaluation-advice.ts';
import { requestFinding, type PartCode } from './findings.ts';
import type { Suggestions } from './missing-paths.ts';
import { findText } from './near-paths.ts';
import { shownAs, value } from './shown-values.ts';

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 50;
const NO_RULE = { operator: '', operands: [] } as const;

interface Reading {
  readonly request: HookRequest;
  readonly read: ReadVariable;
}

interface Known extends Reading {
  readonly body: BodyIndex;
  /** Near names that were found already. */
  readonly suggestions: Suggestions;
}

const readerOf =
  (request: HookRequest): ReadVariable =>
  (name) => {
    const found = compileReader(name === '' ? [] : name.split('.'))({ request });
    return holdsUnkept(found) ? undefined : found;
  };

/** Advises on each comparison that a mapping failed by, by its place; of those that failed next on what is sure alone. */
export function adviseOnParts(
  considered: readonly ConsideredMapping[],
  known: Omit<Known, 'read'>,
): ReadonlyMap<Place, readonly Finding[]> {
  const read = readerOf(known.request);
  const advice = new Map<Place, readonly Finding[]>();
  for (const mapping of considered) {
    const parts = failedParts(mapping);
    const isLacking = parts.some(({ isFurther, node }) => !isFurther && node.missing !== undefined);
    // Of alternatives nobody knows which one was meant.
    const isOne = mapping.failed?.part === 'when' && mapping.failed.node.leaf;
    const seen = new Set<string>();
    for (const { node, negated, isFurther } of parts) {
      const { missing } = node;
      const said = adviseOnPart({ node, negated }, { ...known, read });
      // Another event lacks much: a near name says something where the first comparison lacks one, too.
      const isTold = isFurther ? missing === undefined || (isLacking && !seen.has(missing)) : isOne;
      const shown = isTold ? said : said.filter(isSure);
      const own = isFurther ? furtherAdvice(node, shown) : shown;
      if (own.length > 0)
        advice.set(
          node.at,
          own.map((each) => toFinding(node, each)),
        );
      if (missing !== undefined) seen.add(missing);
    }
  }
  return advice;
}

/** What is said of a comparison. */
interface PartAdvice {
  readonly code: PartCode;
  readonly text: Sentence;
  /** Paths of the request that it names. */
  readonly paths?: readonly string[];
  /** Where the text stands that was asked for. */
  readonly there?: FoundText;
}

const toFinding = (node: ConditionTrace, { code, text, paths, there }: PartAdvice): Finding => ({
  ...requestFinding(code, text, { at: node.at, ...(paths === undefined ? readBy(node) : { paths }) }),
  ...(there === undefined ? {} : { facts: there }),
});

const isSure = ({ code }: PartAdvice): boolean => code === 'leaf_advice';

/** Of a part that would fail next the one thing that is surest, behind what it found. */
function furtherAdvice(node: ConditionTrace, said: readonly PartAdvice[]): readonly PartAdvice[] {
  const first = said.find(({ text }) => hasFix(text)) ?? said[0];
  if (first === undefined) return [];
  const { missing, expression } = node;
  return missing === undefined
    ? [
        {
          ...first,
          code: 'difference',
          text: say`${expression} does not hold, either: found ${value(node.found)}; ${first.text}`,
        },
      ]
    : [{ ...first, code: 'instead', text: say`${missing} is missing, too; ${first.text}` }];
}

function adviseOnPart(leaf: DecidingLeaf, known: Known): readonly PartAdvice[] {
  const { node, negated } = leaf;
  const { missing, rule } = node;
  const { read } = known;
  const sure =
    adviseOnRule(rule, known) ??
    (missing === undefined ? undefined : adviseOnListWithin(missing, rule, read)) ??
    (missing === undefined && !negated ? adviseOnOtherElement(rule, read) : undefined);
  return sure === undefined ? weakerAdvice(node, known) : [{ code: 'leaf_advice', text: sure }];
}

/** What is wrong with a rule for what its variables found. */
function adviseOnRule(rule: JsonValue, { read, request }: Reading): Sentence | undefined {
  const name = nameOfVariable(rule);
  if (name !== undefined) return adviseOnTruth(name, read(name));
  const { operator, operands } = operationOf(rule) ?? NO_RULE;
  const isBlank = (each: JsonValue): boolean => typeof each === 'string' && read(each) === '';
  const blank = operator === 'missing' ? operands.flat().find(isBlank) : undefined;
  if (typeof blank === 'string') return say`${blank} is an empty text, which counts as missing there`;
  return isListOperator(operator) && operator !== 'reduce'
    ? adviseOnElements(operator, operands, { read, request })
    : adviseOnComparison(rule, read);
}

/** What a rule over a list asks of what is no list, or reads that no element has: inside, `var` reads the element alone. */
function adviseOnElements(
  operator: string,
  [list, inner]: readonly JsonValue[],
  { read, request }: Reading,
): Sentence | undefined {
  const name = nameOfVariable(list);
  const value = name === undefined ? undefined : read(name);
  const found = listOf({ request }, value) ?? value;
  if (name === undefined || inner === undefined || (found ?? null) === null) return undefined;
  if (!Array.isArray(found))
    return say`"${operator}" goes through a list, and ${name} is ${describe(found as JsonValue)}`;
  const elements = (found as readonly JsonValue[]).slice(0, MAX_ELEMENTS);
  const absent = namesRead(inner).find(
    (each) => each !== '' && elements.every((element) => valueAt(element, each.split('.')) === undefined),
  );
  if (absent === undefined || elements.length === 0) return undefined;
  const what = say`inside "${operator}" var reads the element of ${name}`;
  const fields = elements.flatMap((each) => (isJsonObject(each) ? Object.keys(each) : []));
  const has =
    fields.length === 0
      ? say`that is ${describe(elements)}`
      : say`its elements have ${[...new Set(fields)].slice(0, 8).join(', ')}`;
  return read(absent) === undefined
    ? say`${what}, and none has ${absent}: ${has}`
    : say`${what} and nothing else, so ${absent} of the whole body cannot be read there: ${has}; ${todo}compare with ${absent} in a transform`;
}

/** A path that goes on within a list: the rule for its elements, as far as one of them has what is asked for. */
function adviseOnListWithin(missing: string, rule: JsonValue, read: ReadVariable): Sentence | undefined {
  const { operator, operands } = operationOf(rule) ?? NO_RULE;
  const keys = missing.split('.');
  // Of a body that is a list every name is one of its elements.
  const nameTo = (end: number): string => keys.slice(0, end).join('.') || 'payload';
  const end = keys.findIndex(
    (key, index) => (index > 0 || key !== 'payload') && Array.isArray(read(nameTo(index))),
  );
  if (operator === '' || end === -1 || /^(?:\d+|length)$/.test(keys[end] ?? '')) return undefined;
  const [list, rest] = [nameTo(end), keys.slice(end)];
  const elements = read(list) as readonly JsonValue[];
  if (!elements.slice(0, MAX_ELEMENTS).some((each) => fieldAt(each, rest) !== undefined)) return undefined;
  const own = operands.map((operand) =>
    nameOfVariable(operand) === missing ? variable(rest.join('.')) : operand,
  );
  // Names of a list are asked for one by one.
  const isNames = operator === 'in' && nameOfVariable(operands[1]) === missing;
  const isNone = operator === '!==' || operator === '!=';
  const asked: JsonValue = isNames
    ? { '===': own.toReversed() }
    : { [isNone ? operator.replace('!', '=') : operator]: own };
  return say`${list} is a list: ${write(ruleText(isNone ? 'none' : 'some', [variable(list), asked]), undefined, 'to ask each of its elements')}`;
}

/** `items.0.name` that is another text, where a further element has the one that was asked for: the rule for all of them. */
function adviseOnOtherElement(rule: JsonValue, read: ReadVariable): Sentence | undefined {
  const { operator, operands } = operationOf(rule) ?? NO_RULE;
  if (operator !== '===' && operator !== '==') return undefined;
  const at = operands.findIndex((operand) => /\.\d+\./.test(nameOfVariable(operand) ?? ''));
  const [, list = '', rest = ''] = /^(.*?)\.\d+\.(.+)$/.exec(nameOfVariable(operands[at]) ?? '') ?? [];
  const elements = list === '' ? undefined : read(list);
  const wanted = operands[1 - at];
  if (!Array.isArray(elements) || typeof wanted !== 'string') return undefined;
  const has = (each: JsonValue): boolean => fieldAt(each, rest.split('.')) === wanted;
  if (!(elements as readonly JsonValue[]).slice(0, MAX_ELEMENTS).some(has)) return undefined;
  const asked = { [operator]: [variable(rest), wanted] };
  return say`another element of ${list} has it: ${write(ruleText('some', [variable(list), asked]), undefined, 'to ask each of them')}`;
}

/** What may have been meant, where nothing is wrong with the rule: a near name, how what was sent differs, another place. */
function weakerAdvice(node: ConditionTrace, { suggestions, body, request }: Known): readonly PartAdvice[] {
  const { found, expected, missing, result, rule } = node;
  const how = result === 'false' ? findDifference(found, expected, operationOf(rule)?.operator) : undefined;
  const named = missing === undefined ? undefined : suggestions.get(missing);
  const there =
    typeof expected === 'string' && expected !== found
      ? findText(expected, { body, request }, found)
      : undefined;
  const isNamed =
    hasValue(named, expected) ||
    named?.names.some((name) => name.replace(/^payload\./, '') === there?.at) === true;
  // Where the text that was asked for is found, the variable that was meant is known better than by its name.
  const near = there === undefined || isNamed ? named : undefined;
  const isSame = how !== undefined && SAME.has(how.code) && how.facts === undefined;
  return [
    ...(near === undefined
      ? []
      : [{ code: 'instead', text: insteadText(near, node), paths: near.names } as const]),
    ...(how === undefined
      ? []
      : [
          {
            code: 'difference',
            text: say`${sayDifference(how)}${isSame ? ruleFix(node, { literal: found }, ': ') : ''}`,
          } as const,
        ]),
    ...(isNamed || there === undefined ? [] : [elsewhere(there, node)]),
  ];
}

type Near = Suggestions extends ReadonlyMap<string, infer Text> ? Text : never;

/** Whether it is one path, with the very value that was asked for. */
const hasValue = (near: Near | undefined, expected: JsonValue | undefined): boolean =>
  expected !== undefined && near?.value === shownAs(near?.names[0] ?? '', expected);

function insteadText(near: Near, node: ConditionTrace): Sentence {
  const { names, text, shown = text } = near;
  const [name = '', ...others] = names;
  const fix = hasValue(near, node.expected)
    ? ruleFix(node, { variable: name, literal: node.expected })
    : say``;
  return hasFix(fix)
    ? say`the request has ${shown}: did you mean that?${fix}`
    : say`the request has ${shown}: ${todo}read ${others.length === 0 ? 'that' : 'one of them'}`;
}

/** Differences in how one thing is written. */
const SAME: ReadonlySet<string> = new Set(['case', 'white_space', 'punctuation', 'begins_with_more']);

function elsewhere(there: FoundText, node: ConditionTrace): PartAdvice {
  const { at, text, isTrue = false } = there;
  const written = typeof node.missing === 'string' ? [node.missing] : namesRead(node.rule);
  const isRooted = !at.startsWith('headers.') && written.some((name) => name.startsWith('payload.'));
  const path = isRooted ? `payload.${at}` : at;
  const literal = isTrue ? true : text;
  const fix = ruleFix(node, { variable: path, literal });
  return {
    code: 'found_elsewhere',
    text: say`${path} is ${value(literal)}: did you mean that?${fix}`,
    paths: [at],
    there,
  };
}

/** An equality with another variable or text, as it is to be written behind `before`; nothing of any other rule. */
function ruleFix(
  node: ConditionTrace,
  { variable: name, literal }: { readonly variable?: string; readonly literal: JsonValue | undefined },
  before = ' ',
): Sentence {
  const { operator, operands } = operationOf(node.rule) ?? NO_RULE;
  // Of two variables nobody knows which one was meant.
  const isLiteral = operands.some((operand) => !isJsonObject(operand));
  if (!operator.startsWith('==') || literal === undefined || !isLiteral) return say``;
  const written = operands.map((operand): JsonValue => {
    if (!isJsonObject(operand)) return literal;
    return name === undefined ? operand : { var: name };
  });
  return say`${before}${write(shorten(JSON.stringify({ [operator]: written }), 300))}`;
}

/** Leaves of one condition that are told of. */
const MAX_LEAVES = 5;

/** Leaves of the mapping taken that held for another reason than was meant. */
export function notesOnTaken({ mapping, trace }: Evaluation, request: HookRequest): readonly Finding[] {
  const taken = trace.considered.find(({ matched }) => matched);
  if (mapping === undefined || taken === undefined) return [];
  const read = readerOf(request);
  const notes = decidingLeaves(taken.nodes ?? []).flatMap(({ node, negated }): readonly Finding[] => {
    const { operator } = operationOf(node.rule) ?? NO_RULE;
    const isDoubtful = node.result === doubtfulResult(operator, negated);
    const wrong =
      node.missing === undefined && isDoubtful ? adviseOnRule(node.rule, { request, read }) : undefined;
    const how = negated ? say`is false, as its "!" asks` : 'held';
    const { rule, at, expression } = node;
    const text = say`when ${expression} ${how}, but ${wrong ?? ''}`;
    return wrong === undefined
      ? []
      : [requestFinding('held_otherwise', text, { at, paths: namesRead(rule) })];
  });
  return notes.slice(0, MAX_LEAVES);
}

/**
 * The result of a leaf with which a condition may hold for the wrong reason: a text such as "false" is true, two texts
 * are in order by their letters, and what can never be equal is always different.
 */
function doubtfulResult(operator: string, isNegated: boolean): ConditionTrace['result'] | undefined {
  if (/^(?:var$|missing$|[<>!])/.test(operator)) return isNegated ? undefined : 'true';
  return isNegated ? 'false' : undefined;
}
