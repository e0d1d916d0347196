import { copyStorage } from '../storage/storage.ts';
import type { Cli } from './command-line.ts';
import { CliError } from './terminal.ts';

/** Copies all work of one store into another. */
export async function copyStore(
  { terminal }: Cli,
  from: string,
  to: string,
  flags: { readonly json?: boolean },
): Promise<void> {
  const report = await copyStorage(urlOf(from, terminal.env), urlOf(to, terminal.env), {
    onProgress: (table, rows) => {
      if (terminal.interactive) terminal.err(`${table}: ${rows}`);
    },
  });
  if (flags.json === true) {
    terminal.out(JSON.stringify(report));
    return;
  }
  for (const [table, rows] of Object.entries(report.rows)) {
    if (rows > 0 && table !== 'counters') terminal.out(`${table}  ${rows}`);
  }
  terminal.out(
    `copied ${report.from} into ${report.to}${report.wasResumed ? ', going on where it had stopped' : ''}; now change storage.url, and start no service on the source again`,
  );
}

/** A reference keeps the password out of the list of processes and of the shell's history. */
function urlOf(text: string, env: Readonly<Record<string, string | undefined>>): string {
  const name = /^\$\{(\w+)\}$/.exec(text)?.[1];
  if (name === undefined) return text;
  const value = env[name];
  if (value === undefined || value === '')
    throw new CliError(`the environment variable ${name} is not set`, 2);
  return value;
}
