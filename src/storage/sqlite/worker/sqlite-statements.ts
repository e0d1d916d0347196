import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Found, Question, SqlValue, Statements } from '../../engine/statements.ts';

export class SqliteStatements implements Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  begin(first: string): object {
    this.run('BEGIN IMMEDIATE');
    return this.find(first) as object;
  }

  commit([text, ...values]: Question | readonly []): void {
    if (text !== undefined) this.run(text, ...values);
    this.run('COMMIT');
  }

  run(text: string, ...values: SqlValue[]): number {
    return Number(this.#prepare(text).run(...values).changes);
  }

  post(text: string, ...values: SqlValue[]): void {
    this.#prepare(text).run(...values);
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

  allOf<Row>(questions: readonly Question[]): Row[][] {
    return questions.map(([text, ...values]) => this.all<Row>(text, ...values));
  }

  #prepare(text: string): StatementSync {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#prepared.set(text, statement);
    return statement;
  }
}
