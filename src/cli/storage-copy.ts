import { sqliteUrl } from '../config/config.ts';
import { copyStorage } from '../storage/storage.ts';
import type { CopyReport } from '../storage/facts.ts';
import type { Cli } from './command-line.ts';
import type { JsonFlags } from './config-file.ts';
import { printJson } from './json.ts';
import { CliError, type Terminal } from './terminal.ts';

/** Copies all work of one store into another. */
export async function copyStore(
  { terminal }: Cli,
  from: string,
  to: string,
  { json }: JsonFlags,
): Promise<void> {
  const report = await copyStorage(urlOf(from, terminal), urlOf(to, terminal), {
    onProgress: (table, rows) => {
      if (terminal.interactive) terminal.err(`${table}: ${rows}`);
    },
  });
  if (json === true) printJson(terminal, 'storage copy', report);
  else terminal.out(formatReport(report));
}

function formatReport({ rows, from, to, wasResumed }: CopyReport): string {
  const copied = Object.entries(rows).filter(([table, count]) => count > 0 && table !== 'counters');
  return [
    ...copied.map(([table, count]) => `${table}  ${count}`),
    `copied ${from} into ${to}${wasResumed ? ', going on where it had stopped' : ''}; now change storage.url, and start no service on the source again`,
  ].join('\n');
}

/** A reference keeps the password out of the list of processes and of the shell's history. */
function urlOf(text: string, { env, cwd }: Terminal): string {
  const name = /^\$\{(\w+)\}$/.exec(text)?.[1];
  const url = name === undefined ? text : (env[name] ?? '');
  if (url === '') throw new CliError(`the environment variable ${name ?? ''} is not set`, 2);
  return sqliteUrl(url, cwd) ?? url;
}
