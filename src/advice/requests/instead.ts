/* What a request has in place of what found nothing: a variable of a condition, an expression of a template. */
import { type AdviceText } from './evaluation-advice.ts';
import { type Evaluation } from '../../hook/hook.ts';
import { jsonTextOn } from '../../hook/facts.ts';
import { isNumeric, valueAt, type JsonValue } from '../../json.ts';
import { type ConsideredMapping } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';
import { shown } from './field-list.ts';
import {
  hasValue,
  suggestElement,
  suggestInLists,
  suggestList,
  suggestPaths,
  type NearPath,
} from './near-paths.ts';
import { adviseOnOuter } from './outer-names.ts';
import { createPathFinder, type PathFinder } from './path-candidates.ts';
import { findSplitKey, splitKeyInTemplate } from './split-keys.ts';

/** By what found nothing. A text continues "the request has …"; its names are those of the request, ours left out. */
export type Instead = ReadonlyMap<string, AdviceText>;

/** Variables and expressions that found nothing, with what the request has instead; `ofElements` are told elsewhere. */
export function findInstead(
  evaluation: Evaluation,
  request: HookRequest,
  ofElements?: ReadonlySet<string>,
): Instead {
  const { considered, templates } = evaluation.trace;
  // Each element of a forEach renders the same templates.
  const missing = new Set([
    ...considered.flatMap(missingIn),
    ...templates.flatMap(({ empty }) => empty.map(({ expression }) => expression.trim())),
  ]);
  const looked = { evaluation, request, ...findersFor(evaluation, request) };
  const instead = new Map<string, AdviceText>();
  for (const name of missing) {
    const near = namesIn(name)
      .filter((path) => ofElements?.has(path) !== true)
      // Such a field has a note of its own.
      .filter((path) => jsonTextOn(path, { request, item: looked.element }) === undefined)
      .filter(() => instead.size < MAX_INSTEAD)
      .map((path) => [path, whatIsThere(path, looked, path !== name)] as const)
      .find(([path, found]) => found !== undefined && found.text !== path)?.[1];
    if (near !== undefined) instead.set(name, near);
  }
  return instead;
}

/** A request with what finds paths in it. */
interface Looked {
  readonly evaluation: Evaluation;
  readonly request: HookRequest;
  readonly find: PathFinder;
  /** The first element of `forEach`, and what finds paths in it. */
  readonly element: JsonValue | undefined;
  readonly findInElement: PathFinder | undefined;
}

function findersFor(
  evaluation: Evaluation,
  request: HookRequest,
): Pick<Looked, 'find' | 'element' | 'findInElement'> {
  const element = firstElement(evaluation, request);
  return {
    find: createPathFinder(request.payload),
    element,
    findInElement: element === undefined ? undefined : createPathFinder(element),
  };
}

/** Suggestions made at most for one request. */
const MAX_INSTEAD = 50;

/** The path that an expression is, or the paths that it gives to its helper. */
function namesIn(expression: string): readonly string[] {
  if (/^(?:[\w.$[\]-]+|(?:\.\.\/){0,9}\w[\w.$[\]/-]*)$/.test(expression)) return [expression];
  const [, ...values] = expression.replaceAll(/"[^"]*"|'[^']*'/g, '""').split(/[\s()]+/);
  return values.filter((value) => /^[A-Za-z_][\w.[\]/-]*$/.test(value)).slice(0, 5);
}

/** The first element of the list of which the mapping makes one run each. */
function firstElement(
  { mapping }: Pick<Evaluation, 'mapping'>,
  { payload }: HookRequest,
): JsonValue | undefined {
  if (mapping?.forEach === undefined) return undefined;
  const value = valueAt(payload, mapping.forEach.keys);
  return Array.isArray(value) ? (value as readonly JsonValue[])[0] : undefined;
}

const plain = (text: string): AdviceText => ({ text, names: [] });

/** Paths of the request, each with its value for those who may read it. */
function paths(found: readonly NearPath[]): AdviceText {
  const names = found.map(({ path }) => path);
  const values = found.map(({ path, value }) =>
    value === undefined ? path : `${path} (${shown(path.split('.'), value)})`,
  );
  return { text: names.join(' and '), names, shown: values.join(' and ') };
}

/** With what to write. */
const followed = ({ text, shown: values = text, names }: AdviceText, how: string): AdviceText => ({
  text: `${text}${how}`,
  names,
  shown: `${values}${how}`,
});

/** Of a name that a template printed nothing for: a key that was split, or a name from outside of its block. */
function emptyForm(name: string, evaluation: Evaluation, request: HookRequest): AdviceText | undefined {
  const places = evaluation.trace.templates.flatMap(({ empty, at: template }) =>
    empty
      .filter(({ expression }) => namesIn(expression.trim()).includes(name))
      .map(({ expression, at }) => ({ expression, at, template })),
  );
  if (places.length === 0) return undefined;
  const item = firstElement(evaluation, request);
  const keys = findSplitKey(name, { payload: request.payload, item });
  if (keys !== undefined) return { text: splitKeyInTemplate(keys), names: keys };
  const outer = places.flatMap((place) => adviseOnOuter({ name, request, item, ...place }) ?? [])[0];
  // It speaks of the name as the template writes it.
  return outer === undefined ? undefined : plain(outer);
}

/** A path that a helper is given has a value where it is asked for what is not in its block. */
function whatIsThere(name: string, looked: Looked, isOfHelper = false): AdviceText | undefined {
  const { evaluation, request } = looked;
  const isEmptyHere = evaluation.trace.templates.some(({ empty }) =>
    empty.some(({ expression }) => expression.trim() === name),
  );
  const form = emptyForm(name, evaluation, request);
  if (form !== undefined || name.includes('/')) return form;
  if (isOfHelper && hasValue(name, request)) return undefined;
  const list = evaluation.mapping?.forEach === undefined ? suggestList(name, request) : undefined;
  if (list !== undefined)
    return {
      text: `${name.slice('item.'.length)} in the elements of ${list}: add forEach: ${list}`,
      names: [list],
    };
  return nearField(name, looked, isEmptyHere);
}

/** A field of nearly the name, or what a name alone was meant for. */
function nearField(name: string, looked: Looked, isEmptyHere: boolean): AdviceText | undefined {
  const { request } = looked;
  const near = nearPaths(name, looked);
  const [only] = near ?? [];
  // Whatever stands before it: `alert.name` and `this.name` are `item.name`, too.
  if (
    only?.path.startsWith('item.') === true &&
    `.${name}`.endsWith(only.path.slice('item'.length)) &&
    only.path !== name
  )
    return ofElement(only);
  if (near !== undefined) return paths(near);
  const parent = isEmptyHere ? valueAbove(name, looked) : undefined;
  if (parent !== undefined) return paths([parent]);
  const inLists = suggestInLists(name, request);
  return inLists === undefined
    ? undefined
    : {
        text: `${inLists.field} in the elements of ${inLists.list}`,
        names: [inLists.field, inLists.list],
      };
}

/** A text or number where the path goes on below it. */
function valueAbove(name: string, { request, element }: Looked): NearPath | undefined {
  const keys = name.replace(/^(?:payload|item)\./, '').split('.');
  const isOfItem = name.startsWith('item.');
  const root = isOfItem ? element : request.payload;
  if (root === undefined) return undefined;
  for (let end = keys.length - 1; end > 0; end -= 1) {
    const value = valueAt(root, keys.slice(0, end));
    if (value === undefined || value === null) continue;
    const path = [...(isOfItem ? ['item'] : []), ...keys.slice(0, end)].join('.');
    return typeof value === 'object' && !isNumeric(value) ? undefined : { path, value };
  }
  return undefined;
}

/** A field of the element, which was asked of the whole body. */
function ofElement(near: NearPath): AdviceText {
  const how = `: the element of forEach is item, so write {{${near.path}}}`;
  return followed(paths([near]), how);
}

/** Of the element, where that is as near as what the whole body has. */
function nearPaths(
  name: string,
  { request, find, element: first, findInElement, evaluation }: Looked,
): readonly NearPath[] | undefined {
  const list = evaluation.mapping?.forEach?.text;
  const own = first === undefined ? undefined : valueAt(first, name.split('.'));
  if (own !== undefined && own !== null) return [{ path: `item.${name}`, value: own }];
  const element = findInElement === undefined ? [] : suggestElement(name, findInElement);
  const [nearest] = element;
  const isOfElement =
    nearest !== undefined &&
    (name.startsWith('item.') || nearest.cost <= (costOf(name, find) ?? nearest.cost));
  if (isOfElement) return element;
  const near = !name.startsWith('item.') ? suggestPaths(name, request, find) : [];
  return near.length === 0 ? undefined : near.map((each) => asElement(each, list));
}

/** A path that leads into the list of `forEach`, as one of its element. */
function asElement(near: NearPath, list: string | undefined): NearPath {
  const [first, ...rest] =
    list !== undefined && near.path.startsWith(`${list}.`) ? near.path.slice(list.length + 1).split('.') : [];
  return first !== undefined && /^\d+$/.test(first) ? { ...near, path: ['item', ...rest].join('.') } : near;
}

const costOf = (name: string, find: PathFinder): number | undefined =>
  find(name.replace(/^payload\./, '').split('.'))[0]?.cost;

/** Variables of the condition of a mapping that were not sent. */
export function missingIn({ failed, nodes = [], parts = [] }: ConsideredMapping): readonly string[] {
  if (failed?.part !== 'when') return [];
  return [failed.node, ...nodes, ...parts].flatMap(({ missing }) => (missing === undefined ? [] : [missing]));
}
