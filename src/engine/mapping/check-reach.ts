/*
 * Mappings that are never taken, as an earlier one takes all their requests: it asks for the same or for less. A
 * condition asks for less where all its conjuncts are among those of the other; what follows from values is not looked
 * into.
 */
import { say } from '../../base/finding.ts';
import type { Finding } from '../../base/document/document.ts';
import type { MappingEntry } from './compile-options.ts';
import type { CompiledMapping } from './compiled-mapping.ts';
import { conjunctTexts } from './condition/conjuncts.ts';
import type { MappingFacts } from './finding-facts.ts';
import type { MappingCode } from './mapping-codes.ts';

/** Conjuncts of which all selections are looked up; of more, single ones and the whole. */
const MAX_SELECTED = 4;

/** Mappings that an earlier one always takes the requests of: its path, source and condition ask for no more. */
export function findUnreachable(
  mappings: readonly CompiledMapping[],
  entries: readonly MappingEntry[],
): readonly Finding[] {
  const seen = new Map<string, Asking>();
  const owned = pathsWithProof(mappings);
  return mappings.flatMap((mapping): readonly Finding[] => {
    const { path, source } = mapping.match;
    const entry = entries[mapping.order];
    const conjuncts = conjunctTexts(mapping.match.when?.rule);
    const wider = widerKeys(owned.has(path) ? [path] : [path, undefined], source, conjuncts);
    const [first] = wider
      .flatMap((key) => seen.get(key) ?? [])
      .toSorted((a, b) => a.mapping.order - b.mapping.order);
    const own: Asking = { mapping, conjuncts };
    const key = matchKey(path, source, conjuncts);
    if (mapping.continues !== true) seen.set(key, seen.get(key) ?? own);
    // A mapping of ours that stands before one of the file that it extends is meant to take its requests.
    const isReplaced = entry?.behaviours.toleratesMistakes && !first?.mapping.behaviours.toleratesMistakes;
    if (first === undefined || entry?.preset !== undefined || isReplaced) return [];
    return [describeUnreachable(own, first, entry)];
  });
}

/** A mapping, and what its condition asks for. */
interface Asking {
  readonly mapping: CompiledMapping;
  readonly conjuncts: readonly string[];
}

/** Such a path takes only mappings that name it. */
function pathsWithProof(mappings: readonly CompiledMapping[]): ReadonlySet<string | undefined> {
  return new Set(mappings.filter(({ settings }) => settings.verify).map(({ match }) => match.path));
}

function describeUnreachable(own: Asking, first: Asking, entry: MappingEntry | undefined): Finding {
  const { mapping } = own;
  const before = first.mapping;
  const { length } = first.conjuncts;
  // A part of a condition that another mapping has as well was accepted before this was looked into.
  const isPart = length > 0 && length < own.conjuncts.length;
  return {
    severity: entry?.behaviours.toleratesMistakes || isPart ? 'warning' : 'error',
    code: 'UNREACHABLE_MAPPING' satisfies MappingCode,
    message: say`the mapping "${mapping.id}" is never taken: "${before.id}" before it takes all its requests`,
    at: mapping.match.pathAt ?? mapping.at,
    labels: [{ at: before.match.pathAt ?? before.at, text: say`takes them first` }],
    facts: { mapping, before, isSame: isSame(own, first) } satisfies MappingFacts['UNREACHABLE_MAPPING'],
  };
}

/** Whether the two take the same requests: their order changes only which one is never taken. */
function isSame(one: Asking, other: Asking): boolean {
  const [a, b] = [one.mapping.match, other.mapping.match];
  const isSamePlace = a.path === b.path && a.source === b.source;
  return isSamePlace && one.conjuncts.length === other.conjuncts.length;
}

/** The keys of mappings that ask for no more: for one of the paths, the source or none, and a part of the condition. */
function widerKeys(
  paths: readonly (string | undefined)[],
  source: string | undefined,
  conjuncts: readonly string[],
): readonly string[] {
  const parts = partsOf(conjuncts);
  const sources = source === undefined ? [undefined] : [source, undefined];
  return paths.flatMap((path) =>
    sources.flatMap((eachSource) => parts.map((part) => matchKey(path, eachSource, part))),
  );
}

/** Selections of the conjuncts, each in their order. */
function partsOf(conjuncts: readonly string[]): readonly (readonly string[])[] {
  if (conjuncts.length > MAX_SELECTED) return [[], ...conjuncts.map((each) => [each]), conjuncts];
  return conjuncts.reduce<readonly (readonly string[])[]>(
    (parts, each) => [...parts, ...parts.map((part) => [...part, each])],
    [[]],
  );
}

function matchKey(
  path: string | undefined,
  source: string | undefined,
  conjuncts: readonly string[],
): string {
  return JSON.stringify([path ?? null, source ?? null, ...conjuncts]);
}
