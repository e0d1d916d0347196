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
  const candidates = (scope: Scope): readonly CompiledMapping[] => {
    const found = findCandidates(index, scope);
    // Mappings that take any name may not rely on a proof that one path asks for.
    return isOwned(scope.request.path) ? found.filter(({ match }) => match.path !== undefined) : found;
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

function* matching(candidates: readonly CompiledMapping[], scope: Scope): Generator<CompiledMapping> {
  for (const mapping of candidates) {
    if (!takesRequest(mapping, scope)) continue;
    yield mapping;
    if (mapping.continues !== true) return;
  }
}

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
 * The index that makes picking a mapping nearly independent of their number. What a mapping needs to match is written as
 * equalities between a variable and a text: its path, its source, and the equality conjuncts of its condition. Each
 * mapping stands under the one that the fewest others need, too. A look-up reads each variable of the index once.
 */
interface MappingIndex {
  readonly variables: ReadonlyMap<string, IndexedVariable>;
  /** Mappings that need no text. */
  readonly others: CompiledMapping[];
}

interface IndexedVariable {
  readonly read: Reader;
  readonly byText: Map<string, CompiledMapping[]>;
  /** Mappings whose `==` may be satisfied by a value that is no text. */
  readonly loose: CompiledMapping[];
}

const MAX_VARIABLES = 32;

function buildIndex(mappings: readonly CompiledMapping[]): MappingIndex {
  const counts = new Map<string, number>();
  const countOf = (equality: Equality): number => counts.get(nameOf(equality)) ?? 0;
  for (const equality of mappings.flatMap(needsOf)) counts.set(nameOf(equality), countOf(equality) + 1);
  const variables = new Map<string, IndexedVariable>();
  const others: CompiledMapping[] = [];
  for (const mapping of mappings) {
    const [need] = needsOf(mapping).toSorted((a, b) => countOf(a) - countOf(b));
    const name = need && canonicalPath(need.keys);
    if (name === undefined || (variables.size === MAX_VARIABLES && !variables.has(name))) {
      others.push(mapping);
      continue;
    }
    const { keys, literal, strict } = need as Equality;
    const known = variables.get(name);
    const variable: IndexedVariable = known ?? { read: compileReader(keys), byText: new Map(), loose: [] };
    variables.set(name, variable);
    const group = variable.byText.get(literal);
    if (group === undefined) variable.byText.set(literal, [mapping]);
    else group.push(mapping);
    if (!strict) variable.loose.push(mapping);
  }
  return { variables, others };
}

const nameOf = ({ keys, literal }: Equality): string => `${canonicalPath(keys)} ${literal}`;

function needsOf({ match: { path, source, when } }: CompiledMapping): readonly Equality[] {
  const needs = [...(when?.equalities ?? [])];
  if (source !== undefined) needs.unshift({ keys: ['payload', 'source'], literal: source, strict: true });
  if (path !== undefined) needs.unshift({ keys: ['path'], literal: path, strict: true });
  return needs;
}

/** All candidates for a request, in first-match order. */
function findCandidates({ variables, others }: MappingIndex, scope: Scope): readonly CompiledMapping[] {
  const lists = others.length > 0 ? [others] : [];
  for (const { read, byText, loose } of variables.values()) {
    const value: JsonValue | undefined = read(scope);
    const found = typeof value === 'string' ? byText.get(value) : value === undefined ? undefined : loose;
    if (found !== undefined && found.length > 0) lists.push(found);
  }
  const [only = []] = lists;
  return lists.length <= 1 ? only : lists.flat().toSorted((a, b) => a.order - b.order);
}
