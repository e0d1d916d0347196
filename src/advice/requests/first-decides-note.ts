/* A condition that reads one element of the list of `forEach`: it decides once, for the whole request. */
import { codeOfRule, codeOfSteps, splitRule, transformFile, whenOf } from '../transform-files.ts';
import { formatPlace } from '../../document/document.ts';
import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../hook/hook.ts';
import { fieldAt, sameValue, valueAt, type JsonValue } from '../../json.ts';
import { type CompiledMapping, namesRead } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';
import { shown } from './rule-operands.ts';

/** Of a request whose elements differ in what the condition reads of one of them; none where they are all of one kind. */
export function firstDecidesNotes(
  { mapping, trace }: Evaluation,
  request: HookRequest,
): readonly AdviceNote[] {
  const taken = trace.considered.find(({ matched }) => matched);
  const rule = taken?.nodes?.[0]?.rule;
  if (mapping?.forEach === undefined || rule === undefined) return [];
  const { keys, text: list } = mapping.forEach;
  const value = valueAt(request.payload, keys);
  const elements = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  for (const name of namesRead(rule)) {
    const read = elementOf(name, keys);
    const other = read && otherValue(elements, read);
    if (read === undefined || other === undefined) continue;
    const what = `when reads ${name}, of one element of ${list}, and decides once for the whole request: ${read.rest.join('.')} of ${other.count} of the ${elements.length} elements is another, such as ${other.shown}, and these were taken, too`;
    const text = `${what}. To decide for each element ${decideEach(mapping, rule, keys)}`;
    return [{ code: 'held_otherwise', text, names: [name], at: mapping.match.when?.at ?? mapping.at }];
  }
  return [];
}

interface ElementRead {
  readonly index: number;
  readonly rest: readonly string[];
}

/** Which element a path reads, and what of it. */
function elementOf(name: string, keys: readonly string[]): ElementRead | undefined {
  const steps = name.replace(/^payload\./, '').split('.');
  const [index = '', ...rest] = steps.slice(keys.length);
  const isInList = keys.every((key, at) => key === steps[at]) && /^\d{1,6}$/.test(index);
  return isInList && rest.length > 0 ? { index: Number(index), rest } : undefined;
}

function otherValue(
  elements: readonly JsonValue[],
  { index, rest }: ElementRead,
): { readonly count: number; readonly shown: string } | undefined {
  const read = (element: JsonValue | undefined): JsonValue =>
    element === undefined ? null : (fieldAt(element, rest) ?? null);
  const own = read(elements[index]);
  const others = elements.map(read).filter((value) => !sameValue(value, own));
  const [first] = others;
  return first === undefined ? undefined : { count: others.length, shown: shown(first) };
}

/** A transform is called for each element, and null skips that one. */
function decideEach(mapping: CompiledMapping, rule: JsonValue, keys: readonly string[]): string {
  const { id, at, transform } = mapping;
  const isWithin = (part: JsonValue): boolean =>
    namesRead(part).some((name) => elementOf(name, keys) !== undefined);
  const codeOf = (name: string): string => {
    const read = elementOf(name, keys);
    const [root = '', ...rest] = name.split('.');
    if (read !== undefined) return `item${codeOfSteps(read.rest, '?.')}`;
    return /^(?:payload|headers|query)$/.test(root)
      ? `${root}${codeOfSteps(rest, '?.')}`
      : `payload${codeOfSteps([root, ...rest], '?.')}`;
  };
  const { within, left } = splitRule(rule, isWithin);
  const checks = within.map((each) => codeOfRule(each, codeOf));
  const when = whenOf(left);
  const rest = when === undefined ? 'take when out' : `write ${when}`;
  if (checks.length === 0 || checks.includes(undefined))
    return 'take that part of the condition out, and decide in a transform, which gets the element as item and returns null to skip it';
  if (transform !== undefined)
    return `in ${id} (${formatPlace(at)}) ${rest}, and begin the function of ${transform.module}, which gets the element as item, with if (!(${checks.join(' && ')})) return null;`;
  const file = transformFile(mapping, {
    lines: [],
    checks: checks.flatMap((code) => code ?? []),
    returned: '{}',
  });
  return `${file}\nand in ${id} (${formatPlace(at)}) ${rest}, and beside match the line transform: ${id}.js. All else of the mapping stays: null skips the element, and {} leaves its message as it is`;
}
