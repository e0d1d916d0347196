import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessMark } from '../../engine/storage/storage.ts';
import { endProcessTree } from './process-tree.ts';
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

/** Processes that were left get this long between SIGTERM and SIGKILL. */
const LEFT_GRACE_MS = 1_000;

/** Ends and removes what a killed process has left of a turn; false where some of its processes could not be ended. */
export async function endLeftTurn(runId: string, mark?: ProcessMark): Promise<boolean> {
  const isEnded = await endProcessTree({ runId, own: false, ...mark }, LEFT_GRACE_MS);
  const names = await readdir(tmpdir()).catch(() => []);
  const left = names.filter((name) => name.startsWith(prefixOf(runId)));
  await Promise.allSettled(left.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })));
  return isEnded;
}

/** mkdtemp adds six random characters. */
function prefixOf(runId: string): string {
  return `sluice-run-${runId.replaceAll(/[^\w-]/g, '_')}-`;
}
