import type { Client, QueryArrayResult, QueryResult } from 'pg';
import { StorageError } from '../storage-error.ts';
import { checkNotRefused, checkStore, type ExpectedStore } from './known-store.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * What every connection of a store is set to. Every statement of a busy store has an index made for it; a plan made
 * while a table was empty would not use it. All writers wait for one row, so nobody may keep it: a process that is cut
 * off in the middle of a transaction loses it after some seconds, and who waits too long gets an error. The last one is
 * the promise itself: what was answered is on disk.
 */
const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ['enable_seqscan', 'off'],
  ['plan_cache_mode', 'force_generic_plan'],
  ['jit', 'off'],
  ['lock_timeout', '5s'],
  ['idle_in_transaction_session_timeout', '5s'],
];

/** Other values than off wait for more than the disk of this database, or for as much. */
const durable = (isLocal: boolean): string =>
  `SELECT set_config('synchronous_commit', 'on', ${isLocal}) WHERE current_setting('synchronous_commit') = 'off'`;

const SESSION_SETTINGS = [
  ...SETTINGS.map(([name, value]) => `SET ${name} = '${value}'`),
  durable(false),
].join('; ');
const TRANSACTION_SETTINGS = [
  ...SETTINGS.map(([name, value]) => `SET LOCAL ${name} = '${value}'`),
  durable(true),
].join('; ');
/**
 * The same for one transaction, behind a pooler, which may lead to another database from one to the next: where the store
 * is not the one that is meant, it fails with 22012 (division by zero).
 */
export function transactionSettings(expected: ExpectedStore | undefined): string {
  if (expected === undefined) return TRANSACTION_SETTINGS;
  return `${TRANSACTION_SETTINGS}; SELECT 1 / (SELECT count(*) FROM store_identity WHERE id = '${expected.id}' AND epoch = ${expected.epoch})`;
}

/**
 * A connection to PostgreSQL; `onGone` is called with it when it has ended, however it did. Questions are sent without
 * waiting for the answers of those before.
 */
export async function connectClient(url: string, onGone: (client: Client) => void): Promise<Client> {
  const client = await makeClient(url);
  client.on('error', () => onGone(client));
  client.on('end', () => onGone(client));
  try {
    await client.connect();
  } catch (error) {
    // What the client itself says of a connection that was not made has no code.
    throw withCode(error, '08001');
  }
  return client;
}

interface Stream {
  cork(): void;
  uncork(): void;
  destroy(): void;
}

/** The client has no name for it. */
function streamOf(client: Client): Stream | undefined {
  return (client as unknown as { readonly connection?: { readonly stream: Stream } }).connection?.stream;
}

/** Ends a connection that does not answer. */
export function giveUp(client: Client): void {
  client.end().catch(() => undefined);
  streamOf(client)?.destroy();
}

async function makeClient(url: string): Promise<Client> {
  const pg = await loadClient();
  return new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'sluice',
    pipeline: true,
    types: { getTypeParser: (type: number) => parserOf(type) },
  });
}

/** Loads the optional package: `check` names it for a configuration, but not for an address on the command line. */
async function loadClient(): Promise<{ readonly Client: typeof Client }> {
  try {
    return (await import('pg')).default;
  } catch (error) {
    if (!(error instanceof Error) || codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const remedy = 'install it where Sluice is installed: npm install pg@8';
    throw new StorageError('failed', `a store in PostgreSQL needs the package pg; ${remedy}`);
  }
}

function codeOf(error: Error): string | undefined {
  return (error as Error & { readonly code?: string }).code;
}

const BOOLEAN = 16;
/** Integers of eight, two and four bytes, and numerics. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 1700]);

function parserOf(type: number): (text: string) => unknown {
  if (NUMBERS.has(type)) return Number;
  if (type === BOOLEAN) return (text) => text === 't';
  return (text) => text;
}

export interface ConnectionOptions {
  readonly url: string;
  /** Whether a pooler stands between, which keeps no settings for a connection. */
  readonly isPooled: boolean;
  /** The store that is meant: a new connection that leads elsewhere is refused. */
  readonly expected?: ExpectedStore | undefined;
}

export interface Statement {
  readonly text: string;
  /** Absent for a text of several statements. */
  readonly values?: readonly unknown[];
  readonly name?: string;
}

/** The answer to a statement; for a text of several statements the answer to the last. */
export interface StatementAnswer {
  readonly rows: readonly object[];
  readonly rowCount: number;
}

/** A connection that is made with a question, and anew with the next one where it broke. */
export class PostgresConnection {
  readonly #options: ConnectionOptions;
  /** Known before it is ready, so that one that never becomes it can be given up. */
  #client: Client | undefined;
  /** While one is made: who asks meanwhile waits for the same one. */
  #making: Promise<void> | undefined;
  #hasEnded = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  /**
   * Sends statements together; their answers come back together. Rejects with the first that fails, as whatever comes
   * after it fails because of it; every error has a code. Inside a transaction `mayConnect` is false: a new connection
   * would not be in it.
   */
  async ask(statements: readonly Statement[], mayConnect = true): Promise<readonly StatementAnswer[]> {
    if (this.#hasEnded) throw new StorageError('closed', 'the connection has ended');
    checkNotRefused(this.#options.expected);
    if (this.#client === undefined && mayConnect) this.#making ??= this.#connect();
    await this.#making;
    const client = this.#client;
    if (client === undefined) throw Object.assign(new Error('the connection was lost'), { code: '08006' });
    const settled = await Promise.allSettled(sendTogether(client, statements));
    for (const outcome of settled) if (outcome.status === 'rejected') throw withCode(outcome.reason);
    return settled.map((outcome) => answeredBy(outcome as { value: Results }));
  }

  /** Gives it up where it does not answer; the server ends its transaction. */
  abandon(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) giveUp(client);
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#making?.catch(() => undefined);
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const forget = (gone: Client) => {
      if (this.#client === gone) this.#client = undefined;
    };
    const { url, isPooled, expected } = this.#options;
    try {
      const client = await connectClient(url, forget);
      this.#client = client;
      if (!isPooled) await client.query(SESSION_SETTINGS);
      await checkStore(client, expected);
    } catch (error) {
      await this.#client?.end().catch(() => undefined);
      this.#client = undefined;
      throw withCode(error);
    } finally {
      this.#making = undefined;
    }
  }
}

type Results = QueryResult | QueryArrayResult | readonly QueryResult[];

/** One piece for the network, however many statements there are. */
function sendTogether(client: Client, statements: readonly Statement[]): Promise<Results>[] {
  const stream = streamOf(client);
  stream?.cork();
  try {
    return statements.map(({ text, values, name }) =>
      client.query(values === undefined ? { text } : { text, values: [...values], ...(name && { name }) }),
    );
  } finally {
    stream?.uncork();
  }
}

function answeredBy({ value }: { readonly value: Results }): StatementAnswer {
  const { rows, rowCount } = (Array.isArray(value) ? value.at(-1) : value) as QueryResult;
  return { rows: (rows ?? []) as object[], rowCount: rowCount ?? 0 };
}

/** What the client itself says about a connection that has ended has no code. */
function withCode(reason: unknown, code = '08006'): Error {
  return Object.assign(reason as Error, { code: codeOf(reason as Error) ?? code });
}
