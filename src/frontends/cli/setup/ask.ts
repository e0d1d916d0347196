import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { readSecretFile } from '../../../engine/config/config.ts';
import { CliError, type Terminal } from '../terminal.ts';

/** Asks for what a flag would say: one of several, a text, or a secret. @throws CliError where nobody answers */
export async function askFor(
  terminal: Terminal,
  flag: string,
  question: string,
  how: readonly string[] | 'text' | 'secret' = 'text',
): Promise<string> {
  if (!terminal.interactive)
    throw new CliError(`${question} Nobody can be asked here: say it with ${flag}`, 2);
  for (;;) {
    const answer =
      typeof how === 'string'
        ? await terminal.ask(`${question} `, { isSecret: how === 'secret' })
        : await terminal.choose(question, how);
    if (answer === undefined) throw new CliError('nothing was written');
    if (answer !== '') return answer;
  }
}

/** Reads a secret from the file that the flag names; asks for it where there is none. */
export const secretFor = (
  terminal: Terminal,
  flag: string,
  file: string | undefined,
  question: string,
): Promise<string> =>
  file === undefined ? askFor(terminal, flag, question, 'secret') : readGivenSecret(terminal, file);

/** Reads a secret from the file that a person names; `-` is standard input. */
export async function readGivenSecret({ cwd }: Terminal, file: string): Promise<string> {
  const read =
    file === '-'
      ? { kind: 'read' as const, secret: await readAll(process.stdin) }
      : readSecretFile(resolve(cwd, file));
  const secret = read.kind === 'read' ? read.secret.trim() : '';
  if (secret !== '') return secret;
  const problem = read.kind === 'read' ? 'is empty' : read.problem;
  throw new CliError(`${file} ${problem}: it has to hold the secret and nothing else`, 2);
}
