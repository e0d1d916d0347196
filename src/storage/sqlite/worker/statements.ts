import type { NewRun } from '../../prepared-request.ts';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

export type Found<Row> = Row | undefined;
export type SqlValue = SQLInputValue;

/**
 * Runs SQL one statement after the other. Texts are written in SQLite's dialect, and are constants or made from few
 * parts, so that each may be prepared once.
 */
export interface Statements {
  /** Whether a transaction is under way: an error of the disk may have ended it. */
  readonly isTransaction: boolean;
  /** Begins a transaction that no other writer of the store is in. */
  begin(): void;
  /** Executes the statement; returns how many rows changed. */
  run(text: string, ...values: SqlValue[]): number;
  /** Inserts one row; returns its `seq`, or undefined where a conflict clause left it out. */
  insert(text: string, ...values: SqlValue[]): number | bigint | undefined;
  /** The first row. */
  find<Row>(text: string, ...values: SqlValue[]): Found<Row>;
  all<Row>(text: string, ...values: SqlValue[]): Row[];
  /** Inserts ready runs that stand in no queue, in one statement: for a database where each one is a round trip. */
  insertRuns?(runs: readonly NewRun[]): void;
}

export class SqliteStatements implements Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  begin(): void {
    this.run('BEGIN IMMEDIATE');
  }

  run(text: string, ...values: SqlValue[]): number {
    return Number(this.#prepare(text).run(...values).changes);
  }

  insert(text: string, ...values: SqlValue[]): number | bigint | undefined {
    const { changes, lastInsertRowid } = this.#prepare(text).run(...values);
    return changes === 0 ? undefined : lastInsertRowid;
  }

  find<Row>(text: string, ...values: SqlValue[]): Found<Row> {
    return this.#prepare(text).get(...values) as Found<Row>;
  }

  all<Row>(text: string, ...values: SqlValue[]): Row[] {
    return this.#prepare(text).all(...values) as unknown as Row[];
  }

  #prepare(text: string): StatementSync {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#prepared.set(text, statement);
    return statement;
  }
}
