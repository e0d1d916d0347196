import { say, todo, write, type Sentence } from '../finding.ts';
import { findShellLine, listText, type MisplacedFile } from '../advice/commands.ts';
import type { GatewaySettings, RunnerSettings } from '../config/config.ts';
import { shorten, type Place } from '../document/document.ts';

/** References in the text of a setting: `${NAME}`; never a value. */
function namesIn(at: Place | undefined): readonly string[] {
  const written = at?.source.text.slice(at.start, at.end) ?? '';
  return [...written.matchAll(/\$\{([A-Za-z_]\w*)\}/g)].map(([, name = '']) => name);
}

/** With what the token of a question was compared, by the name of the variable. */
export function challengeNote(challenge: Place, verify: Place | undefined): Sentence | undefined {
  const [name] = namesIn(challenge);
  if (name === undefined) return undefined;
  const signs = namesIn(verify).includes(name)
    ? say`, and ${name} is also the secret of verify, which signs`
    : '';
  return say`the token of the request was compared with the value of ${name}${signs}: ${todo}name the variable that holds the verify token, the text that was typed in the settings of the provider`;
}

/** The runner of a name, which may be one that the configuration no longer has. */
export function runnerNamed(
  { runners }: Pick<GatewaySettings, 'runners'>,
  name: string,
): RunnerSettings | undefined {
  return Object.hasOwn(runners, name) ? runners[name] : undefined;
}

export type CommandRunner = Extract<RunnerSettings, { readonly kind: 'command' }>;

/** Words that only a shell understands, in a command that is started without one. */
export function shellNote({ argv }: CommandRunner): Sentence | undefined {
  const line = findShellLine(argv);
  return line === undefined
    ? undefined
    : say`the command is started without a shell, so "${line.word}" was an argument of ${argv[0] ?? ''} like any other. ${write(`argv: ${shorten(listText(line.argv), MAX_ARGV)}`)}`;
}

/** Longer commands are not repeated whole. */
const MAX_ARGV = 300;

/** In which folder a file of the arguments was looked for, and what finds it. */
export function misplacedNote({ cwd }: CommandRunner, { word, file, argv }: MisplacedFile): Sentence {
  const folder =
    cwd === undefined
      ? say`private gives each conversation a folder of its own outside of the configuration`
      : say`the command works in ${cwd}`;
  return say`${folder}, and ${word} of argv is looked for there; the file is ${file}. ${write(`argv: ${listText(argv)}`)}`;
}

/** Words of an error about a variable, a key or a login that is missing. */
const ABOUT_ENVIRONMENT =
  /\b(?:env(?:ironment)?|variable|unset|unbound|api[ _-]?key|token|credentials?|log(?:ged)? ?in|unauthori[sz]ed|40[13])\b/i;

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

/** What a command gets of the environment, and how it gets more; undefined where nothing says that it lacked any. */
export function environmentNote(
  runner: CommandRunner,
  error: string,
  key: string,
): { readonly text: Sentence; readonly isGuess?: boolean } | undefined {
  const isKnown = (name: string): boolean => GIVEN.test(name) || Object.hasOwn(runner.env, name);
  const said = [...new Set(absentIn(error))].filter((name) => !isKnown(name));
  const { passEnv } = runner;
  const unset = said.filter((name) => passEnv.includes(name)).join(', ');
  if (unset !== '')
    return {
      text: say`passEnv hands ${unset} on, and the command did not find it: the service itself does not have it. Set ${unset} where the service is started, and start it again`,
    };
  const missing = said.length > 0 ? said : readIn(runner).filter((name) => !isKnown(name));
  const isSure = missing.length > 0 && (said.length > 0 || passEnv.length === 0);
  if (!isSure && (passEnv.length > 0 || !ABOUT_ENVIRONMENT.test(error))) return undefined;
  const login = isSure ? undefined : loginText(runner, error, key);
  if (login !== undefined) return { text: login };
  const how = isSure
    ? say`It reads ${missing.join(', ')}. ${write(`passEnv: [${[...passEnv, ...missing].join(', ')}]`)} at ${key}`
    : say`If the command needs another variable, such as a key, ${write('passEnv: [NAME]', `at ${key}`)}`;
  return { text: say`${GIVES}. ${how}`, isGuess: !isSure };
}

/** Coding agents, and the variable with which each works without a login. */
const LOGINS: Readonly<Record<string, string>> = {
  claude: 'ANTHROPIC_API_KEY',
  codex: 'CODEX_API_KEY',
  gemini: 'GEMINI_API_KEY',
};

/** What a coding agent needs that asks for a login. */
function loginText({ argv }: CommandRunner, error: string, key: string): Sentence | undefined {
  const agent = Object.keys(LOGINS).find((name) => new RegExp(String.raw`\b${name}\b`).test(argv.join(' ')));
  if (agent === undefined || !/log(?:ged)? ?in\b|api[ _-]?key|unauthori[sz]ed|401/i.test(error))
    return undefined;
  const name = LOGINS[agent] ?? '';
  return say`${agent} is not logged in where the service runs, and a command gets no key of the environment by itself. ${write(`passEnv: [${name}]`, `at ${key}`)}, and set ${name} where the service starts; or log in with ${agent} as the user of the service`;
}

/** Variables that a command line reads and does not set itself. */
function readIn({ argv }: CommandRunner): readonly string[] {
  const words = argv.join('\n');
  const read = [...words.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
  return [...new Set(read)].filter((name) => !words.includes(`${name}=`));
}

/** Where the prompt of a command went that ended well and replied nothing, and what to write where it did not read it. */
export function promptNote({ argv, prompt }: CommandRunner): Sentence {
  const program = argv[0] ?? '';
  const ended = say`${program} ended well and printed nothing on stdout (stderr is no reply), so the reply is empty`;
  const isNamed = argv.some((word) => word.includes('{prompt_file}'));
  if (prompt === 'stdin') {
    return say`the prompt went to stdin${isNamed ? ' and to the file {prompt_file}' : ''}; ${ended}. Only what a command prints on stdout is its reply${isNamed ? '' : "; where it reads a file, write '{prompt_file}' into argv"}`;
  }
  return isNamed
    ? say`the prompt went to the file {prompt_file}, and stdin was empty; ${ended}. Only what a command prints on stdout is its reply`
    : say`the prompt was only in the file {prompt_file}, which argv does not name, and stdin was empty; ${ended}. ${write('prompt: stdin')}, or '{prompt_file}' in argv where ${program} reads a file`;
}
