import type { DatabaseSync } from 'node:sqlite';
import { type SerializedError, serializeError } from '../sqlite-errors.ts';
import { CounterRow } from './counters.ts';
import { type AnyOperation, type OperationName, READS, WRITES } from './operations.ts';
import { Statements } from './statements.ts';
import type { AcceptLimits, Store } from './store.ts';

/** One call of an operation as the client sends it. */
export type Call = readonly [id: number, name: OperationName, args: readonly unknown[]];
/** Flat triples `id, failed (0 or 1), result or SerializedError`: one array for a whole batch. */
export type Replies = unknown[];

export interface EngineOptions {
  readonly file: string;
  readonly limits: AcceptLimits;
}

/**
 * Executes batches: everything that writes shares one transaction. Where one fails, all are done again, each in its own
 * savepoint, so that it fails alone; a failed commit fails them all. What reads comes after the commit, so it never
 * answers with something that might still be taken back.
 */
export class Engine {
  readonly #file: string;
  readonly #sql: Statements;
  readonly #row: CounterRow;
  readonly #store: Store;
  readonly #writes: Readonly<Record<string, AnyOperation>> = WRITES as object as Record<string, AnyOperation>;
  readonly #reads: Readonly<Record<string, AnyOperation>> = READS as object as Record<string, AnyOperation>;

  constructor(database: DatabaseSync, { file, limits }: EngineOptions) {
    this.#file = file;
    this.#sql = new Statements(database);
    this.#row = new CounterRow(this.#sql);
    this.#store = { sql: this.#sql, counters: this.#row.counters, limits };
  }

  run(batch: readonly Call[]): Replies {
    const toWrite = batch.filter(([, name]) => Object.hasOwn(this.#writes, name));
    const replies = toWrite.length === 0 ? [] : this.#write(toWrite);
    if (toWrite.length === batch.length) return replies;
    for (const call of batch) if (!Object.hasOwn(this.#writes, call[1])) replies.push(...this.#read(call));
    return replies;
  }

  #read([id, name, args]: Call): Replies {
    try {
      return [id, 0, this.#reads[name]?.(this.#store, ...args)];
    } catch (error) {
      return [id, 1, serializeError(error, this.#file)];
    }
  }

  #write(calls: readonly Call[]): Replies {
    try {
      this.#begin();
      const replies = this.#writeTogether(calls) ?? calls.flatMap((call) => this.#writeAlone(call));
      this.#row.save();
      this.#sql.run('COMMIT');
      return replies;
    } catch (error) {
      if (this.#sql.isTransaction) this.#sql.run('ROLLBACK');
      const failure: SerializedError = serializeError(error, this.#file);
      return calls.flatMap(([id]) => [id, 1, failure]);
    }
  }

  #begin(): void {
    this.#sql.run('BEGIN IMMEDIATE');
    this.#row.load();
  }

  /**
   * Nearly always all of them succeed, and a savepoint for each would copy every page it changes. Undefined where one
   * failed; then the transaction begins anew.
   */
  #writeTogether(calls: readonly Call[]): Replies | undefined {
    const replies: Replies = [];
    try {
      for (const [id, name, args] of calls) replies.push(id, 0, this.#writes[name]?.(this.#store, ...args));
      return replies;
    } catch (error) {
      // A full disk may have ended the transaction; then there is nothing to begin anew.
      if (!this.#sql.isTransaction) throw error;
      this.#sql.run('ROLLBACK');
      this.#begin();
      return undefined;
    }
  }

  #writeAlone([id, name, args]: Call): Replies {
    const before = this.#row.copy();
    this.#sql.run('SAVEPOINT one');
    try {
      const result = this.#writes[name]?.(this.#store, ...args);
      this.#sql.run('RELEASE one');
      return [id, 0, result];
    } catch (error) {
      if (!this.#sql.isTransaction) throw error;
      this.#sql.run('ROLLBACK TO one');
      this.#sql.run('RELEASE one');
      this.#row.restore(before);
      return [id, 1, serializeError(error, this.#file)];
    }
  }
}
