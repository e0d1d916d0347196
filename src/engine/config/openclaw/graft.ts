import { isDeepStrictEqual } from 'node:util';
import type { LocatedValue, Path } from '../../../base/document/document.ts';
import { isJsonObject, memberAt } from '../../../base/json.ts';

/** Says that the part at `to` of a value put together here was written at `source`, perhaps in another file. */
export interface Graft {
  readonly to: Path;
  readonly source: LocatedValue;
}

/**
 * A value put together from several places, each part with the place where it was written. The last graft whose path
 * leads to a part decides; what no graft covers has its place in `base`.
 */
export function grafted(
  value: unknown,
  grafts: readonly Graft[],
  base: LocatedValue,
  path: Path = [],
): LocatedValue {
  const origin = (inner: Path): Origin => originOf([...path, ...inner], grafts, base);
  const here = origin([]);
  return {
    value,
    path: [...here.source.path, ...here.path],
    place: (inner, what) => {
      const found = origin(inner);
      return found.source.place(found.path, what);
    },
    exact: (inner) => exactAt(memberAt(value, inner), origin(inner)),
    scalarOffset: (inner, offset) => {
      const found = origin(inner);
      return found.source.scalarOffset(found.path, offset);
    },
    at: (inner) => grafted(memberAt(value, inner), grafts, base, [...path, ...inner]),
  };
}

/** A value, what is put over it, and where that was written. */
interface Layers {
  readonly below: unknown;
  readonly above: unknown;
  readonly source: LocatedValue;
}

/**
 * Puts a value over another, and says where its parts were written: objects are merged key by key, lists follow each
 * other where that is asked for, anything else is replaced.
 */
export function putOver(
  grafts: Graft[],
  path: Path,
  { below, above, source }: Layers,
  joinsLists = false,
): unknown {
  if (isJsonObject(below) && isJsonObject(above)) {
    const merged: Record<string, unknown> = { ...below };
    for (const [key, value] of Object.entries(above)) {
      const layers = { below: merged[key], above: value, source: source.at([key]) };
      merged[key] = putOver(grafts, [...path, key], layers, joinsLists);
    }
    return merged;
  }
  if (joinsLists && Array.isArray(below) && Array.isArray(above)) {
    for (const index of above.keys())
      grafts.push({ to: [...path, below.length + index], source: source.at([index]) });
    return [...(below as readonly unknown[]), ...(above as readonly unknown[])];
  }
  grafts.push({ to: path, source });
  return above;
}

interface Origin {
  readonly source: LocatedValue;
  readonly path: Path;
}

function originOf(whole: Path, grafts: readonly Graft[], base: LocatedValue): Origin {
  const graft = grafts.findLast(({ to }) => to.every((step, index) => whole[index] === step));
  return graft === undefined
    ? { source: base, path: whole }
    : { source: graft.source, path: whole.slice(graft.to.length) };
}

/** Where a value was put in, such as one from the environment, the source's text is not it. */
function exactAt(value: unknown, { source, path }: Origin): unknown {
  return isDeepStrictEqual(source.at(path).value, value) ? source.exact(path) : value;
}

/** Sets a value at a path; nothing where a part on the way is no object, which the schema then reports. */
export function putAt(target: Record<string, unknown>, path: Path, value: unknown): void {
  let object = target;
  for (const step of path.slice(0, -1)) {
    const next = (object[String(step)] ??= {});
    if (typeof next !== 'object' || next === null) return;
    object = next as Record<string, unknown>;
  }
  object[String(path.at(-1))] = value;
}

/** The object at a path of a located value; undefined where it is something else. */
export function recordAt(located: LocatedValue, path: Path): Readonly<Record<string, unknown>> | undefined {
  const { value } = path.length === 0 ? located : located.at(path);
  return isJsonObject(value) ? value : undefined;
}

/** Port of their gateway where the file names none. */
export const THEIR_PORT = 18_789;

/** Where a part of an OpenClaw file goes in ours. */
export interface Move {
  readonly from: Path;
  readonly to: Path;
  /** Given where it is not the original's value. */
  readonly value?: unknown;
}

/** A part without a counterpart here, and what is lost by that: one short clause. */
export interface Loss {
  readonly path: Path;
  readonly lost: string;
}

export interface Moves {
  readonly moves: Move[];
  readonly lost: Loss[];
}

/** Moves a part that is written. Paths are written with dots; without `to` it keeps its own. */
export function moveWritten(original: LocatedValue, { moves }: Moves, from: string, to = from): void {
  const path = from.split('.');
  if (original.at(path).value !== undefined) moves.push({ from: path, to: to.split('.') });
}
