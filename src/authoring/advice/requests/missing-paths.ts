/* What a request has in place of what found nothing: a variable of a condition, an expression of a template. */
import { say, type Sentence } from '../../../base/finding.ts';
import { surest, type Way } from '../rule.ts';
import { type Evaluation } from '../../../engine/hook/hook.ts';
import { jsonTextOn } from '../../../engine/hook/facts.ts';
import { isNumeric, valueAt, type JsonValue } from '../../../base/json.ts';
import { type ConsideredMapping, listOf } from '../../../engine/mapping/mapping.ts';
import { canonicalPath, namesRead, templatePath } from '../../../engine/mapping/facts.ts';
import type { HookRequest } from '../../../base/request.ts';
import { createBodyIndex, isIndex, outsideLists, type BodyIndex } from './body-index.ts';
import { type AdviceText } from './evaluation-advice.ts';
import { shown } from './field-list.ts';
import { withDots } from '../dialects/paths.ts';
import { suggestPaths, type NearPath } from './near-paths.ts';
import { findSplitKey, splitKeyInTemplate } from './split-keys.ts';

/** By what found nothing. A text continues "the request has …"; its names are those of the request, ours left out. */
export type Suggestions = ReadonlyMap<string, AdviceText>;

/** Suggestions made at most for one request. */
const MAX_SUGGESTIONS = 50;
/** Places of one expression that are looked at. */
const MAX_PLACES = 20;

/** Where something found nothing. */
interface EmptyPlace {
  readonly isOfTemplate: boolean;
  /** What names are read of in the blocks of the template around it, the innermost first. */
  readonly around: readonly JsonValue[];
}

/** A path that found nothing, with all that is looked at for it. */
interface Missing extends EmptyPlace {
  readonly path: string;
  /** The expression that reads it: the path alone, or with a helper, which may have been asked for what it cannot print. */
  readonly expression: string;
  readonly request: HookRequest;
  readonly body: BodyIndex;
  /** What the mapping reads where no block is around it. */
  readonly readOutside: ReadonlySet<string>;
  /** The list of `forEach`, and its first element. */
  readonly list: string | undefined;
  readonly element: BodyIndex | undefined;
}

/** What was meant, from what is certain to what is merely near. */
const WAYS: readonly Way<Missing, AdviceText | 'nothing'>[] = [
  { name: 'split-key', confidence: 'certain', find: ofSplitKey },
  { name: 'in-block', confidence: 'certain', find: inBlock },
  {
    name: 'of-helper',
    confidence: 'certain',
    find: ({ path, expression, request }) =>
      path.includes('/') || (path !== expression && hasValue(path, request)) ? 'nothing' : undefined,
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
  const empty = templates.flatMap((template) => template.empty);
  const byExpression = Map.groupBy(empty, ({ expression }) => expression.trim());
  const readOutside = pathsReadOutside(evaluation.mapping);
  const looked = { request, body, readOutside, list: evaluation.mapping?.forEach?.text, element };
  const suggestions = new Map<string, AdviceText>();
  // Each element of a forEach renders the same templates.
  for (const name of new Set([...considered.flatMap(missingIn), ...byExpression.keys()])) {
    if (suggestions.size >= MAX_SUGGESTIONS) break;
    const paths = pathsIn(name)
      // Such a field has a note of its own.
      .filter((path) => ofElements?.has(path) !== true && jsonTextOn(path, { request, item }) === undefined);
    const places = (byExpression.get(name) ?? [undefined])
      .slice(0, MAX_PLACES)
      .map((place): EmptyPlace => ({ isOfTemplate: place !== undefined, around: place?.around ?? [] }));
    // One name may mean another thing in each block: then there is no word for all of them.
    const [found, ...others] = places.map((place) => inPlaceOf(name, paths, { ...looked, ...place }));
    if (found !== undefined && others.every((each) => each?.names.join() === found.names.join()))
      suggestions.set(name, found);
  }
  return suggestions;
}

function inPlaceOf(
  expression: string,
  paths: readonly string[],
  looked: Omit<Missing, 'path' | 'expression'>,
): AdviceText | undefined {
  for (const path of paths) {
    const found = surest(WAYS, { ...looked, path, expression });
    if (found !== undefined && found !== 'nothing' && found.names.join() !== path) return found;
  }
  return undefined;
}

/** As `canonicalPath` writes them: by the condition, and by templates. */
function pathsReadOutside(mapping: Evaluation['mapping']): ReadonlySet<string> {
  const templates = [...(mapping?.templates.values() ?? [])];
  const { when } = mapping?.match ?? {};
  const names = when === undefined ? [] : namesRead(when.rule).map((name) => name.split('.'));
  return new Set([
    ...names.map((keys) => canonicalPath(keys)),
    ...templates.flatMap(({ readsAt = [] }) => readsAt.map(({ keys }) => canonicalPath(keys))),
  ]);
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

function ofSplitKey({ path, isOfTemplate, around, request, element }: Missing): AdviceText | undefined {
  if (!isOfTemplate) return undefined;
  const [payload = request.payload] = around;
  const keys = findSplitKey(path, { payload, item: element?.body });
  return keys && { text: splitKeyInTemplate(keys), names: keys, paths: [templatePath(keys)] };
}

/**
 * A name in a block of a template, as it is to be written there: nearly so in what the block reads, or the same name
 * outside of it.
 */
function inBlock({
  path,
  expression,
  around,
  request,
  body,
  element,
  readOutside,
}: Missing): AdviceText | 'nothing' | undefined {
  const [written = '', ups = '', bare = ''] = /^((?:\.\.\/)*)(?:(?:this|\.)[./])?(.+)$/.exec(path) ?? [];
  const frames = around.slice(ups.length / '../'.length);
  const [own] = frames;
  if (own === undefined) return around.length === 0 ? undefined : 'nothing';
  const keys = withDots(bare).split('.');
  const { payload, headers, query } = request;
  const roots: JsonValue = { payload, headers, query, ...(element && { item: element.body }) };
  const outside = valueAt(roots, keys) ?? valueAt(payload, keys) ?? null;
  const near = createBodyIndex(own)
    .find(keys)
    .map((each) => ({ path: `${ups}${each.keys.join('.')}`, value: each.value }));
  // What another element has is a field of the elements; what is read outside as well is known to stand there.
  const isOfElements = body.fields().some((field) => !outsideLists(field) && endsWith(field.keys, keys));
  const isMeant = outside !== null && !isOfElements && !readOutside.has(canonicalPath(keys));
  const found = !isMeant ? near : [{ path: `@root.${bare}`, value: outside }];
  const fit = fitting(expression, found);
  return written === '' || fit.length === 0 ? 'nothing' : pathsText(fit);
}

/** A block goes through a list or into an object: no text is meant. */
const fitting = (expression: string, found: readonly NearPath[]): readonly NearPath[] =>
  /^#(?:each|with)\s/.test(expression)
    ? found.filter(({ value }) => typeof value === 'object' && !isNumeric(value))
    : found;

/** The path that an expression is, or the paths that it gives to its helper or block; those of its text are left out. */
export function pathsIn(expression: string): readonly string[] {
  const written = expression.trim();
  if (/^(?:[\w.$[\]-]+|(?:\.\.\/){0,9}\w[\w.$[\]/-]*)$/.test(written)) return [written];
  const [, ...values] = written.replaceAll(/"[^"]*"|'[^']*'/g, '""').split(/[\s()=]+/);
  return values.filter((value) => /^[A-Za-z_][\w.[\]/-]*$/.test(value)).slice(0, MAX_PATHS);
}

/** Paths of one expression that are looked at. */
const MAX_PATHS = 5;

const endsWith = (keys: readonly string[], end: readonly string[]): boolean =>
  end.every((key, at) => keys[keys.length - end.length + at] === key);

/** A field of nearly the name. */
function ofNearPath(missing: Missing): AdviceText | undefined {
  const near = fitting(missing.expression, nearPaths(missing));
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
function ofValueAbove({ path, expression, isOfTemplate, body, element }: Missing): AdviceText | undefined {
  const root = path.startsWith('item.') ? element?.body : body.body;
  if (root === undefined || !isOfTemplate || expression !== path) return undefined;
  const keys = withoutRoot(path).split('.');
  for (let end = keys.length - 1; end > 0; end -= 1) {
    const value = valueAt(root, keys.slice(0, end)) ?? null;
    if (value === null) continue;
    const above = `${path.startsWith('item.') ? 'item.' : ''}${keys.slice(0, end).join('.')}`;
    return typeof value === 'object' && !isNumeric(value) ? undefined : pathsText([{ path: above, value }]);
  }
  return undefined;
}
