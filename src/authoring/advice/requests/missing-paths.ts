/* What a request has in place of what found nothing: a variable of a condition, an expression of a template. */
import { say, write, type Sentence } from '../../../base/finding.ts';
import { type Evaluation } from '../../../engine/hook/hook.ts';
import { jsonTextOn } from '../../../engine/hook/facts.ts';
import { isNumeric, valueAt, type JsonValue } from '../../../base/json.ts';
import { type ConsideredMapping, listOf } from '../../../engine/mapping/mapping.ts';
import { canonicalPath, namesRead, templatePath } from '../../../engine/mapping/facts.ts';
import type { HookRequest } from '../../../base/request.ts';
import { createBodyIndex, isIndex, outsideLists, type BodyIndex } from './body-index.ts';
import { type AdviceText } from './evaluation-advice.ts';
import { shownAs } from './shown-values.ts';
import { suggestPaths, withDots, type NearPath } from './near-paths.ts';
import { findSplitKey } from './split-keys.ts';

/** By what found nothing. A text continues "the request has …"; its names are those of the request, ours left out. */
export type Suggestions = ReadonlyMap<string, AdviceText>;

/** Suggestions made at most for one request. */
const MAX_SUGGESTIONS = 50;
/** Places of one expression that are looked at. */
const MAX_PLACES = 20;

/** A path that found nothing, with all that is looked at for it. */
interface Missing {
  readonly path: string;
  /** The expression that reads it: the path alone, or with a helper, which may have been asked for what it cannot print. */
  readonly expression: string;
  readonly isOfTemplate: boolean;
  /** What names are read of in the blocks of the template around it, the innermost first. */
  readonly around: readonly JsonValue[];
  readonly request: HookRequest;
  readonly body: BodyIndex;
  /** What the mapping reads where no block is around it. */
  readonly readOutside: ReadonlySet<string>;
  /** The list of `forEach`, and its first element. */
  readonly list: string | undefined;
  readonly element: BodyIndex | undefined;
}

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
  for (const expression of new Set([...considered.flatMap(missingIn), ...byExpression.keys()])) {
    if (suggestions.size >= MAX_SUGGESTIONS) break;
    const paths = pathsIn(expression)
      // Such a field has a note of its own.
      .filter((path) => ofElements?.has(path) !== true && jsonTextOn(path, { request, item }) === undefined);
    const places = byExpression.get(expression)?.slice(0, MAX_PLACES) ?? [undefined];
    // One name may mean another thing in each block: then there is no word for all of them.
    const [found, ...others] = places.map((place) => {
      const where = { isOfTemplate: place !== undefined, around: place?.around ?? [] };
      const all = paths.map((path) => inPlaceOf({ ...looked, ...where, path, expression }));
      return all.find((each, at) => each !== undefined && each.names.join() !== paths[at]);
    });
    if (found !== undefined && others.every((each) => each?.names.join() === found.names.join()))
      suggestions.set(expression, found);
  }
  return suggestions;
}

/** What was meant by a path, the surest first. */
function inPlaceOf(missing: Missing): AdviceText | undefined {
  const { path, expression, around, request } = missing;
  const split = ofSplitKey(missing);
  if (split !== undefined) return split;
  if (around.length > 0) return inBlock(missing);
  const isOfHelper = path.includes('/') || (path !== expression && hasValue(path, request));
  return isOfHelper ? undefined : ofNearPath(missing);
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
  const values = found.map(({ path, value }) => (value === undefined ? path : shownAs(path, value)));
  const [value] = values;
  return {
    text: say`${names.join(' and ')}${how ?? ''}`,
    names,
    shown: say`${values.join(' and ')}${how ?? ''}`,
    ...(value === undefined || values.length > 1 || how !== undefined ? {} : { value }),
  };
}

function hasValue(path: string, { payload }: HookRequest): boolean {
  return (valueAt(payload, path.replace(/^payload\./, '').split('.')) ?? null) !== null;
}

function ofSplitKey({ path, isOfTemplate, around, request, element }: Missing): AdviceText | undefined {
  if (!isOfTemplate) return undefined;
  const [payload = request.payload] = around;
  const keys = findSplitKey(path, { payload, item: element?.body });
  if (keys === undefined) return undefined;
  const written = templatePath(keys);
  const text = say`it under one key whose name has dots or slashes in it: ${write(written)}`;
  return { text, names: keys, paths: [written] };
}

/**
 * A name in a block of a template, as it is to be written there: nearly so in what the block reads, or the same name
 * outside of it.
 */
function inBlock(missing: Missing): AdviceText | undefined {
  const { path, expression, around, request, body, element, readOutside } = missing;
  const [written = '', ups = '', bare = ''] = /^((?:\.\.\/)*)(?:(?:this|\.)[./])?(.+)$/.exec(path) ?? [];
  const [own] = around.slice(ups.length / '../'.length);
  if (own === undefined || written === '') return undefined;
  const keys = withDots(bare).split('.');
  const { payload, headers, query } = request;
  const roots: JsonValue = { payload, headers, query, ...(element && { item: element.body }) };
  const outside = valueAt(roots, keys) ?? valueAt(payload, keys) ?? null;
  // What another element has is a field of the elements; what is read outside as well is known to stand there.
  const isOfElements = body.fields().some((field) => !outsideLists(field) && endsWith(field.keys, keys));
  const isMeant = outside !== null && !isOfElements && !readOutside.has(canonicalPath(keys));
  const found: readonly NearPath[] = isMeant
    ? [{ path: `@root.${bare}`, value: outside }]
    : createBodyIndex(own)
        .find(keys)
        .map((each) => ({ path: `${ups}${each.keys.join('.')}`, value: each.value }));
  const fit = fitting(expression, found);
  return fit.length === 0 ? undefined : pathsText(fit);
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

/** A field of nearly the name; of the element of `forEach`, where that has one. */
function ofNearPath(missing: Missing): AdviceText | undefined {
  const { path, expression, request, body, list, element } = missing;
  const own = ofElement(path, element);
  const near = fitting(
    expression,
    own.length > 0 || path.startsWith('item.')
      ? own
      : suggestPaths(path, request, body).map((each) => asElement(each, list)),
  );
  const [only] = near;
  if (only === undefined) return undefined;
  // Whatever stands before it: `alert.name` and `this.name` are `item.name`, too.
  const isOfElement =
    only.path.startsWith('item.') &&
    only.path !== path &&
    `.${path}`.endsWith(only.path.slice('item'.length));
  return isOfElement
    ? pathsText([only], say`: the element of forEach is item, so write {{${only.path}}}`)
    : pathsText(near);
}

/** The very path in the element of `forEach`, or what is near to it there. */
function ofElement(path: string, element: BodyIndex | undefined): readonly NearPath[] {
  if (element === undefined) return [];
  const value = valueAt(element.body, path.split('.')) ?? null;
  if (value !== null) return [{ path: `item.${path}`, value }];
  const found = element.find(withDots(path.replace(/^item\./, '')).split('.'));
  return found.map((near) => ({ path: ['item', ...near.keys].join('.'), value: near.value }));
}

/** A path that leads into the list of `forEach`, as one of its element. */
function asElement(near: NearPath, list: string | undefined): NearPath {
  const [first = '', ...rest] =
    list !== undefined && near.path.startsWith(`${list}.`) ? near.path.slice(list.length + 1).split('.') : [];
  return isIndex(first) ? { ...near, path: ['item', ...rest].join('.') } : near;
}
