import { type MessagePort, workerData } from 'node:worker_threads';
import {
  type StatementAnswer,
  PostgresConnection,
  type ConnectionOptions,
  type Statement,
} from '../connection.ts';

/*
 * Talks to PostgreSQL for the thread of the store, which waits for each answer as SQLite's would: the operations are the
 * same for both.
 */

export interface ConnectionInput extends ConnectionOptions {
  readonly port: MessagePort;
  /** Set to 1 when an answer lies in the port. */
  readonly signal: SharedArrayBuffer;
}

export interface StatementBatch {
  /** Returned with the answer, so that one that comes too late is recognised. */
  readonly id: number;
  readonly statements: readonly Statement[];
  /** False inside a transaction. */
  readonly mayConnect: boolean;
}

export type ConnectionAnswer = { readonly id: number } & (
  | { readonly results: readonly StatementAnswer[] }
  | { readonly error: { readonly code: string; readonly message: string } }
);

async function answerTo(
  connection: PostgresConnection,
  { id, statements, mayConnect }: StatementBatch,
): Promise<ConnectionAnswer> {
  try {
    return { id, results: await connection.ask(statements, mayConnect) };
  } catch (error) {
    const { code, message } = error as Error & { code: string };
    return { id, error: { code, message } };
  }
}

function main(input: ConnectionInput): void {
  const signal = new Int32Array(input.signal);
  const connection = new PostgresConnection(input);
  const notify = () => {
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  };
  input.port.on('message', (message: StatementBatch | 'end' | 'abandon') => {
    if (message === 'abandon') connection.abandon();
    else if (message === 'end') void connection.end().then(notify);
    else
      void answerTo(connection, message).then((answer) => {
        input.port.postMessage(answer);
        notify();
      });
  });
}

main(workerData as ConnectionInput);
