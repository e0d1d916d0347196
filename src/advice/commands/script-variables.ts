/*
 * The variables that a command reads from its environment: what the script says that it starts. Those with a value for
 * when there is none are left out, and all of a script that takes variables from somewhere else.
 */
import { extname, resolve } from 'node:path';
import { beginningOf } from './look-at-file.ts';

/** How programs read the environment; without those that name a value for when there is none. */
const READS = [
  /\b(?:process\.env|import\.meta\.env|Bun\.env)(?:\??\.|\[['"`])([A-Za-z_]\w*)['"`]?\]?(?!\w)(?!\s*(?:\?\?|\|\||=(?!=)))/g,
  /\b(?:os\.environ(?:\.get)?|os\.getenv|os\.Getenv|getenv|ENV(?:\.fetch)?|Deno\.env\.get|env::var|env!|System\.getenv|\$_(?:ENV|SERVER))[([]\s*['"]([A-Za-z_]\w*)['"]\s*[)\]](?!\s*(?:\?\?|\|\||or\b|=(?!=)))/g,
];

/** Names that code reads from the environment in so many words. */
export function environmentReads(code: string): readonly string[] {
  return [...new Set(READS.flatMap((form) => [...code.matchAll(form)].map(([, name = '']) => name)))];
}

/** Those of shells and machines, which no operator sets for a command. */
const OF_THE_MACHINE =
  /^(?:BASH\w*|RANDOM|SECONDS|LINENO|E?UID|PPID|OPT(?:ARG|IND|ERR)|REPLY|PIPESTATUS|FUNCNAME|COLUMNS|LINES|(?:HOST|OS|MACH)TYPE|HOSTNAME|LOGNAME|TERM|COLORTERM|XDG_\w+|EDITOR|VISUAL|PAGER|DISPLAY|CI|DEBUG|NO_COLOR|NODE_ENV|VIRTUAL_ENV)$/;
/** What every command gets, and what the shell sets itself. */
const GIVEN =
  /^(?:PATH|HOME|USER|SHELL|LANG|LC_\w+|TZ|TMPDIR|PWD|OLDPWD|IFS|PS\d|SLUICE_\w+|TRACEPARENT|TRACESTATE)$/;

/** Whether a command has a variable without being handed it. */
export function isGivenToCommands(name: string): boolean {
  return GIVEN.test(name) || OF_THE_MACHINE.test(name);
}

/** A script that takes its variables from elsewhere. */
const READS_FILE =
  /^\s*(?:\.|source)\s+\S|\beval\b|\bset -a\b|\bexport \$\(|\bdotenv\b|load_dotenv|loadEnvFile|--env-file/m;
const SHELL = /^#!.*\b(?:ba|da|z|k|a)?sh\b/;
const MAX_SCRIPT_BYTES = 64 * 1024;

/** Names that the file of a command line reads, which a command does not have by itself. Looks at the disk. */
export function scriptVariables(
  argv: readonly string[],
  configDir: string,
): { readonly file: string; readonly names: readonly string[] } | undefined {
  for (const word of argv.slice(0, 3)) {
    if (!/[./]/.test(word) || word.startsWith('-')) continue;
    const names = variablesOf(resolve(configDir, word));
    if (names.length > 0) return { file: word, names };
  }
  return undefined;
}

function variablesOf(file: string): readonly string[] {
  const text = beginningOf(file, MAX_SCRIPT_BYTES).toString('utf8');
  if (text.includes('\0') || READS_FILE.test(text)) return [];
  const code = text.replaceAll(/^[ \t]*(?:#|\/\/).*$/gm, (line) => (line.startsWith('#!') ? line : ''));
  const isShell = SHELL.test(code) || /^\.(?:ba|z|k)?sh$/.test(extname(file));
  const names = isShell ? shellReads(code) : environmentReads(code);
  return names.filter((name) => !isGivenToCommands(name));
}

/** `$NAME`, `${NAME}`, `${NAME:?why}`; not those that the script sets itself, or has another value for. */
function shellReads(code: string): readonly string[] {
  const read = [...code.matchAll(/\$(?:\{#?([A-Z][A-Z0-9_]*)(?![\w]|:?[-=+])|([A-Z][A-Z0-9_]*)(?!\w))/g)];
  const set = new Set(
    [...code.matchAll(/\b([A-Z][A-Z0-9_]*)(?:\+?=|:?=|:?-)/g)].map(([, name = '']) => name),
  );
  for (const [, words = ''] of code.matchAll(
    /\b(?:read|for|local|declare|typeset|mapfile|readarray)\b([^\n;]{0,200})/g,
  ))
    for (const name of words.split(/\W+/)) set.add(name);
  const names = read.map(([, braced, bare]) => braced ?? bare ?? '');
  return [...new Set(names)].filter((name) => !set.has(name));
}
