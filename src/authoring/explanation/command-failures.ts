/* Why a command ended with an error, by what it said and what it lacked; and what to write. */
import { relative } from 'node:path';
import type { RunnerSettings } from '../../engine/config/config.ts';
import { say, write, type Sentence } from '../../base/finding.ts';
import { isWithin } from '../../service/runners/runners.ts';

export type CommandRunner = Extract<RunnerSettings, { readonly kind: 'command' }>;

/** How shells and programs say that a variable is not there; without a word of theirs only for names with an underscore. */
const ABSENT = [
  /: (?:line )?\d+: ([A-Z][A-Z0-9_]{1,60}): (?!(?:command )?not found|no such|permission|is a |readonly|cannot|bad |invalid|division|syntax)/gi,
  /\b([A-Z][A-Z0-9_]{1,60}): (?:parameter (?:null or )?not set|unbound variable)\b/g,
  /(?:KeyError: |key not found: |array key |[Ee]nv(?:ironment)? var(?:iable)? )['"`]?([A-Z][A-Z0-9_]{1,60})\b/g,
  /\b([A-Z][A-Z0-9]{0,60}_[A-Z0-9_]{1,60})['"`]?:? (?:env(?:ironment)? var(?:iable)? )?(?:is |was )?(?:not set|unset|undefined|missing|required|not provided|must be (?:set|provided|defined))\b/g,
  /\b(?:[Mm]issing|[Ss]et) ['"`]?([A-Z][A-Z0-9]{0,60}_[A-Z0-9_]{1,60})\b/g,
];

/** Variables of which a command said that they are missing. */
function absentIn(error: string): readonly string[] {
  return ABSENT.flatMap((form) => [...error.matchAll(form)].map(([, name = '']) => name));
}

/** What every command gets, and what the shell and the machine set themselves. */
const GIVEN =
  /^(?:PATH|HOME|USER|SHELL|LANG|LC_\w+|TZ|TMPDIR|PWD|OLDPWD|IFS|PS\d|HOSTNAME|TERM|SLUICE_\w+|TRACEPARENT|TRACESTATE)$/;

const GIVES = say`of the environment of the service a command gets only PATH, HOME, USER, SHELL, LANG, LC_*, TZ and TMPDIR, and what passEnv names and env sets`;

/** How a command gets what it said that it lacks, or what its line reads; undefined where nothing says that. */
export function environmentNote(
  { argv, env, passEnv }: CommandRunner,
  error: string,
  key: string,
): Sentence | undefined {
  const isKnown = (name: string): boolean => GIVEN.test(name) || Object.hasOwn(env, name);
  const said = [...new Set(absentIn(error))].filter((name) => !isKnown(name));
  const unset = said.filter((name) => passEnv.includes(name)).join(', ');
  if (unset !== '')
    return say`passEnv hands ${unset} on, and the command did not find it: the service itself does not have it. Set ${unset} where the service is started, and start it again`;
  const missing =
    said.length > 0 || passEnv.length > 0 ? said : readIn(argv).filter((name) => !isKnown(name));
  if (missing.length === 0) return undefined;
  return say`${GIVES}. It reads ${missing.join(', ')}. ${write(`passEnv: [${[...passEnv, ...missing].join(', ')}]`, `at ${key}`)}`;
}

/** Variables that a command line reads and does not set itself. */
function readIn(argv: readonly string[]): readonly string[] {
  const words = argv.join('\n');
  const read = [...words.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
  return [...new Set(read)].filter((name) => !words.includes(`${name}=`));
}

/** How shells and `env` say that there is no such program. */
const NO_PROGRAM = [
  /(?:^|\n)[^\n:]{1,80}: (?:line )?\d{1,6}: ([\w.@+-]{1,80}): (?:command )?not found/,
  /(?:^|\n)[^\n]{0,80}command not found: ([\w.@+-]{1,80})/,
  /(?:^|\n)[^\n:]{0,80}env: ['‘"]?([\w.@+-]{1,80})['’"]?: No such file/,
];

/** A program within a command line that the PATH of the service does not have. */
export function programNote({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): Sentence | undefined {
  if (code !== 'exit_127') return undefined;
  const name = NO_PROGRAM.map((form) => form.exec(message)?.[1]).find((each) => each !== undefined);
  return name === undefined
    ? undefined
    : say`${name} is not on the PATH that the service gives its commands, which may be shorter than that of a terminal. Write its whole path in argv, which "command -v ${name}" prints in a shell where it works, or set PATH in env of the runner`;
}

const INTERPRETERS: Readonly<Record<string, string>> = {
  js: 'node',
  mjs: 'node',
  cjs: 'node',
  ts: 'node',
  py: 'python3',
  rb: 'ruby',
  php: 'php',
  pl: 'perl',
};

/** A script that sh read, which is in another language; `configDir`: the folder of the configuration. */
export function syntaxNote(
  { argv }: CommandRunner,
  message: string,
  configDir: string,
): Sentence | undefined {
  const isOfShell = /(?:^|\n)[^\n:]{1,200}: (?:line )?\d{1,6}: (?:Syntax error\b|syntax error near)/.test(
    message,
  );
  if (!isOfShell) return undefined;
  const [program = ''] = argv;
  const script = isWithin(program, configDir) ? relative(configDir, program) : program;
  const interpreter = INTERPRETERS[/\.(\w{1,4})$/.exec(program)?.[1] ?? ''];
  return interpreter === undefined
    ? say`sh could not read the script, which may be in the language of bash. Write #!/usr/bin/env bash as the first line of ${script}`
    : say`the script was read by sh, as no first line names its language. Write #!/usr/bin/env ${interpreter} as the first line of ${script}`;
}
