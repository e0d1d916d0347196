/*
 * A command is started with its list of words, without a shell. Words that only a shell understands are arguments like
 * any other then.
 */
import { basename } from 'node:path';

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'busybox']);
/** Pipes, lists and redirections, each a whole word; a variable or the home folder, which a shell would replace. */
const OF_SHELL = /^(?:\|\|?|\|&|&&?|;|\d?>>?|\d?>&\d|<{1,3}|\d?>>?(?:&\d|[\w./-]+)|\$[A-Za-z_]\w*|~\/\S+)$/;

/** Returns the first word that only a shell understands; undefined for a command that is a shell. */
export function findShellWord(argv: readonly string[]): string | undefined {
  const isShell = argv.some((word) => SHELLS.has(basename(word)));
  return isShell ? undefined : argv.slice(1).find((each) => OF_SHELL.test(each));
}

/** Quotes a text, where needed, so that a shell reads it as one word. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

export function listText(argv: readonly string[]): string {
  return JSON.stringify(argv).replaceAll('","', '", "');
}
