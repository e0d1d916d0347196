import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

type Found<Row> = Row | undefined;

/** Runs SQL, each text prepared once. Texts are constants, or made from few parts: their number is bounded. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Whether a transaction is under way: an error of the disk may have ended it. */
  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Executes the statement; returns how many rows changed. */
  run(text: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(text).run(...values).changes);
  }

  /** Inserts one row; returns its row id, or undefined where a conflict clause left it out. */
  insert(text: string, ...values: SQLInputValue[]): number | bigint | undefined {
    const { changes, lastInsertRowid } = this.#prepare(text).run(...values);
    return changes === 0 ? undefined : lastInsertRowid;
  }

  /** The first row. */
  find<Row>(text: string, ...values: SQLInputValue[]): Found<Row> {
    return this.#prepare(text).get(...values) as Found<Row>;
  }

  all<Row>(text: string, ...values: SQLInputValue[]): Row[] {
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
