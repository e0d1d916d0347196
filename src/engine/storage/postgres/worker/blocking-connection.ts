import { extname } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { BrokenTransaction } from '../../statements/statements.ts';
import type { StatementAnswer, ConnectionOptions, Statement } from '../connection.ts';
import type { DatabaseCounter } from '../database-use.ts';
import { connectionFault } from '../postgres-errors.ts';
import type { ConnectionAnswer, ConnectionInput, StatementBatch } from './connection-thread.ts';

const MAX_WAIT_MS = 15_000;
/** What the farewell to the server may take; its lock is free then. */
const MAX_END_MS = 3_000;

export interface BlockingOptions extends ConnectionOptions {
  /** An answer that takes longer counts as a lost connection; default 15 s. */
  readonly maxWaitMs?: number | undefined;
  readonly use?: DatabaseCounter | undefined;
}

/** A connection whose answers are waited for: a thread of its own talks to the database. */
export class BlockingConnection {
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  readonly #maxWaitMs: number;
  readonly #use: DatabaseCounter | undefined;
  #lastId = 0;

  constructor({ url, isPooled, expected, maxWaitMs = MAX_WAIT_MS, use }: BlockingOptions) {
    this.#use = use;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#maxWaitMs = maxWaitMs;
    const worker = new Worker(new URL(`connection-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: {
        url,
        isPooled,
        expected,
        port: port2,
        signal: this.#signal.buffer,
      } satisfies ConnectionInput,
      transferList: [port2],
      name: 'postgres',
    });
    worker.unref();
  }

  /**
   * Sends the statements together and waits for the answers: one round trip.
   * @throws the error of the first that fails, with its code; BrokenTransaction where the connection broke before
   */
  ask(
    statements: readonly Statement[],
    { mayConnect }: Pick<StatementBatch, 'mayConnect'>,
  ): readonly StatementAnswer[] {
    this.#lastId += 1;
    const askedAt = performance.now();
    const deadline = askedAt + this.#maxWaitMs;
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage({ id: this.#lastId, statements, mayConnect } satisfies StatementBatch);
    for (;;) {
      const message = this.#receive(deadline);
      if (message.id !== this.#lastId) continue;
      this.#use?.addTrip(performance.now() - askedAt);
      if ('error' in message) throw errorOf(message.error);
      return message.results;
    }
  }

  /** Sends a statement whose answer nobody waits for. */
  tell(text: string): void {
    this.#lastId += 1;
    this.#port.postMessage({
      id: this.#lastId,
      statements: [{ text }],
      mayConnect: false,
    } satisfies StatementBatch);
  }

  close(): void {
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage('end');
    Atomics.wait(this.#signal, 0, 0, MAX_END_MS);
    this.#port.close();
  }

  #receive(deadline: number): ConnectionAnswer {
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received !== undefined) return received.message;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || Atomics.wait(this.#signal, 0, 0, leftMs) === 'timed-out') {
        this.#port.postMessage('abandon');
        throw errorOf({ code: '08000', message: 'the database did not answer in time' });
      }
      Atomics.store(this.#signal, 0, 0);
    }
  }
}

function errorOf({ code, message }: { readonly code: string; readonly message: string }): Error {
  const isBroken = connectionFault(code) === 'broken';
  return isBroken ? new BrokenTransaction(code, message) : Object.assign(new Error(message), { code });
}

export function isConnectionError(error: unknown): boolean {
  return connectionFault((error as { readonly code?: string }).code ?? '') !== undefined;
}

/** How a transaction ended whose connection broke; unknown where the database cannot be asked, or knows it no more. */
export type Fate = 'committed' | 'aborted' | 'unknown';

const STATUS = 'SELECT pg_xact_status($1::text::xid8) AS status';
/** A server that does not see at once that its client is gone ends an idle transaction after 5 s (`connection.ts`). */
const MAX_FATE_MS = 7_000;
const LOOK_EVERY_MS = 50;

/** Asks, on a new connection, what has become of a transaction. */
export function findFate(connection: BlockingConnection, transaction: string): Fate {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (const deadline = performance.now() + MAX_FATE_MS; performance.now() < deadline;) {
    const status = statusOf(connection, transaction);
    if (status !== 'in progress') return status;
    Atomics.wait(pause, 0, 0, LOOK_EVERY_MS);
  }
  return 'unknown';
}

function statusOf(connection: BlockingConnection, transaction: string): Fate | 'in progress' {
  try {
    const [answer] = connection.ask([{ text: STATUS, values: [transaction] }], { mayConnect: true });
    const [row] = (answer?.rows ?? []) as readonly { readonly status: Fate | 'in progress' | null }[];
    return row?.status ?? 'unknown';
  } catch {
    return 'unknown';
  }
}
