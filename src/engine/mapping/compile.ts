import { say, type Subject, quoted } from '../../base/finding.ts';
import type { Place, Finding } from '../../base/document/document.ts';
import type { TransformRef } from '../sandbox/sandbox.ts';
import { findUnreachable } from './check-reach.ts';
import { compileMapping, outOf, type MappingResult } from './compile-mapping.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import type { MappingCode } from './mapping-codes.ts';
import type { CompiledMapping, RoutingTable, PathSettings } from './compiled-mapping.ts';
import { createRoutingTable } from './routing/routing-table.ts';
import { findCoverageGaps } from '../verify/verify.ts';
import type { MappingFacts } from './finding-facts.ts';
import { PATH_KEYS, type PathKey } from './mapping-schema.ts';

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
    const finding = {
      severity: 'error',
      code: 'DUPLICATE_MAPPING_ID' satisfies MappingCode,
      message: say`two mappings have the id "${id}"`,
      at: idAt,
      labels: [{ at: first, text: say`the first one` }],
    } as const;
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
    return findCoverageGaps(verify, { method, bodyFormat }).map(({ message, hint }) => ({
      severity: reason === undefined ? 'error' : 'warning',
      code: 'PROOF_NOT_COVERING' satisfies MappingCode,
      message: reason === undefined ? quoted(message) : say`${message} (accepted: ${reason})`,
      at,
      hint:
        reason === undefined
          ? say`${hint}; or write the line acceptUncovered: 'REASON' in verify, with why this will do, and it is a warning`
          : quoted(hint),
    }));
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
