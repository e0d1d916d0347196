import { say, type Subject, quoted } from '../../base/finding.ts';
import { findingAt, type Path, type Place, type Finding } from '../../base/document/document.ts';
import type { TransformRef } from '../sandbox/sandbox.ts';
import { compileMapping, outOf, type MappingResult } from './compile-mapping.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import type { CompiledMapping, RoutingTable } from './compiled-mapping.ts';
import { hookName } from './keys/routing-keys.ts';
import { createRoutingTable } from './routing/routing-table.ts';
import { findCoverageGaps } from '../verify/verify.ts';
import { PATH_KEYS, type PathKey } from './mapping-schema.ts';
import { conjunctTexts } from './condition/condition-check.ts';

/** All mappings: those that are enabled as they are compiled, and all as they stand in their files. */
export interface MappingsSubject extends Subject {
  readonly kind: 'mappings';
  readonly enabled: readonly CompiledMapping[];
  readonly entries: readonly MappingEntry[];
}

export interface CompiledMappings {
  /** Absent where any finding is an error that is not contained. */
  readonly table?: RoutingTable;
  readonly findings: readonly Finding[];
  /** What advice may look at. */
  readonly subjects: readonly Subject[];
  /** Errors with which the service runs: those of mappings of an OpenClaw file, which take only their own mapping out. */
  readonly contained: ReadonlySet<Finding>;
  /** Transforms of all enabled mappings, in their order. */
  readonly transforms: readonly TransformRef[];
}

/** Checks and compiles mappings given in first-match order: all findings of all mappings at once. */
export function compileMappings(entries: readonly MappingEntry[], given: CompileOptions): CompiledMappings {
  const [schemes, tokens] = [byPath(entries, ['verify', 'scheme']), byPath(entries, ['recover', 'token'])];
  const options = { ...given, schemes, askedPaths: new Set(tokens.keys()) };
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
  const findings = [
    ...results.flatMap((result) => result.findings),
    ...duplicates.map(({ finding }) => finding),
    ...findPathSettings(enabled),
    ...findProofGaps(enabled),
    ...findSharedConversations(enabled),
    ...findUnreachable(enabled, entries),
  ];
  const contained = new Set([
    ...results.flatMap((result) => (result.out === undefined ? [] : result.findings)),
    ...duplicates.flatMap(({ order, finding }) =>
      entries[order]?.behaviours.toleratesMistakes ? [finding] : [],
    ),
  ]);
  const isUsable =
    results.every(isTaken) &&
    !findings.some((finding) => finding.severity === 'error' && !contained.has(finding));
  const all: MappingsSubject = { kind: 'mappings', enabled, entries };
  return {
    findings,
    subjects: [...results.flatMap(({ subjects }) => subjects), all],
    contained,
    transforms: enabled.flatMap(({ transform }) => (transform === undefined ? [] : [transform])),
    ...(isUsable ? { table: createRoutingTable(enabled, disabled) } : {}),
  };
}

/** What is written of each path, which one of its mappings says for all. */
function byPath(entries: readonly MappingEntry[], key: Path): ReadonlyMap<string, unknown> {
  return new Map(
    entries.flatMap(({ value }): readonly (readonly [string, unknown])[] => {
      const { value: path } = value.at(['match', 'path']);
      const { value: written } = value.at(key);
      return typeof path === 'string' && written !== undefined ? [[hookName(path), written]] : [];
    }),
  );
}

/** Whether its requests get an answer of its own. */
function isTaken({ mapping, out }: MappingResult): boolean {
  return mapping !== undefined || out !== undefined;
}

interface Duplicate {
  /** 0-based position of the later one. */
  readonly order: number;
  readonly finding: Finding;
}

function findDuplicates(results: readonly MappingResult[]): readonly Duplicate[] {
  const seen = new Map<string, Place>();
  return results.flatMap(({ id, idAt }, order): readonly Duplicate[] => {
    if (id === undefined || idAt === undefined) return [];
    const first = seen.get(id);
    seen.set(id, first ?? idAt);
    if (first === undefined) return [];
    const labels = [{ at: first, text: say`the first one` }];
    const message = say`two mappings have the id "${id}"`;
    const finding = findingAt(idAt, { code: 'DUPLICATE_MAPPING_ID', message, labels });
    return [{ order, finding }];
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
    findingAt(first.at, {
      severity: 'warning',
      code: 'OPENCLAW_SHARED_CONVERSATIONS',
      message: say`the ${keys.length} mappings of this file that set a sessionKey share their conversations: under equal keys each reads what the others wrote`,
      labels: others.slice(0, 3).map(({ at }) => ({ at, text: say`this one, too` })),
    }),
  ];
}

/** Proofs that do not cover what their path uses of a request, at the `verify` that is written first. */
function findProofGaps(mappings: readonly CompiledMapping[]): readonly Finding[] {
  const seen = new Set<string>();
  return mappings.flatMap(({ match, settings: { verify }, settingsAt }): readonly Finding[] => {
    const at = settingsAt?.verify;
    if (match.path === undefined || verify === undefined || at === undefined || seen.has(match.path))
      return [];
    seen.add(match.path);
    const all = mappings.filter((each) => each.match.path === match.path).map((each) => each.settings);
    const method = all.find((each) => each.method !== undefined)?.method;
    const bodyFormat = all.find((each) => each.bodyFormat !== undefined)?.bodyFormat;
    const reason = 'acceptUncovered' in verify.settings ? verify.settings.acceptUncovered : undefined;
    return findCoverageGaps(verify, { method, bodyFormat }).map(({ message, hint }) =>
      findingAt(at, {
        severity: reason === undefined ? 'error' : 'warning',
        code: 'PROOF_NOT_COVERING',
        isOfSafety: true,
        message: reason === undefined ? quoted(message) : say`${message} (accepted: ${reason})`,
        hint:
          reason === undefined
            ? say`${hint}; or write the line acceptUncovered: 'REASON' in verify, with why this will do, and it is a warning`
            : quoted(hint),
      }),
    );
  });
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
      if (before === undefined || beforeAt === undefined) return [];
      const [was, is] = [before.settings[key], mapping.settings[key]];
      if (JSON.stringify(was) === JSON.stringify(is)) return [];
      const isPlain = typeof is !== 'object' && typeof was !== 'object';
      return [
        findingAt(at, {
          code: 'PATH_SETTINGS_DIFFER',
          message: say`the mappings of the path "${path}" must not differ in ${key}${isPlain ? `, found ${String(is)} and ${String(was)}` : ''}`,
          labels: [{ at: beforeAt, text: say`set here first` }],
          facts: { key, path, values: [before, mapping] },
        }),
      ];
    }),
  );
}

const withoutPath = (key: PathKey, at: Place): Finding =>
  findingAt(at, {
    code: 'PATH_SETTINGS_WITHOUT_PATH',
    message: say`${key} is applied before a mapping is chosen, so the mapping needs match.path`,
    facts: { key },
  });

interface MappingConjuncts {
  readonly mapping: CompiledMapping;
  readonly conjuncts: readonly string[];
}

/**
 * Mappings that an earlier one always takes the requests of: its path, source and condition ask for no more. A condition
 * asks for less where all its conjuncts are among those of the other; what follows from values is not looked into.
 */
function findUnreachable(
  mappings: readonly CompiledMapping[],
  entries: readonly MappingEntry[],
): readonly Finding[] {
  // By path, source and the first conjunct: what asks for no more has its first among those of the other.
  const seen = new Map<string, MappingConjuncts[]>();
  // Such a path takes only mappings that name it.
  const owned = new Set(mappings.filter(({ settings }) => settings.verify).map(({ match }) => match.path));
  return mappings.flatMap((mapping): readonly Finding[] => {
    const { path, source, when } = mapping.match;
    const entry = entries[mapping.order];
    const conjuncts = conjunctTexts(when?.rule);
    const slot = (...parts: readonly (string | undefined)[]): string => JSON.stringify(parts);
    const paths = new Set(owned.has(path) ? [path] : [path, undefined]);
    const wider = [...paths].flatMap((one) =>
      [...new Set([source, undefined])].flatMap((other) =>
        [undefined, ...conjuncts].flatMap((each) => seen.get(slot(one, other, each)) ?? []),
      ),
    );
    const [first] = wider
      .filter((before) => before.conjuncts.every((each) => conjuncts.includes(each)))
      .toSorted((a, b) => a.mapping.order - b.mapping.order);
    const key = slot(path, source, conjuncts[0]);
    const asking = seen.get(key) ?? [];
    if (mapping.continues !== true) seen.set(key, asking);
    if (mapping.continues !== true) asking.push({ mapping, conjuncts });
    // A mapping of ours that stands before one of the file that it extends is meant to take its requests.
    const isReplaced = entry?.behaviours.toleratesMistakes && !first?.mapping.behaviours.toleratesMistakes;
    if (first === undefined || entry?.preset !== undefined || isReplaced) return [];
    return [describeUnreachable({ mapping, conjuncts }, first, entry)];
  });
}

function describeUnreachable(
  { mapping, conjuncts }: MappingConjuncts,
  { mapping: before, conjuncts: { length } }: MappingConjuncts,
  entry: MappingEntry | undefined,
): Finding {
  const { match } = mapping;
  // A part of a condition that another mapping has as well was accepted before this was looked into.
  const isPart = length > 0 && length < conjuncts.length;
  const isSamePlace = match.path === before.match.path && match.source === before.match.source;
  return findingAt(match.pathAt ?? mapping.at, {
    severity: entry?.behaviours.toleratesMistakes || isPart ? 'warning' : 'error',
    code: 'UNREACHABLE_MAPPING',
    message: say`the mapping "${mapping.id}" is never taken: "${before.id}" before it takes all its requests`,
    labels: [{ at: before.match.pathAt ?? before.at, text: say`takes them first` }],
    facts: { mapping, before, isSame: isSamePlace && length === conjuncts.length },
  });
}
