import { quoted, say } from '../../base/finding.ts';
import { cutsPassword } from '../../base/address.ts';
import { resolve } from 'node:path';
import { explainMissingPackages, findMissingPackages } from './optional-package.ts';
import type { ConfigReporter } from './reporter.ts';

/** A `sqlite:` URL with its file's path made absolute; undefined for any other address. */
export function sqliteUrl(url: string, directory: string): string | undefined {
  const file = /^sqlite:(?!\/\/)(.+)$/.exec(url)?.[1];
  return file === undefined ? undefined : `sqlite:${resolve(directory, file)}`;
}

/** The store's address, with the file's path made absolute; INVALID_STORAGE_URL where it is none. */
export function storageUrl(
  url: string,
  context: { readonly directory: string; readonly reporter: ConfigReporter },
): string {
  const file = sqliteUrl(url, context.directory);
  if (file !== undefined) return file;
  const problem = problemOf(url);
  if (problem !== undefined) context.reporter.report('INVALID_STORAGE_URL', ['storage', 'url'], problem);
  return url;
}

type UrlProblem = Parameters<ConfigReporter['report']>[2];

function problemOf(url: string): UrlProblem | undefined {
  if (!/^postgres(?:ql)?:/.test(url)) return notAStore(url);
  if (!isDatabaseUrl(url)) return NOT_A_DATABASE;
  if (findMissingPackages(['pg'], import.meta.url).length === 0) return undefined;
  return {
    message: quoted(explainMissingPackages('a store in PostgreSQL', ['pg'])),
    hint: say`install it where Sluice is installed, or use a file: sqlite:FILE`,
  };
}

const NOT_A_DATABASE: UrlProblem = {
  message: say`storage.url is not the address of a PostgreSQL database, expected postgres://USER:PASSWORD@HOST/DATABASE`,
  hint: say`write characters such as @ / : # ? in a password as %40 %2F %3A %23 %3F, and keep the address in a variable: url: \${DATABASE_URL}`,
};

/** A path alone, or sqlite's own way of writing an address. */
const FILE = /^(?:sqlite:\/\/(?:\/(?=\/|\.))?|file:(?:\/\/)?)?((?:\.{0,2}\/)?[\w./-]+\.(?:db|sqlite3?))$/;

function notAStore(url: string): UrlProblem {
  const message = say`storage.url is not the address of a store, expected sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE`;
  const path = FILE.exec(url)?.[1];
  if (path !== undefined)
    return { message, hint: say`write sqlite:${path}`, replace: { from: url, to: `sqlite:${path}` } };
  const hint = say`write the path of a file behind sqlite:, or remove storage.url: the default is sqlite:./.sluice/sluice.db`;
  return { message, hint };
}

/** Whether it names a host, or a socket, and a database. */
function isDatabaseUrl(url: string): boolean {
  if (!URL.canParse(url) || cutsPassword(url)) return false;
  const { hostname, pathname, searchParams } = new URL(url);
  return (hostname !== '' || searchParams.has('host')) && /^\/[^/]/.test(pathname);
}
