/** Says of the considered mappings why the one that matched did, and why the others did not. */
import { quoted, say, type Finding, type FindingSubject, type Sentence } from '../../../base/finding.ts';
import { formatPlace } from '../../../base/document/document.ts';
import { spelling } from '../../../base/document/facts.ts';
import { operationOf } from '../../../engine/mapping/facts.ts';
import type { ConditionTrace, ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { isJsonObject } from '../../../base/json.ts';
import { decidingLeaves, failedParts, ofNode } from './condition-leaves.ts';
import type { EvaluationAdvice } from './evaluation-advice.ts';
import { PART_CODES, requestFinding, withCodes } from './findings.ts';
import { shownAs, value } from './shown-values.ts';

const MAX_MISSES = 20;
const MAX_NAMES = 30;
const MAX_TRUE = 5;

/** A part that only needs another spelling of a name counts less than a part that found another value. */
const MISSPELT = 0.25;

/**
 * Orders the mappings of a hook name that did not match, nearest first: fewest failing parts, then most
 * that held. `instead` says what the request has in place of names that were not sent.
 */
export function nearestMisses(
  considered: readonly ConsideredMapping[],
  suggestions: EvaluationAdvice['suggestions'] = new Map(),
): readonly ConsideredMapping[] {
  const at = considered.findIndex(({ matched }) => matched);
  const far = ({ failing = 0, parts = [] }: ConsideredMapping): number =>
    failing - (1 - MISSPELT) * parts.filter((part) => isMisspelt(part, suggestions)).length;
  // Sorting is stable, so the rest stays in first-match order.
  return (at === -1 ? considered : considered.slice(0, at))
    .filter(({ failed }) => failed?.part !== 'path')
    .toSorted((a, b) => far(a) - far(b) || b.held - a.held);
}

/** Whether the request has the name in another spelling, with the value that was asked for. */
function isMisspelt(
  { missing, expected }: ConditionTrace,
  suggestions: EvaluationAdvice['suggestions'],
): boolean {
  const near = missing === undefined ? undefined : suggestions.get(missing);
  const [name, ...others] = near?.names ?? [];
  if (missing === undefined || name === undefined || others.length > 0) return false;
  const isSame = spelling(name) === spelling(missing);
  return isSame && (expected === undefined || near?.shown === shownAs(name, expected));
}

export function consideredFindings(
  considered: readonly ConsideredMapping[],
  { findings, suggestions }: EvaluationAdvice,
): readonly Finding[] {
  if (considered.length === 0) return withCodes(findings, 'near_name');
  const taken = considered.filter(({ matched }) => matched);
  const misses = nearestMisses(considered, suggestions);
  const isNameUnknown = taken.length === 0 && misses.length === 0;
  return [
    ...taken.flatMap(ofTaken),
    ...(isNameUnknown ? ofNames(considered, findings) : []),
    ...misses.slice(0, MAX_MISSES).flatMap((miss) => ofMiss(miss, findings)),
    ...withCodes(findings, 'also_matched'),
  ];
}

/** Returns the nearest miss with its findings; undefined where no mapping has the hook name. */
export function nearestMiss(
  findings: readonly Finding[],
): { readonly id: string; readonly at: string; readonly findings: readonly Finding[] } | undefined {
  const { id, at } = findings.find(({ code }) => code === 'not_held')?.subject?.mapping ?? {};
  if (id === undefined || at === undefined) return undefined;
  return { id, at, findings: findings.filter(({ subject }) => subject?.mapping?.at === at) };
}

function ofNames(misses: readonly ConsideredMapping[], advice: readonly Finding[]): readonly Finding[] {
  const asked = misses[0]?.failed?.part === 'path' ? misses[0].failed.found : '';
  return [
    requestFinding('unknown_name', say`no mapping has the hook name ${value(asked)}`),
    ...withCodes(advice, 'near_name'),
    ...[...placesOf(misses)]
      .slice(0, MAX_NAMES)
      .map(([name, at]) => requestFinding('hook_name', quoted(name), { at })),
    ...withCodes(advice, 'passed_over'),
  ];
}

function placesOf(misses: readonly ConsideredMapping[]): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const { mapping } of misses) {
    const { path, pathAt } = mapping.match;
    if (path !== undefined && !places.has(path)) places.set(path, formatPlace(pathAt ?? mapping.at));
  }
  return places;
}

const aboutMapping = ({ mapping: { id, at } }: ConsideredMapping): Pick<FindingSubject, 'mapping'> => ({
  mapping: { id, at: formatPlace(at) },
});

function ofTaken(taken: ConsideredMapping): readonly Finding[] {
  const about = aboutMapping(taken);
  const leaves = decidingLeaves(taken.nodes ?? []);
  const shown = leaves.length > MAX_TRUE ? leaves.slice(0, MAX_TRUE - 1) : leaves;
  const more = leaves.length - shown.length;
  return [
    ...shown.map((node) => {
      const { expected: _met, element, ...met } = node;
      // For "some" this shows the element for which it held, and not the whole list.
      const why =
        element === undefined ? whyOf(met) : `is true: element ${element.index} is ${value(element.value)}`;
      return ofNode('held', node, say`when ${node.expression} ${why}`, about);
    }),
    ...(more > 0 ? [requestFinding('more_held', say`and ${more} more comparisons`, about)] : []),
  ];
}

function ofMiss(miss: ConsideredMapping, advice: readonly Finding[]): readonly Finding[] {
  const { failed } = miss;
  if (failed === undefined) return [];
  const about = aboutMapping(miss);
  if (failed.part !== 'when') {
    const text = say`${failed.part} is ${value(failed.found)}, expected ${value(failed.expected)}`;
    return [requestFinding('not_held', text, { at: failed.at, ...about })];
  }
  const { node } = failed;
  const parts = failedParts(miss);
  return [
    ofNode('not_held', node, say`when ${node.expression} ${whyOf(node)}`, about),
    ...parts
      .flatMap((part) => withCodes(advice, ...PART_CODES).filter(({ at }) => at === part.at))
      .map((each) => ({ ...each, subject: { ...each.subject, ...about } })),
    ...(parts.length < 2 ? [] : parts.slice(0, MAX_TRUE)).map((part) =>
      ofNode('part', part, say`${part.expression} ${whyOf(part)}`, about),
    ),
  ];
}

function whyOf(node: ConditionTrace): Sentence {
  const { missing, result } = node;
  if (missing !== undefined) return say`is ${result}: ${missing} is missing`;
  const seen = node.found === undefined ? '' : `: found ${value(node.found)}`;
  return say`is ${result}${seen}${result === 'true' ? '' : wantedBy(node)}`;
}

const MIRRORED: Readonly<Record<string, string>> = { '>': '<', '>=': '<=', '<': '>', '<=': '>=' };

function wantedBy(node: ConditionTrace): Sentence {
  const { expected, rule } = node;
  if (expected === undefined) return say``;
  const {
    operator,
    operands: [first],
  } = operationOf(rule) ?? { operator: '', operands: [] };
  const isFirst = !isJsonObject(first);
  const text = value(expected);
  const mirrored = MIRRORED[operator];
  // `!=` and `!==` fail on the very value that they name.
  if (operator.startsWith('!=')) return say`, expected anything but ${text}`;
  if (mirrored !== undefined) return say`, expected ${isFirst ? mirrored : operator} ${text}`;
  if (operator === 'in') return isFirst ? say`, expected ${text} in it` : say`, expected one of ${text}`;
  return say`, expected ${text}`;
}
