import { quoted, say } from '../finding.ts';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import {
  describeValue,
  lineColumn,
  readDocument,
  validate,
  type Finding,
  type LocatedValue,
  type Place,
} from '../document/document.ts';
import { compileMappings, type CompiledMappings } from './compile.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import type { PassedOverMapping } from './compiled-mapping.ts';
import type { MappingCode } from './mapping-codes.ts';
import { findPassedOver, listDirectory, MAPPING_FILE } from './passed-over.ts';

/** Built-in presets: the file they come from, and a further hook name they answer on. */
const PRESETS: Readonly<Record<string, { readonly file: string; readonly alias?: string }>> = {
  mail: { file: 'mail.yaml' },
  gmail: { file: 'mail.yaml', alias: 'gmail' },
};

/** The package's own folder of presets: the same way up from `src/mapping` and from `dist/mapping`. */
const PRESETS_DIR = fileURLToPath(new URL('../../mappings/presets/', import.meta.url));

/** Where mappings come from, in first-match order: the configuration, the directory's files by name, presets. */
export interface MappingSources {
  /** `hooks.mappings` entries, each with its dialect; mapping files are always our own. */
  readonly inline: readonly MappingEntry[];
  /** Absolute. One that does not exist holds no mappings. */
  readonly mappingsDir: string;
  /** Names of `PRESETS`; others are the configuration's finding. */
  readonly presets: readonly string[];
  /** Directory that printed file names are relative to; default the working directory. */
  readonly cwd?: string;
}

export interface LoadedMappings extends CompiledMappings {
  /** Every mapping file that was read, presets included. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/** Reads and compiles all mappings, all findings at once. */
export async function loadMappings(sources: MappingSources & CompileOptions): Promise<LoadedMappings> {
  const fromDirectory = await loadMappingFiles(sources.mappingsDir, sources);
  const fromPresets = await loadPresets(sources.presets, sources);
  const entries = [...sources.inline, ...fromDirectory.entries, ...fromPresets.entries];
  const compiled = compileMappings(entries, sources);
  const found = [...fromDirectory.diagnostics, ...fromPresets.diagnostics];
  const { table, ...rest } = compiled;
  return {
    ...rest,
    diagnostics: [...found, ...compiled.diagnostics],
    files: [...fromDirectory.files, ...fromPresets.files],
    ...(table === undefined || found.some(({ severity }) => severity === 'error')
      ? {}
      : { table: { ...table, passedOver: fromDirectory.passedOver } }),
  };
}

interface Loaded {
  readonly entries: readonly MappingEntry[];
  readonly diagnostics: readonly Finding[];
  readonly files: LoadedMappings['files'];
}

type ReadOptions = Pick<MappingSources, 'cwd'>;

/** Reads `*.yaml`, `*.yml` and `*.json` directly in a directory, in name order; what was passed over is a warning. */
async function loadMappingFiles(
  directory: string,
  options: ReadOptions,
): Promise<Loaded & { readonly passedOver: readonly PassedOverMapping[] }> {
  const found = await listDirectory(directory);
  const names = found.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  const files = names.filter((name) => MAPPING_FILE.test(name)).toSorted();
  const loaded = joinLoaded(await Promise.all(files.map((name) => loadFile(join(directory, name), options))));
  const { diagnostics, mappings } = await findPassedOver(directory, found, {
    ...options,
    presets: resolve(PRESETS_DIR),
  });
  return { ...loaded, diagnostics: [...loaded.diagnostics, ...diagnostics], passedOver: mappings };
}

async function loadPresets(names: readonly string[], options: ReadOptions): Promise<Loaded> {
  const presets = [...new Set(names)].flatMap((name) => {
    const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
    return preset === undefined ? [] : [preset];
  });
  const files = new Set(presets.map(({ file }) => file));
  const loaded = await Promise.all([...files].map((file) => loadFile(join(PRESETS_DIR, file), options)));
  const entries = loaded.flatMap(({ entries: own }, index) => {
    const aliases = presets.filter(({ file }) => file === [...files][index]).map(({ alias }) => alias);
    return own.flatMap((entry) => [
      { ...entry, preset: {} },
      ...aliases.flatMap((alias) => (alias === undefined ? [] : [{ ...entry, preset: aliasOf(alias) }])),
    ]);
  });
  return { ...joinLoaded(loaded), entries };
}

/** The preset once more under its other name. */
function aliasOf(alias: string): NonNullable<MappingEntry['preset']> {
  const name = `${alias.slice(0, 1).toUpperCase()}${alias.slice(1)}`;
  return { id: `preset-${alias}`, match: { path: alias }, name };
}

function joinLoaded(loaded: readonly Loaded[]): Loaded {
  return {
    entries: loaded.flatMap(({ entries }) => entries),
    diagnostics: loaded.flatMap(({ diagnostics }) => diagnostics),
    files: loaded.flatMap(({ files }) => files),
  };
}

const HolderSchema = z.strictObject({ mappings: z.array(z.unknown()) });

/** Keys that are written twice because both are meant, and how the two are joined. */
const TWICE: Readonly<Record<string, string>> = {
  match:
    'an entry has one match; for "one or the other" write one match with when: {"or": [rule, rule]}, for "both" when: {"and": [rule, rule]}; for another path, a second entry with its own id',
  when: 'a match has one when; join the rules: when: {"and": [rule, rule]}, or {"or": [rule, rule]} where one of them is enough',
  path: 'an entry takes one path; write a second entry with its own id for the other one',
  messageTemplate: 'an entry has one template; join the texts in one, with | for several lines',
  mappings: 'put the entries of both below one mappings',
};

/** A second match that only adds to the first one. */
function joinMatches({ labels = [] }: Finding, at: Place): string | undefined {
  const [label] = labels;
  if (label === undefined) return undefined;
  const first = keysBelow(label.at);
  const more = keysBelow(at);
  const isMore =
    more.length > 0 && more.every((key) => ['path', 'source', 'when'].includes(key) && !first.includes(key));
  return isMore
    ? `an entry has one match: move ${more.join(' and ')} into the first one (line ${lineColumn(label.at).line}), and remove this line`
    : undefined;
}

/** The keys of an object behind or below its own key, as they are written. */
function keysBelow({ source: { text }, start, end }: Place): readonly string[] {
  const column = start - (text.lastIndexOf('\n', start - 1) + 1);
  const [line = '', ...lines] = text.slice(end).split('\n');
  if (line.includes('{'))
    return [...line.matchAll(/(?<=^\s*:\s*\{\s*|,\s*)(path|source|when)\s*:/g)].map(([, key = '']) => key);
  const next = lines.findIndex((one) => one.trim() !== '' && one.search(/\S/) <= column);
  const own = lines.slice(0, next === -1 ? undefined : next).filter((one) => one.trim() !== '');
  const depth = own[0]?.search(/\S/) ?? 0;
  return own.filter((one) => one.search(/\S/) === depth).flatMap((one) => /^\s*(\w+):/.exec(one)?.[1] ?? []);
}

function withJoinHint(found: Finding): Finding {
  const { code, at } = found;
  if (code !== 'DUPLICATE_KEY' || at === undefined) return found;
  const key = at.source.text.slice(at.start, at.end).replaceAll(/["']/g, '');
  const join = key === 'match' ? joinMatches(found, at) : undefined;
  return Object.hasOwn(TWICE, key) ? { ...found, hint: quoted(join ?? TWICE[key] ?? '') } : found;
}

/** A file holds a list of mappings, `{mappings: [...]}`, or one mapping; an empty one holds none. */
async function loadFile(path: string, { cwd }: ReadOptions): Promise<Loaded> {
  const { document, diagnostics } = await readDocument(path, cwd === undefined ? {} : { cwd });
  if (document === undefined) return { entries: [], diagnostics: diagnostics.map(withJoinHint), files: [] };
  const { root, source } = document;
  const held = mappingsIn(root);
  return {
    entries: held.mappings.map((value) => ({ value, dialect: 'sluice' })),
    diagnostics: [...diagnostics, ...held.diagnostics],
    files: [{ path, text: source.text }],
  };
}

function mappingsIn(root: LocatedValue): {
  readonly mappings: readonly LocatedValue[];
  readonly diagnostics: readonly Finding[];
} {
  const { value } = root;
  if (value === null) return { mappings: [], diagnostics: [] };
  if (Array.isArray(value)) return { mappings: value.map((_, index) => root.at([index])), diagnostics: [] };
  if (typeof value !== 'object') return { mappings: [], diagnostics: [noMappingFile(root)] };
  if (!Object.hasOwn(value, 'mappings')) return { mappings: [root], diagnostics: [] };
  const holder = validate(root, HolderSchema, 'mapping file');
  const list = holder.value?.mappings ?? [];
  return {
    mappings: list.map((_, index) => root.at(['mappings', index])),
    diagnostics: holder.diagnostics,
  };
}

function noMappingFile(root: LocatedValue): Finding {
  return {
    severity: 'error',
    code: 'MAPPING_FILE_SHAPE' satisfies MappingCode,
    message: say`a mapping file holds a mapping, a list of mappings or {mappings: [...]}, found ${describeValue(root.value)}`,
    at: root.place([]),
    hint: say`start with match: {path: name} and messageTemplate, or move the file out of hooks.mappingsDir`,
  };
}
