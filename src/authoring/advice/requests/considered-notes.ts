/* What is said of the mappings that were considered: why the one taken held, why the others did not. */
import { quoted, say, type Sentence } from '../../../base/finding.ts';
import { moveBefore } from '../file-order.ts';
import { formatPlace } from '../../../base/document/document.ts';
import { spelling } from '../../../base/document/facts.ts';
import { namesRead, operationOf } from '../../../engine/mapping/facts.ts';
import type { ConditionTrace, ConsideredMapping } from '../../../engine/mapping/mapping.ts';
import { isJsonObject } from '../../../base/json.ts';
import { decidingLeaves, failedParts, type DecidingLeaf } from './condition-leaves.ts';
import type { EvaluationAdvice } from './evaluation-advice.ts';
import { placed, type EvaluationNote } from './evaluation-note.ts';
import { cut, value } from './shown-values.ts';
import { shownAs } from './part-advice.ts';

/** Misses told of; the others are counted. */
const MAX_MISSES = 20;
/** Hook names listed where none is the one asked for. */
const MAX_NAMES = 30;
/** Comparisons told of a condition that held; of more, the last note says how many. */
const MAX_TRUE = 5;

/** A part that only asks for another spelling of a name that is there: less than one that found another value. */
const MISSPELT = 0.25;

/**
 * The mappings of a request's hook name that did not take it, the nearest first: fewest failing parts, most that held.
 * `instead`: what the request has in place of names that were not sent.
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
  return isSame && (expected === undefined || near?.value === shownAs(name, expected));
}

/** What is said of mappings and hook names, in the order of the text. */
export function consideredNotes(
  considered: readonly ConsideredMapping[],
  advice: EvaluationAdvice | undefined,
): readonly EvaluationNote[] {
  if (considered.length === 0) return nearNameNotes(advice?.nearNames ?? []);
  const taken = considered.filter(({ matched }) => matched);
  const misses = nearestMisses(considered, advice?.suggestions);
  const isNameUnknown = taken.length === 0 && misses.length === 0;
  return [
    ...taken.flatMap(takenNotes),
    ...(isNameUnknown ? nameNotes(considered, advice) : []),
    ...misses.slice(0, MAX_MISSES).flatMap((miss) => missNotes(miss, advice)),
    ...laterNotes(advice?.alsoMatched ?? [], taken.at(-1)),
  ];
}

function laterNotes(
  later: EvaluationAdvice['alsoMatched'],
  taken: ConsideredMapping | undefined,
): readonly EvaluationNote[] {
  const notes = later.map(({ id, at }): EvaluationNote => {
    const text = say`${id} would have taken it, too, but stands later`;
    return { code: 'also_matched', text, at, mapping: { id, at } };
  });
  const rival = later.find(({ takesAny }) => takesAny !== true);
  if (rival === undefined || taken === undefined) return notes;
  return [...notes, { code: 'only_first_acts', text: orderText(rival, taken) }];
}

/** What lets the later mapping take such requests: its place first, and then what the earlier one would still take. */
function orderText(
  { id, at }: EvaluationAdvice['alsoMatched'][number],
  { mapping, nodes = [] }: ConsideredMapping,
): Sentence {
  const rule = nodes[0]?.expression ?? '';
  const rest = rule === '' ? 'every other request' : `every other request for which ${cut(rule)} holds`;
  const order = moveBefore({ id, at }, { id: mapping.id, at: formatPlace(mapping.at) });
  return say`only the first mapping that matches acts. If ${id} should take such requests, ${order}. ${mapping.id} then still takes ${rest}. For both to act, write continue: true into ${mapping.id}.`;
}

const nearNameNotes = (names: EvaluationAdvice['nearNames']): readonly EvaluationNote[] =>
  names.map(({ name, why, at }) => ({ code: 'near_name', text: say`${name} ${why}`, at }));

/** Of a hook name that no mapping has: which may have been meant, and which there are, with their places. */
function nameNotes(
  misses: readonly ConsideredMapping[],
  advice: EvaluationAdvice | undefined,
): readonly EvaluationNote[] {
  const found = misses[0]?.failed?.part === 'path' ? misses[0].failed.found : '';
  const places = placesOf(misses);
  const listed = [...places].slice(0, MAX_NAMES);
  return [
    { code: 'unknown_name', text: say`no mapping has the hook name ${value(found)}` },
    ...nearNameNotes(advice?.nearNames ?? []),
    ...listed.map(([name, at]): EvaluationNote => ({ code: 'hook_name', text: quoted(name), at })),
    ...(advice?.passedOver ?? []).map((text): EvaluationNote => ({ code: 'passed_over', text })),
  ];
}

/** The hook names of the mappings, each with its first place. */
export function placesOf(misses: readonly ConsideredMapping[]): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const { mapping } of misses) {
    const { path, pathAt } = mapping.match;
    if (path !== undefined && !places.has(path)) places.set(path, formatPlace(pathAt ?? mapping.at));
  }
  return places;
}

/** What made the condition of the mapping taken hold. */
function takenNotes({ mapping, nodes = [] }: ConsideredMapping): readonly EvaluationNote[] {
  const about = { mapping: { id: mapping.id, at: formatPlace(mapping.at) } };
  const leaves = decidingLeaves(nodes);
  const shown = leaves.length > MAX_TRUE ? leaves.slice(0, MAX_TRUE - 1) : leaves;
  const more = leaves.length - shown.length;
  return [
    ...shown.map(({ node }): EvaluationNote => {
      const { expected: _met, ...found } = node;
      const text = say`when ${node.expression} ${whyOf(found)}`;
      return { code: 'held', text, ...placed(node.at), ...about, ...readBy(node) };
    }),
    ...(more > 0 ? [{ code: 'more_held', text: say`and ${more} more comparisons`, ...about } as const] : []),
  ];
}

/** The part of a mapping that failed, what may have been meant, and the comparisons of a connective. */
function missNotes(miss: ConsideredMapping, advice: EvaluationAdvice | undefined): readonly EvaluationNote[] {
  const { mapping, failed } = miss;
  if (failed === undefined) return [];
  const about = { mapping: { id: mapping.id, at: formatPlace(mapping.at) } };
  if (failed.part !== 'when') {
    const text = say`${failed.part} is ${value(failed.found)}, expected ${value(failed.expected)}`;
    return [{ code: 'not_held', text, ...placed(failed.at), ...about }];
  }
  const { node } = failed;
  const parts = failedParts(miss);
  const own = parts.filter(({ isFurther }) => !isFurther);
  const text = say`when ${node.expression} ${whyOf(node)}`;
  return [
    { code: 'not_held', text, ...placed(node.at), ...readBy(node) } as const,
    ...parts.flatMap((part) => partNotes(part, advice)),
    ...(own.length < 2 ? [] : own.slice(0, MAX_TRUE)).map((part): EvaluationNote => ({
      code: 'part',
      text: say`${part.node.expression} ${whyOf(part.node)}`,
      ...placed(part.node.at),
      ...readBy(part.node),
    })),
  ].map((note) => ({ ...note, ...about }));
}

const partNotes = ({ node }: DecidingLeaf, advice: EvaluationAdvice | undefined): readonly EvaluationNote[] =>
  (advice?.parts.get(node.at) ?? []).map(({ code, text, paths }) => ({
    code,
    text,
    ...placed(node.at),
    ...(paths === undefined ? readBy(node) : { paths }),
  }));

/** What a part of a condition reads. */
function readBy({ rule }: Pick<ConditionTrace, 'rule'>): Pick<EvaluationNote, 'paths'> {
  const paths = [...new Set(namesRead(rule))].filter((name) => name !== '');
  return paths.length === 0 ? {} : { paths };
}

function whyOf(node: ConditionTrace): Sentence {
  const { found, missing, result } = node;
  if (missing !== undefined) return say`is ${result}: ${missing} is missing`;
  const seen = found === undefined ? '' : `: found ${value(found)}`;
  return say`is ${result}${seen}${result === 'true' ? '' : wantedBy(node)}`;
}

/** An order as it reads from its other side. */
const MIRRORED: Readonly<Record<string, string>> = { '>': '<', '>=': '<=', '<': '>', '<=': '>=' };

/** What a comparison that did not hold asks for, in the words of its operator. */
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
  // `!=` and `!==` fail on the very value they name.
  if (operator.startsWith('!=')) return say`, expected anything but ${text}`;
  if (mirrored !== undefined) return say`, expected ${isFirst ? mirrored : operator} ${text}`;
  if (operator === 'in') return isFirst ? say`, expected ${text} in it` : say`, expected one of ${text}`;
  return say`, expected ${text}`;
}
