/**
 * The index that makes picking a mapping independent of their number.
 *
 * What a mapping needs to match is written as equalities between a variable and a text: its path, its source, and the
 * equality conjuncts of its condition. A node of the index asks for one variable (the path first, then whichever most
 * of its mappings name) and keeps its mappings by the text they need; those that do not name the variable go to
 * `rest`, which asks for the next one. So a look-up reads a few variables and ends at lists of candidates, each in
 * first-match order, whose own `matches` still decides. A condition that is not an equality costs its evaluation, as
 * it must.
 */
import type { JsonValue } from '../../../base/request.ts';
import type { CompiledMapping, Equality, Scope } from '../compiled-mapping.ts';
import { canonicalPath, compileReader, type Reader } from '../scope.ts';

export type IndexNode =
  | { readonly kind: 'list'; readonly mappings: readonly CompiledMapping[] }
  | {
      readonly kind: 'ask';
      readonly read: Reader;
      readonly byText: ReadonlyMap<string, IndexNode>;
      /** Those whose `==` a value that is no text may satisfy as well. */
      readonly loose: readonly CompiledMapping[];
      readonly rest: IndexNode | undefined;
    };

interface Entry {
  readonly mapping: CompiledMapping;
  /** Equalities not asked for yet, by canonical variable. */
  readonly needs: ReadonlyMap<string, Equality>;
}

const PATH = canonicalPath(['path']);

/** Variables asked one after the other at most: each look-up reads all of them. */
const MAX_ASKED = 32;

export function buildIndex(mappings: readonly CompiledMapping[]): IndexNode {
  return buildNode(
    mappings.map((mapping) => ({ mapping, needs: needsOf(mapping) })),
    0,
  );
}

/** All candidates for a request, as lists in first-match order each. */
export function findCandidates(index: IndexNode, scope: Scope): readonly (readonly CompiledMapping[])[] {
  const lists: (readonly CompiledMapping[])[] = [];
  collect(index, scope, lists);
  return lists;
}

function collect(index: IndexNode, scope: Scope, lists: (readonly CompiledMapping[])[]): void {
  for (let node: IndexNode | undefined = index; node !== undefined;) {
    if (node.kind === 'list') {
      if (node.mappings.length > 0) lists.push(node.mappings);
      return;
    }
    const value: JsonValue | undefined = node.read(scope);
    if (typeof value === 'string') {
      const found: IndexNode | undefined = node.byText.get(value);
      if (found !== undefined) collect(found, scope, lists);
    } else if (value !== undefined && node.loose.length > 0) lists.push(node.loose);
    node = node.rest;
  }
}

function needsOf({ match }: CompiledMapping): ReadonlyMap<string, Equality> {
  const needs = new Map<string, Equality>();
  const add = (equality: Equality): void => {
    const variable = canonicalPath(equality.keys);
    if (!needs.has(variable)) needs.set(variable, equality);
  };
  if (match.path !== undefined) add({ keys: ['path'], literal: match.path, strict: true });
  if (match.source !== undefined) add({ keys: ['payload', 'source'], literal: match.source, strict: true });
  for (const equality of match.when?.equalities ?? []) add(equality);
  return needs;
}

function buildNode(entries: readonly Entry[], asked: number): IndexNode {
  const variable = asked < MAX_ASKED ? pickVariable(entries) : undefined;
  if (variable === undefined) return { kind: 'list', mappings: entries.map(({ mapping }) => mapping) };
  const { keys, groups, loose, rest } = groupByNeed(entries, variable);
  return {
    kind: 'ask',
    read: compileReader(keys),
    byText: new Map([...groups].map(([text, group]) => [text, buildNode(group, asked + 1)])),
    loose,
    rest: rest.length === 0 ? undefined : buildNode(rest, asked + 1),
  };
}

interface Groups {
  /** The path of the variable. */
  keys: readonly string[];
  /** Entries by the text they need, which no longer need the variable. */
  readonly groups: Map<string, Entry[]>;
  readonly loose: CompiledMapping[];
  /** Those that do not name the variable. */
  readonly rest: Entry[];
}

function groupByNeed(entries: readonly Entry[], variable: string): Groups {
  const found: Groups = { keys: [], groups: new Map(), loose: [], rest: [] };
  for (const entry of entries) {
    const { mapping, needs } = entry;
    const need = needs.get(variable);
    if (need === undefined) {
      found.rest.push(entry);
      continue;
    }
    found.keys = need.keys;
    const left = new Map([...needs].filter(([name]) => name !== variable));
    const group = found.groups.get(need.literal);
    if (group === undefined) found.groups.set(need.literal, [{ mapping, needs: left }]);
    else group.push({ mapping, needs: left });
    if (!need.strict) found.loose.push(mapping);
  }
  return found;
}

/**
 * The path where it is named, else the variable that most entries name, the first of equals. A variable that only one
 * entry names is not worth asking for: its mapping can as well be tried.
 */
function pickVariable(entries: readonly Entry[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { needs } of entries) {
    for (const variable of needs.keys()) counts.set(variable, (counts.get(variable) ?? 0) + 1);
  }
  if (counts.has(PATH)) return PATH;
  let best: string | undefined;
  let most = 1;
  for (const [variable, count] of counts) {
    if (count > most) {
      best = variable;
      most = count;
    }
  }
  return best;
}
