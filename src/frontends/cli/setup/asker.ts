import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { readSecretFile } from '../../../engine/config/config.ts';
import { CliError, type Terminal } from '../terminal.ts';

export interface Asker {
  say(text: string): void;
  choose<Value extends string>(
    flag: string,
    question: string,
    options: { readonly choices: readonly { readonly value: Value; readonly label: string }[] },
  ): Promise<Value>;
  text(flag: string, question: string): Promise<string>;
  secret(flag: string, question: string): Promise<string>;
}

/** Where nobody can be asked, every question is an error that names its flag. */
export async function openAsker(terminal: Terminal, mayAsk: boolean): Promise<Asker> {
  const say = (text: string): void => terminal.err(text);
  if (!terminal.interactive || !mayAsk) return refuser(say);
  const prompts = await import('@clack/prompts');
  return {
    say,
    choose: async (_flag, message, { choices }) =>
      answered(
        await prompts.select<string>({ message, options: [...choices] }),
      ) as (typeof choices)[number]['value'],
    text: async (_flag, message) => answered(await prompts.text({ message, validate: isThere })).trim(),
    secret: async (_flag, message) => answered(await prompts.password({ message, validate: isThere })),
  };
}

const isThere = (value = ''): string | undefined => (value.trim() === '' ? 'it is empty' : undefined);

function refuser(say: Asker['say']): Asker {
  const refuse = (flag: string, question: string): Promise<never> =>
    Promise.reject(new CliError(`${question} Nobody can be asked here: say it with ${flag}`, 2));
  return { say, choose: refuse, text: refuse, secret: refuse };
}

function answered(value: unknown): string {
  if (typeof value !== 'string') throw new CliError('nothing was written');
  return value;
}

/** Reads a secret from the file that a person names; `-` is standard input. Without one it is asked for. */
export async function readGivenSecret(
  terminal: Terminal,
  file: string | undefined,
  ask: () => Promise<string> = () => Promise.resolve(''),
): Promise<string> {
  if (file === undefined) return ask();
  const read =
    file === '-'
      ? { kind: 'read' as const, secret: await readAll(process.stdin) }
      : readSecretFile(resolve(terminal.cwd, file));
  const secret = read.kind === 'read' ? read.secret.trim() : '';
  if (secret !== '') return secret;
  const problem = read.kind === 'read' ? 'is empty' : read.problem;
  throw new CliError(`${file} ${problem}: it has to hold the secret and nothing else`, 2);
}
