/* Why a command did not start, as its folder and the code of the system tell. */
import { existsSync, statSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { getSystemErrorMessage } from 'node:util';

/** What is wrong with the folder that a command works in. */
export function folderProblem(cwd: string | undefined): string | undefined {
  if (cwd === undefined) return undefined;
  const isThere = existsSync(cwd);
  if (isThere && statSync(cwd).isDirectory()) return undefined;
  return !isThere
    ? `the folder it works in is not there: ${cwd} (cwd)`
    : `it works in a folder, and ${cwd} is a file (cwd)`;
}

/** What mends an error, where the message of the system does not say so. */
const REMEDIES: Readonly<Record<string, string>> = {
  E2BIG: 'hand long texts over by stdin or {prompt_file}',
  EAGAIN:
    'the user of the service may start no more processes: raise ulimit -u, TasksMax of the unit or the limit of the container, or lower gateway.maxRuns',
  EMFILE: 'raise ulimit -n, or LimitNOFILE of the unit of the service',
  ENOEXEC: 'was it built for another kind of processor?',
};

/** What the error code of a system call means. */
export function codeText(code: string): string {
  const number = constants.errno[code as keyof typeof constants.errno] as number | undefined;
  const meaning = number === undefined ? 'the system gave no other reason' : getSystemErrorMessage(-number);
  return Object.hasOwn(REMEDIES, code) ? `${meaning}: ${REMEDIES[code]}` : meaning;
}

/** Why a file or folder could not be written, with its path; the error of a write has none. */
export function diskText(error: unknown, folder: string): string {
  const { code = 'unknown', path = folder } = error as NodeJS.ErrnoException;
  const remedy = path.startsWith(tmpdir()) ? '; set TMPDIR of the service to another folder' : '';
  return `${path}: ${codeText(code)}${remedy} (${code})`;
}
