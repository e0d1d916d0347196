/**
 * What is to be said of the leaf of a condition that failed, or that held for another reason than was meant: the one
 * sentence that is surest. It is made of the rule as written and of what its variables found.
 */
import { say, todo, write, type Sentence } from '../../finding.ts';
import { templateOperandFinding } from '../template-operands.ts';
import type { Place } from '../../document/document.ts';
import { decidingLeaves, type DecidingLeaf } from './condition-leaves.ts';
import { type AdviceNote } from './evaluation-advice.ts';
import { type Evaluation } from '../../hook/hook.ts';
import type { JsonValue } from '../../json.ts';
import type { ConditionTrace, ConsideredMapping } from '../../mapping/mapping.ts';
import { compileReader, namesRead } from '../../mapping/facts.ts';
import type { HookRequest } from '../../request.ts';
import { adviseOnElements, elementRule, elementsOf, readElement } from './element-advice.ts';
import { adviseOnComparison, adviseOnTruth, isOrder } from './comparison-advice.ts';
import {
  adviseOnDefault,
  adviseOnListWithin,
  adviseOnOtherElement,
  adviseOnParent,
  endsAtNull,
} from './missing-advice.ts';
import type { Instead } from './missing-paths.ts';
import { isNearPath } from './near-paths.ts';
import { readOperands, takeApart, variableName, type ReadVariable } from './rule-operands.ts';

/** Sentences by the place of the leaf that they are about. */
export type LeafAdvice = ReadonlyMap<Place, readonly Sentence[]>;

/** Leaves of one condition that are advised on. */
const MAX_LEAVES = 5;

const readerOf =
  (request: HookRequest): ReadVariable =>
  (name) =>
    compileReader(name === '' ? [] : name.split('.'))({ request });

/** Advises on the failed leaf of each mapping that was not taken; `instead`: near names that were found already. */
export function adviseOnFailed(
  considered: readonly ConsideredMapping[],
  request: HookRequest,
  instead: Instead,
): LeafAdvice {
  const read = readerOf(request);
  const advice = new Map<Place, readonly Sentence[]>();
  for (const each of considered) {
    const { failed, nodes = [], parts = [] } = each;
    if (failed?.part !== 'when') continue;
    const leaves = decidingLeaves(nodes, failed.node).slice(0, MAX_LEAVES);
    const lines = leaves.flatMap((leaf) => linesFor(leaf, { read, instead }));
    if (lines.length > 0) advice.set(failed.node.at, lines);
    for (const node of failed.node.leaf ? parts.slice(0, MAX_LEAVES) : []) {
      const isTold = advice.has(node.at) || !node.leaf || node.result === 'true';
      const more = isTold ? [] : otherLines(node, { read, instead });
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
  readonly instead: Instead;
}

function linesFor({ node, negated }: DecidingLeaf, { read, instead }: Known): readonly Sentence[] {
  const { missing, rule, result } = node;
  if (missing === undefined || result !== 'unknown') {
    const wrong =
      result === (negated ? 'false' : 'true')
        ? undefined
        : (adviseOnRule(rule, read) ?? (negated ? undefined : adviseOnOtherElement(rule, read)));
    return wrong === undefined ? [] : [wrong];
  }
  const sure =
    adviseOnRule(rule, read) ??
    (elementRule(rule, read) === undefined ? adviseOnListWithin(missing, rule, read) : undefined);
  if (sure !== undefined) return [sure];
  const byDefault = adviseOnDefault(missing, { rule, negated });
  const near = endsAtNull(missing, read) ? undefined : instead.get(missing);
  if (byDefault === undefined) {
    const parent = near === undefined ? adviseOnParent(missing, read) : undefined;
    return parent === undefined ? [] : [parent];
  }
  // Where a missing value may be meant, a name that merely ends alike is another thing.
  const isNear = near?.names.some((name) => isNearPath(missing, name)) === true;
  return [...(isNear ? [say`the request has ${near.shown ?? near.text}: ${todo}read that`] : []), byDefault];
}

const NO_RULE = { operator: '', operands: [] } as const;

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
  const name = variableName(rule);
  if (name !== undefined) return adviseOnTruth({ written: rule, name, value: read(name) });
  const parts = takeApart(rule) ?? NO_RULE;
  const template = templateOperandFinding(parts);
  if (template !== undefined) return say`${template.message}; ${write(template.rule)}`;
  const known = readOperands(rule, read);
  if (known === undefined || known.operands.some(({ value }) => value === undefined)) return undefined;
  return adviseOnComparison(known);
}

/** Leaves of the mapping taken that held for another reason than was meant: by their kinds, as a part, by another element. */
export function notesOnHeld({ mapping, trace }: Evaluation, request: HookRequest): readonly AdviceNote[] {
  const taken = trace.considered.find(({ matched }) => matched);
  if (mapping === undefined || taken === undefined) return [];
  const read = readerOf(request);
  const { nodes = [] } = taken;
  const notes = decidingLeaves(nodes).flatMap(({ node, negated }): readonly AdviceNote[] => {
    const isOdd = node.result === oddResult(takeApart(node.rule)?.operator ?? '', negated);
    const wrong = node.missing === undefined && isOdd ? adviseOnRule(node.rule, read) : undefined;
    const how = negated ? say`is false, as its "!" asks` : 'held';
    return wrong === undefined ? [] : [heldNote(node, say`when ${node.expression} ${how}, but ${wrong}`)];
  });
  return notes.slice(0, MAX_LEAVES);
}

function heldNote({ rule, at }: ConditionTrace, text: Sentence): AdviceNote {
  return { code: 'held_otherwise', text, names: namesRead(rule), at };
}

/**
 * The result of a leaf with which a condition may hold for the wrong reason: a text such as "false" is true, two texts
 * are in order by their letters, and what can never be equal is always different.
 */
function oddResult(operator: string, isNegated: boolean): ConditionTrace['result'] | undefined {
  if (operator === 'var' || isOrder(operator) || operator.startsWith('!'))
    return isNegated ? undefined : 'true';
  return isNegated ? 'false' : undefined;
}
