import { cutsPassword } from '../../../base/address.ts';
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
  const other = connectionFault(code) === undefined ? FAILED : UNREACHABLE;
  const [, kind, text] = MEANINGS.find(([codes]) => codes.test(code)) ?? other;
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
  [
    /^25006$/,
    'read_only',
    ({ message }) => `the database takes no writes (${message}); connect to its primary`,
  ],
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
];
const UNREACHABLE: PostgresMeaning = [
  /^/,
  'unreachable',
  ({ code, message, remedy }) =>
    `the database cannot be reached (${code.startsWith('E') ? code : message}); ${remedy}`,
];
const FAILED: PostgresMeaning = [/^/, 'failed', ({ message }) => message];

const CONNECTION_FAULTS = [
  // Ended by the network, by the administrator, with the server, or as a transaction was idle for too long (`connection.ts`).
  [/^(?:08006|25P0[34]|57P0[125]|ECONNRESET|EPIPE)$/, 'broken'],
  // Other codes of the system, such as ECONNREFUSED and EAI_AGAIN.
  [/^(?:08001|08004|57P03|E(?:AI_)?[A-Z]+)$/, 'never-made'],
  [/^(?:08|57P0)/, 'unanswered'],
] as const;

/**
 * What the code of an error says of its connection; undefined where that goes on. With one that broke its transaction is
 * gone, except where a commit was under way; over one that was never made nothing was asked.
 */
export function connectionFault(code: string): (typeof CONNECTION_FAULTS)[number][1] | undefined {
  return CONNECTION_FAULTS.find(([codes]) => codes.test(code))?.[1];
}

/** Where nothing is tried again. */
export const CHECK_ADDRESS = 'see that it runs, and that storage.url is right';

/** Host, port and database of a URL: never its password, so that one which is not read as such is refused. */
export function placeOf(url: string): string {
  if (!URL.canParse(url) || cutsPassword(url))
    throw new StorageError(
      'invalid_url',
      'the address of the PostgreSQL database cannot be read: write characters such as @ / : # ? in a password as %40 %2F %3A %23 %3F',
    );
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
