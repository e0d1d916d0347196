/*
 * A command is started with its list of words, without a shell. Words that only a shell understands are arguments like
 * any other then; which these are, and how the same command is written for a shell.
 */
import { basename } from 'node:path';

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'busybox']);
/** Pipes, lists and redirections, each a whole word. */
const OPERATOR = /^(?:\|\|?|\|&|&&?|;|\d?>>?|\d?>&\d|<{1,3}|\d?>>?(?:&\d|[\w./-]+))$/;
/** A variable or the home folder, which a shell would replace. */
const REPLACED = /^(?:\$[A-Za-z_]\w*|~\/\S+)$/;
const PLACEHOLDER = /\{[a-z_]+\}/g;
/** Placeholders that every run has: no word is ever left out for them. */
const ALWAYS: ReadonlySet<string> = new Set(['{prompt_file}', '{session_id}', '{run_id}']);

export interface ShellLine {
  /** The first word that only a shell understands. */
  readonly word: string;
  /** The same command for a shell, as a list. */
  readonly argv: readonly string[];
  /** Whether it does just what was meant, whatever the run has. */
  readonly isCertain: boolean;
}

/** The command as a shell takes it; undefined where it has nothing of a shell, or is one. */
export function findShellLine(argv: readonly string[]): ShellLine | undefined {
  const isShell = argv.some((word) => SHELLS.has(basename(word)));
  const word = argv.slice(1).find((each) => OPERATOR.test(each) || REPLACED.test(each));
  if (isShell || word === undefined) return undefined;
  const values: string[] = [];
  const line = argv.map((each) => wordOrValue(each, values)).join(' ');
  const isCertain = values.every((value) => ALWAYS.has(value));
  return { word, isCertain, argv: ['sh', '-c', line, ...(values.length === 0 ? [] : ['sh', ...values])] };
}

/** A word as a shell reads it back; what a run fills in comes as `$1`, so that no shell reads it as code. */
function wordOrValue(word: string, values: string[]): string {
  if (OPERATOR.test(word)) return word;
  if (REPLACED.test(word)) return word.startsWith('$') ? `"${word}"` : word;
  const parts = word.split(new RegExp(`(${PLACEHOLDER.source})`));
  const written = parts.map((part, index) => {
    if (index % 2 === 0) return part === '' ? '' : shellWord(part);
    values.push(part);
    return `"$${String(values.length)}"`;
  });
  return written.join('') || "''";
}

/** A text as a word that a shell reads back, quoted where it has to be. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A command as a list, as a person writes it in one line. */
export function listText(argv: readonly string[]): string {
  return JSON.stringify(argv).replaceAll('","', '", "');
}
