import { extname } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { NewRun } from '../../prepared-request.ts';
import { RUN } from '../../engine/states.ts';
import type { Found, SqlValue, Statements } from '../../engine/statements.ts';
import type { ConnectionAnswer, ConnectionInput, Question } from './connection-thread.ts';
import { escapeText, toPostgres, unescapeText } from './dialect.ts';

type Answered = Extract<ConnectionAnswer, { readonly rows: unknown }>;

const MAX_WAIT_MS = 30_000;

/** What the farewell to the server may take; its lock is free then. */
const MAX_END_MS = 3_000;

/** In the order given; the actions go to their own table with the numbers that their runs have got. */
const INSERT_RUNS = `WITH given AS (
  SELECT * FROM ROWS FROM (json_to_recordset(?::json) AS ("id" text, "sessionKey" text, "owner" text, "mappingId" text,
    "runner" text, "action" text, "bytes" bigint, "acceptedAt" bigint)) WITH ORDINALITY
), inserted AS (
  INSERT INTO runs (id, kind, state, session_key, owner, mapping_id, runner, bytes, accepted_at, due_at)
  SELECT id, 'hook', ${RUN.ready}, "sessionKey", owner, "mappingId", runner, bytes, "acceptedAt", "acceptedAt"
  FROM given ORDER BY ordinality RETURNING seq, id
) INSERT INTO run_actions (seq, action) SELECT seq, action FROM inserted JOIN given USING (id)`;

/** An error of PostgreSQL, or of the way there. */
class PostgresError extends Error {
  override readonly name = 'PostgresError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface StatementsOptions {
  readonly url: string;
  readonly channel: string;
  readonly lockKey?: string;
  onOutsideChange(): void;
  /** An answer that takes longer counts as a lost connection; default 30 s. */
  readonly maxWaitMs?: number;
}

/**
 * Statements on PostgreSQL. A transaction begins by locking the one row of the counters, so that writers of all processes
 * take turns, as they do on one SQLite file: what an operation has read stays true until it commits.
 */
export class PostgresStatements implements Statements {
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  readonly #names = new Map<string, { readonly name: string; readonly text: string }>();
  readonly #options: StatementsOptions;
  #isTransaction = false;
  #lastId = 0;

  constructor(options: StatementsOptions) {
    const { port1, port2 } = new MessageChannel();
    const { url, channel, lockKey } = options;
    this.#options = options;
    this.#port = port1;
    const worker = new Worker(new URL(`connection-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: {
        url,
        channel,
        port: port2,
        signal: this.#signal.buffer,
        ...(lockKey === undefined ? {} : { lockKey }),
      } satisfies ConnectionInput,
      transferList: [port2],
      name: 'postgres',
    });
    worker.unref();
    port1.on('message', () => options.onOutsideChange());
  }

  get isTransaction(): boolean {
    return this.#isTransaction;
  }

  begin(): void {
    this.#isTransaction = false;
    this.exec('BEGIN; SELECT one FROM counters FOR UPDATE');
    this.#isTransaction = true;
  }

  /** Several statements, without values. */
  exec(text: string): void {
    this.#ask({ text, mayConnect: !this.#isTransaction });
  }

  run(text: string, ...values: SqlValue[]): number {
    const isCommit = text === 'COMMIT';
    if (isCommit || text === 'ROLLBACK') {
      const inside = this.#isTransaction;
      this.#isTransaction = false;
      if (inside) this.#ask({ text: isCommit ? this.#commit() : text, mayConnect: false });
      return 0;
    }
    return this.#query(text, values).rowCount;
  }

  insert(text: string, ...values: SqlValue[]): number | undefined {
    const [row] = this.#query(`${text} RETURNING seq`, values).rows as readonly { readonly seq: number }[];
    return row?.seq;
  }

  find<Row>(text: string, ...values: SqlValue[]): Found<Row> {
    return this.all<Row>(text, ...values)[0];
  }

  all<Row>(text: string, ...values: SqlValue[]): Row[] {
    return this.#query(text, values).rows.map(unescapeRow) as Row[];
  }

  insertRuns(runs: readonly NewRun[]): void {
    this.run(INSERT_RUNS, JSON.stringify(runs));
  }

  close(): void {
    this.#port.removeAllListeners('message');
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage('end');
    Atomics.wait(this.#signal, 0, 0, MAX_END_MS);
    this.#port.close();
  }

  /** Processes that are attached tell the performer that something changed. */
  #commit(): string {
    return this.#options.lockKey === undefined ? `NOTIFY ${this.#options.channel}; COMMIT` : 'COMMIT';
  }

  #query(text: string, values: readonly SqlValue[]): Answered {
    const { name, text: translated } = this.#prepared(text);
    const escaped = values.map(toParameter);
    return this.#ask({ text: translated, values: escaped, name, mayConnect: !this.#isTransaction });
  }

  #prepared(text: string): { readonly name: string; readonly text: string } {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const prepared = { name: `s${this.#names.size}`, text: toPostgres(text) };
    this.#names.set(text, prepared);
    return prepared;
  }

  #ask(question: Omit<Question, 'id'>): Answered {
    this.#lastId += 1;
    const deadline = performance.now() + (this.#options.maxWaitMs ?? MAX_WAIT_MS);
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage({ id: this.#lastId, ...question });
    for (;;) {
      const message = this.#receive(deadline);
      if (message === 'outside-change') this.#options.onOutsideChange();
      else if (message.id !== this.#lastId) continue;
      else if ('error' in message) this.#fail(message.error);
      else return message;
    }
  }

  #receive(deadline: number): ConnectionAnswer | 'outside-change' {
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received !== undefined) return received.message;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || Atomics.wait(this.#signal, 0, 0, leftMs) === 'timed-out') {
        this.#port.postMessage('abandon');
        this.#fail({ code: '08006', message: 'the database did not answer in time' });
      }
      Atomics.store(this.#signal, 0, 0);
    }
  }

  #fail({ code, message }: { readonly code: string; readonly message: string }): never {
    // With the connection the transaction is gone.
    if (isConnectionError(code)) this.#isTransaction = false;
    throw new PostgresError(code, message);
  }
}

/** Class 08, an end ordered by the administrator, and errors of the socket. */
function isConnectionError(code: string): boolean {
  return /^(?:08|57P0)/.test(code) || /^E[A-Z]+$/.test(code);
}

function toParameter(value: SqlValue): SqlValue {
  if (typeof value === 'string') return escapeText(value);
  // Every number of the schema is whole; a time that comes in may have a fraction.
  return typeof value === 'number' ? Math.floor(value) : value;
}

function unescapeRow(row: object): object {
  for (const [key, value] of Object.entries(row)) {
    if (typeof value === 'string') (row as Record<string, unknown>)[key] = unescapeText(value);
  }
  return row;
}
