import { StorageError, type StorageErrorCode } from '../storage-error.ts';

/** Says what to do about an error of PostgreSQL; `place` names the database without its password. */
export function explainPostgresError(
  error: unknown,
  place: string,
  remedy = 'it is tried again by itself',
): StorageError {
  if (error instanceof StorageError) return error;
  const { code = '', message } =
    error instanceof Error ? (error as Error & { code?: string }) : { message: '' };
  const explain = (kind: StorageErrorCode, text: string) =>
    new StorageError(kind, `${place}: ${text}`, { cause: error });
  switch (code.slice(0, 2)) {
    case '53':
      return code === '53100'
        ? explain('disk_full', 'no space is left on the disk of the database; free some there')
        : explain('busy', `the database has no resources left (${message}); raise its limits or try again`);
    case '28':
    case '3D':
      return explain('unwritable', `the database refused the connection (${message}); check storage.url`);
    case '25':
      return explain('read_only', `the database takes no writes (${message}); connect to its primary`);
    case '55':
    case '40':
      return explain('busy', `another transaction holds the store (${message}); try again when it has ended`);
    case '42':
      return explain(
        'not_a_store',
        `the schema holds something else (${message}); give the store a schema of its own`,
      );
    case '08':
    case '57':
      return explain('unreachable', `the database cannot be reached (${message}); ${remedy}`);
    default:
      return /^E[A-Z]+$/.test(code)
        ? explain('unreachable', `the database cannot be reached (${code}); ${remedy}`)
        : explain('failed', message);
  }
}

/** Where nothing is tried again. */
export const CHECK_ADDRESS = 'see that it runs, and that storage.url is right';

/** Host, port and database of a URL: never its password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
