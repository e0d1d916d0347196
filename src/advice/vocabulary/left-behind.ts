/*
 * What stands in a block of OpenClaw beside the keys that are translated. A hint that has somebody replace the block
 * takes along what is written in words of ours, and names what has no counterpart: nothing is dropped in silence.
 */
import type { LocatedValue, Path } from '../../document/document.ts';
import { configSchema, type Move } from '../../config/facts.ts';
import { findSchemas, knownKeys, inWords, spelling } from '../../document/facts.ts';
import { isJsonObject } from '../../json.ts';

export interface LeftBehind {
  /** Keys that are the same here, where the block goes. */
  readonly kept: readonly Move[];
  /** Names, below the block, of those that are not known here. */
  readonly lost: readonly string[];
}

/** Keys whose value says there what is so here without a key. */
const NEEDLESS: readonly (readonly [key: RegExp, values: RegExp])[] = [
  [/^heartbeat\.target$/, /^(?:last|none)$/],
  [/^heartbeat\.activeHours\.timezone$/, /^(?:user|local)$/],
  [/^heartbeat\.session$/, /^main$/],
  [/^auth\.mode$/, /^(?:token|password)$/],
];

/** What the moves of a block do not cover. */
export function leftBehind(root: LocatedValue, path: Path, own: readonly Move[]): LeftBehind {
  const block = blockOf(path, own);
  const covered = (leaf: Path): boolean => own.some(({ from }) => startsWith(leaf, from));
  const rest = leavesOf(root.at(path).value, path).filter((leaf) => !covered(leaf));
  const kept: Move[] = [];
  const lost: string[] = [];
  for (const from of rest) {
    const name = from.slice(path.length - 1).join('.');
    const value = String(root.at(from).value);
    if (NEEDLESS.some(([key, values]) => key.test(name) && values.test(value))) continue;
    const to = sameHere([...block, ...from.slice(path.length)]);
    if (to === undefined) lost.push(from.slice(path.length).join('.'));
    else kept.push({ from, to });
  }
  return { kept, lost };
}

/** What is said of the names that are lost; empty where there are none. */
export function lostText(lost: readonly string[]): string {
  if (lost.length === 0) return '';
  const names = lost.slice(0, MAX_NAMED).map((name) => name.slice(0, 60));
  const more = lost.length > names.length ? [`${String(lost.length - names.length)} more`] : [];
  return `; ${inWords([...names, ...more])} ${lost.length === 1 ? 'has' : 'have'} no counterpart here`;
}

const MAX_NAMED = 6;

/** Where the block goes: where most of its keys go, of several the deepest. */
function blockOf(path: Path, own: readonly Move[]): Path {
  const blocks = own.map(({ from, to }) => to.slice(0, Math.max(0, to.length - (from.length - path.length))));
  return blocks.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** The place here of a key that is called the same, but for how it is spelt; what is wrong with its value is told there. */
function sameHere(path: Path): Path | undefined {
  const key = path.at(-1);
  const outer = path.slice(0, -1);
  const known = findSchemas(configSchema, outer).flatMap(knownKeys);
  const name =
    known.find((each) => each === key) ?? known.find((each) => spelling(each) === spelling(String(key)));
  return name === undefined ? undefined : [...outer, name];
}

/** Paths of the values that hold no other ones; lists are one value. */
function leavesOf(value: unknown, path: Path): readonly Path[] {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  return entries.length === 0 ? [path] : entries.flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

const startsWith = (path: Path, outer: Path): boolean => outer.every((step, index) => step === path[index]);
