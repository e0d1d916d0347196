import { type MessagePort, workerData } from 'node:worker_threads';
import type { Client, QueryArrayResult, QueryResult } from 'pg';
import { connectClient, SESSION_SETTINGS } from '../connect.ts';

/*
 * Talks to PostgreSQL for the thread of the store, which waits for each answer as SQLite's would: the operations are the
 * same for both. Statements of one question go to the database together, and their answers come back together. A
 * connection that breaks is made anew with the next question, never in the middle of a transaction.
 */

export interface ConnectionInput {
  readonly url: string;
  readonly port: MessagePort;
  /** Set to 1 when an answer lies in the port. */
  readonly signal: SharedArrayBuffer;
  /** Whether a pooler stands between, which keeps no settings for a connection. */
  readonly isPooled: boolean;
}

export interface Statement {
  readonly text: string;
  /** Absent for a text of several statements. */
  readonly values?: readonly unknown[];
  /** The name a statement is prepared under. */
  readonly name?: string;
}

export interface Question {
  /** Given back with the answer: one that comes too late is told apart. */
  readonly id: number;
  readonly statements: readonly Statement[];
  /** False inside a transaction: a new connection would not be in it. */
  readonly mayConnect: boolean;
}

/** Of each statement; of one that is several, what its last one answered. */
export interface Answered {
  readonly rows: readonly object[];
  readonly rowCount: number;
}

export type ConnectionAnswer = { readonly id: number } & (
  | { readonly results: readonly Answered[] }
  | { readonly error: { readonly code: string; readonly message: string } }
);

class Connection {
  readonly #input: ConnectionInput;
  #client: Client | undefined;

  constructor(input: ConnectionInput) {
    this.#input = input;
  }

  async ask({ id, statements, mayConnect }: Question): Promise<ConnectionAnswer> {
    try {
      if (this.#client === undefined && !mayConnect) throw withCode('08006', 'the connection was lost');
      const client = (this.#client ??= await this.#connect());
      const settled = await Promise.allSettled(sendTogether(client, statements));
      // Whatever comes after the first failure fails because of it.
      for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason;
      return { id, results: settled.map((outcome) => answeredBy(outcome as { value: Results })) };
    } catch (error) {
      // What the client itself says about a connection that has ended has no code.
      const { code = '08006', message } = error as Error & { code?: string };
      return { id, error: { code, message } };
    }
  }

  /** Gives a connection up that does not answer; the server ends its transaction. */
  abandon(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.end().catch(() => undefined);
    streamOf(client)?.destroy();
  }

  async end(): Promise<void> {
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<Client> {
    const forget = (gone: Client) => {
      // After an error the connection is gone; the next question makes another.
      if (this.#client === gone) this.#client = undefined;
    };
    const client = await connectClient(this.#input.url, forget, { pipeline: true });
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

function answeredBy({ value }: { readonly value: Results }): Answered {
  const { rows, rowCount } = (Array.isArray(value) ? value.at(-1) : value) as QueryResult;
  return { rows: (rows ?? []) as object[], rowCount: rowCount ?? 0 };
}

interface Stream {
  cork(): void;
  uncork(): void;
  destroy(): void;
}

/** The client has no name for it. */
function streamOf(client: Client | undefined): Stream | undefined {
  return (client as unknown as { readonly connection?: { readonly stream: Stream } } | undefined)?.connection
    ?.stream;
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
