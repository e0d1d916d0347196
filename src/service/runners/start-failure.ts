/* Why a command did not start, as its folder and the code of the system tell. */
import { existsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** What is wrong with the folder that a command works in. */
export function folderProblem(cwd: string | undefined): string | undefined {
  if (cwd === undefined) return undefined;
  const isThere = existsSync(cwd);
  if (isThere && statSync(cwd).isDirectory()) return undefined;
  return !isThere
    ? `the folder it works in is not there: ${cwd} (cwd)`
    : `it works in a folder, and ${cwd} is a file (cwd)`;
}

/** What the codes of the system mean, where the disk says nothing. */
const CODES: Readonly<Record<string, string>> = {
  E2BIG:
    'its arguments and environment are too long for the system: hand long texts over by stdin or {prompt_file}',
  EACCES:
    'the system does not let the user of the service execute it: a folder on its way is closed to that user, or its file system is mounted noexec',
  EAGAIN:
    'the user of the service may start no more processes: raise ulimit -u, TasksMax of the unit or the limit of the container, or lower gateway.maxRuns',
  ELOOP: 'its path goes through links in a circle: make the links anew',
  EMFILE: 'the service has too many files open: raise ulimit -n, or LimitNOFILE of its unit',
  ENFILE: 'the system has too many files open: raise fs.file-max',
  ENOENT: 'it is gone, or the program of its first line (#!) is',
  ENOEXEC: 'it is no program for this machine: was it built for another kind of processor?',
  ENOMEM: 'the system has too little memory left to start it',
  ENOTDIR: 'a part of its path is a file and no folder: correct the path',
  EPERM:
    'the system does not allow the service to start it: look at what confines it (systemd, AppArmor, a container)',
  ETXTBSY: 'its file is being written just now',
};

/** What the codes of a write mean. */
const DISK_CODES: Readonly<Record<string, string>> = {
  EACCES: 'the user of the service may not write there: let it',
  EDQUOT: 'the quota of the user of the service is used up: raise it, or make room',
  EMFILE: CODES['EMFILE'] ?? '',
  ENFILE: CODES['ENFILE'] ?? '',
  ENOENT: 'a folder on its way is gone: make it',
  ENOSPC: 'no room (or no inode) is left there: make some',
  EROFS: 'its file system takes no writes: mount it writable',
};

/** What kept a file or a folder from being written, with its path; a write that fails knows none. */
export function diskText(error: unknown, folder: string): string {
  const { code = 'unknown', path = folder } = error as NodeJS.ErrnoException;
  const remedy = path.startsWith(tmpdir()) ? ', or set TMPDIR of the service to another folder' : '';
  return `${path}: ${DISK_CODES[code] ?? 'the system gave no other reason'}${remedy} (${code})`;
}

/** What the code of a start that failed means. */
export const codeText = (code: string): string =>
  Object.hasOwn(CODES, code) ? (CODES[code] ?? '') : 'the system gave no other reason';
