import { say, type Subject, quoted } from '../finding.ts';
import type { Place, Finding } from '../document/document.ts';
import type { TransformRef } from '../sandbox/sandbox.ts';
import { compileMapping, outOf, type MappingResult } from './compile-mapping.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import type { MappingCode } from './mapping-codes.ts';
import type { CompiledMapping, RoutingTable, PathSettings } from './compiled-mapping.ts';
import { createRoutingTable } from './routing/routing-table.ts';
import { findCoverageGaps } from '../verify/verify.ts';
import type { MappingFacts } from './finding-facts.ts';
import type { PathKey } from './path-settings-schema.ts';
import { PATH_KEYS } from './path-settings.ts';
import { conjunctTexts } from './condition/conjuncts.ts';

/** All mappings: those that are enabled as they are compiled, and all as they stand in their files. */
export interface MappingsSubject extends Subject {
  readonly kind: 'mappings';
  readonly enabled: readonly CompiledMapping[];
  readonly entries: readonly MappingEntry[];
}

export interface CompiledMappings {
  /** Absent where any finding is an error that is not contained. */
  readonly table?: RoutingTable;
  readonly diagnostics: readonly Finding[];
  /** What advice may look at. */
  readonly subjects: readonly Subject[];
  /**
   * Errors with which the service runs: those of mappings of an OpenClaw file, which take only their own mapping out,
   * and proofs that do not cover what is used.
   */
  readonly contained: ReadonlySet<Finding>;
  /** Of all enabled mappings, in their order. */
  readonly transforms: readonly TransformRef[];
}

/** Checks and compiles mappings given in first-match order: all findings of all mappings at once. */
export function compileMappings(entries: readonly MappingEntry[], options: CompileOptions): CompiledMappings {
  const results = entries.map((entry, order) => compileMapping(entry, { options, order }));
  const duplicates = findDuplicates(results);
  const enabled = results.flatMap(({ mapping, out, enabled: isOn }, index) => {
    const entry = entries[index];
    const isLater = duplicates.some(({ order }) => order === index);
    const used =
      isLater && mapping !== undefined && entry !== undefined ? outOf(entry, mapping).out : (mapping ?? out);
    return used === undefined || !isOn ? [] : [used];
  });
  const disabled = results.flatMap(({ mapping, enabled: isOn }) =>
    mapping === undefined || isOn ? [] : [mapping],
  );
  const proofs = findProofGaps(enabled);
  const diagnostics = [
    ...results.flatMap((result) => result.diagnostics),
    ...duplicates.map(({ diagnostic }) => diagnostic),
    ...findPathSettings(enabled),
    ...proofs.diagnostics,
    ...findSharedConversations(enabled),
    ...findUnreachable(enabled, entries),
  ];
  const contained = new Set([
    ...proofs.contained,
    ...results.flatMap((result) => (result.out === undefined ? [] : result.diagnostics)),
    ...duplicates.flatMap(({ order, diagnostic }) =>
      entries[order]?.dialect === 'openclaw' ? [diagnostic] : [],
    ),
  ]);
  const isUsable =
    results.every(isTaken) &&
    !diagnostics.some((diagnostic) => diagnostic.severity === 'error' && !contained.has(diagnostic));
  const all: MappingsSubject = { kind: 'mappings', enabled, entries };
  return {
    diagnostics,
    subjects: [...results.flatMap(({ subjects }) => subjects), all],
    contained,
    transforms: enabled.flatMap(({ transform }) => (transform === undefined ? [] : [transform])),
    ...(isUsable ? { table: createRoutingTable(enabled, disabled) } : {}),
  };
}

/** Whether its requests get an answer of its own. */
function isTaken({ mapping, out }: MappingResult): boolean {
  return mapping !== undefined || out !== undefined;
}

interface Duplicate {
  /** 0-based position of the later one. */
  readonly order: number;
  readonly diagnostic: Finding;
}

function findDuplicates(results: readonly MappingResult[]): readonly Duplicate[] {
  const seen = new Map<string, Place>();
  return results.flatMap(({ id, idAt }, order): readonly Duplicate[] => {
    if (id === undefined || idAt === undefined) return [];
    const first = seen.get(id);
    seen.set(id, first ?? idAt);
    if (first === undefined) return [];
    const diagnostic = {
      severity: 'error',
      code: 'DUPLICATE_MAPPING_ID' satisfies MappingCode,
      message: say`two mappings have the id "${id}"`,
      at: idAt,
      labels: [{ at: first, text: say`the first one` }],
    } as const;
    return [{ order, diagnostic }];
  });
}

/** An OpenClaw file knows no owners: its mappings share their conversations, as they do there. */
function findSharedConversations(mappings: readonly CompiledMapping[]): readonly Finding[] {
  const keys = mappings.flatMap(({ owner, sessionKey }) =>
    owner === 'mappings' && sessionKey !== undefined ? [sessionKey] : [],
  );
  const [first, ...others] = keys;
  if (first === undefined || others.length === 0) return [];
  return [
    {
      severity: 'warning',
      code: 'OPENCLAW_SHARED_CONVERSATIONS' satisfies MappingCode,
      message: say`the ${keys.length} mappings of this file that set a sessionKey share their conversations: under equal keys each reads what the others wrote`,
      at: first.at,
      labels: others.slice(0, 3).map(({ at }) => ({ at, text: say`this one, too` })),
    },
  ];
}

/** Proofs that do not cover what their path uses of a request, at the `verify` that is written first. */
function findProofGaps(mappings: readonly CompiledMapping[]): {
  readonly diagnostics: readonly Finding[];
  /** Those with which a service ran: it starts with them, and says so. */
  readonly contained: readonly Finding[];
} {
  const seen = new Set<string>();
  const diagnostics: Finding[] = [];
  const contained: Finding[] = [];
  for (const { match, settings, settingsAt } of mappings) {
    const { verify } = settings;
    const at = settingsAt?.verify;
    if (match.path === undefined || verify === undefined || at === undefined || seen.has(match.path))
      continue;
    seen.add(match.path);
    const all = mappings.filter((each) => each.match.path === match.path).map((each) => each.settings);
    const method = all.find((each) => each.method !== undefined)?.method;
    const bodyFormat = all.find((each) => each.bodyFormat !== undefined)?.bodyFormat;
    for (const { message, hint, isFatal } of findCoverageGaps(verify, { method, bodyFormat })) {
      const code = 'PROOF_NOT_COVERING' satisfies MappingCode;
      const found: Finding = { severity: 'error', code, message: quoted(message), at, hint: quoted(hint) };
      diagnostics.push(found);
      if (isFatal !== true) contained.push(found);
    }
  }
  return { diagnostics, contained };
}

function findPathSettings(mappings: readonly CompiledMapping[]): readonly Finding[] {
  const first = new Map<string, CompiledMapping>();
  return mappings.flatMap((mapping) =>
    PATH_KEYS.flatMap((key): readonly Finding[] => {
      const at = mapping.settingsAt?.[key];
      const { path } = mapping.match;
      if (at === undefined) return [];
      if (path === undefined) return [withoutPath(key, at)];
      const slot = `${path} ${key}`;
      const before = first.get(slot);
      first.set(slot, before ?? mapping);
      const beforeAt = before?.settingsAt?.[key];
      if (before === undefined || beforeAt === undefined || isSame(before.settings, mapping.settings, key))
        return [];
      return [differing({ key, path, values: [before, mapping], mappings }, at, beforeAt)];
    }),
  );
}

function withoutPath(key: PathKey, at: Place): Finding {
  return {
    severity: 'error',
    code: 'PATH_SETTINGS_WITHOUT_PATH' satisfies MappingCode,
    message: say`${key} is applied before a mapping is chosen, so the mapping needs match.path`,
    at,
    facts: { key } satisfies MappingFacts['PATH_SETTINGS_WITHOUT_PATH'],
  };
}

function isSame(a: PathSettings, b: PathSettings, key: PathKey): boolean {
  return JSON.stringify(a[key]) === JSON.stringify(b[key]);
}

function differing(facts: MappingFacts['PATH_SETTINGS_DIFFER'], at: Place, before: Place): Finding {
  const { key, path, values } = facts;
  const [was, is] = values.map(({ settings }) => settings[key]);
  const isPlain = typeof is !== 'object' && typeof was !== 'object';
  return {
    severity: 'error',
    code: 'PATH_SETTINGS_DIFFER' satisfies MappingCode,
    message: say`the mappings of the path "${path}" must not differ in ${key}${isPlain ? `, found ${String(is)} and ${String(was)}` : ''}`,
    at,
    labels: [{ at: before, text: say`set here first` }],
    facts,
  };
}

/** Conjuncts of which all selections are looked up; of more, single ones and the whole. */
const MAX_SELECTED = 4;

/**
 * Mappings that are never taken, as an earlier one takes all their requests: its path, source and condition ask for the
 * same or for less. A condition asks for less where all its conjuncts are among those of the other; what follows from
 * values is not looked into.
 */
function findUnreachable(
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
    if (first === undefined || entry?.preset !== undefined) return [];
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
    severity: entry?.dialect === 'openclaw' || isPart ? 'warning' : 'error',
    code: 'UNREACHABLE_MAPPING' satisfies MappingCode,
    message: say`the mapping "${mapping.id}" is never taken: "${before.id}" before it takes all its requests`,
    at: mapping.match.pathAt ?? mapping.at,
    labels: [{ at: before.match.pathAt ?? before.at, text: say`takes them first` }],
    facts: { mapping, before, isSame: asksTheSame(own, first) } satisfies MappingFacts['UNREACHABLE_MAPPING'],
  };
}

/** Whether the two take the same requests: their order changes only which one is never taken. */
function asksTheSame(one: Asking, other: Asking): boolean {
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
