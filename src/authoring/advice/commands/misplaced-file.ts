/*
 * A relative file in the arguments of a command is looked for in the folder the command works in, while the program is
 * looked for from the configuration. Who tries the command by hand stands beside the configuration, where both work.
 */
import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { isExecutable } from '../../../engine/config/facts.ts';
import { beginningOf, statOf } from './look-at-file.ts';

/** Programs that work elsewhere: in a container, on another machine, in a folder of an option. */
const ELSEWHERE = /^(?:docker|podman|nerdctl|kubectl|ssh|chroot|nsenter|bwrap|firejail|wsl|flatpak)$/;
/** An option that changes the folder. */
const MOVES = /^(?:-C|--(?:cwd|chdir|directory|dir|prefix|project-dir|workdir)(?:=.*)?)$/;
/** An option before a file that the command writes. */
const WRITES = /^-(?:o|-out(?:put)?(?:-\w+)*)$/;
/** A relative path of letters that no shell reads in another way. */
const RELATIVE = /^(?![-/~{])(?=[^/.]*[/.])[\w./@+-]+$/;

/** Where a command works and where its configuration is. */
export interface CommandFolders {
  /** The folder of the configuration. */
  readonly configDir: string;
  /** Folders a run may work in, as far as they are known before it. */
  readonly works: readonly string[];
}

/** A file that is beside the configuration, and not where the command works. */
export interface MisplacedFile {
  /** As it is written. */
  readonly word: string;
  /** Its whole path. */
  readonly file: string;
  /** The arguments with which the command finds it. */
  readonly argv: readonly string[];
}

/** Finds the first such file in the arguments after the program. Looks at the disk. */
export function findMisplacedFile(
  argv: readonly string[],
  { configDir, works }: CommandFolders,
): MisplacedFile | undefined {
  const there = (word: string): boolean =>
    isFile(resolve(configDir, word)) && !works.some((folder) => existsSync(resolve(folder, word)));
  const found = relativeFiles(argv).find(({ word }) => there(word));
  if (found === undefined) return undefined;
  const { index, word } = found;
  const file = resolve(configDir, word);
  const program = index === 1 ? asProgram(argv, { word, file }) : undefined;
  if (program !== undefined) return { word, file, argv: program };
  const written = argv.map((each, at) => (at === index ? `${each.slice(0, -word.length)}${file}` : each));
  return { word, file, argv: written };
}

interface RelativeFile {
  readonly index: number;
  readonly word: string;
}

function relativeFiles(argv: readonly string[]): readonly RelativeFile[] {
  const moves = argv.some((each) => ELSEWHERE.test(basename(each)) || MOVES.test(each));
  if (moves) return [];
  return argv.flatMap((each, index) => {
    const before = argv[index - 1] ?? '';
    if (index === 0 || WRITES.test(before)) return [];
    const word = each.slice(optionLength(each));
    return RELATIVE.test(word) ? [{ index, word }] : [];
  });
}

/** Letters of `--name=`. */
function optionLength(argument: string): number {
  const [name = ''] = /^--[\w-]+=/.exec(argument) ?? [];
  return WRITES.test(name.slice(0, -1)) ? argument.length : name.length;
}

/** The script as the program itself, which is looked for from the configuration; undefined where it cannot be started. */
function asProgram(
  argv: readonly string[],
  { word, file }: Pick<MisplacedFile, 'word' | 'file'>,
): readonly string[] | undefined {
  if (argv[1] !== word || !isExecutable(file)) return undefined;
  const [, interpreter = ''] = /^#!(.*)/.exec(beginningOf(file, 200).toString()) ?? [];
  const isSame = interpreter.split(/[\s/]+/).includes(basename(argv[0] ?? ''));
  return isSame ? [/^\.{1,2}\//.test(word) ? word : `./${word}`, ...argv.slice(2)] : undefined;
}

const isFile = (path: string): boolean => statOf(path)?.isFile() === true;
