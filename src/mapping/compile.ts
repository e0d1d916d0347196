import type { Diagnostic, Place } from '../document/document.ts';
import type { TransformRef } from '../sandbox/sandbox.ts';
import { compileMapping, unknownKeys, type MappingResult } from './compile-mapping.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import type { MappingCode } from './mapping-codes.ts';
import type { CompiledMapping, RoutingTable } from './compiled-mapping.ts';
import { createRoutingTable } from './routing/routing-table.ts';
import { createTemplateCompiler } from './template/template.ts';

export interface CompiledMappings {
  /** Absent where any finding is an error. */
  readonly table?: RoutingTable;
  readonly diagnostics: readonly Diagnostic[];
  /** Of all enabled mappings, in their order. */
  readonly transforms: readonly TransformRef[];
}

/** Checks and compiles mappings given in first-match order: all findings of all mappings at once. */
export function compileMappings(entries: readonly MappingEntry[], options: CompileOptions): CompiledMappings {
  const templates = createTemplateCompiler();
  const results = entries.map((entry, order) => compileMapping(entry, { templates, options, order }));
  const enabled = results.flatMap(({ mapping, enabled: isOn }) =>
    mapping === undefined || !isOn ? [] : [mapping],
  );
  const diagnostics = [
    ...findIgnoredKeys(entries),
    ...results.flatMap((result) => result.diagnostics),
    ...findDuplicates(results),
    ...findSettings(enabled),
    ...findUnreachable(enabled, entries),
  ];
  const isUsable = results.every(isCompiled) && !diagnostics.some(({ severity }) => severity === 'error');
  return {
    diagnostics,
    transforms: enabled.flatMap(({ transform }) => (transform === undefined ? [] : [transform])),
    ...(isUsable ? { table: createRoutingTable(enabled) } : {}),
  };
}

function isCompiled({ mapping }: MappingResult): boolean {
  return mapping !== undefined;
}

/** All keys of OpenClaw's that are ignored, named once. */
function findIgnoredKeys(entries: readonly MappingEntry[]): readonly Diagnostic[] {
  const names = new Set<string>();
  let first: { readonly entry: MappingEntry; readonly key: string } | undefined;
  for (const entry of entries) {
    for (const key of unknownKeys(entry)) {
      first ??= { entry, key };
      names.add(key);
    }
  }
  if (first === undefined) return [];
  const listed = [...names].slice(0, 8).map((name) => `"${name.slice(0, 40)}"`);
  const message = `keys of mappings that have no use here are ignored: ${listed.join(', ')}${names.size > 8 ? ', …' : ''}`;
  const at = first.entry.value.place([first.key], 'key');
  const hint = 'they may stay while the gateway reads this file, too; else remove them';
  return [{ severity: 'warning', code: 'OPENCLAW_KEYS_IGNORED' satisfies MappingCode, message, at, hint }];
}

function findDuplicates(results: readonly MappingResult[]): readonly Diagnostic[] {
  const seen = new Map<string, Place>();
  return results.flatMap(({ id, idAt }): readonly Diagnostic[] => {
    if (id === undefined || idAt === undefined) return [];
    const first = seen.get(id);
    seen.set(id, first ?? idAt);
    if (first === undefined) return [];
    return [
      {
        severity: 'error',
        code: 'DUPLICATE_MAPPING_ID' satisfies MappingCode,
        message: `two mappings have the id "${id}"`,
        at: idAt,
        labels: [{ at: first, text: 'the first one' }],
        hint: 'ids name mappings in logs, golden files and for dedupe: choose another for one of them',
      },
    ];
  });
}

/** Settings are needed before a mapping is chosen: all mappings of a path share them. */
function findSettings(mappings: readonly CompiledMapping[]): readonly Diagnostic[] {
  const byPath = new Map<string, CompiledMapping>();
  return mappings.flatMap((mapping): readonly Diagnostic[] => {
    const { settings, match, settingsAt } = mapping;
    if (settings.maxBodyBytes === undefined || settingsAt === undefined) return [];
    if (match.path === undefined) {
      return [
        {
          severity: 'error',
          code: 'PATH_SETTINGS_WITHOUT_PATH' satisfies MappingCode,
          message: 'maxBodyBytes is needed before a mapping is chosen: it needs a match.path',
          at: settingsAt,
          hint: 'hooks.maxBodyBytes sets it for every path',
        },
      ];
    }
    const first = byPath.get(match.path);
    byPath.set(match.path, first ?? mapping);
    if (first?.settingsAt === undefined || first.settings.maxBodyBytes === settings.maxBodyBytes) return [];
    return [
      {
        severity: 'error',
        code: 'PATH_SETTINGS_DIFFER' satisfies MappingCode,
        message: `maxBodyBytes holds for the whole path "${match.path}", found ${settings.maxBodyBytes} after ${first.settings.maxBodyBytes}`,
        at: settingsAt,
        labels: [{ at: first.settingsAt, text: 'set here first' }],
        hint: 'keep maxBodyBytes in one of the mappings of this path',
      },
    ];
  });
}

/** Mappings that an earlier one always takes the requests of: its path, source and condition ask for no more. */
function findUnreachable(
  mappings: readonly CompiledMapping[],
  entries: readonly MappingEntry[],
): readonly Diagnostic[] {
  const seen = new Map<string, CompiledMapping>();
  return mappings.flatMap((mapping): readonly Diagnostic[] => {
    const { path, source } = mapping.match;
    const when = conditionKey(entries[mapping.order]);
    const wider = [path, undefined].flatMap((eachPath) =>
      [source, undefined].flatMap((eachSource) =>
        [when, undefined].map((eachWhen) => seen.get(matchKey(eachPath, eachSource, eachWhen))),
      ),
    );
    const key = matchKey(path, source, when);
    seen.set(key, seen.get(key) ?? mapping);
    const first = wider.filter((found) => found !== undefined).toSorted((a, b) => a.order - b.order)[0];
    const entry = entries[mapping.order];
    if (first === undefined || entry?.preset !== undefined) return [];
    return [
      {
        severity: entry?.dialect === 'openclaw' ? 'warning' : 'error',
        code: 'UNREACHABLE_MAPPING' satisfies MappingCode,
        message: `the mapping "${mapping.id}" is never taken: "${first.id}" before it takes all its requests`,
        at: mapping.match.pathAt ?? mapping.at,
        labels: [{ at: first.match.pathAt ?? first.at, text: 'takes them first' }],
        hint: 'put the narrower mapping first, or give the wider one a condition (match.when)',
      },
    ];
  });
}

function matchKey(path: string | undefined, source: string | undefined, when: string | undefined): string {
  return JSON.stringify([path ?? null, source ?? null, when ?? null]);
}

/** The condition as text; undefined where it always holds. */
function conditionKey(entry: MappingEntry | undefined): string | undefined {
  const when = entry?.value.exact(['match', 'when']);
  return when === undefined || when === true ? undefined : JSON.stringify(when);
}
