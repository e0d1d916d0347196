import type {
  CompiledMapping,
  ConsideredMapping,
  PathSettings,
  RoutingTable,
  Scope,
  Equality,
} from '../compiled-mapping.ts';
import { formatPlace } from '../../../base/document/document.ts';
import { ownValue, type JsonValue } from '../../../base/json.ts';
import { canonicalPath, compileReader, type Reader } from '../scope.ts';

/** Makes the table of enabled mappings, given in first-match order. */
export function createRoutingTable(
  mappings: readonly CompiledMapping[],
  disabled: readonly CompiledMapping[] = [],
): RoutingTable {
  const index = buildIndex(mappings);
  const paths = new Set(mappings.flatMap(({ match }) => match.path ?? []));
  const takesAny = mappings.some(({ match }) => match.path === undefined);
  const settings = new Map<string, PathSettings>();
  for (const { match, settings: own, settingsAt } of mappings) {
    if (match.path === undefined) continue;
    const before = settings.get(match.path);
    const at = before?.otherwiseAt ?? (settingsAt?.otherwise && formatPlace(settingsAt.otherwise));
    settings.set(match.path, { ...before, ...own, ...(at === undefined ? {} : { otherwiseAt: at }) });
  }
  const settingsOf = (path: string): PathSettings => settings.get(path) ?? NO_SETTINGS;
  const isOwned = (path: string): boolean => settingsOf(path).verify !== undefined;
  const candidates = (scope: Scope): Iterable<CompiledMapping> => {
    const found = inOrder(findCandidates(index, scope));
    return isOwned(scope.request.path) ? namingTheirPath(found) : found;
  };
  return {
    mappings,
    paths,
    disabled,
    canTake: (path) => takesAny || paths.has(path),
    settingsOf,
    isOwned,
    candidates,
    route: (scope) => matching(candidates(scope), scope).next().value ?? undefined,
    takers: (scope) => [...matching(candidates(scope), scope)],
    explain: (scope) => explainAll(mappings, { scope, isOwned: isOwned(scope.request.path) }),
  };
}

/** The same table in which these mappings are out: they take their requests, and each is answered 503. */
export function withoutMappings(table: RoutingTable, out: ReadonlySet<CompiledMapping>): RoutingTable {
  return createRoutingTable(
    table.mappings.map((mapping) => {
      if (!out.has(mapping)) return mapping;
      const { transform: _left, ...rest } = mapping;
      return { ...rest, isOut: true };
    }),
    table.disabled,
  );
}

const NO_SETTINGS: PathSettings = {};

/** Mappings that take any name may not rely on a proof that one path asks for. */
function* namingTheirPath(mappings: Iterable<CompiledMapping>): Generator<CompiledMapping> {
  for (const mapping of mappings) if (mapping.match.path !== undefined) yield mapping;
}

/** The lists as one, by order. */
function* inOrder(lists: readonly (readonly CompiledMapping[])[]): Generator<CompiledMapping> {
  const [only = [], ...more] = lists;
  if (more.length === 0) yield* only;
  else yield* merge(lists);
}

/** Few lists, and usually the first candidate matches: a scan of their heads will do. */
function* merge(lists: readonly (readonly CompiledMapping[])[]): Generator<CompiledMapping> {
  const next = lists.map(() => 0);
  for (;;) {
    let first: { readonly mapping: CompiledMapping; readonly list: number } | undefined;
    for (const [list, candidates] of lists.entries()) {
      const mapping = candidates[next[list] ?? 0];
      if (mapping !== undefined && (first === undefined || mapping.order < first.mapping.order)) {
        first = { mapping, list };
      }
    }
    if (first === undefined) return;
    yield first.mapping;
    next[first.list] = (next[first.list] ?? 0) + 1;
  }
}

function* matching(candidates: Iterable<CompiledMapping>, scope: Scope): Generator<CompiledMapping> {
  for (const mapping of candidates) {
    if (!takesRequest(mapping, scope)) continue;
    yield mapping;
    if (mapping.continues !== true) return;
  }
}

/** Whether a mapping takes a request. */
export function takesRequest({ match }: CompiledMapping, scope: Scope): boolean {
  if (match.path !== undefined && match.path !== scope.request.path) return false;
  if (match.source !== undefined && match.source !== sourceOf(scope)) return false;
  return match.when === undefined || match.when.matches(scope);
}

function sourceOf(scope: Scope): JsonValue | undefined {
  return ownValue(scope.request.payload, 'source');
}

/** A request, and whether its path has a proof of its own. */
interface ExplainedRequest {
  readonly scope: Scope;
  readonly isOwned: boolean;
}

function* explainAll(
  mappings: readonly CompiledMapping[],
  explained: ExplainedRequest,
): Generator<ConsideredMapping> {
  for (const mapping of mappings) {
    const entry = consider(mapping, explained);
    yield entry;
    if (entry.matched && mapping.continues !== true) return;
  }
}

function consider(mapping: CompiledMapping, explained: ExplainedRequest): ConsideredMapping {
  const { path, source, when } = mapping.match;
  const { scope } = explained;
  const wrongPath = failedPath(mapping, explained);
  if (wrongPath !== undefined) return { mapping, matched: false, held: 0, failed: wrongPath };
  const heldPath = path === undefined ? 0 : 1;
  const wrongSource = failedSource(mapping, scope);
  if (wrongSource !== undefined) {
    const more = when === undefined ? 0 : when.trace(scope).failing.length;
    return { mapping, matched: false, held: heldPath, failed: wrongSource, failing: 1 + more };
  }
  const held = source === undefined ? heldPath : heldPath + 1;
  if (when === undefined) return { mapping, matched: true, held };
  const { matched, nodes, failed: node, held: conjuncts, failing: parts } = when.trace(scope);
  if (matched || node === undefined) return { mapping, matched, nodes, held: held + conjuncts };
  const failed = { part: 'when', at: node.at, node } as const;
  return {
    mapping,
    matched,
    nodes,
    held: held + conjuncts,
    failing: parts.length,
    parts,
    failed,
  };
}

function failedPath(
  { match }: CompiledMapping,
  { scope, isOwned }: ExplainedRequest,
): ConsideredMapping['failed'] {
  const { path, pathAt } = match;
  const found = scope.request.path;
  const isWrong = path === undefined ? isOwned : path !== found;
  if (!isWrong) return undefined;
  return { part: 'path', expected: path ?? 'a path without verify', found, ...(pathAt && { at: pathAt }) };
}

function failedSource({ match }: CompiledMapping, scope: Scope): ConsideredMapping['failed'] {
  const { source, sourceAt } = match;
  if (source === undefined) return undefined;
  const found = sourceOf(scope);
  if (found === source) return undefined;
  const at = sourceAt && { at: sourceAt };
  return { part: 'source', expected: source, ...at, ...(found !== undefined && { found }) };
}

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

type IndexNode =
  | { readonly kind: 'list'; readonly mappings: readonly CompiledMapping[] }
  | {
      readonly kind: 'ask';
      readonly read: Reader;
      readonly byText: ReadonlyMap<string, IndexNode>;
      /** Mappings whose `==` may be satisfied by a value that is no text. */
      readonly loose: readonly CompiledMapping[];
      readonly rest: IndexNode | undefined;
    };

interface IndexedMapping {
  readonly mapping: CompiledMapping;
  /** Equalities not asked for yet, by canonical variable. */
  readonly needs: ReadonlyMap<string, Equality>;
}

const PATH = canonicalPath(['path']);

/** Variables asked one after the other at most: each look-up reads all of them. */
const MAX_ASKED = 32;

function buildIndex(mappings: readonly CompiledMapping[]): IndexNode {
  return buildNode(
    mappings.map((mapping) => ({ mapping, needs: needsOf(mapping) })),
    0,
  );
}

/** All candidates for a request, as lists in first-match order each. */
function findCandidates(index: IndexNode, scope: Scope): readonly (readonly CompiledMapping[])[] {
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

function buildNode(entries: readonly IndexedMapping[], asked: number): IndexNode {
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
  readonly groups: Map<string, IndexedMapping[]>;
  readonly loose: CompiledMapping[];
  /** Mappings that do not name the variable. */
  readonly rest: IndexedMapping[];
}

function groupByNeed(entries: readonly IndexedMapping[], variable: string): Groups {
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
function pickVariable(entries: readonly IndexedMapping[]): string | undefined {
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
