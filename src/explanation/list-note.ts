/* What to write in place of a `forEach` that reads no list. */
import { say, todo, write, type Sentence } from '../finding.ts';
import { createBodyIndex, outsideLists } from '../advice/requests.ts';
import { isJsonObject, type JsonValue } from '../json.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import { isReserved } from '../mapping/facts.ts';

/** Lists of a body that are named. */
const MAX_LISTS = 4;

type Reads = Pick<NonNullable<CompiledMapping['forEach']>, 'text' | 'keys'>;

/** That `forEach` takes a list only, and which list this body has; the payload is undefined where it was not kept. */
export function noListText({ text, keys }: Reads, payload: JsonValue | undefined): Sentence {
  const left = say`${todo}take requests without ${text}, if the sender leaves it out at times, by a mapping of their own, without forEach`;
  if (payload === undefined) return say`it takes a list only: ${todo}name a path that is a list; ${left}`;
  if (Array.isArray(payload))
    return say`it takes a list only; the whole body is the list (of ${payload.length}): ${write('forEach: payload')}`;
  const body = createBodyIndex(payload);
  const lists = body.fields().filter((field) => Array.isArray(field.value) && outsideLists(field));
  const isBelow = (path: readonly string[]): boolean => keys.every((key, at) => path[at] === key);
  // A list of texts is seldom what a run is made of.
  const [best = []] = [
    lists.filter((list) => isBelow(list.keys)),
    body.find(keys).filter(({ value }) => Array.isArray(value)),
    lists.filter(({ value }) => (value as readonly JsonValue[]).some(isJsonObject)),
  ].filter((each) => each.length > 0);
  const [first, ...others] = best.map((list) => written(list.keys));
  if (first === undefined) return say`it takes a list only, and this body has none of objects: ${left}`;
  return others.length === 0
    ? say`it takes a list only; this body has one at ${first}: ${write(`forEach: ${first}`)}; ${left}`
    : say`it takes a list only; this body has lists at ${[first, ...others].slice(0, MAX_LISTS).join(', ')}: ${todo}name one of them, such as forEach: ${first}`;
}

/** A name that means something else at the root is written below the body. */
const written = (path: readonly string[]): string =>
  (isReserved(path[0] ?? '') ? ['payload', ...path] : path).join('.');
