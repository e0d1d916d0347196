import { type MessagePort, workerData } from 'node:worker_threads';
import type { Client } from 'pg';
import { connectClient, SESSION_SETTINGS } from '../connect.ts';

/*
 * Talks to PostgreSQL for the thread of the store, which waits for each answer as SQLite's would: the operations are the
 * same for both. A connection that breaks is made anew with the next question, never in the middle of a transaction.
 */

export interface ConnectionInput {
  readonly url: string;
  readonly port: MessagePort;
  /** Set to 1 when an answer lies in the port. */
  readonly signal: SharedArrayBuffer;
  /** Whether a pooler stands between, which keeps no settings for a connection. */
  readonly isPooled: boolean;
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
      const result = await client.query(
        values === undefined ? { text } : { text, values: [...values], ...(name && { name }) },
      );
      // A text of several statements has several results: the last one counts.
      const { rows, rowCount } = Array.isArray(result) ? result.at(-1) : result;
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
    const client = await connectClient(this.#input.url, (gone) => {
      // After an error the connection is gone; the next question makes another.
      if (this.#client === gone) this.#client = undefined;
    });
    if (this.#input.isPooled) return client;
    try {
      await client.query(SESSION_SETTINGS);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    return client;
  }
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
