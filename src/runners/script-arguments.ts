/*
 * A script that reads its first argument, where the command line gives it none: the prompt comes on stdin, or as a file,
 * and no argument holds its text. A script that looks at stdin too, or at how many arguments came, knows what it does.
 */
import { basename, extname, relative, resolve } from 'node:path';
import { listText } from './shell-words.ts';
import { beginningOf } from './look-at-file.ts';
import { isWithin } from './work-folder.ts';

/** How one language reads an argument, and how it reads the prompt. */
interface Language {
  readonly name: RegExp;
  readonly program: RegExp;
  /** The first argument, not where another value stands in for it. */
  readonly first: RegExp;
  /** Signs that it also knows of another way. */
  readonly knows: RegExp;
  /** The argument as the name of a file that is read. */
  readonly asFile: RegExp;
  /** What reads all of stdin, or of the file that the argument names. */
  readonly read: (from: 'stdin' | 'file', code: string) => string;
}

const SHELL: Language = {
  name: /^\.(?:ba|z|k|da)?sh$/,
  program: /\b(?:ba|da|z|k|a)?sh\b/,
  first: /(?<!\\)\$(?:1(?!\d)|\{1\})|(?<==["']?)\$(?:[@*]|\{[@*]\})/,
  knows:
    /\$#|\$\{#|\$\{1:?[-=+?]|\bshift\b|\bgetopts?\b|\bset --|\bcat\b(?!\s+["\w./$~-])|\bcat\s+-(?:\s|\)|$)|\bread\b|\b(?:mapfile|readarray|case|test)\b|\/dev\/stdin|<&0|\/fd\/0|\[[^\]\n]{0,80}\$\{?1\b/,
  asFile: /(?:\bcat\s+(?:--\s+)?|<\s?)"?\$\{?1\b/,
  read: (from) => (from === 'stdin' ? '$(cat)' : '$(cat "$1")'),
};
const PYTHON: Language = {
  name: /^\.py$/,
  program: /\bpython[\d.]*\b/,
  first: /\b(?:sys\.)?argv\[1\]/,
  knows:
    /\bstdin\b|\binput\(|\bfileinput\b|\bopen\(0\b|len\((?:sys\.)?argv\)|\bexcept\b.*\bIndexError\b|argv\[1\]\s+if\b/,
  asFile: /\b(?:open|Path)\(\s?(?:sys\.)?argv\[1\]/,
  read: (from) => (from === 'stdin' ? 'open(0).read()' : 'open(sys.argv[1]).read()'),
};
const NODE: Language = {
  name: /^\.[cm]?[jt]s$/,
  program: /\b(?:node|bun|tsx)\b/,
  first: /\bprocess\.argv(?:\[2\]|\.slice\(2\)(?:\[0\]|\.join\([^)]{0,20}\)))(?!\s*(?:\?\?|\|\||===?|!==?))/,
  knows: /\bstdin\b|readFileSync\(\s?0\b|\bargv\.length\b|\bparseArgs\b/,
  asFile: /\breadFile(?:Sync)?\(\s?process\.argv\[2\]/,
  read: (from, code) => {
    const fs = /^\s*(?:import|export)\s/m.test(code) ? "(await import('node:fs'))" : "require('node:fs')";
    return `${fs}.readFileSync(${from === 'stdin' ? '0' : 'process.argv[2]'}, 'utf8')`;
  },
};
const LANGUAGES = [SHELL, PYTHON, NODE];
/** A script that is told of the file reads it. */
const VARIABLE = 'SLUICE_PROMPT_FILE';
const MAX_SCRIPT_BYTES = 64 * 1024;
const MAX_LINE = 120;

interface Command {
  readonly argv: readonly string[];
  readonly prompt: 'stdin' | 'file';
}

/** What a script reads that no argument gives, and what to write. */
export interface UnreadPrompt {
  readonly message: string;
  readonly hint: string;
  /** The whole `argv`, where that is what to change. */
  readonly argv?: readonly string[];
}

/** Finds it in the file that a command line starts, the last word of that line. Looks at the disk. */
export function findUnreadPrompt({ argv, prompt }: Command, configDir: string): UnreadPrompt | undefined {
  const word = argv.at(-1) ?? '';
  const isScript = /[./]/.test(word) && argv.slice(1).every((each) => each === word || each.startsWith('-'));
  if (!isScript || word.startsWith('-')) return undefined;
  const file = resolve(configDir, word);
  const text = beginningOf(file, MAX_SCRIPT_BYTES).toString('utf8').replace(/\0+$/, '');
  const language = languageOf(text, argv.length > 1 ? (argv[0] ?? '') : '', extname(file));
  if (language === undefined || text.includes('\0') || text.includes(VARIABLE)) return undefined;
  const lines = codeLines(text, language);
  const index = lines.findIndex((line) => language.first.test(line));
  const line = text.split('\n')[index]?.trim();
  if (line === undefined || lines.some((each) => language.knows.test(each))) return undefined;
  const name = isWithin(file, configDir) ? relative(configDir, file) : file;
  const [argument = ''] = language.first.exec(line) ?? [];
  const comes = prompt === 'stdin' ? 'the prompt comes on stdin' : 'the prompt is in a file';
  const message = `${comes}, and the script reads ${argument} (${name}:${index + 1}), which is empty: argv gives it no argument`;
  const named = [...argv, '{prompt_file}'];
  const toFile = { message, hint: `write argv: ${listText(named)}`, argv: named };
  if (language.asFile.test(line)) return toFile;
  const written = corrected(line, language, language.read(prompt, text));
  return prompt === 'stdin'
    ? { message, hint: `write ${written} in ${name}:${index + 1}` }
    : { message, hint: `${toFile.hint}, and ${written} in ${name}:${index + 1}` };
}

/** By the program that is given it, by its first line, or by its ending. */
function languageOf(text: string, program: string, extension: string): Language | undefined {
  const [, first = ''] = /^#!(.{0,200})/.exec(text) ?? [];
  const by = program === '' ? first : basename(program);
  return LANGUAGES.find((each) => (by === '' ? each.name.test(extension) : each.program.test(by)));
}

/** The lines without comments, text in single quotes of a shell, and functions, whose arguments are their own. */
function codeLines(text: string, language: Language): readonly string[] {
  if (language !== SHELL) return text.split('\n').map((line) => (/^\s*(?:#|\/\/|\*)/.test(line) ? '' : line));
  let within = false;
  return withoutQuoted(text)
    .split('\n')
    .map((line) => {
      const begins = /^\s*(?:function\s+[\w-]+|[\w-]+\s*\(\s*\))/.test(line);
      const wasWithin = within || begins;
      if (begins) within = !/\}\s*$/.test(line);
      if (/^\s*\}/.test(line)) within = false;
      return wasWithin ? '' : line;
    });
}

const QUOTED = /\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"|'[^']*'|(?<=^|\s)#.*$/gm;

function withoutQuoted(text: string): string {
  return text.replaceAll(QUOTED, (part) =>
    part.startsWith("'") || part.startsWith('#') ? part.replaceAll(/[^\n]/g, '') : part,
  );
}

/** The line with the prompt in place of the argument; of a shell in quotes where it is a word of its own. */
function corrected(line: string, { first }: Language, read: string): string {
  const value = /(?:^|\s)\$(?:\d|\{\d\})(?:\s|$)/.test(line) ? `"${read}"` : read;
  const text = line.replace(first, () => value);
  return text.length <= MAX_LINE ? text : `${value} in its place`;
}
