import type {
  CompiledMapping,
  ConsideredMapping,
  PathSettings,
  RoutingTable,
  Scope,
} from '../compiled-mapping.ts';
import { formatPlace } from '../../../base/document/document.ts';
import { ownValue, type JsonValue } from '../../../base/json.ts';

/** Makes the table of enabled mappings, given in first-match order. */
export function createRoutingTable(
  mappings: readonly CompiledMapping[],
  disabled: readonly CompiledMapping[] = [],
): RoutingTable {
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
  const candidates = candidatesByName(mappings, isOwned);
  return {
    mappings,
    paths,
    disabled,
    canTake: (path) => takesAny || paths.has(path),
    settingsOf,
    isOwned,
    candidates,
    route: (scope) => matching(candidates(scope.request.path), scope).next().value ?? undefined,
    takers: (scope) => [...matching(candidates(scope.request.path), scope)],
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

/** Finds the mappings that may take a hook name, in first-match order: those that name it, and those that name none. */
function candidatesByName(
  mappings: readonly CompiledMapping[],
  isOwned: (path: string) => boolean,
): (path: string) => readonly CompiledMapping[] {
  const byName = Map.groupBy(mappings, ({ match }) => match.path);
  const ofAny = byName.get(undefined) ?? [];
  for (const [path, own] of byName) {
    // A mapping that takes any name may not rely on a proof that one path asks for.
    if (path === undefined || isOwned(path)) continue;
    byName.set(
      path,
      [...own, ...ofAny].toSorted((a, b) => a.order - b.order),
    );
  }
  return (path) => byName.get(path) ?? ofAny;
}

function* matching(candidates: Iterable<CompiledMapping>, scope: Scope): Generator<CompiledMapping> {
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
