/** Files of the mappings folder that are not read: what they are, and which hook names their mappings have. */
import { quoted } from '../finding.ts';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { displayName, parseDocument, readBounded, type Finding } from '../document/document.ts';
import { isJsonObject } from '../json.ts';
import type { PassedOverMapping } from './compiled-mapping.ts';
import type { MappingFacts } from './finding-facts.ts';
import type { MappingCode } from './mapping-codes.ts';

/** By their names; hidden files are none. */
export const MAPPING_FILE = /^[^.].*\.(?:yaml|yml|json)$/i;
const NEARLY = /\.(?:ya?ml|json)|\.(?:yam|yamll|ymal|ylm|yl|jsn|json5|jsonc|toml)$/i;

/** As much as is read to say what a file would have been good for. */
const MAX_FILES = 20;
const MAX_BYTES = 262_144;

export interface PassedOver {
  readonly diagnostics: readonly Finding[];
  readonly mappings: readonly PassedOverMapping[];
}

interface Names {
  readonly cwd?: string;
}

/** The entries of a folder; one that does not exist has none. */
export async function listDirectory(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/** What was passed over among the entries of the mappings folder; `presets` is the package's own folder. */
export async function findPassedOver(
  directory: string,
  entries: readonly Dirent[],
  { presets, ...names }: Names & { readonly presets: string },
): Promise<PassedOver> {
  const findGroup = async (entry: Dirent): Promise<Group | undefined> => {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) return groupOfFile(path, names);
    return resolve(path) === presets ? undefined : groupOfFolder(path, names);
  };
  const found = await Promise.all(entries.map(findGroup));
  const groups = found.filter((group) => group !== undefined);
  const files = groups.flatMap((group) => group.files).slice(0, MAX_FILES);
  return {
    diagnostics: groups.map(({ diagnostic }) => diagnostic),
    mappings: (await Promise.all(files.map((file) => readNames(directory, file, names)))).flat(),
  };
}

interface Group {
  readonly diagnostic: Finding;
  readonly files: readonly string[];
}

/** A file that looks like a mapping file and is none by its name; hidden ones are left alone. */
function groupOfFile(path: string, names: Names): Group | undefined {
  const name = basename(path);
  if (name.startsWith('.') || MAPPING_FILE.test(name) || !NEARLY.test(name)) return undefined;
  const message = 'the file is not read: its name does not end with .yaml, .yml or .json';
  return { diagnostic: describe(path, { message, facts: { name } }, names), files: [path] };
}

/** A folder with mapping files: only the folder above it is read. */
async function groupOfFolder(path: string, names: Names): Promise<Group | undefined> {
  if (basename(path).startsWith('.')) return undefined;
  const files = (await listDirectory(path)).map(({ name }) => name).filter((name) => MAPPING_FILE.test(name));
  if (files.length === 0) return undefined;
  const message = `the mapping files in this folder are not read: ${files.toSorted().slice(0, 3).join(', ')}`;
  return {
    diagnostic: describe(path, { message }, names),
    files: files.toSorted().map((name) => join(path, name)),
  };
}

interface Said {
  readonly message: string;
  readonly facts?: MappingFacts['MAPPING_FILE_PASSED_OVER'];
}

function describe(path: string, { message, ...facts }: Said, { cwd }: Names): Finding {
  const at = { source: { file: displayName(path, cwd), text: '' }, start: 0, end: 0 };
  const code = 'MAPPING_FILE_PASSED_OVER' satisfies MappingCode;
  return { severity: 'warning', code, message: quoted(message), ...facts, at };
}

/** The hook names in a file; one that cannot be read has none. */
async function readNames(
  directory: string,
  path: string,
  { cwd }: Names,
): Promise<readonly PassedOverMapping[]> {
  const file = displayName(path, cwd);
  const text = await readBounded(path, MAX_BYTES).then(
    (bytes) => (bytes.length > MAX_BYTES ? '' : bytes.toString('utf8')),
    () => '',
  );
  const value = parseDocument({ file, text }, 'yaml').document?.root.value;
  const wanted = displayName(join(directory, nameAbove(directory, path)), cwd);
  return namesIn(value).map((found) => ({ ...found, file, wanted }));
}

/** The name under which the file would be read in the folder of mappings. */
function nameAbove(directory: string, path: string): string {
  const own = basename(path);
  const name = MAPPING_FILE.test(own) ? own : `${own.replace(/\..*$/, '')}.yaml`;
  const isBelow = dirname(path) !== directory;
  return isBelow ? `${basename(dirname(path))}-${name}` : name;
}

function namesIn(value: unknown): readonly Pick<PassedOverMapping, 'name' | 'hasVerify'>[] {
  const list: unknown = isJsonObject(value) && Array.isArray(value['mappings']) ? value['mappings'] : value;
  return (Array.isArray(list) ? list : [list]).flatMap((entry: unknown) => {
    const match = isJsonObject(entry) ? entry['match'] : undefined;
    const path = isJsonObject(match) ? match['path'] : undefined;
    if (!isJsonObject(entry) || typeof path !== 'string') return [];
    return [{ name: path.trim().replace(/^\/+|\/+$/g, ''), hasVerify: entry['verify'] !== undefined }];
  });
}
