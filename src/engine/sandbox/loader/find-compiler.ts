/**
 * Which TypeScript compiler `check` may run. It runs with the rights of whoever checks, so it comes from a place that
 * belongs to the configuration, not from whatever folder above it happens to hold one: from the configuration's own
 * project, or, where Sluice runs from a checkout, from Sluice's own.
 */
import { existsSync, readFileSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A compiler, for people. */
export interface CompilerName {
  /** For people, e.g. `TypeScript 7.0.2 of the configuration's project`. */
  readonly name: string;
  /** It is that of Sluice's checkout, which nobody chose. */
  readonly isOwn: boolean;
}

interface Compiler extends CompilerName {
  /** The program, run with node. */
  readonly file: string;
}

export interface CompilerSearch {
  /** Folder of the configuration. */
  readonly configDir: string;
  /** False where no code of the configuration's project is run; default true. */
  readonly isTrusted?: boolean;
  /** Folder of Sluice itself; default the one this file belongs to. */
  readonly sluiceDir?: string;
}

const OWN_DIR = fileURLToPath(new URL('../../../..', import.meta.url));

export function findCompiler({
  configDir,
  isTrusted = true,
  sluiceDir = OWN_DIR,
}: CompilerSearch): Compiler | undefined {
  for (const folder of isTrusted ? projectFolders(configDir) : []) {
    const compiler = compilerIn(folder, false);
    if (compiler !== undefined) return compiler;
  }
  // An installed Sluice lies in a node_modules folder, and what lies beside it there was not chosen for this.
  const isCheckout = !path.resolve(sluiceDir).split(path.sep).includes('node_modules');
  return isCheckout ? compilerIn(sluiceDir, true) : undefined;
}

/**
 * The folders of the project a configuration belongs to: its own folder and those above it that hold a package.json,
 * up to the root of the repository, or to the first package.json where there is none. A folder that others may write
 * to (`/tmp`), or that belongs to somebody else, ends the project.
 */
function projectFolders(configDir: string): readonly string[] {
  const start = path.resolve(configDir);
  const owner = statOf(start)?.uid;
  const folders: string[] = [];
  let first: number | undefined;
  for (let folder = start; ; folder = path.dirname(folder)) {
    const stat = statOf(folder);
    if (stat === undefined || !isOwn(stat, owner)) break;
    if (existsSync(path.join(folder, 'package.json'))) {
      folders.push(folder);
      first ??= folders.length;
    }
    if (existsSync(path.join(folder, '.git'))) return folders;
    if (folder === path.dirname(folder)) break;
  }
  return folders.slice(0, first ?? 0);
}

function isOwn({ mode, uid }: Stats, owner: number | undefined): boolean {
  if (process.platform === 'win32') return true;
  return (mode & 0o002) === 0 && (uid === owner || uid === 0);
}

function statOf(folder: string): Stats | undefined {
  return statSync(folder, { throwIfNoEntry: false });
}

function compilerIn(folder: string, isOwn: boolean): Compiler | undefined {
  const home = path.join(folder, 'node_modules', 'typescript');
  try {
    const manifest = readFileSync(path.join(home, 'package.json'), 'utf8');
    const { bin, version } = JSON.parse(manifest) as { bin?: { tsc?: string }; version?: string };
    if (bin?.tsc === undefined) return undefined;
    const owner = isOwn ? "Sluice's checkout" : "the configuration's project";
    return { file: path.join(home, bin.tsc), name: `TypeScript ${version ?? ''} of ${owner}`, isOwn };
  } catch {
    return undefined;
  }
}
