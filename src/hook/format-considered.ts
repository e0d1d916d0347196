import { didYouMean, formatPlace } from '../document/document.ts';
import { MIRRORED, type ConditionTrace, type ConsideredMapping } from '../mapping/mapping.ts';
import { isJsonObject, type JsonValue } from '../json.ts';
import { fieldsOfElement, heldLeaves, leavesBelow } from './condition-leaves.ts';
import { howDifferent, operatorOf } from './difference.ts';
import type { EvaluationAdvice } from './evaluation-advice.ts';
import { line, type Paint, value } from './format-lines.ts';

/** Misses printed with their reason; the others are counted. */
const MAX_MISSES = 10;
/** Hook names listed where none is the one asked for. */
const MAX_NAMES = 30;

/** The mappings that were considered, the nearest miss first where none matched. */
export function consideredLines(
  considered: readonly ConsideredMapping[],
  advice: EvaluationAdvice | undefined,
  paint: Paint,
): string[] {
  if (considered.length === 0) return nameLines(advice?.nearNames ?? [], paint);
  const at = considered.findIndex(({ matched }) => matched);
  const taken = considered[at];
  const misses = taken === undefined ? considered : considered.slice(0, at);
  const onPath = misses.filter(({ failed }) => failed?.part !== 'path');
  const shown = onPath.toSorted(byNearness).slice(0, MAX_MISSES);
  return [
    ...(taken === undefined ? missedLines(onPath, misses, advice) : takenLines(taken, paint)),
    ...shown.flatMap((miss) => missLines(miss, advice, paint)),
    ...countLines({ shown: shown.length, onPath: onPath.length, all: misses.length }),
    ...(advice?.alsoMatched ?? []).map((other) => laterLine(other, paint)),
    ...(advice?.alsoMatched.some(({ takesAny }) => takesAny !== true) === true ? [`  ${BOTH_ACT}`] : []),
  ];
}

/** How two mappings act on one request; the order alone would only take the place of one by the other. */
const BOTH_ACT =
  "only the first mapping that matches acts. For both, write one mapping with a transform that returns a list of actions ([{ kind: 'wake', text }, { kind: 'agent', message }]), or let the sender call two hook names";

function nameLines(names: EvaluationAdvice['nearNames'], paint: Paint): string[] {
  return names.map(({ name, why, at }) => `the hook name ${line(name)} ${why}  ${paint('cyan', at)}`);
}

/** How many misses are not shown: of this hook name, and of others. */
function countLines(misses: { readonly shown: number; readonly onPath: number; readonly all: number }) {
  const more = misses.onPath - misses.shown;
  const others = misses.all - misses.onPath;
  return [
    ...(more > 0 ? [`  and ${more} more of this hook name`] : []),
    ...(others > 0 && others < misses.all ? [`  and ${others} of other hook names`] : []),
  ];
}

function laterLine({ id, at }: EvaluationAdvice['alsoMatched'][number], paint: Paint): string {
  return `  ${line(id)} would have taken it, too, but stands later  ${paint('cyan', at)}`;
}

/** Fewest failing parts first, then most that held; sorting is stable, so the rest stays in first-match order. */
function byNearness(a: ConsideredMapping, b: ConsideredMapping): number {
  return (a.failing ?? 0) - (b.failing ?? 0) || b.held - a.held;
}

function takenLines({ mapping, nodes = [] }: ConsideredMapping, paint: Paint): string[] {
  const taken = `  ${paint('green', '✓')} ${line(mapping.id)}  ${paint('cyan', formatPlace(mapping.at))}`;
  return ['mappings considered:', taken, ...heldLines(heldLeaves(nodes), paint)];
}

/** Comparisons printed of a condition that held; of more, the last line says how many. */
const MAX_HELD = 5;

/** What made the condition of the mapping taken hold. */
function heldLines(leaves: readonly ConditionTrace[], paint: Paint): string[] {
  const shown = leaves.length > MAX_HELD ? leaves.slice(0, MAX_HELD - 1) : leaves;
  const more = leaves.length - shown.length;
  return [
    ...shown.map(
      (leaf) =>
        `      when ${line(leaf.expression)} ${whyHeld(leaf)}  ${paint('cyan', formatPlace(leaf.at))}`,
    ),
    ...(more > 0 ? [`      and ${more} more comparisons`] : []),
  ];
}

/** What a comparison that held found: of `some` the element that it held for, in place of the whole list. */
function whyHeld(leaf: ConditionTrace): string {
  const { element, result } = leaf;
  const { expected: _same, ...found } = leaf;
  if (element === undefined) return whyOf(operatorOf(leaf).startsWith('=') ? found : leaf);
  const fields = fieldsOfElement(leaf).map(({ name, found }) => `${line(name)} ${value(found)}`);
  const what = fields.length === 0 ? `is ${value(element.value)}` : `has ${fields.join(', ')}`;
  return `is ${result}: element ${element.index} ${what}`;
}

/** The heading where nothing matched; where no mapping even has the hook name, the names there are, with their places. */
function missedLines(
  onPath: readonly ConsideredMapping[],
  misses: readonly ConsideredMapping[],
  advice: EvaluationAdvice | undefined,
): string[] {
  if (onPath.length > 0) return ['no mapping matched; the nearest miss first:'];
  const found = misses[0]?.failed?.part === 'path' ? misses[0].failed.found : '';
  const places = placesOf(misses);
  const listed = [...places].slice(0, MAX_NAMES);
  const unread = advice?.unread;
  const but = unread === undefined ? '' : `, but ${line(unread.file)} has it, and is not read`;
  return [
    `no mapping has the hook name ${value(found)}${but}`,
    ...meantLines(found, places.keys(), advice?.nearNames),
    places.size === 0 ? '  there is no mapping with a hook name' : '  the hook names are:',
    ...listed.map(([name, at]) => `    ${line(name)}  ${at}`),
    ...(places.size > listed.length ? [`    and ${places.size - listed.length} more`] : []),
    ...(advice?.passedOver ?? []).map((text) => `  ${line(text)}`),
  ];
}

/** The hook names of the mappings, each with its first place. */
function placesOf(misses: readonly ConsideredMapping[]): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const { mapping } of misses) {
    const { path, pathAt } = mapping.match;
    if (path !== undefined && !places.has(path)) places.set(path, formatPlace(pathAt ?? mapping.at));
  }
  return places;
}

/** The names that may have been meant: those of the advice, else the one that is written most alike. */
function meantLines(
  found: string,
  names: Iterable<string>,
  advised: EvaluationAdvice['nearNames'] | undefined,
): string[] {
  if (advised !== undefined) return advised.map(({ name, why, at }) => `  ${line(name)} ${why}  ${at}`);
  const near = didYouMean(found, names);
  return near === undefined ? [] : [`  did you mean ${line(near)}?`];
}

/** The nearest miss in one line: the part that failed, and with what; undefined where no mapping has the hook name. */
export function nearestMiss(considered: readonly ConsideredMapping[]): string | undefined {
  const [nearest] = considered
    .filter(({ matched, failed }) => !matched && failed !== undefined && failed.part !== 'path')
    .toSorted(byNearness);
  if (nearest?.failed === undefined) return undefined;
  const [, ...why] = missLines(nearest, undefined, (_style, text) => text);
  return `${nearest.mapping.id}: ${why.map((each) => each.trim()).join('; ')}`;
}

function missLines(
  { mapping, failed, nodes = [] }: ConsideredMapping,
  advice: EvaluationAdvice | undefined,
  paint: Paint,
): string[] {
  const head = `  ${paint('red', '✗')} ${line(mapping.id)}  ${paint('cyan', formatPlace(mapping.at))}`;
  if (failed === undefined) return [head];
  if (failed.part !== 'when') {
    const at = failed.at === undefined ? '' : `  ${paint('cyan', formatPlace(failed.at))}`;
    return [head, `      ${failed.part} is ${value(failed.found)}, expected ${value(failed.expected)}${at}`];
  }
  const parts = leavesBelow(failed.node, nodes);
  return [
    head,
    ...whenLines(failed.node, advice, paint),
    ...(parts.length < 2 ? [] : parts.map((part) => `        ${line(part.expression)} ${whyOf(part)}`)),
  ];
}

/** The leaf of a condition that failed, and what may have been meant. */
function whenLines(node: ConditionTrace, advice: EvaluationAdvice | undefined, paint: Paint): string[] {
  const { expression, found, expected, missing, result } = node;
  const head = `      when ${line(expression)} ${whyOf(node)}  ${paint('cyan', formatPlace(node.at))}`;
  const sure = advice?.leaves?.get(node.at);
  if (sure !== undefined) return [head, ...sure.map((text) => `      ${line(text)}`)];
  const values = elsewhere(expected, advice);
  const how = result === 'false' ? howDifferent(found, expected, operatorOf(node)) : undefined;
  // Where the text that was asked for is found, the variable that was meant is known better than by its name.
  const near = missing === undefined || values.length > 0 ? undefined : advice?.instead.get(missing);
  return [
    head,
    ...(near === undefined ? [] : [`      the request has ${line(near)}: did you mean that?`]),
    ...(how === undefined ? [] : [`      ${how}`]),
    ...values,
  ];
}

function whyOf(node: ConditionTrace): string {
  const { found, missing, result } = node;
  if (missing !== undefined) return `is ${result}: ${line(missing)} is missing`;
  const seen = found === undefined ? '' : `: found ${value(found)}`;
  return `is ${result}${seen}${wantedBy(node)}`;
}

/** What a comparison asks for, in the words of its operator. */
function wantedBy(node: ConditionTrace): string {
  const { expected, rule } = node;
  if (expected === undefined) return '';
  const operator = operatorOf(node);
  const operands = isJsonObject(rule) ? rule[operator] : undefined;
  const [first] = Array.isArray(operands) ? (operands as readonly JsonValue[]) : [];
  const isFirst = !isJsonObject(first);
  const text = value(expected);
  const mirrored = MIRRORED[operator];
  // `!=` and `!==` fail on the very value they name.
  if (operator.startsWith('!=')) return `, expected anything but ${text}`;
  if (mirrored !== undefined) return `, expected ${isFirst ? mirrored : operator} ${text}`;
  if (operator === 'in') return isFirst ? `, expected ${text} in it` : `, expected one of ${text}`;
  return `, expected ${text}`;
}

/** Where the text that was expected stands in the body. */
function elsewhere(expected: JsonValue | undefined, advice: EvaluationAdvice | undefined): string[] {
  const found = typeof expected === 'string' ? advice?.foundAt.get(expected) : undefined;
  return found === undefined ? [] : [`      ${line(found.at)} is ${value(found.text)}: did you mean that?`];
}
