import type { GatewaySettings, RunnerSettings } from '../config/config.ts';
import type { Place } from '../document/document.ts';

/** References in the text of a setting: `${NAME}`; never a value. */
function namesIn(at: Place | undefined): readonly string[] {
  const written = at?.source.text.slice(at.start, at.end) ?? '';
  return [...written.matchAll(/\$\{([A-Za-z_]\w*)\}/g)].map(([, name = '']) => name);
}

/** With what the token of a question was compared, by the name of the variable. */
export function challengeNote(challenge: Place, verify: Place | undefined): string | undefined {
  const [name] = namesIn(challenge);
  if (name === undefined) return undefined;
  const signs = namesIn(verify).includes(name)
    ? `, and ${name} is also the secret of verify, which signs`
    : '';
  return `the token of the request was compared with the value of ${name}${signs}: name the variable that holds the verify token, the text that was typed in the settings of the provider`;
}

/** The runner of a name, which may be one that the configuration no longer has. */
export function runnerNamed(
  { runners }: Pick<GatewaySettings, 'runners'>,
  name: string,
): RunnerSettings | undefined {
  return Object.hasOwn(runners, name) ? runners[name] : undefined;
}

type CommandRunner = Extract<RunnerSettings, { readonly kind: 'command' }>;

/** What every command gets, and what the shell sets itself. */
const GIVEN =
  /^(?:PATH|HOME|USER|SHELL|LANG|LC_\w+|TZ|TMPDIR|PWD|OLDPWD|IFS|PS\d|SLUICE_\w+|TRACEPARENT|TRACESTATE)$/;

/** A pipe, a list or a redirection as a word of its own, in a command that is started without a shell. */
export function shellNote({ argv }: CommandRunner): string | undefined {
  if (argv.includes('-c')) return undefined;
  const word = argv.slice(1).find((each) => /^(?:\|\|?|&&?|;|\d?>>?|\d?>&\d|<)$/.test(each));
  return word === undefined
    ? undefined
    : `the command is started without a shell, so "${word}" and what follows it were arguments of ${argv[0] ?? ''}. Write argv: ["sh", "-c", "…"]; "sluice check" prints the whole line`;
}

/** Words of an error about a variable, a key or a login that is missing. */
const ABOUT_ENVIRONMENT =
  /\b(?:env(?:ironment)?|variable|unset|unbound|api[ _-]?key|token|credentials?|log(?:ged)? ?in|unauthori[sz]ed|40[13])\b/i;

/** What a command gets of the environment, and how it gets more; undefined where nothing says that it lacked any. */
export function environmentNote({ argv, env }: CommandRunner, error: string): string | undefined {
  const words = argv.join('\n');
  const read = [...words.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
  const missing = [...new Set(read)].filter((name) => !GIVEN.test(name) && !Object.hasOwn(env, name));
  if (missing.length === 0 && !ABOUT_ENVIRONMENT.test(error)) return undefined;
  const which =
    missing.length === 0
      ? 'If it needs another one, name it: passEnv: [NAME]'
      : `It reads ${missing.join(', ')}: write passEnv: [${missing.join(', ')}]`;
  return `the command gets only PATH, HOME, USER, SHELL, LANG, LC_*, TZ and TMPDIR of the environment of the service, and what env sets. ${which}`;
}

/** Where the prompt of a command went that ended well and replied nothing, and what to write where it did not read it. */
export function promptNote({ argv, prompt }: CommandRunner): string {
  const program = argv[0] ?? '';
  const ended = `${program} ended well and printed nothing, so the reply is empty`;
  const isNamed = argv.some((word) => word.includes('{prompt_file}'));
  if (prompt === 'stdin') {
    return `the prompt went to stdin${isNamed ? ' and to the file {prompt_file}' : ''}; ${ended}. Only what a command prints on stdout is its reply${isNamed ? '' : "; where it reads a file, write '{prompt_file}' into argv"}`;
  }
  return isNamed
    ? `the prompt went to the file {prompt_file}, and stdin was empty; ${ended}. Only what a command prints on stdout is its reply`
    : `the prompt was only in the file {prompt_file}, which argv does not name, and stdin was empty; ${ended}. Write prompt: stdin, or '{prompt_file}' in argv where ${program} reads a file`;
}
