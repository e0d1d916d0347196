/**
 * Finds the files that an author may change: mapping files, and the files of transforms. A name is looked
 * up among existing files, links are followed first, and nothing outside of the two folders is found.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { displayName } from '../../base/document/document.ts';
import { replaceFile } from '../../base/write-file.ts';
import { MAPPING_FILE } from '../../engine/mapping/facts.ts';

export interface AuthorFolders {
  readonly mappingsDir: string;
  readonly transformsDir: string;
}

export interface AuthorFile {
  /** The path from the working directory, as findings name it. */
  readonly name: string;
  readonly kind: 'mapping' | 'transform';
}

export interface FileContent {
  readonly name: string;
  readonly text: string;
  /** Names the content on disk; a save that names another version is refused. */
  readonly version: string;
}

export interface FoundFile extends AuthorFile {
  readonly path: string;
  /** The path with links followed: this file is read and written. */
  readonly real: string;
}

const TRANSFORM_FILE = /^[^.].*\.(?:ts|mts|js|mjs|cjs|json)$/i;
const MAX_FILES = 500;
const MAX_DEPTH = 6;
const MAX_BYTES = 4 * 1024 * 1024;
const MARK = '\uFEFF';

export async function findAuthorFiles(folders: AuthorFolders): Promise<readonly FoundFile[]> {
  const mappings = await filesIn(folders.mappingsDir, MAPPING_FILE, { depth: 0 });
  const transforms = await filesIn(folders.transformsDir, TRANSFORM_FILE, { depth: MAX_DEPTH });
  return [
    ...mappings.map((file) => ({ ...file, kind: 'mapping' as const })),
    ...transforms.map((file) => ({ ...file, kind: 'transform' as const })),
  ];
}

type FileOnDisk = Omit<FoundFile, 'kind'>;

async function filesIn(
  folder: string,
  pattern: RegExp,
  { depth }: { readonly depth: number },
): Promise<readonly FileOnDisk[]> {
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined) return [];
  const found: FileOnDisk[] = [];
  const visit = async (directory: string, left: number): Promise<void> => {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (found.length >= MAX_FILES) return;
      if (entry.isDirectory()) {
        if (left > 0 && !entry.name.startsWith('.') && entry.name !== 'node_modules')
          await visit(path, left - 1);
      } else if (pattern.test(entry.name)) {
        const real = await fileInside(root, path);
        if (real !== undefined) found.push({ name: displayName(path), path, real });
      }
    }
  };
  await visit(folder, depth);
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns undefined where a path leads to no file inside the folder. */
async function fileInside(root: string, path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined || !real.startsWith(root + sep)) return undefined;
  const stats = await stat(real);
  return stats.isFile() && stats.size <= MAX_BYTES ? real : undefined;
}

export async function findAuthorFile(folders: AuthorFolders, name: string): Promise<FoundFile | undefined> {
  return (await findAuthorFiles(folders)).find((file) => file.name === name);
}

export async function readAuthorFile(file: FoundFile): Promise<FileContent> {
  const text = await readFile(file.real, 'utf8');
  return { name: file.name, text: text.replace(MARK, '').replaceAll('\r\n', '\n'), version: versionOf(text) };
}

/** Writes the text as it is, unless the file has changed since that version. A byte order mark and line ends stay. */
export async function saveAuthorFile(
  file: FoundFile,
  { text, version }: { readonly text: string; readonly version: string },
): Promise<{ readonly isSaved: boolean; readonly version: string }> {
  const before = await readFile(file.real, 'utf8');
  if (versionOf(before) !== version) return { isSaved: false, version: versionOf(before) };
  const lines = before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
  const written = before.startsWith(MARK) ? MARK + lines : lines;
  await replaceFile(file.real, written);
  return { isSaved: true, version: versionOf(written) };
}

function versionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
