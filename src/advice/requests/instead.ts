/* What a request has in place of what found nothing: a variable of a condition, an expression of a template. */
import { type AdviceText } from './evaluation-advice.ts';
import { type Evaluation } from '../../hook/hook.ts';
import { jsonTextOn } from '../../hook/facts.ts';
import { isJsonObject, isNumeric, valueAt, type JsonValue } from '../../json.ts';
import { type ConsideredMapping, conjunctsOf, WORK_LIMITS, WorkBudget } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';
import { adviseInBlock, adviseOnEachObject } from './each-object.ts';
import { findNamedElement, templateOf } from './named-elements.ts';
import { loneHelper, presentTime } from './lone-helper.ts';
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
export function firstElement(
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

/** Of a name that a template printed nothing for: a key that was split, or a block that goes through one object. */
function emptyForm(name: string, evaluation: Evaluation, request: HookRequest): AdviceText | undefined {
  const { payload } = request;
  const places = evaluation.trace.templates.flatMap(({ empty, at }) =>
    empty
      .filter(({ expression }) => namesIn(expression.trim()).includes(name))
      .map(({ expression, at: place }) => ({ expression, at: place, template: at })),
  );
  if (places.length === 0) return undefined;
  const item = firstElement(evaluation, request);
  const keys = findSplitKey(name, { payload, item });
  if (keys !== undefined) return { text: splitKeyInTemplate(keys), names: keys };
  for (const place of places) {
    // It speaks of the block and of the name in it, as the template writes them.
    const found =
      adviseOnEachObject({ name, payload, item, ...place }) ??
      adviseOnOuter({ name, request, item, ...place }) ??
      adviseInBlock({ name, payload, item, ...place });
    if (found !== undefined) return plain(found);
  }
  return undefined;
}

/** A path that a helper is given has a value where it is asked for what is not in its block. */
function whatIsThere(name: string, looked: Looked, isOfHelper = false): AdviceText | undefined {
  const { evaluation, request } = looked;
  const isEmptyHere = evaluation.trace.templates.some(({ empty }) =>
    empty.some(({ expression }) => expression.trim() === name),
  );
  const named = isEmptyHere && !isOfHelper ? namedElement(name, looked) : undefined;
  if (named !== undefined) return named;
  const form = emptyForm(name, evaluation, request) ?? (isEmptyHere ? lastElement(name, request) : undefined);
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

/** `answers.email.text`, where one element of the list is named so. */
function namedElement(path: string, { request, element }: Looked): AdviceText | undefined {
  const isOfItem = path.startsWith('item.') && element !== undefined;
  const root = isOfItem ? { item: element } : request.payload;
  const found = findNamedElement(path.replace(/^payload\./, ''), root);
  if (found === undefined) return undefined;
  const { list, by, name } = found;
  const text = `an element of the list ${list} whose ${by} is ${JSON.stringify(name)}: write ${templateOf(found)}`;
  return { text, names: [list] };
}

/** `commits.[-1].message` and `commits.last.message`: positions count from the front. */
function lastElement(name: string, { payload }: HookRequest): AdviceText | undefined {
  const [, list = '', rest = ''] =
    /^([\w.]{1,200}?)\.?(?:\[-1\]|\.-1|\.last)\.([\w.]{1,200})$/.exec(name) ?? [];
  const value = list === '' ? undefined : valueAt(payload, list.replace(/^payload\./, '').split('.'));
  if (!Array.isArray(value)) return undefined;
  return {
    text: `${list} with ${value.length} elements, and a position counts from the front: for the last one write {{#each ${list}}}{{#if @last}}{{${rest}}}{{/if}}{{/each}}`,
    names: [list],
  };
}

/** A field of nearly the name, or what a name alone was meant for. */
function nearField(name: string, looked: Looked, isEmptyHere: boolean): AdviceText | undefined {
  const { request } = looked;
  const helper = isEmptyHere ? loneHelper(name) : undefined;
  const near = nearPaths(name, looked, helper === undefined);
  const [only] = near ?? [];
  // Whatever stands before it: `alert.name` and `this.name` are `item.name`, too.
  if (
    only?.path.startsWith('item.') === true &&
    `.${name}`.endsWith(only.path.slice('item'.length)) &&
    only.path !== name
  )
    return ofElement(only);
  if (near !== undefined) return isEmptyHere ? joined(name, near, request) : paths(near);
  if (helper !== undefined) return plain(helper);
  const parent = isEmptyHere ? valueAbove(name, looked) : undefined;
  if (parent !== undefined) return paths([parent]);
  const unset = isEmptyHere ? nullAbove(name, looked) : undefined;
  if (unset !== undefined) return plain(unsetText(name, unset, looked));
  const other = isEmptyHere ? otherText(name, looked) : undefined;
  if (other !== undefined) return other;
  if (isEmptyHere && OF_ENVIRONMENT.test(name)) return plain(NO_ENVIRONMENT);
  const inLists = suggestInLists(name, request);
  if (inLists !== undefined)
    return {
      text: `${inLists.field} in the elements of ${inLists.list}`,
      names: [inLists.field, inLists.list],
    };
  const time = isEmptyHere ? presentTime(name) : undefined;
  return time === undefined ? undefined : plain(time);
}

/** Names by which other tools reach what is set outside of the request. */
const OF_ENVIRONMENT = /^(?:env|ENV|process\.env|secrets|vars|\$env|\$vars|config|settings)\./;
const NO_ENVIRONMENT =
  'nothing of the environment, of secrets or of settings, and templates read only the request: write the text itself there';

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

/** The beginning of a path that goes on below a null. */
function nullAbove(name: string, { request: { payload } }: Looked): string | undefined {
  const keys = keysOf(name);
  const ends = keys.slice(1).map((_, index) => keys.slice(0, index + 1));
  return ends.find((each) => valueAt(payload, each) === null)?.join('.');
}

const keysOf = (name: string): readonly string[] =>
  name
    .replaceAll(/\.?\[(\d{1,9})\]/g, '.$1')
    .replace(/^payload\./, '')
    .split('.');

/** Such requests may not be wanted, or a word may stand for what is not set. */
function unsetText(name: string, unset: string, { evaluation: { mapping }, request }: Looked): string {
  const scope = { request, work: new WorkBudget(WORK_LIMITS) };
  const rule = mapping?.match.when?.trace(scope).nodes[0]?.rule;
  const set: JsonValue = { '!!': [{ var: `payload.${unset}` }] };
  const parts = [...conjunctsOf(rule), set];
  const when = JSON.stringify(parts.length === 1 ? set : { and: parts });
  const skip = mapping?.settings.otherwise === 'skip' ? '' : ', and otherwise: skip beside match';
  return `null at ${unset}, so nothing is set there: for a word in its place write {{default ${name} "none"}}; to leave such requests out write when: ${when}${skip}`;
}

/** The one text of words beside the field that is missing, where nothing reads it: senders name the same by the kind of event. */
function otherText(name: string, { request: { payload }, evaluation }: Looked): AdviceText | undefined {
  const keys = keysOf(name);
  const object = keys.length < 2 ? undefined : valueAt(payload, keys.slice(0, -1));
  if (!isJsonObject(object) || Object.hasOwn(object, keys.at(-1) ?? '')) return undefined;
  const start = name.slice(0, name.lastIndexOf('.'));
  const read = evaluation.trace.templates.map(({ at }) => at.source.text.slice(at.start, at.end)).join('\n');
  const texts = Object.entries(object).filter(
    ([key, value]) => typeof value === 'string' && /\S\s+\S/.test(value) && /^[A-Za-z_]\w*$/.test(key),
  );
  const [only, ...more] = texts;
  const key = only?.[0] ?? '';
  const path = `${start}.${key}`;
  if (key === '' || more.length > 0 || read.includes(path)) return undefined;
  const how = `, which nothing reads: where the sender sends one or the other write {{default ${name} ${path}}}`;
  return followed(paths([{ path, value: object[key] ?? null }]), how);
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
  isWide: boolean,
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
  const near = isWide && !name.startsWith('item.') ? suggestPaths(name, request, find) : [];
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

/** Elements of a list that are looked at. */
const MAX_ELEMENTS = 10;

/** A field of the elements of a list, which a template can print of all of them. */
function joined(name: string, near: readonly NearPath[], { payload }: HookRequest): AdviceText {
  const keys = name.replace(/^payload\./, '').split('.');
  const field = keys.at(-1) ?? '';
  const list = valueAt(payload, keys.slice(0, -1));
  const elements = Array.isArray(list) ? (list as readonly JsonValue[]) : [];
  const having = elements
    .slice(0, MAX_ELEMENTS)
    .filter((each) => isJsonObject(each) && Object.hasOwn(each, field));
  if (having.length < 2) return paths(near);
  const all = `{{join ${name.slice(0, -field.length - 1)} ", " "${field}"}}`;
  return followed(paths(near), `; for all of them write ${all}`);
}

/** Variables of the condition of a mapping that were not sent. */
export function missingIn({ failed, nodes = [], parts = [] }: ConsideredMapping): readonly string[] {
  if (failed?.part !== 'when') return [];
  return [failed.node, ...nodes, ...parts].flatMap(({ missing }) => (missing === undefined ? [] : [missing]));
}
