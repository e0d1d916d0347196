import type { RunnerSettings } from '../../engine/config/config.ts';
import { say, write, type Sentence } from '../../base/finding.ts';

export type CommandRunnerSettings = Extract<RunnerSettings, { readonly kind: 'command' }>;

/** How shells and programs say that a variable is not there. Without such words only names with an underscore count. */
const ABSENT = [
  /: (?:line )?\d+: ([A-Z][A-Z0-9_]{1,60}): (?!(?:command )?not found|no such|permission|is a |readonly|cannot|bad |invalid|division|syntax)/gi,
  /\b([A-Z][A-Z0-9_]{1,60}): (?:parameter (?:null or )?not set|unbound variable)\b/g,
  /(?:KeyError: |key not found: |array key |[Ee]nv(?:ironment)? var(?:iable)? )['"`]?([A-Z][A-Z0-9_]{1,60})\b/g,
  /\b([A-Z][A-Z0-9]{0,60}_[A-Z0-9_]{1,60})['"`]?:? (?:env(?:ironment)? var(?:iable)? )?(?:is |was )?(?:not set|unset|undefined|missing|required|not provided|must be (?:set|provided|defined))\b/g,
  /\b(?:[Mm]issing|[Ss]et) ['"`]?([A-Z][A-Z0-9]{0,60}_[A-Z0-9_]{1,60})\b/g,
];

function absentIn(error: string): readonly string[] {
  return ABSENT.flatMap((form) => [...error.matchAll(form)].map(([, name = '']) => name));
}

const GIVEN =
  /^(?:PATH|HOME|USER|SHELL|LANG|LC_\w+|TZ|TMPDIR|PWD|OLDPWD|IFS|PS\d|HOSTNAME|TERM|SLUICE_\w+|TRACEPARENT|TRACESTATE)$/;

const GIVES = say`of the environment of the service a command gets only PATH, HOME, USER, SHELL, LANG, LC_*, TZ and TMPDIR, and what passEnv names and env sets`;

/** Says how a command gets the variable that it lacks; undefined where nothing says that it lacks one. */
export function environmentNote(
  { argv, env, passEnv }: CommandRunnerSettings,
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

function readIn(argv: readonly string[]): readonly string[] {
  const words = argv.join('\n');
  const read = [...words.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
  return [...new Set(read)].filter((name) => !words.includes(`${name}=`));
}
