/*
 * The folder an agent works in: one for each conversation, private, and far from everything it has no business with.
 *
 * An agent with untrusted text in hand looks around where it is started. So it is never started in the folder with
 * configuration, mappings and store, nor below a git root, whose instructions for agents it would read. The folders lie
 * below `$XDG_STATE_HOME/sluice/work` (mode 0700); links are not followed, so nobody can put a folder elsewhere.
 */
import { lstat, mkdir, readdir, realpath, rm, utimes } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';

/** Why no folder can be made, in words for people. */
export class WorkFolderError extends Error {
  override readonly name = 'WorkFolderError';
  /** True where only the folder of this conversation is at fault, and others can be made. */
  readonly isOfOne: boolean;

  constructor(message: string, isOfOne: boolean) {
    super(message);
    this.isOfOne = isOfOne;
  }
}

/** Opens the folder of one conversation, and makes it where there is none yet. */
export async function openWorkFolder(root: string, sessionId: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const folder = join(await privateFolder(root, false), sessionId);
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await privateFolder(folder, true);
  const real = await realpath(folder);
  const problem = findGitRoot(real);
  if (problem !== undefined) throw new WorkFolderError(gitProblem(folder, problem), problem === real);
  // Unused folders are found by this time of the last turn.
  const now = new Date();
  await utimes(folder, now, now);
  return folder;
}

/** Refuses a link, a file, and a folder that others own or may enter. */
async function privateFolder(folder: string, isOfOne: boolean): Promise<string> {
  const entry = await lstat(folder);
  if (!entry.isDirectory())
    throw new WorkFolderError(`${folder} is a link or a file, not a folder: remove it`, isOfOne);
  const isOurs = process.getuid === undefined || entry.uid === process.getuid();
  if (isOurs && (process.getuid === undefined || (entry.mode & 0o077) === 0)) return folder;
  const remedy = 'chmod 700 it, or remove it';
  throw new WorkFolderError(`${folder} must belong to the service's user alone: ${remedy}`, isOfOne);
}

/** Removes the folder of a conversation; a link in it is removed, never followed. */
export async function removeWorkFolder(root: string, sessionId: string): Promise<void> {
  await rm(join(root, sessionId), { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the folders whose last turn is older; resolves to their paths. */
export async function removeOldWorkFolders(root: string, beforeMs: number): Promise<readonly string[]> {
  const names = await readdir(root).catch(() => []);
  const removed: string[] = [];
  for (const name of names) {
    const folder = join(root, name);
    const entry = await lstat(folder).catch(() => undefined);
    if (entry?.isDirectory() !== true || entry.mtimeMs >= beforeMs) continue;
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    removed.push(folder);
  }
  return removed;
}

/** What is wrong with the place of the private folders, or undefined. Looks at the disk. */
export function workRootProblem(root: string, configDir: string): string | undefined {
  // For a configuration in the home folder the usual place of state is below it, which is no problem.
  if (configDir !== homedir() && isWithin(root, configDir)) {
    return `${root} lies in the folder of the configuration: set XDG_STATE_HOME to a folder outside of it`;
  }
  const gitRoot = findGitRoot(root);
  return gitRoot === undefined ? undefined : gitProblem(root, gitRoot);
}

function gitProblem(folder: string, gitRoot: string): string {
  return `${folder} lies in the git repository ${gitRoot}: set XDG_STATE_HOME to a folder outside of it`;
}

/** Whether a path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function findGitRoot(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return undefined;
  }
}
