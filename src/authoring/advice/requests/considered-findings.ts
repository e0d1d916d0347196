/** Says of the considered mappings why the one that matched did, and why the others did not. */
import { quoted, say, type Finding, type FindingSubject, type Sentence } from '../../../base/finding.ts';
import { formatPlace } from '../../../base/document/document.ts';
import { spelling } from '../../../base/document/facts.ts';
import { operationOf } from '../../../engine/mapping/facts.ts';
import type { ConditionTrace, ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { isJsonObject } from '../../../base/json.ts';
import { decidingLeaves, failedParts, readBy } from './condition-leaves.ts';
import type { EvaluationAdvice } from './evaluation-advice.ts';
import { requestFinding } from './findings.ts';
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
  advice: EvaluationAdvice | undefined,
): readonly Finding[] {
  if (considered.length === 0) return advice?.nearNames ?? [];
  const taken = considered.filter(({ matched }) => matched);
  const misses = nearestMisses(considered, advice?.suggestions);
  const isNameUnknown = taken.length === 0 && misses.length === 0;
  return [
    ...taken.flatMap(ofTaken),
    ...(isNameUnknown ? ofNames(considered, advice) : []),
    ...misses.slice(0, MAX_MISSES).flatMap((miss) => ofMiss(miss, advice)),
    ...(advice?.alsoMatched ?? []),
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

function ofNames(
  misses: readonly ConsideredMapping[],
  advice: EvaluationAdvice | undefined,
): readonly Finding[] {
  const asked = misses[0]?.failed?.part === 'path' ? misses[0].failed.found : '';
  return [
    requestFinding('unknown_name', say`no mapping has the hook name ${value(asked)}`),
    ...(advice?.nearNames ?? []),
    ...[...placesOf(misses)]
      .slice(0, MAX_NAMES)
      .map(([name, at]) => requestFinding('hook_name', quoted(name), { at })),
    ...(advice?.passedOver ?? []),
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
      return requestFinding('held', say`when ${node.expression} ${why}`, {
        at: node.at,
        ...about,
        ...readBy(node),
      });
    }),
    ...(more > 0 ? [requestFinding('more_held', say`and ${more} more comparisons`, about)] : []),
  ];
}

function ofMiss(miss: ConsideredMapping, advice: EvaluationAdvice | undefined): readonly Finding[] {
  const { failed } = miss;
  if (failed === undefined) return [];
  const about = aboutMapping(miss);
  if (failed.part !== 'when') {
    const text = say`${failed.part} is ${value(failed.found)}, expected ${value(failed.expected)}`;
    return [requestFinding('not_held', text, { at: failed.at, ...about })];
  }
  const { node } = failed;
  const parts = failedParts(miss);
  const head = requestFinding('not_held', say`when ${node.expression} ${whyOf(node)}`, {
    at: node.at,
    ...about,
    ...readBy(node),
  });
  return [
    head,
    ...parts
      .flatMap((part) => advice?.parts.get(part.at) ?? [])
      .map((each) => ({ ...each, subject: { ...each.subject, ...about } })),
    ...(parts.length < 2 ? [] : parts.slice(0, MAX_TRUE)).map((part) =>
      requestFinding('part', say`${part.expression} ${whyOf(part)}`, {
        at: part.at,
        ...about,
        ...readBy(part),
      }),
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
