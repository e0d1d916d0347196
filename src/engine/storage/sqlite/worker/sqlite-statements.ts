import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { OptionalRow, SqlQuestion, Sql, SqlValue, Statements } from '../../statements/statements.ts';

export class SqliteStatements implements Statements {
  readonly totals = 'counters';
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, PreparedStatement>();

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

  commit([text, ...values]: SqlQuestion | readonly []): void {
    if (text !== undefined) this.run(text, ...values);
    this.run('COMMIT');
  }

  run(text: Sql, ...values: SqlValue[]): number {
    return Number(this.#prepare(text).statement.run(...values).changes);
  }

  post(text: Sql, ...values: SqlValue[]): void {
    this.#prepare(text).statement.run(...values);
  }

  postRows(text: Sql, rows: readonly Values[]): void {
    this.postEach(text, rows);
  }

  postEach(text: Sql, rows: readonly Values[]): void {
    for (const row of rows) this.post(text, ...row);
  }

  find<Row>(text: Sql, ...values: SqlValue[]): OptionalRow<Row> {
    const { statement, names } = this.#prepare(text);
    const found = statement.get(...values) as Values | undefined;
    return found && (rowOf(names, found) as Row);
  }

  all<Row>(text: Sql, ...values: SqlValue[]): Row[] {
    const { statement, names } = this.#prepare(text);
    return (statement.all(...values) as unknown as Values[]).map((found) => rowOf(names, found) as Row);
  }

  allOf<Row>(questions: readonly SqlQuestion[]): Row[][] {
    return questions.map(([text, ...values]) => this.all<Row>(text, ...values));
  }

  #prepare(sql: Sql): PreparedStatement {
    const text = typeof sql === 'string' ? sql : sql.sqlite;
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    statement.setReturnArrays(true);
    const prepared = { statement, names: statement.columns().map(({ name }) => name) };
    this.#prepared.set(text, prepared);
    return prepared;
  }
}

type Values = readonly SqlValue[];

interface PreparedStatement {
  readonly statement: StatementSync;
  readonly names: readonly string[];
}

/** Rows as Node makes them have no shape that V8 knows: to make, read and copy them takes several times as long. */
function rowOf(names: readonly string[], values: Values): object {
  const row: Record<string, SqlValue | undefined> = {};
  for (let index = 0; index < names.length; index += 1) row[names[index] as string] = values[index];
  return row;
}
