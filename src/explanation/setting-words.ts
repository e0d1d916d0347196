import type { RunnerSettings } from '../config/config.ts';
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

type CommandRunner = Extract<RunnerSettings, { readonly kind: 'command' }>;

/** What every command gets, and what the shell sets itself. */
const GIVEN =
  /^(?:PATH|HOME|USER|SHELL|LANG|LC_\w+|TZ|TMPDIR|PWD|OLDPWD|IFS|PS\d|SLUICE_\w+|TRACEPARENT|TRACESTATE)$/;

/** What a command gets of the environment, and how it gets more. */
export function environmentNote({ argv, env }: CommandRunner): string {
  const words = argv.join('\n');
  const read = [...words.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
  const missing = [...new Set(read)].filter((name) => !GIVEN.test(name) && !Object.hasOwn(env, name));
  const which =
    missing.length === 0
      ? 'If it needs another one, name it: passEnv: [NAME]'
      : `It reads ${missing.join(', ')}: write passEnv: [${missing.join(', ')}]`;
  return `the command gets only PATH, HOME, USER, SHELL, LANG, LC_*, TZ and TMPDIR of the environment of the service, and what env sets. ${which}`;
}
