import { type MessagePort, workerData } from 'node:worker_threads';
import type { Client } from 'pg';

/*
 * Talks to PostgreSQL for the thread of the store, which waits for each answer as SQLite's would: the operations are the
 * same for both. A connection that breaks is made anew with the next question, never in the middle of a transaction.
 */

export interface ConnectionInput {
  readonly url: string;
  readonly port: MessagePort;
  /** Set to 1 when an answer lies in the port. */
  readonly signal: SharedArrayBuffer;
  /** The advisory lock that a performer holds as long as it is connected. */
  readonly lockKey?: string;
  /** Whether changes of others are heard. */
  readonly channel: string;
}

export interface Question {
  /** Given back with the answer: one that comes too late is told apart. */
  readonly id: number;
  readonly text: string;
  /** Absent for a text of several statements. */
  readonly values?: readonly unknown[];
  /** The name a statement is prepared under. */
  readonly name?: string;
  /** False inside a transaction: a new connection would not be in it. */
  readonly mayConnect: boolean;
}

export type ConnectionAnswer = { readonly id: number } & (
  | { readonly rows: readonly object[]; readonly rowCount: number }
  | { readonly error: { readonly code: string; readonly message: string } }
);

/** The server may notice the end of a killed process a little later than its successor starts. */
const LOCK_TRIES = 6;
const LOCK_PAUSE_MS = 200;
const INT8 = 20;
const NUMERIC = 1700;

class Connection {
  readonly #input: ConnectionInput;
  #client: Client | undefined;

  constructor(input: ConnectionInput) {
    this.#input = input;
  }

  async ask({ id, text, values, name, mayConnect }: Question): Promise<ConnectionAnswer> {
    try {
      if (this.#client === undefined && !mayConnect) throw withCode('08006', 'the connection was lost');
      const client = (this.#client ??= await this.#connect());
      const { rows, rowCount } = await client.query(
        values === undefined ? { text } : { text, values: [...values], ...(name && { name }) },
      );
      return { id, rows: (rows ?? []) as object[], rowCount: rowCount ?? 0 };
    } catch (error) {
      const { code = 'unknown', message } = error as Error & { code?: string };
      return { id, error: { code, message } };
    }
  }

  /** Gives a connection up that does not answer; the server ends its transaction. */
  abandon(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.end().catch(() => undefined);
    (
      client as unknown as { connection?: { stream: { destroy(): void } } } | undefined
    )?.connection?.stream.destroy();
  }

  async end(): Promise<void> {
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<Client> {
    const { default: pg } = await import('pg');
    const client = new pg.Client({
      connectionString: this.#input.url,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      types: { getTypeParser: (type: number) => parserOf(type) },
    });
    // After an error the connection is gone; the next question makes another.
    const forget = () => {
      if (this.#client === client) this.#client = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    client.on('notification', () => this.#input.port.postMessage('outside-change'));
    await client.connect();
    try {
      await this.#prepare(client);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    return client;
  }

  async #prepare(client: Client): Promise<void> {
    const { lockKey, channel } = this.#input;
    // Every statement of a busy store has an index made for it; a plan made while a table was empty would not use it.
    await client.query('SET enable_seqscan = off; SET jit = off');
    if (lockKey === undefined) return;
    for (let tries = 1; !(await takeLock(client, lockKey)); tries += 1) {
      if (tries === LOCK_TRIES) throw withCode('SLUICE_LOCKED', 'another service performs from this store');
      await new Promise((done) => setTimeout(done, LOCK_PAUSE_MS));
    }
    await client.query(`LISTEN ${channel}`);
  }
}

async function takeLock(client: Client, key: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended(current_schema() || $1, 0)) AS held',
    [key],
  );
  return rows[0]?.held === true;
}

function parserOf(type: number): (text: string) => unknown {
  if (type === INT8 || type === NUMERIC || type === 21 || type === 23) return Number;
  if (type === 16) return (text) => text === 't';
  return (text) => text;
}

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function main(input: ConnectionInput): void {
  const signal = new Int32Array(input.signal);
  const connection = new Connection(input);
  const notify = () => {
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  };
  const answer = (value: ConnectionAnswer) => {
    input.port.postMessage(value);
    notify();
  };
  input.port.on('message', (message: Question | 'end' | 'abandon') => {
    if (message === 'abandon') connection.abandon();
    else if (message === 'end') void connection.end().then(notify);
    else void connection.ask(message).then(answer);
  });
}

main(workerData as ConnectionInput);
