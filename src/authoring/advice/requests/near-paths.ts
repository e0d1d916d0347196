/* What may have been meant by a path that found nothing, and where a text stands, among what a request has. */
import type { FoundText } from './evaluation-advice.ts';
import { didYouMean } from '../../../base/document/document.ts';
import { valueAt, type JsonValue } from '../../../base/json.ts';
import type { HookRequest } from '../../../base/request.ts';
import { bodyPath, createBodyIndex, isIndex, outsideLists, type BodyIndex } from './body-index.ts';

/** A path that may have been meant, as it is written, with its value. */
export interface NearPath {
  readonly path: string;
  readonly value?: JsonValue;
}

/** `alerts[0].status` and `form['name']` with a dot before each step. */
export const withDots = (path: string): string =>
  path.replaceAll(/\.?\[["']?([\w-]+)["']?\]/g, '.$1').replace(/^\.(?=.)/, '');

const ROOTS: readonly string[] = ['payload', 'headers', 'query'];

/**
 * What a variable that found nothing probably meant, among what the request has: a header or field of nearly that name,
 * or the same name elsewhere in the body. Two where both are as near.
 */
export function suggestPaths(
  missing: string,
  request: HookRequest,
  body: BodyIndex = createBodyIndex(request.payload),
): readonly NearPath[] {
  const dotted = withDots(missing);
  const [first = '', ...rest] = dotted.split('.');
  const isRoot = ROOTS.includes(first);
  const keys = isRoot ? rest : [first, ...rest];
  if (first === 'headers' || first === 'query')
    return asPath(nearName(first, keys.join('.'), request), request);
  const outside = isRoot ? undefined : outsideBody(keys, request);
  if (outside !== undefined) return asPath(outside, request);
  // Brackets are for templates: a condition writes a position with a dot.
  const there = dotted === missing ? undefined : valueAt(body.body, keys);
  if (there !== undefined) return [{ path: bodyPath(keys, isRoot), value: there }];
  const found = body.find(keys).filter(({ keys: to }) => keys.length > 1 || !to.some(isIndex));
  return found.map(({ keys: to, value }) => ({ path: bodyPath(to, isRoot), value }));
}

function asPath(path: string | undefined, { headers, query }: HookRequest): readonly NearPath[] {
  const value = path === undefined ? undefined : valueAt({ headers, query }, path.split('.'));
  return path === undefined ? [] : [value === undefined ? { path } : { path, value }];
}

/** A header or parameter whose name is near; what all headers of a sender begin with does not count. */
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

/** A bare name is a field of the body: a parameter of the address and a header of the very name have roots of their own. */
function outsideBody(keys: readonly string[], request: HookRequest): string | undefined {
  const name = keys.join('.');
  if (Object.hasOwn(request.query, name)) return `query.${name}`;
  const header = name.toLowerCase();
  // `date` and `from` are names of fields as well.
  return header.includes('-') && Object.hasOwn(request.headers, header) ? `headers.${header}` : undefined;
}

/** Longer texts are no names of events. */
const MAX_NAME_CHARS = 60;
/** Letters of an ending, as in `triggered`: what goes on for longer is another word. */
const MAX_ENDING = 3;

/**
 * Where in the request a text stands that a condition asked for at another place, or in the body one that is nearly so; the
 * nearest to the root. `was` is what the condition found.
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

/** `merged` of a condition on the action, where `pull_request.merged` is true. */
function nameThatIsTrue(wanted: string, body: BodyIndex): FoundText | undefined {
  const found = body
    .fields()
    .find((field) => field.value === true && field.keys.at(-1) === wanted && outsideLists(field));
  return found && { wanted, at: bodyPath(found.keys), text: wanted, isTrue: true };
}

/** `incident.trigger` and `incident.triggered`: at most a few letters are different, and one holds most of the other. */
function isAlike(wanted: string, text: string): boolean {
  if (text.length < 4 || wanted.length < 4) return false;
  const [a, b] = [wanted.toLowerCase(), text.toLowerCase()];
  const isBegun = Math.abs(a.length - b.length) <= MAX_ENDING && (a.startsWith(b) || b.startsWith(a));
  return isBegun || didYouMean(wanted, [text]) !== undefined;
}
