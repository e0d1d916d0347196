/**
 * Finds what a request has in place of a path that found nothing, and where a text stands that a condition asked for.
 */
import { didYouMean } from '../../../base/document/document.ts';
import { isNumeric, valueAt, type JsonValue } from '../../../base/json.ts';
import type { HookRequest } from '../../../base/request.ts';
import { jsonTextOn } from '../../../engine/hook/facts.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import { isReserved } from '../../../engine/mapping/facts.ts';
import { type ConsideredMapping, listOf, withoutPayload } from '../../../engine/mapping/mapping.ts';
import {
  bodyPath,
  createBodyIndex,
  isIndex,
  outsideLists,
  type BodyIndex,
  type BodyPath,
} from './body-index.ts';
import type { FoundText, Suggestion } from './evaluation-advice.ts';
import { shownAs } from './shown-values.ts';

export type Suggestions = ReadonlyMap<string, Suggestion>;

const MAX_SUGGESTIONS = 50;
const MAX_PATHS = 5;

export function findSuggestions(
  { mapping, trace }: Evaluation,
  request: HookRequest,
  body: BodyIndex = createBodyIndex(request.payload),
): Suggestions {
  const list = mapping?.forEach && valueAt(request.payload, mapping.forEach.keys);
  const item = listOf({ request }, list)?.[0];
  const element = item === undefined ? undefined : createBodyIndex(item);
  const blocks = new Map<string, JsonValue | undefined>(
    trace.considered.flatMap(missingIn).map((name) => [name, undefined]),
  );
  for (const { expression, around } of trace.templates.flatMap(({ empty }) => empty))
    blocks.set(expression.trim(), around?.[0]);
  const suggestions = new Map<string, Suggestion>();
  for (const [expression, block] of blocks) {
    if (suggestions.size >= MAX_SUGGESTIONS) break;
    for (const path of pathsIn(expression)) {
      // A field that is a text has a note of its own, and a helper may have received what it cannot
      // print.
      const isOther = path !== expression && hasValue(path, request);
      if (isOther || jsonTextOn(path, { request, item }) !== undefined) continue;
      const near =
        block === undefined
          ? (inElement(path, element) ?? suggestPaths(path, request, body))
          : path.includes('.') && hasValue(path, request)
            ? [{ path: `@root.${path}` }]
            : asPaths(createBodyIndex(block).find(path.replace(/^this\./, '').split('.')));
      const fit = near.filter((each) => isFit(expression, each));
      if (fit.length === 0 || fit.map((each) => each.path).join() === path) continue;
      const shown = fit.map((each) =>
        each.value === undefined ? each.path : shownAs(each.path, each.value),
      );
      suggestions.set(expression, { names: fit.map((each) => each.path), shown: shown.join(' and ') });
      break;
    }
  }
  return suggestions;
}

export function missingIn({ failed, nodes = [], parts = [] }: ConsideredMapping): readonly string[] {
  if (failed?.part !== 'when') return [];
  return [failed.node, ...nodes, ...parts].flatMap(({ missing }) => missing ?? []);
}

/**
 * Returns the path that an expression is, or the paths that it gives to its helper or block. Paths within
 * texts are left out.
 */
export function pathsIn(expression: string): readonly string[] {
  const written = expression.trim();
  if (/^(?!\.\.\/)[\w.$[\]/?-]+$/.test(written)) return [written];
  const [, ...values] = written.replaceAll(/"[^"]*"|'[^']*'/g, '""').split(/[\s()=]+/);
  return values.filter((value) => /^[A-Za-z_][\w.[\]-]*$/.test(value)).slice(0, MAX_PATHS);
}

const hasValue = (path: string, { payload }: HookRequest): boolean =>
  (valueAt(payload, withoutPayload(path).split('.')) ?? null) !== null;

/** A block goes through a list or into an object, so no text is meant. */
const isFit = (expression: string, { value }: NearPath): boolean =>
  !/^#(?:each|with)\s/.test(expression) || (typeof value === 'object' && !isNumeric(value));

/** Returns the same path in the element of `forEach`, or one near to it; undefined where neither is there. */
function inElement(path: string, element: BodyIndex | undefined): readonly NearPath[] | undefined {
  if (element === undefined) return undefined;
  const value = valueAt(element.body, path.split('.')) ?? null;
  if (value !== null) return [{ path: `item.${path}`, value }];
  const found = element.find(withDots(path.replace(/^item\./, '')).split('.'));
  return found.length === 0 && !path.startsWith('item.') ? undefined : asPaths(found, 'item');
}

const asPaths = (found: readonly BodyPath[], ...before: readonly string[]): readonly NearPath[] =>
  found.map(({ keys, value }) => ({ path: [...before, ...keys].join('.'), value }));

export interface NearPath {
  readonly path: string;
  readonly value?: JsonValue;
}

export const withDots = (path: string): string =>
  path
    .replaceAll('?.', '.')
    .replaceAll(/\.?\[["']?([\w-]+)["']?\]/g, '.$1')
    .replace(/^\.(?=.)/, '');

const ROOTS: readonly string[] = ['payload', 'headers', 'query'];

/**
 * Finds what a variable that found nothing probably meant: a header or field of nearly that name, or the
 * same name elsewhere in the body. It returns two where both are as near.
 */
export function suggestPaths(
  missing: string,
  request: HookRequest,
  body: BodyIndex = createBodyIndex(request.payload),
): readonly NearPath[] {
  const dotted = withDots(missing);
  const [first = '', ...rest] = dotted.split('.');
  const own = isReserved(first) ? (valueAt(body.body, [first, ...rest]) ?? null) : null;
  if (own !== null) return [{ path: bodyPath([first, ...rest]), value: own }];
  const isRoot = ROOTS.includes(first);
  const keys = isRoot ? rest : [first, ...rest];
  if (first === 'headers' || first === 'query')
    return asPath(nearName(first, keys.join('.'), request), request);
  const outside = isRoot ? undefined : outsideBody(keys, request);
  if (outside !== undefined) return asPath(outside, request);
  // Brackets are for templates: a condition writes a position with a dot.
  const there = dotted === missing ? undefined : valueAt(body.body, keys);
  if (there !== undefined) return [{ path: bodyPath(keys, isRoot), value: there }];
  // The last element is another one in each request.
  const last = keys.findIndex((key) => /^(?:-\d+|last)$/.test(key));
  if (last > 0 && Array.isArray(valueAt(body.body, keys.slice(0, last)))) return [];
  const found = body.find(keys).filter(({ keys: to }) => keys.length > 1 || !to.some(isIndex));
  return found.map(({ keys: to, value }) => ({ path: bodyPath(to, isRoot), value }));
}

function asPath(path: string | undefined, { headers, query }: HookRequest): readonly NearPath[] {
  const value = path === undefined ? undefined : valueAt({ headers, query }, path.split('.'));
  return path === undefined ? [] : [value === undefined ? { path } : { path, value }];
}

/** The common beginning of all headers of a sender does not count as near. */
function nearName(root: 'headers' | 'query', name: string, request: HookRequest): string | undefined {
  const bare = (written: string): string => written.toLowerCase().replace(/^x-[a-z\d]+-/, '');
  const asked = bare(name);
  const near = Object.keys(request[root]).find((known) => {
    const other = bare(known);
    const isPart = other.length > 3 && (other.includes(asked) || asked.includes(other));
    return isPart || didYouMean(asked, [other]) !== undefined;
  });
  return near === undefined || near === name ? undefined : `${root}.${near}`;
}

/** A bare name is a field of the body. A query parameter or a header of that name has a root of its own. */
function outsideBody(keys: readonly string[], request: HookRequest): string | undefined {
  const name = keys.join('.');
  if (Object.hasOwn(request.query, name)) return `query.${name}`;
  const header = name.toLowerCase();
  // `date` and `from` are also names of fields.
  return header.includes('-') && Object.hasOwn(request.headers, header) ? `headers.${header}` : undefined;
}

const MAX_NAME_CHARS = 60;
const MAX_ENDING = 3;

/**
 * Finds a text that a condition asked for at another place of the request, or a text of the body that is
 * nearly so; the nearest to the root. `was` is what the condition found.
 */
export function findText(
  wanted: string,
  { body, request: { headers } }: { readonly body: BodyIndex; readonly request: HookRequest },
  was: JsonValue | undefined,
): FoundText | undefined {
  if (wanted.length < 3) return undefined;
  const texts = body
    .fields()
    .flatMap(({ keys, value }) =>
      typeof value === 'string' && outsideLists({ keys, value })
        ? [{ wanted, at: bodyPath(keys), text: value }]
        : [],
    );
  const header = Object.keys(headers).find((name) => headers[name] === wanted);
  return (
    texts.find(({ text }) => text === wanted) ??
    nameThatIsTrue(wanted, body) ??
    texts.find(({ text }) => text.length <= MAX_NAME_CHARS && text !== was && isAlike(wanted, text)) ??
    (header === undefined ? undefined : { wanted, at: `headers.${header}`, text: wanted })
  );
}

function nameThatIsTrue(wanted: string, body: BodyIndex): FoundText | undefined {
  const found = body
    .fields()
    .find((field) => field.value === true && field.keys.at(-1) === wanted && outsideLists(field));
  return found && { wanted, at: bodyPath(found.keys), text: wanted, isTrue: true };
}

/**
 * Texts such as `incident.trigger` and `incident.triggered` differ in a few letters, and one holds most of the other.
 */
function isAlike(wanted: string, text: string): boolean {
  if (text.length < 4 || wanted.length < 4) return false;
  const [a, b] = [wanted.toLowerCase(), text.toLowerCase()];
  const isBegun = Math.abs(a.length - b.length) <= MAX_ENDING && (a.startsWith(b) || b.startsWith(a));
  return isBegun || didYouMean(wanted, [text]) !== undefined;
}
