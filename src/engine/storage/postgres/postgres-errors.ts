import { OTHER_STORE } from './known-store.ts';
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
  const [, kind, text] = MEANINGS.find(([codes]) => codes.test(code)) ?? FAILED;
  return new StorageError(kind, `${place}: ${text({ code, message, remedy })}`, { cause: error });
}

type PostgresMeaning = readonly [
  codes: RegExp,
  kind: StorageErrorCode,
  text: (said: { readonly code: string; readonly message: string; readonly remedy: string }) => string,
];

/** By the code of PostgreSQL or its first two characters, which are its class (appendix A of its manual); the first that fits. */
const MEANINGS: readonly PostgresMeaning[] = [
  [new RegExp(`^${OTHER_STORE}$`), 'replaced', ({ message }) => message],
  [
    /^22012$/,
    'replaced',
    () =>
      'the pooler leads to another store than the one that this service worked with; see that it leads to the right database',
  ],
  [/^53100$/, 'disk_full', () => 'no space is left on the disk of the database; free some there'],
  [
    /^53/,
    'busy',
    ({ message }) => `the database has no resources left (${message}); raise its limits or try again`,
  ],
  // The message holds the value.
  [
    /^22/,
    'unreadable',
    ({ code }) =>
      `the database cannot read a value (${code}): it holds a NUL or half of a surrogate pair, or is a number beyond the range; leave it out`,
  ],
  [
    /^(?:28|3D)/,
    'unwritable',
    ({ message }) => `the database refused the connection (${message}); check storage.url`,
  ],
  [/^25/, 'read_only', ({ message }) => `the database takes no writes (${message}); connect to its primary`],
  [
    /^(?:40|55)/,
    'busy',
    ({ message }) => `another transaction holds the store (${message}); try again when it has ended`,
  ],
  [
    /^42/,
    'not_a_store',
    ({ message }) => `the schema holds something else (${message}); give the store a schema of its own`,
  ],
  [
    /^(?:08|57)/,
    'unreachable',
    ({ message, remedy }) => `the database cannot be reached (${message}); ${remedy}`,
  ],
  // Codes of the system, such as ECONNREFUSED.
  [/^E[A-Z]+$/, 'unreachable', ({ code, remedy }) => `the database cannot be reached (${code}); ${remedy}`],
];
const FAILED: PostgresMeaning = [/^/, 'failed', ({ message }) => message];

/** Where nothing is tried again. */
export const CHECK_ADDRESS = 'see that it runs, and that storage.url is right';

/** Host, port and database of a URL: never its password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
