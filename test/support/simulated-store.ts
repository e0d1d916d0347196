/**
 * A database some way off, made of one SQLite store in memory, for histories of which thousands are made: what is posted
 * goes with the next question, and each message may be lost, with its answer or before it came. What PostgreSQL says in its own words is said again here.
 */
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { PLACE } from '../../src/engine/storage/postgres/worker/postgres-statements.ts';
import { SqliteStatements } from '../../src/engine/storage/sqlite/worker/sqlite-statements.ts';
import { stepsFrom } from '../../src/engine/storage/statements/migrations.ts';
import {
  BrokenTransaction,
  OneFailed,
  type OptionalRow,
  type SqlQuestion,
  type Sql,
  type SqlValue,
  type Statements,
} from '../../src/engine/storage/statements/statements.ts';

/** As PostgreSQL has it: nothing is not less than something. */
const lesser = (one: SQLOutputValue, other: SQLOutputValue): SQLOutputValue =>
  one === null || (other !== null && other < one) ? other : one;

/** The tables of a store; transactions never overlap, as each ends within one call of an engine. */
export class SimulatedStore {
  readonly near: SqliteStatements;
  readonly #database = new DatabaseSync(':memory:');
  readonly #tables: readonly string[];

  constructor() {
    for (const step of stepsFrom(0, 'sqlite')) this.#database.exec(step);
    this.#database.function('least', (one, other) => lesser(one, other));
    this.near = new SqliteStatements(this.#database);
    const tables = this.near.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
    this.#tables = tables.map(({ name }) => name);
  }

  /** As it was made. */
  empty(): void {
    const texts = this.#tables.map((table) => `DELETE FROM ${table}`);
    this.#database.exec(`BEGIN; ${texts.join('; ')}; INSERT INTO counters (one) VALUES (1); COMMIT`);
  }

  close(): void {
    this.#database.close();
  }
}

/** Whether a message is lost, and when. */
export type Loss = 'none' | 'question' | 'answer';

export interface Wire {
  /** From now on nothing is lost. */
  isCalm: boolean;
  /** Asked before each message. */
  lose(): Loss;
  /** What a statement says in place of what it should: for faults put in on purpose. */
  spoil?(text: string): string;
  /** Commits that are answered and not done. */
  forgets?(): boolean;
}

const LOST = '08006';

export class DistantStatements implements Statements {
  readonly totals = 'counters';
  readonly waitedMs = 0;
  readonly #near: SqliteStatements;
  readonly #wire: Wire;
  #posted: SqlQuestion[] = [];
  #ahead = new Map<string, object[]>();
  #isOpen = false;

  constructor({ near }: SimulatedStore, wire: Wire) {
    this.#near = near;
    this.#wire = wire;
  }

  get isTransaction(): boolean {
    return this.#isOpen;
  }

  placeDue(nowMs: number, limit: number): SqlQuestion {
    return [PLACE, nowMs, limit];
  }

  begin(first: string, askAhead: () => readonly SqlQuestion[] = () => []): object {
    this.#leave();
    const ahead = askAhead();
    return this.#message(() => {
      this.#near.run('BEGIN IMMEDIATE');
      this.#isOpen = true;
      const row = this.#near.find(first) as object;
      this.#ahead = new Map(ahead.map((question) => [JSON.stringify(question), this.#ask(question)]));
      return row;
    });
  }

  commit([text, ...values]: SqlQuestion | readonly []): void {
    if (text !== undefined) this.#posted.push([text, ...values]);
    const loss = this.#wire.lose();
    if (!this.#isOpen) throw new BrokenTransaction(LOST, 'the connection was lost');
    if (loss === 'question') this.#break();
    try {
      this.#send();
    } catch (error) {
      throw new OneFailed((error as Error).message, { cause: error });
    }
    this.#end();
    // Half of the time nobody can say what became of it.
    if (loss === 'answer' && this.#wire.lose() !== 'none') throw new Error('the connection was lost');
  }

  run(text: Sql, ...values: SqlValue[]): number {
    if (text === 'ROLLBACK') {
      this.#leave();
      if (this.#isOpen) this.#near.run('ROLLBACK');
      this.#isOpen = false;
      return 0;
    }
    this.#ahead.clear();
    return this.#message(() => this.#near.run(this.#textOf(text), ...values));
  }

  post(text: Sql, ...values: SqlValue[]): void {
    this.#ahead.clear();
    this.#posted.push([text, ...values]);
  }

  postRows(text: string, rows: readonly (readonly SqlValue[])[]): void {
    this.postEach(text, rows);
  }

  postEach(text: Sql, rows: readonly (readonly SqlValue[])[]): void {
    for (const row of rows) this.post(text, ...row);
  }

  find<Row>(text: Sql, ...values: SqlValue[]): OptionalRow<Row> {
    return this.all<Row>(text, ...values)[0];
  }

  all<Row>(text: Sql, ...values: SqlValue[]): Row[] {
    return this.#message(() => this.#ask([text, ...values])) as Row[];
  }

  allOf<Row>(questions: readonly SqlQuestion[]): Row[][] {
    const known = questions.map((question) => this.#ahead.get(JSON.stringify(question)));
    if (known.every((rows) => rows !== undefined)) return known as Row[][];
    return this.#message(() => questions.map((question) => this.#ask(question) as Row[]));
  }

  /** What goes with one round trip: what was posted first. */
  #message<Answer>(act: () => Answer): Answer {
    const loss = this.#wire.lose();
    if (loss === 'question') this.#break();
    this.#send();
    const answer = act();
    if (loss === 'answer') this.#break();
    return answer;
  }

  #ask([text, ...values]: SqlQuestion): object[] {
    return this.#near.all<object>(this.#textOf(text), ...values);
  }

  #send(): void {
    const posted = this.#posted;
    this.#posted = [];
    for (const [text, ...values] of posted) this.#near.run(this.#textOf(text), ...values);
  }

  #textOf(text: Sql): string {
    const own = typeof text === 'string' ? text : text.sqlite;
    return this.#wire.spoil?.(own) ?? own;
  }

  #end(): void {
    this.#near.run(this.#wire.forgets?.() === true ? 'ROLLBACK' : 'COMMIT');
    this.#isOpen = false;
    this.#leave();
  }

  /** With the connection its transaction is gone. */
  #break(): never {
    this.run('ROLLBACK');
    throw new BrokenTransaction(LOST, 'the connection was lost');
  }

  #leave(): void {
    this.#posted = [];
    this.#ahead.clear();
  }
}
