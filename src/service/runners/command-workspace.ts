import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Turn } from './runner.ts';

/** The files one turn hands to its command: a private folder (0700) with files of mode 0600. */
export interface CommandWorkspace {
  readonly historyFile: string;
  /** Absent where the prompt goes by stdin and no argument names the file. */
  readonly promptFile?: string;
  remove(): Promise<void>;
}

/** Writes the files of a turn. Rejects where the disk does not take them; then nothing is left behind. */
export async function openWorkspace(turn: Turn, withPrompt: boolean): Promise<CommandWorkspace> {
  const folder = await mkdtemp(join(tmpdir(), prefixOf(turn.runId)));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const historyFile = join(folder, 'history.json');
    await writeFile(historyFile, JSON.stringify(turn.history), { mode: 0o600 });
    if (!withPrompt) return { historyFile, remove };
    const promptFile = join(folder, 'prompt.txt');
    await writeFile(promptFile, turn.prompt, { mode: 0o600 });
    return { historyFile, promptFile, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Removes the files that a killed process left of these runs; what cannot be removed stays. */
export async function removeWorkspaces(runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  const prefixes = runIds.map(prefixOf);
  const names = await readdir(tmpdir()).catch(() => []);
  const left = names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  await Promise.allSettled(left.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })));
}

/** mkdtemp adds six random characters. */
function prefixOf(runId: string): string {
  return `sluice-run-${runId.replaceAll(/[^\w-]/g, '_')}-`;
}
