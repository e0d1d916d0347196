/* What a command said that ended with an error, or replied in another form than was meant, and what to write. */
import { say, write, type Sentence } from '../finding.ts';
import type { CommandRunner } from './setting-words.ts';

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

/** A command that wants a terminal, of which an agent that is started by a service has none. */
export function terminalNote({ argv }: CommandRunner, message: string): Sentence | undefined {
  if (!/not a (?:tty|terminal)\b|inappropriate ioctl for device|no tty present/i.test(message))
    return undefined;
  const words = argv.map((word) => word.replaceAll(/(^|\s)-(?:it|ti)(?=\s|$)/g, '$1-i'));
  const isKnown = words.some((word, index) => word !== argv[index]);
  return say`a command of the service has no terminal${isKnown ? `: -t asks for one. Write argv: ${JSON.stringify(words).replaceAll('","', '", "')}` : ': leave out the option that asks for one (-t, --tty), or use the one of the program for scripts (-p, --print, --batch)'}`;
}

/** Names under which commands print the text of their answer, the best first. */
const ANSWERS = ['result', 'reply', 'response', 'answer', 'output', 'text', 'message', 'content'];
const MAX_LEVELS = 4;

/** A reply that is the JSON of a command, with the path to the text in it. */
export function jsonReplyNote(
  { replyPath }: CommandRunner,
  reply: string,
  key: string,
): Sentence | undefined {
  if (replyPath !== undefined || !/^\s*[{[]/.test(reply)) return undefined;
  const value = parsed(reply) ?? parsed(reply.trimEnd().split('\n').at(-1) ?? '');
  const path = answerIn(value);
  return path === undefined
    ? undefined
    : say`the command printed JSON, and all that it prints is the reply. Where only the text in it is meant, ${write(`replyPath: ${path}`, `at ${key}`)}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The path of the text, the nearest to the root. */
function answerIn(value: unknown): string | undefined {
  let level: readonly (readonly [string, unknown])[] = [['', value]];
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth += 1) {
    const fields = level.flatMap(([path, each]) =>
      typeof each === 'object' && each !== null
        ? Object.entries(each).map(
            ([name, inner]) => [path === '' ? name : `${path}.${name}`, inner] as const,
          )
        : [],
    );
    const texts = fields.filter(([, inner]) => typeof inner === 'string').map(([path]) => path);
    const found = ANSWERS.map((name) => texts.find((path) => path.split('.').at(-1) === name)).find(Boolean);
    if (found !== undefined) return found;
    level = fields;
  }
  return undefined;
}
