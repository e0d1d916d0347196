import { say, type SourceText, quoted } from '../../base/finding.ts';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import {
  describeValue,
  readDocument,
  validate,
  type Finding,
  type LocatedValue,
  type OpenTexts,
  displayName,
  wholeFile,
} from '../../base/document/document.ts';
import { compileMappings, type CompiledMappings } from './compile.ts';
import type { CompileOptions, MappingEntry } from './compile-options.ts';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { MappingFacts } from './finding-facts.ts';

/** Built-in presets: the file they come from, and a further hook name they answer on. */
const PRESETS: Readonly<Record<string, { readonly file: string; readonly alias?: string }>> = {
  mail: { file: 'mail.yaml' },
  gmail: { file: 'mail.yaml', alias: 'gmail' },
};

/** The package's own folder of presets: the same way up from `src/engine/mapping` and from `dist/engine/mapping`. */
const PRESETS_DIR = fileURLToPath(new URL('../../../mappings/presets/', import.meta.url));

/** Where mappings come from, in first-match order: the configuration, the directory's files by name, presets. */
export interface MappingSources {
  /** `hooks.mappings` entries, each with the behaviours of its file; mapping files are always our own. */
  readonly inline: readonly MappingEntry[];
  /** Absolute. One that does not exist holds no mappings. */
  readonly mappingsDir: string;
  /** Names of `PRESETS`; others are the configuration's finding. */
  readonly presets: readonly string[];
  /** Directory that printed file names are relative to; default the working directory. */
  readonly cwd?: string;
  readonly open?: OpenTexts;
}

export interface LoadedMappings extends CompiledMappings {
  /** Every mapping file that was read, presets included. */
  readonly files: readonly MappingFile[];
}

/** A mapping file that was read, with the ranges of its literal secrets. */
export interface MappingFile extends Pick<SourceText, 'text' | 'secrets'> {
  /** Absolute. */
  readonly path: string;
}

/** Reads and compiles all mappings, all findings at once. */
export async function loadMappings(sources: MappingSources & CompileOptions): Promise<LoadedMappings> {
  const fromDirectory = await loadMappingFiles(sources.mappingsDir, sources);
  const fromPresets = await loadPresets(sources.presets, sources);
  const entries = [...sources.inline, ...fromDirectory.entries, ...fromPresets.entries];
  const compiled = compileMappings(entries, sources);
  const found = [...fromDirectory.findings, ...fromPresets.findings];
  const { table, ...rest } = compiled;
  const isUsable = table !== undefined && !found.some(({ severity }) => severity === 'error');
  return {
    ...rest,
    findings: [...found, ...compiled.findings],
    files: [...fromDirectory.files, ...fromPresets.files],
    ...(isUsable ? { table } : {}),
  };
}

interface FileMappings {
  readonly entries: readonly MappingEntry[];
  readonly findings: readonly Finding[];
  readonly files: LoadedMappings['files'];
}

type FileReading = Pick<MappingSources, 'cwd' | 'open'>;

/** Reads `*.yaml`, `*.yml` and `*.json` directly in a directory, in name order; what was passed over is a warning. */
async function loadMappingFiles(directory: string, options: FileReading): Promise<FileMappings> {
  const found = await listDirectory(directory);
  const names = found.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  // One that an editor has not written yet counts as well.
  const open = [...(options.open?.texts.keys() ?? [])].filter((file) => dirname(file) === directory);
  const files = [...new Set([...names, ...open.map((file) => basename(file))])]
    .filter((name) => MAPPING_FILE.test(name))
    .toSorted();
  const loaded = joinLoaded(await Promise.all(files.map((name) => loadFile(join(directory, name), options))));
  const passedOver = await findPassedOver(directory, found, { ...options, presets: resolve(PRESETS_DIR) });
  return { ...loaded, findings: [...loaded.findings, ...passedOver] };
}

async function loadPresets(names: readonly string[], options: FileReading): Promise<FileMappings> {
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

function joinLoaded(loaded: readonly FileMappings[]): FileMappings {
  return {
    entries: loaded.flatMap(({ entries }) => entries),
    findings: loaded.flatMap(({ findings }) => findings),
    files: loaded.flatMap(({ files }) => files),
  };
}

const HolderSchema = z.strictObject({ mappings: z.array(z.unknown()) });

/** A file holds a list of mappings, `{mappings: [...]}`, or one mapping; an empty one holds none. */
async function loadFile(path: string, { cwd, open }: FileReading): Promise<FileMappings> {
  const { document, findings } = await readDocument(path, { ...(cwd && { cwd }), ...(open && { open }) });
  if (document === undefined) return { entries: [], findings, files: [] };
  const { root, source } = document;
  const held = mappingsIn(root);
  return {
    entries: held.mappings.map((value) => ({ value, behaviours: {} })),
    findings: [...findings, ...held.findings],
    files: [{ path, ...source }],
  };
}

function mappingsIn(root: LocatedValue): {
  readonly mappings: readonly LocatedValue[];
  readonly findings: readonly Finding[];
} {
  const { value } = root;
  if (value === null) return { mappings: [], findings: [] };
  if (Array.isArray(value)) return { mappings: value.map((_, index) => root.at([index])), findings: [] };
  if (typeof value !== 'object') return { mappings: [], findings: [noMappingFile(root)] };
  if (!Object.hasOwn(value, 'mappings')) return { mappings: [root], findings: [] };
  const holder = validate(root, HolderSchema, 'mapping file');
  const list = holder.value?.mappings ?? [];
  return {
    mappings: list.map((_, index) => root.at(['mappings', index])),
    findings: holder.findings,
  };
}

function noMappingFile(root: LocatedValue): Finding {
  return {
    severity: 'error',
    code: 'MAPPING_FILE_SHAPE',
    message: say`a mapping file holds a mapping, a list of mappings or {mappings: [...]}, found ${describeValue(root.value)}`,
    at: root.place([]),
  };
}

/** Files of the mappings folder that are not read. */

/** By their names; hidden files are none. */
export const MAPPING_FILE = /^[^.].*\.(?:yaml|yml|json)$/i;
const NEARLY = /\.(?:ya?ml|json)|\.(?:yam|yamll|ymal|ylm|yl|jsn|json5|jsonc|toml)$/i;

interface Names {
  readonly cwd?: string;
}

/** The entries of a folder; one that does not exist has none. */
async function listDirectory(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/** What was passed over among the entries of the mappings folder; `presets` is the package's own folder. */
async function findPassedOver(
  directory: string,
  entries: readonly Dirent[],
  { presets, ...names }: Names & { readonly presets: string },
): Promise<readonly Finding[]> {
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name);
      if (!entry.isDirectory()) return passedFile(path, names);
      return resolve(path) === presets ? undefined : passedFolder(path, names);
    }),
  );
  return found.filter((one) => one !== undefined);
}

/** A file that looks like a mapping file and is none by its name; hidden ones are left alone. */
function passedFile(path: string, names: Names): Finding | undefined {
  const name = basename(path);
  if (name.startsWith('.') || MAPPING_FILE.test(name) || !NEARLY.test(name)) return undefined;
  const message = 'the file is not read: its name does not end with .yaml, .yml or .json';
  return describe(path, { message, facts: { name } }, names);
}

/** A folder with mapping files: only the folder above it is read. */
async function passedFolder(path: string, names: Names): Promise<Finding | undefined> {
  if (basename(path).startsWith('.')) return undefined;
  const files = (await listDirectory(path)).map(({ name }) => name).filter((name) => MAPPING_FILE.test(name));
  if (files.length === 0) return undefined;
  const shown = `${files.toSorted().slice(0, 3).join(', ')}${files.length > 3 ? ', …' : ''}`;
  const message = `the mapping files in this folder are not read: ${shown}`;
  return describe(path, { message }, names);
}

interface FileMessage {
  readonly message: string;
  readonly facts?: MappingFacts['MAPPING_FILE_PASSED_OVER'];
}

function describe(path: string, { message, ...facts }: FileMessage, { cwd }: Names): Finding {
  const code = 'MAPPING_FILE_PASSED_OVER';
  const at = wholeFile(displayName(path, cwd));
  return { severity: 'warning', code, message: quoted(message), ...facts, at };
}
