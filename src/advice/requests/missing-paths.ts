/* What a request has in place of what found nothing: a variable of a condition, an expression of a template. */
import { say, todo, type Sentence } from '../../finding.ts';
import { surest, type Way } from '../rule.ts';
import type { Place } from '../../document/document.ts';
import { type Evaluation } from '../../hook/hook.ts';
import { jsonTextOn } from '../../hook/facts.ts';
import { fieldAt, isNumeric, valueAt, type JsonValue } from '../../json.ts';
import { type ConsideredMapping, listOf } from '../../mapping/mapping.ts';
import { templatePath } from '../../mapping/facts.ts';
import type { HookRequest } from '../../request.ts';
import { createBodyIndex, isIndex, outsideLists, type BodyIndex } from './body-index.ts';
import { type AdviceText } from './evaluation-advice.ts';
import { shown } from './field-list.ts';
import { withDots } from '../dialects/paths.ts';
import { suggestPaths, type NearPath } from './near-paths.ts';
import { openBlocks, pathsIn } from './open-blocks.ts';
import { findSplitKey, splitKeyInTemplate } from './split-keys.ts';

/** By what found nothing. A text continues "the request has …"; its names are those of the request, ours left out. */
export type Suggestions = ReadonlyMap<string, AdviceText>;

/** Suggestions made at most for one request. */
const MAX_SUGGESTIONS = 50;

/** What printed nothing in a template. */
interface EmptyPlace {
  readonly expression: string;
  readonly at: Place;
  readonly template: Place;
}

/** A path that found nothing, with all that is looked at for it. */
interface Missing {
  readonly path: string;
  /** Where templates print it; none of a condition. */
  readonly places: readonly EmptyPlace[];
  /** Whether it was given to a helper, which may have been asked for what it cannot print. */
  readonly isOfHelper: boolean;
  readonly request: HookRequest;
  readonly body: BodyIndex;
  /** The list of `forEach`, and its first element. */
  readonly list: string | undefined;
  readonly element: BodyIndex | undefined;
}

/** What was meant, from what is certain to what is merely near. */
const WAYS: readonly Way<Missing, AdviceText | 'nothing'>[] = [
  { name: 'split-key', confidence: 'certain', find: ofSplitKey },
  { name: 'outside-of-block', confidence: 'certain', find: outsideOfBlock },
  {
    name: 'of-helper',
    confidence: 'certain',
    find: ({ path, isOfHelper, request }) =>
      path.includes('/') || (isOfHelper && hasValue(path, request)) ? 'nothing' : undefined,
  },
  { name: 'near-path', confidence: 'likely', find: ofNearPath },
  { name: 'value-above', confidence: 'likely', find: ofValueAbove },
];

/** Variables and expressions that found nothing, with what the request has in their place; `ofElements` are told elsewhere. */
export function findSuggestions(
  evaluation: Evaluation,
  request: HookRequest,
  {
    body = createBodyIndex(request.payload),
    ofElements,
  }: { readonly body?: BodyIndex; readonly ofElements?: ReadonlySet<string> | undefined } = {},
): Suggestions {
  const { considered, templates } = evaluation.trace;
  const item = firstElement(evaluation, request);
  const element = item === undefined ? undefined : createBodyIndex(item);
  const places = templates.flatMap(({ empty, at: template }) =>
    empty.map(({ expression, at }) => ({ expression: expression.trim(), at, template })),
  );
  const looked = { request, body, list: evaluation.mapping?.forEach?.text, element };
  const suggestions = new Map<string, AdviceText>();
  // Each element of a forEach renders the same templates.
  for (const name of new Set([...considered.flatMap(missingIn), ...places.map((each) => each.expression)])) {
    if (suggestions.size >= MAX_SUGGESTIONS) break;
    const own = places.filter(({ expression }) => expression === name);
    const found = pathsIn(name)
      // Such a field has a note of its own.
      .filter((path) => ofElements?.has(path) !== true && jsonTextOn(path, { request, item }) === undefined)
      .map((path) => whatIsThere({ ...looked, path, places: own, isOfHelper: path !== name }))
      .find((each) => each !== undefined && each.names.join() !== name);
    if (found !== undefined) suggestions.set(name, found);
  }
  return suggestions;
}

function whatIsThere(missing: Missing): AdviceText | undefined {
  const found = surest(WAYS, missing);
  return found === 'nothing' ? undefined : found;
}

/** The first element of the list of which the mapping makes one run each. */
function firstElement({ mapping }: Pick<Evaluation, 'mapping'>, request: HookRequest): JsonValue | undefined {
  const value = mapping?.forEach === undefined ? undefined : valueAt(request.payload, mapping.forEach.keys);
  return listOf({ request }, value)?.[0];
}

/** Variables of the condition of a mapping that were not sent. */
export function missingIn({ failed, nodes = [], parts = [] }: ConsideredMapping): readonly string[] {
  if (failed?.part !== 'when') return [];
  return [failed.node, ...nodes, ...parts].flatMap(({ missing }) => (missing === undefined ? [] : [missing]));
}

/** Paths of the request, each with its value for those who may read it; `how` says what to write. */
function pathsText(found: readonly NearPath[], how?: Sentence): AdviceText {
  const names = found.map(({ path }) => path);
  const values = found.map(({ path, value }) =>
    value === undefined ? path : `${path} (${shown(path.split('.'), value)})`,
  );
  const [value] = values;
  return {
    text: say`${names.join(' and ')}${how ?? ''}`,
    names,
    shown: say`${values.join(' and ')}${how ?? ''}`,
    ...(value === undefined || values.length > 1 || how !== undefined ? {} : { value }),
  };
}

const withoutRoot = (path: string): string => path.replace(/^(?:payload|item)\./, '');

function hasValue(path: string, { payload }: HookRequest): boolean {
  return (valueAt(payload, path.replace(/^payload\./, '').split('.')) ?? null) !== null;
}

function ofSplitKey({ path, places, request, element }: Missing): AdviceText | undefined {
  if (places.length === 0) return undefined;
  const keys = findSplitKey(path, { payload: request.payload, item: element?.body });
  return keys && { text: splitKeyInTemplate(keys), names: keys, paths: [templatePath(keys)] };
}

/** A name in a block of a template that its element has not, and the request has. It speaks of the name as it is written. */
function outsideOfBlock({ path, places, request, body, element }: Missing): AdviceText | undefined {
  const place = places.find(({ template, at }) =>
    openBlocks(template.source.text.slice(template.start, at.start)).some(({ helper }) =>
      /^(?:each|with)$/.test(helper),
    ),
  );
  const bare = path.replace(/^(?:(?:\.\.|this|@root)[./])+/, '');
  if (place === undefined || path.startsWith('@root.') || !/^[A-Za-z_][\w.[\]-]*$/.test(bare))
    return undefined;
  const keys = withDots(bare).split('.');
  const { payload, headers, query } = request;
  const roots: JsonValue = { payload, headers, query, ...(element && { item: element.body }) };
  const value = fieldAt(roots, keys) ?? fieldAt(payload, keys) ?? '';
  // What another element has is a field of the elements.
  const isOfElements = body.fields().some((field) => !outsideLists(field) && endsWith(field.keys, keys));
  if (value === '' || isOfElements) return undefined;
  const tag = place.expression.replace(path, () => `@root.${bare}`);
  return { text: say`${bare} outside of the block: ${todo}write {{${tag}}}`, names: [] };
}

const endsWith = (keys: readonly string[], end: readonly string[]): boolean =>
  end.every((key, at) => keys[keys.length - end.length + at] === key);

/** A field of nearly the name. */
function ofNearPath(missing: Missing): AdviceText | undefined {
  const near = nearPaths(missing);
  const [only] = near;
  if (only === undefined) return undefined;
  // Whatever stands before it: `alert.name` and `this.name` are `item.name`, too.
  const isOfElement =
    only.path.startsWith('item.') &&
    `.${missing.path}`.endsWith(only.path.slice('item'.length)) &&
    only.path !== missing.path;
  return isOfElement
    ? pathsText([only], say`: the element of forEach is item, so write {{${only.path}}}`)
    : pathsText(near);
}

/** Of the element, where that is as near as what the whole body has. */
function nearPaths({ path, request, body, list, element }: Missing): readonly NearPath[] {
  const own = element && (valueAt(element.body, path.split('.')) ?? null);
  if (own !== undefined && own !== null) return [{ path: `item.${path}`, value: own }];
  const inElement = element?.find(withDots(path.replace(/^item\./, '')).split('.')) ?? [];
  const [nearest] = inElement;
  const isOfItem = path.startsWith('item.');
  const costInBody = body.find(path.replace(/^payload\./, '').split('.'))[0]?.cost ?? Infinity;
  if (nearest !== undefined && (isOfItem || nearest.cost <= costInBody))
    return inElement.map(({ keys, value }) => ({ path: ['item', ...keys].join('.'), value }));
  return isOfItem ? [] : suggestPaths(path, request, body).map((each) => asElement(each, list));
}

/** A path that leads into the list of `forEach`, as one of its element. */
function asElement(near: NearPath, list: string | undefined): NearPath {
  const [first = '', ...rest] =
    list !== undefined && near.path.startsWith(`${list}.`) ? near.path.slice(list.length + 1).split('.') : [];
  return isIndex(first) ? { ...near, path: ['item', ...rest].join('.') } : near;
}

/** A text or number where the path goes on below it. */
function ofValueAbove({ path, places, body, element }: Missing): AdviceText | undefined {
  const root = path.startsWith('item.') ? element?.body : body.body;
  if (root === undefined || !places.some(({ expression }) => expression === path)) return undefined;
  const keys = withoutRoot(path).split('.');
  for (let end = keys.length - 1; end > 0; end -= 1) {
    const value = valueAt(root, keys.slice(0, end)) ?? null;
    if (value === null) continue;
    const above = `${path.startsWith('item.') ? 'item.' : ''}${keys.slice(0, end).join('.')}`;
    return typeof value === 'object' && !isNumeric(value) ? undefined : pathsText([{ path: above, value }]);
  }
  return undefined;
}
