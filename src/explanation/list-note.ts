/* What to write in place of a `forEach` that reads no list. */
import { say, todo, write, type Sentence } from '../finding.ts';
import { didYouMean } from '../document/document.ts';
import { createBodyIndex, outsideLists } from '../advice/requests.ts';
import { isJsonObject, valueAt, type JsonValue } from '../json.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import { isReserved } from '../mapping/facts.ts';

/** Lists of a body that are named. */
const MAX_LISTS = 4;
/** Objects within each other that are looked through. */
const MAX_DEPTH = 4;

/** That `forEach` takes a list only, and which list this body has; the payload is undefined where it was not kept. */
export function noListText(forEach: Reads, payload: JsonValue | undefined): Sentence {
  return say`it takes a list only; ${whichList(forEach, payload)}`;
}

type Reads = Pick<NonNullable<CompiledMapping['forEach']>, 'text' | 'keys'>;

function whichList({ text, keys }: Reads, payload: JsonValue | undefined): Sentence {
  if (Array.isArray(payload))
    return say`the whole body is the list (of ${payload.length}): ${write('forEach: payload')}`;
  const body = payload !== undefined && isJsonObject(payload) ? payload : {};
  const found = valueAt(body, keys);
  const all = listsOf(body);
  const near = didYouMean(
    keys.at(-1) ?? '',
    all.map(({ path }) => path.at(-1) ?? ''),
  );
  const sure = [
    all.filter(({ path }) => path.length > keys.length && keys.every((key, at) => path[at] === key)),
    all.filter(({ path }) => path.at(-1) === near),
  ].find((each) => each.length > 0);
  // A list of texts is seldom what a run is made of.
  const lists = sure ?? all.filter(({ list }) => list.some((each) => isJsonObject(each)));
  const [meant, ...others] = lists.map(({ path }) => written(path));
  const left = say`take those requests by a mapping of their own, without forEach`;
  if (meant !== undefined && others.length === 0) {
    const only = say`${all.length === 1 ? 'the only list' : 'a list'} of this body is at ${meant}: ${write(`forEach: ${meant}`)}`;
    return sure === undefined && found === undefined
      ? say`${only}; if the sender leaves ${text} out at times, ${left}`
      : only;
  }
  if (meant !== undefined) {
    const some = [meant, ...others].slice(0, MAX_LISTS).join(', ');
    return say`this body has lists at ${some}: ${todo}name the one that is meant, such as forEach: ${meant}`;
  }
  const own = text.startsWith('payload') ? text : `payload.${text}`;
  const none = payload === undefined ? say`name a path that is a list` : say`this body has none of objects`;
  return isJsonObject(found)
    ? say`${none}; ${todo}for each value of an object, write a transform in its place: export default ({ payload }) => Object.entries(${own}).map(([key, value]) => ({ message: … }))`
    : say`${none}; where the sender leaves ${text} out at times, ${left}`;
}

interface FoundList {
  readonly path: readonly string[];
  readonly list: readonly JsonValue[];
}

function listsOf(body: JsonValue): readonly FoundList[] {
  const fields = createBodyIndex(body).fields().filter(outsideLists);
  return fields.flatMap(({ keys, value }) =>
    Array.isArray(value) && keys.length <= MAX_DEPTH
      ? [{ path: keys, list: value as readonly JsonValue[] }]
      : [],
  );
}

/** A name that means something else at the root is written below the body. */
const written = (path: readonly string[]): string =>
  (isReserved(path[0] ?? '') ? ['payload', ...path] : path).join('.');
