/** Files of the mappings folder that are not read. */
import { quoted } from '../../base/finding.ts';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { displayName, type Finding } from '../../base/document/document.ts';
import type { MappingFacts } from './finding-facts.ts';
import type { MappingCode } from './mapping-codes.ts';

/** By their names; hidden files are none. */
export const MAPPING_FILE = /^[^.].*\.(?:yaml|yml|json)$/i;
const NEARLY = /\.(?:ya?ml|json)|\.(?:yam|yamll|ymal|ylm|yl|jsn|json5|jsonc|toml)$/i;

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
  const message = `the mapping files in this folder are not read: ${files.toSorted().slice(0, 3).join(', ')}`;
  return describe(path, { message }, names);
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
