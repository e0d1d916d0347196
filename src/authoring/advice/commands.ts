/**
 * Says why a program cannot be started, from what the disk has under its name. Only the most certain cause
 * is reported, and it is the same before the first run and after one that did not start.
 */
import { delimiter, join } from 'node:path';
import { findOnPath, isExecutable, statOf } from '../../engine/config/facts.ts';

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
  // What stands for a placeholder must not become words of a shell.
  if (isForShell && (rest.length > 0 || program.includes('{')))
    return problemOf(problem, 'write each word as an element of its own');
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

function fileProblem(file: string): StartProblem | undefined {
  const stats = statOf(file);
  if (stats === undefined) return problemOf('there is no such file', 'correct the path, or install it');
  if (stats.isDirectory()) return problemOf('it is a folder', 'name the program in it');
  return isExecutable(file) ? undefined : problemOf('it is not executable', `run chmod +x ${file}`);
}

const isStartable = (file: string): boolean => fileProblem(file) === undefined;

export function listText(argv: readonly string[]): string {
  return JSON.stringify(argv).replaceAll('","', '", "');
}
