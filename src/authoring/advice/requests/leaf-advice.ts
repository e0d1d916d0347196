/**
 * What is to be said of the leaf of a condition that failed, or that held for another reason than was meant: the one
 * sentence that is surest. It is made of the rule as written and of what its variables found.
 */
import { say, todo, write, type Sentence } from '../../../base/finding.ts';
import { surest, type Way } from '../rule.ts';
import { templateOperandFinding } from '../template-operands.ts';
import type { Place } from '../../../base/document/document.ts';
import { decidingLeaves, type DecidingLeaf } from './condition-leaves.ts';
import { type AdviceNote } from './evaluation-advice.ts';
import { type Evaluation } from '../../../engine/hook/hook.ts';
import type { JsonValue } from '../../../base/json.ts';
import { type ConditionTrace, type ConsideredMapping, listOf } from '../../../engine/mapping/mapping.ts';
import { compileReader, nameOfVariable, namesRead, operationOf } from '../../../engine/mapping/facts.ts';
import { holdsUnkept, type HookRequest } from '../../../base/request.ts';
import { adviseOnElements, elementRule, elementsOf, readElement } from './element-advice.ts';
import { adviseOnComparison, adviseOnTruth, isOrder } from './comparison-advice.ts';
import { adviseOnDefault, adviseOnListWithin, adviseOnOtherElement, endsAtNull } from './missing-advice.ts';
import type { Suggestions } from './missing-paths.ts';
import { isNearPath } from './near-paths.ts';
import { readOperands, type ReadVariable } from './rule-operands.ts';

/** Sentences by the place of the leaf that they are about. */
export type LeafAdvice = ReadonlyMap<Place, readonly Sentence[]>;

/** Leaves of one condition that are advised on. */
const MAX_LEAVES = 5;

const readerOf = (request: HookRequest): ReadVariable => {
  const read = (name: string): JsonValue | undefined => {
    const value = compileReader(name === '' ? [] : name.split('.'))({ request });
    return holdsUnkept(value) ? undefined : value;
  };
  return Object.assign(read, { asList: (value: JsonValue | undefined) => listOf({ request }, value) });
};

/** Advises on the failed leaf of each mapping that was not taken; `suggestions`: near names that were found already. */
export function adviseOnFailed(
  considered: readonly ConsideredMapping[],
  request: HookRequest,
  suggestions: Suggestions,
): LeafAdvice {
  const read = readerOf(request);
  const advice = new Map<Place, readonly Sentence[]>();
  for (const each of considered) {
    const { failed, nodes = [], parts = [] } = each;
    if (failed?.part !== 'when') continue;
    const leaves = decidingLeaves(nodes, failed.node).slice(0, MAX_LEAVES);
    const lines = leaves.flatMap((leaf) => linesFor(leaf, { read, suggestions }));
    if (lines.length > 0) advice.set(failed.node.at, lines);
    for (const node of failed.node.leaf ? parts.slice(0, MAX_LEAVES) : []) {
      const isTold = advice.has(node.at) || !node.leaf || node.result === 'true';
      const more = isTold ? [] : otherLines(node, { read, suggestions });
      if (more.length > 0) advice.set(node.at, more);
    }
  }
  return advice;
}

/** Of another part that failed: what is wrong with it, and of what is missing that it goes on within a list. */
function otherLines(node: ConditionTrace, known: Known): readonly Sentence[] {
  if (node.missing === undefined) return linesFor({ node, negated: false }, known);
  const within = adviseOnListWithin(node.missing, node.rule, known.read);
  return within === undefined ? [] : [within];
}

interface Known {
  readonly read: ReadVariable;
  readonly suggestions: Suggestions;
}

/** A leaf with the name that was not sent, where that is why it failed. */
interface AskedLeaf extends DecidingLeaf, Known {
  readonly missing?: string;
}

const one = (sentence: Sentence | undefined): readonly Sentence[] | undefined => sentence && [sentence];

/** What may be wrong with a leaf: of those that know something the surest speaks. */
const WAYS: readonly Way<AskedLeaf, readonly Sentence[]>[] = [
  { name: 'rule', confidence: 'certain', find: ({ node, read }) => one(adviseOnRule(node.rule, read)) },
  {
    name: 'list-on-the-way',
    confidence: 'certain',
    find: ({ missing, node: { rule }, read }) =>
      missing === undefined || elementRule(rule, read) !== undefined
        ? undefined
        : one(adviseOnListWithin(missing, rule, read)),
  },
  {
    name: 'other-element',
    confidence: 'likely',
    find: ({ missing, negated, node, read }) =>
      missing === undefined && !negated ? one(adviseOnOtherElement(node.rule, read)) : undefined,
  },
  { name: 'default', confidence: 'likely', find: withDefault },
];

function linesFor({ node, negated }: DecidingLeaf, known: Known): readonly Sentence[] {
  const { missing, result } = node;
  const isMissing = missing !== undefined && result === 'unknown';
  if (!isMissing && result === (negated ? 'false' : 'true')) return [];
  return surest(WAYS, { node, negated, ...known, ...(isMissing && { missing }) }) ?? [];
}

/** Where a missing value may be meant, a name that merely ends alike is another thing. */
function withDefault({ missing, negated, node: { rule }, read, suggestions }: AskedLeaf) {
  const byDefault = missing === undefined ? undefined : adviseOnDefault(missing, { rule, negated });
  if (missing === undefined || byDefault === undefined) return undefined;
  const near = endsAtNull(missing, read) ? undefined : suggestions.get(missing);
  const isNear = near?.names.some((name) => isNearPath(missing, name)) === true;
  return [...(isNear ? [say`the request has ${near.shown ?? near.text}: ${todo}read that`] : []), byDefault];
}

const NO_RULE = { operator: '', operands: [] } as const;

const isBlank =
  (read: ReadVariable) =>
  (name: JsonValue): boolean =>
    typeof name === 'string' && read(name) === '';

/** What is wrong with a rule for what its variables found. */
function adviseOnRule(rule: JsonValue, read: ReadVariable): Sentence | undefined {
  const elements = elementRule(rule, read);
  if (elements !== undefined) {
    const wrong = adviseOnElements(elements, read);
    if (wrong !== undefined) return wrong;
    for (const element of elementsOf(elements)) {
      const inner = adviseOnRule(elements.rule, readElement(element));
      if (inner !== undefined) return say`of an element of ${elements.list}: ${inner}`;
    }
    return undefined;
  }
  const name = nameOfVariable(rule);
  if (name !== undefined) return adviseOnTruth({ written: rule, name, value: read(name) });
  const parts = operationOf(rule) ?? NO_RULE;
  const blank = parts.operator === 'missing' ? parts.operands.flat().find(isBlank(read)) : undefined;
  if (typeof blank === 'string') return say`${blank} is an empty text, which counts as missing there`;
  const template = templateOperandFinding(parts);
  if (template !== undefined) return say`${template.message}; ${write(template.rule)}`;
  const known = readOperands(rule, read);
  if (known === undefined || known.operands.some(({ value }) => value === undefined)) return undefined;
  return adviseOnComparison(known);
}

/** Leaves of the mapping taken that held for another reason than was meant: by their kinds, as a part, by another element. */
export function notesOnTaken({ mapping, trace }: Evaluation, request: HookRequest): readonly AdviceNote[] {
  const taken = trace.considered.find(({ matched }) => matched);
  if (mapping === undefined || taken === undefined) return [];
  const read = readerOf(request);
  const { nodes = [] } = taken;
  const notes = decidingLeaves(nodes).flatMap(({ node, negated }): readonly AdviceNote[] => {
    const isDoubtful = node.result === doubtfulResult(operationOf(node.rule)?.operator ?? '', negated);
    const wrong = node.missing === undefined && isDoubtful ? adviseOnRule(node.rule, read) : undefined;
    const how = negated ? say`is false, as its "!" asks` : 'held';
    return wrong === undefined ? [] : [takenNote(node, say`when ${node.expression} ${how}, but ${wrong}`)];
  });
  return notes.slice(0, MAX_LEAVES);
}

function takenNote({ rule, at }: ConditionTrace, text: Sentence): AdviceNote {
  return { code: 'held_otherwise', text, names: namesRead(rule), at };
}

/**
 * The result of a leaf with which a condition may hold for the wrong reason: a text such as "false" is true, two texts
 * are in order by their letters, and what can never be equal is always different.
 */
function doubtfulResult(operator: string, isNegated: boolean): ConditionTrace['result'] | undefined {
  if (operator === 'var' || operator === 'missing' || isOrder(operator) || operator.startsWith('!'))
    return isNegated ? undefined : 'true';
  return isNegated ? 'false' : undefined;
}
