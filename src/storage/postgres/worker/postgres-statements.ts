import { extname } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { NewRun } from '../../prepared-request.ts';
import { RUN } from '../../engine/states.ts';
import type { AcceptLimits, Found, SqlValue, Statements } from '../../engine/statements.ts';
import type { ConnectionAnswer, ConnectionInput, Question } from './connection-thread.ts';
import { escapeText, toPostgres, unescapeText } from './dialect.ts';

type Answered = Extract<ConnectionAnswer, { readonly rows: unknown }>;

const MAX_WAIT_MS = 15_000;

/** What the farewell to the server may take; its lock is free then. */
const MAX_END_MS = 3_000;

/**
 * Counts the runs where there is room for all, and stores them in the order given; the actions go to their own table
 * with the numbers that their runs have got. The counters' row comes first: it is what all writers wait for. Asked again,
 * it leaves out runs that are there: it stored them before, and its answer was lost.
 */
const ACCEPT_RUNS = `WITH given AS (
  SELECT * FROM ROWS FROM (json_to_recordset($1::json) AS ("id" text, "sessionKey" text, "owner" text, "mappingId" text,
    "runner" text, "action" text, "bytes" bigint, "acceptedAt" bigint)) WITH ORDINALITY
), fresh AS (
  SELECT * FROM given WHERE NOT ($4 AND EXISTS (SELECT 1 FROM runs WHERE runs.id = given.id))
), wanted AS (
  SELECT count(*)::integer AS runs, coalesce(sum(bytes), 0)::bigint AS bytes FROM fresh
), room AS (
  UPDATE counters SET queued_runs = queued_runs + wanted.runs, run_bytes = run_bytes + wanted.bytes FROM wanted
  WHERE queued_runs + active_runs + wanted.runs <= $2 AND run_bytes + wanted.bytes <= $3 RETURNING one
), inserted AS (
  INSERT INTO runs (id, kind, state, session_key, owner, mapping_id, runner, bytes, accepted_at, due_at)
  SELECT id, 'hook', ${RUN.ready}, "sessionKey", owner, "mappingId", runner, bytes, "acceptedAt", "acceptedAt"
  FROM room, fresh ORDER BY ordinality RETURNING seq, id
), actions AS (
  INSERT INTO run_actions (seq, action) SELECT seq, action FROM inserted JOIN fresh USING (id)
) SELECT one FROM room`;

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
  /** Where others are told of every commit; absent where somebody else tells them. */
  readonly channel?: string;
  /** Settings for each transaction, behind a pooler that keeps none for a connection. */
  readonly perTransaction?: string;
  /** An answer that takes longer counts as a lost connection; default 15 s. */
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
    const { url, perTransaction } = options;
    this.#options = options;
    this.#port = port1;
    const worker = new Worker(new URL(`connection-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: {
        url,
        isPooled: perTransaction !== undefined,
        port: port2,
        signal: this.#signal.buffer,
      } satisfies ConnectionInput,
      transferList: [port2],
      name: 'postgres',
    });
    worker.unref();
  }

  get #perTransaction(): readonly string[] {
    const { perTransaction } = this.#options;
    return perTransaction === undefined ? [] : [perTransaction];
  }

  get isTransaction(): boolean {
    return this.#isTransaction;
  }

  begin(first: string): object {
    this.#isTransaction = false;
    const { rows } = this.#inTransaction({
      text: ['BEGIN', ...this.#perTransaction, `${this.#prepared(first).text} FOR UPDATE`].join('; '),
      mayConnect: true,
    });
    this.#isTransaction = true;
    return rows[0] as object;
  }

  commit(last: readonly [text: string, ...values: (number | null)[]] | readonly []): void {
    const [text, ...values] = last;
    let position = 0;
    const filled = text?.replaceAll('?', () => String(values[position++] ?? 'NULL'));
    const inside = this.#isTransaction;
    this.#isTransaction = false;
    if (!inside) throw new PostgresError('08006', 'the connection was lost');
    this.#inTransaction({
      text: `${filled === undefined ? '' : `${filled};`} ${this.#commit()}`,
      mayConnect: false,
    });
  }

  /** What fails leaves a transaction open in which nothing can be done any more. */
  #inTransaction(question: Omit<Question, 'id'>): Answered {
    try {
      return this.#ask(question);
    } catch (error) {
      if (error instanceof PostgresError && !isConnectionError(error.code)) this.#rollBack();
      throw error;
    }
  }

  /** Where there is a connection; without one nothing is open. */
  #rollBack(): void {
    try {
      this.#ask({ text: 'ROLLBACK', mayConnect: false });
    } catch {
      // The first error says what is wrong.
    }
  }

  /** Several statements, without values. */
  exec(text: string): void {
    this.#ask({ text, mayConnect: !this.#isTransaction });
  }

  run(text: string, ...values: SqlValue[]): number {
    if (text === 'ROLLBACK') {
      const inside = this.#isTransaction;
      this.#isTransaction = false;
      if (inside) this.#ask({ text, mayConnect: false });
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

  acceptRuns(runs: readonly NewRun[], { maxBacklogRuns, maxBacklogBytes }: AcceptLimits): boolean {
    const escaped = runs.map((run) => ({ ...run, action: escapeText(run.action) }));
    const json = JSON.stringify(escaped);
    const ask = (isAgain: boolean): boolean => {
      const values = [json, maxBacklogRuns, maxBacklogBytes, isAgain];
      return this.#ask({ text: ACCEPT_RUNS, name: 'accept', values, mayConnect: true }).rows.length > 0;
    };
    // Settings go with a transaction there, and this would be one without.
    if (this.#options.perTransaction !== undefined) return false;
    try {
      return ask(false);
    } catch (error) {
      // Nobody knows whether it was done.
      if (!(error instanceof PostgresError) || !isConnectionError(error.code)) throw error;
      return ask(true);
    }
  }

  close(): void {
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage('end');
    Atomics.wait(this.#signal, 0, 0, MAX_END_MS);
    this.#port.close();
  }

  #commit(): string {
    const { channel } = this.#options;
    return channel === undefined ? 'COMMIT' : `NOTIFY ${channel}; COMMIT`;
  }

  #query(text: string, values: readonly SqlValue[]): Answered {
    const { name, text: translated } = this.#prepared(text);
    const escaped = values.map(toParameter);
    const question = { text: translated, values: escaped, mayConnect: !this.#isTransaction };
    return this.#ask({ ...question, ...this.#named(name) });
  }

  /** A pooler gives each transaction another connection, which knows no statement of the one before. */
  #named(name: string): { readonly name?: string } {
    return this.#options.perTransaction === undefined ? { name } : {};
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
      if (message.id !== this.#lastId) continue;
      if ('error' in message) this.#fail(message.error);
      return message;
    }
  }

  #receive(deadline: number): ConnectionAnswer {
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
