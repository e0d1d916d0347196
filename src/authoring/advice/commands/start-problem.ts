/**
 * Says why a program cannot be started, from what the disk has under its name. Only the most certain cause
 * is reported, and it is the same before the first run and after one that did not start.
 */
import { closeSync, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { findOnPath, isExecutable } from '../../../engine/config/facts.ts';
import { didYouMean } from '../../../base/document/document.ts';
import { listText } from './shell-words.ts';

export interface StartProblem {
  readonly problem: string;
  readonly remedy: string;
  /** The whole list of words to write, where nothing else has to be done. */
  readonly argv?: readonly string[];
}

/** Looks at the disk. Returns undefined where the program should start; `path` is the command's own PATH. */
export function findStartProblem(
  argv: readonly string[],
  path: string | undefined = '',
): StartProblem | undefined {
  const [program = ''] = argv;
  const found = program.includes('/') ? isStartable(program) : findOnPath(program, path) !== undefined;
  if (found) return undefined;
  if (program.includes(' ') && statOf(program) === undefined) return wholeLine(argv);
  return program.includes('/') ? fileProblem(program) : notOnPath(program, path);
}

const problemOf = (problem: string, remedy: string): StartProblem => ({ problem, remedy });

const MAX_SHOWN = 300;
const shown = (argv: readonly string[]): string => listText(argv).slice(0, MAX_SHOWN);

function wholeLine([program = '', ...rest]: readonly string[]): StartProblem {
  const problem = 'argv is a list of words, and its first element is a whole command line';
  const isForShell = /[|&;<>$`*"'\\]/.test(program);
  if (isForShell && rest.length > 0) return problemOf(problem, 'write each word as an element of its own');
  const words = isForShell ? ['sh', '-c', program] : [...program.trim().split(/ +/), ...rest];
  const remedy = `write argv: ${shown(words)}`;
  return isForShell ? { problem, remedy } : { problem, remedy, argv: words };
}

function notOnPath(program: string, path: string): StartProblem {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const closed = folders
    .map((folder) => join(folder, program))
    .find((file) => statOf(file)?.isFile() === true);
  if (closed !== undefined) return problemOf(`${closed} is not executable`, `run chmod +x ${closed}`);
  return problemOf(
    'it is not on PATH',
    `install it, or write its whole path, which "command -v ${program}" prints in a shell where it works`,
  );
}

const MAX_NAMES = 5_000;

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, MAX_NAMES);
  } catch {
    return [];
  }
}

function fileProblem(file: string): StartProblem | undefined {
  const stats = statOf(file);
  if (stats === undefined) return missingFile(file);
  if (stats.isDirectory()) return problemOf('it is a folder', 'name the program in it');
  if (!isExecutable(file)) return problemOf('it is not executable', `run chmod +x ${file}`);
  return interpreterProblem(file);
}

function missingFile(file: string): StartProblem {
  const folder = dirname(file);
  const near = didYouMean(basename(file), namesIn(folder));
  const remedy =
    near === undefined ? 'correct the path, or install it' : `${folder} has ${near}: did you mean that?`;
  return problemOf('there is no such file', remedy);
}

const FIRST_LINE_BYTES = 256;

/** A script cannot start where its first line names a program that is not there. */
function interpreterProblem(file: string): StartProblem | undefined {
  const [, line = ''] = /^#!\s*([^\n]*)/.exec(beginningOf(file, FIRST_LINE_BYTES).toString('latin1')) ?? [];
  const [interpreter = ''] = line.split(/[ \t\r]/);
  if (line.endsWith('\r'))
    return problemOf(
      'its lines end as on Windows, so its first line names a program that is not there',
      String.raw`run sed -i 's/\r$//' ${file}`,
    );
  if (interpreter === '' || statOf(interpreter) !== undefined) return undefined;
  return problemOf(
    `its first line asks for ${interpreter}, which is not there`,
    `install that, or write #!/usr/bin/env ${basename(interpreter)} there`,
  );
}

const isStartable = (file: string): boolean => fileProblem(file) === undefined;

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    // The file is not there, or the word is too long for a name.
    return undefined;
  }
}

/** The first bytes of a file; empty where it cannot be read. */
function beginningOf(file: string, maxBytes: number): Buffer {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const bytes = Buffer.alloc(maxBytes);
    return bytes.subarray(0, readSync(handle, bytes, 0, maxBytes, 0));
  } catch {
    // The file is not there, cannot be read, or is no file.
    return Buffer.alloc(0);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
