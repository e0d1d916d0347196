/**
 * A database some way off, made of one SQLite store in memory, for histories of which thousands are made: what is posted
 * goes with the next question, a claim or an end that asks nothing is one message, and each message may be lost, with
 * its answer or before it came. What PostgreSQL says in its own words is said again here.
 */
import assert from 'node:assert/strict';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { PAUSED, PLACE } from '../../src/engine/storage/postgres/worker/claim-statement.ts';
import { SqliteStatements } from '../../src/engine/storage/sqlite/worker/sqlite-statements.ts';
import { stepsFrom } from '../../src/engine/storage/statements/migrations.ts';
import {
  type ClaimedRow,
  RUN,
  RUN_COLUMNS,
  type RunHead,
  type RunRow,
} from '../../src/engine/storage/statements/rows.ts';
import { FIND_HEAD, FIND_SESSION } from '../../src/engine/storage/statements/run-rows.ts';
import {
  type AtOnce,
  type Presumption,
  BrokenTransaction,
  type Found,
  OneFailed,
  type SqlQuestion,
  type Sql,
  type SqlValue,
  type Statements,
} from '../../src/engine/storage/statements/statements.ts';

const READY = `SELECT seq, id FROM runs WHERE state = ${RUN.ready} ORDER BY seq LIMIT ?`;
const ACTIVATE = `UPDATE runs SET state = ${RUN.active}, attempts = attempts + 1, holder = ?, started_at = ?,
  gather_key = NULL, pgid = NULL, start_ticks = NULL WHERE seq = ?`;
const COUNT_CLAIMED = 'UPDATE counters SET queued_runs = queued_runs - ?1, active_runs = active_runs + ?1';

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
  /** What is believed is not looked at. */
  readonly isGullible?: boolean;
}

const LOST = '08006';

export class DistantStatements implements Statements {
  readonly totals = 'counters';
  readonly waitedMs = 0;
  readonly atOnce: AtOnce = {
    presume: (belief) => {
      this.#leave();
      this.#belief = belief;
    },
    claim: (holder, options) => this.#claim(holder, options),
  };
  readonly #near: SqliteStatements;
  readonly #wire: Wire;
  #posted: SqlQuestion[] = [];
  #ahead = new Map<string, object[]>();
  #belief: Presumption | undefined;
  #isOpen = false;

  constructor({ near }: SimulatedStore, wire: Wire) {
    this.#near = near;
    this.#wire = wire;
  }

  get isTransaction(): boolean {
    return this.#isOpen || this.#belief !== undefined;
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
    if (this.#belief !== undefined) return this.#commitPresumed(this.#belief, loss);
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

  #commitPresumed(belief: Presumption, loss: Loss): void {
    const posted = this.#posted;
    this.#leave();
    if (loss === 'question') throw new BrokenTransaction(LOST, 'the connection was lost');
    this.#near.run('BEGIN IMMEDIATE');
    this.#isOpen = true;
    if (this.#wire.isGullible !== true && !this.#holds(belief)) {
      this.run('ROLLBACK');
      throw new Error('division by zero');
    }
    this.#posted = posted;
    this.#send();
    this.#end();
    if (loss === 'answer') throw new BrokenTransaction(LOST, 'the connection was lost');
  }

  /** Whether the store is as it is believed to be. */
  #holds({ holder, heads, sessions }: Presumption): boolean {
    const areHeld = heads.every(({ id, queue }) => {
      const head = this.#near.find<RunHead>(this.#textOf(FIND_HEAD), id);
      return head?.state === RUN.active && head.holder === holder && head.queue === queue;
    });
    const areKnown = sessions.every(({ owner, key, isThere }) => {
      const found = this.#near.find(FIND_SESSION, owner, key);
      return (found !== undefined) === isThere;
    });
    return areHeld && areKnown;
  }

  #claim(holder: string, { nowMs, limit }: { nowMs: number; limit: number }): ClaimedRow[] | undefined {
    this.#leave();
    // Asked again under its id it answers the same, so only a question that is lost twice is not done.
    const loss = this.#wire.lose() === 'none' ? 'none' : this.#wire.lose();
    if (loss === 'question') throw new BrokenTransaction(LOST, 'the connection was lost');
    this.#near.run('BEGIN IMMEDIATE');
    this.#isOpen = true;
    this.#ask(this.placeDue(nowMs, 1_000));
    if (this.#near.find(PAUSED) !== undefined) {
      this.run('ROLLBACK');
      return undefined;
    }
    const ready = this.#near.all<{ seq: number; id: string }>(READY, limit);
    for (const { seq } of ready) this.#near.run(ACTIVATE, holder, nowMs, seq);
    if (ready.length > 0) this.#near.run(COUNT_CLAIMED, ready.length);
    const rows = ready.map(({ id }) => this.#claimed(id));
    this.#end();
    if (loss === 'answer') throw new BrokenTransaction(LOST, 'the connection was lost');
    return rows;
  }

  #claimed(id: string): ClaimedRow {
    const row = this.#near.find<RunRow>(`SELECT ${RUN_COLUMNS} WHERE id = ?`, id) as RunRow;
    const head = this.#near.find<RunHead>(FIND_HEAD, id) as RunHead;
    const hasSession = this.#near.find(FIND_SESSION, row.owner, head.sessionKey) !== undefined;
    return { ...row, head, hasSession };
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

  insert(text: string, ...values: SqlValue[]): number | bigint | undefined {
    this.#ahead.clear();
    return this.#message(() => this.#near.insert(text, ...values));
  }

  find<Row>(text: Sql, ...values: SqlValue[]): Found<Row> {
    return this.all<Row>(text, ...values)[0];
  }

  all<Row>(text: Sql, ...values: SqlValue[]): Row[] {
    return this.#message(() => this.#ask([text, ...values])) as Row[];
  }

  allOf<Row>(questions: readonly SqlQuestion[]): Row[][] {
    const believed = new Map(
      this.#belief?.answers.map(([question, rows]) => [JSON.stringify(question), rows]),
    );
    const known = questions.map((question) => {
      const name = JSON.stringify(question);
      return believed.get(name) ?? this.#ahead.get(name);
    });
    if (known.every((rows) => rows !== undefined)) return known as Row[][];
    return this.#message(() => questions.map((question) => this.#ask(question) as Row[]));
  }

  /** What goes with one round trip: what was posted first. */
  #message<Answer>(act: () => Answer): Answer {
    assert(this.#belief === undefined, 'a transaction that presumes asks nothing');
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
    this.#belief = undefined;
  }
}
