import { resolve } from 'node:path';
import { explainMissingPackages, findMissingPackages } from './optional-package.ts';
import type { Reporter } from './reporter.ts';

/** The store's address, with the file's path made absolute; INVALID_STORAGE_URL where it is none. */
export function storageUrl(
  url: string,
  context: { readonly directory: string; readonly reporter: Reporter },
): string {
  const file = /^sqlite:(?!\/\/)(.+)$/.exec(url)?.[1];
  if (file !== undefined) return `sqlite:${resolve(context.directory, file)}`;
  const report = (message: string, hint: string, replace?: { from: string; to: string }): void =>
    context.reporter.report('INVALID_STORAGE_URL', ['storage', 'url'], { message, hint, replace });
  if (!/^postgres(?:ql)?:/.test(url)) {
    // A path alone, or sqlite's own way of writing an address.
    const [, path = ''] =
      /^(?:sqlite:\/\/(?:\/(?=\/|\.))?|file:(?:\/\/)?)?((?:\.{0,2}\/)?[\w./-]+\.(?:db|sqlite3?))$/.exec(
        url,
      ) ?? [];
    report(
      'storage.url is not the address of a store, expected sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE',
      path === ''
        ? 'write sqlite: and the path of a file, or remove storage.url: the default is sqlite:./.sluice/sluice.db'
        : `write sqlite:${path}`,
      path === '' ? undefined : { from: url, to: `sqlite:${path}` },
    );
  } else if (!isDatabaseUrl(url)) {
    report(
      'storage.url is not the address of a PostgreSQL database, expected postgres://USER:PASSWORD@HOST/DATABASE',
      'characters such as @ / : # in a password are written as %40 %2F %3A %23; keep the address in a variable: url: ${DATABASE_URL}',
    );
  } else if (findMissingPackages(['pg'], import.meta.url).length > 0) {
    report(
      explainMissingPackages('a store in PostgreSQL', ['pg']),
      'install it where Sluice is installed, or use a file: sqlite:FILE',
    );
  }
  return url;
}

/** Whether it names a host, or a socket, and a database. */
function isDatabaseUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, pathname, searchParams } = new URL(url);
  return (hostname !== '' || searchParams.has('host')) && /^\/[^/]/.test(pathname);
}
