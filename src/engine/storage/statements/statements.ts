import type { SQLInputValue } from 'node:sqlite';

/*
 * Texts are written in what SQLite and PostgreSQL both know. What they say differently is put in where it is used, as
 * one of the primitives below.
 */

/** A text that is not the same for both. */
export interface Dialects {
  readonly sqlite: string;
  readonly postgres: string;
}

export type Sql = string | Dialects;

export function both(texts: TemplateStringsArray, ...parts: readonly (Sql | number)[]): Dialects {
  const of = (dialect: keyof Dialects): string =>
    String.raw({ raw: texts }, ...parts.map((part) => (typeof part === 'object' ? part[dialect] : part)));
  return { sqlite: of('sqlite'), postgres: of('postgres') };
}

/** Names the index of a table; PostgreSQL takes no such hint, and finds it by its columns and its order. */
export const by = (index: string): Dialects => ({ sqlite: `INDEXED BY ${index}`, postgres: '' });

/** The values of a parameter that is a list as JSON. */
export const listed = (parameter: string, type: 'text' | 'bigint' = 'text'): Dialects => ({
  sqlite: `(SELECT value FROM json_each(${parameter}))`,
  postgres: `(SELECT json_array_elements_text(${parameter}::json)::${type})`,
});

/** The number of the row that was inserted last. */
export const LAST_SEQ: Dialects = { sqlite: 'last_insert_rowid()', postgres: 'lastval()' };

/** A name for the linter, which sees a type parameter that is used once. */
export type OptionalRow<Row> = Row | undefined;

export type SqlValue = SQLInputValue;
export type SqlQuestion = readonly [text: Sql, ...values: SqlValue[]];

/** A transaction that ended with its connection. Nothing of it is stored, so it may be done again. */
export class BrokenTransaction extends Error {
  override readonly name = 'BrokenTransaction';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** One statement failed, as its cause says; nothing of the transaction is stored, and nobody knows whose it was. */
export class OneFailed extends Error {
  override readonly name = 'OneFailed';
}

/** What the store takes at most before it refuses requests. */
export interface AcceptLimits {
  readonly maxBacklogRuns: number;
  readonly maxBacklogBytes: number;
  readonly maxPendingEvents: number;
}

/**
 * Runs SQL one statement after the other. Texts are constants or made from few parts, so that each may be prepared once.
 */
export interface Statements {
  /** Whether a transaction is under way: an error of the disk may have ended it. */
  readonly isTransaction: boolean;
  /**
   * Begins a transaction that no other writer of the store is in, and reads its first row, which is there. `ahead` gives
   * questions that `allOf` will ask before anything is written; it is called where each answer is a round trip, so that
   * their answers come along.
   */
  begin(first: string, ahead?: () => readonly SqlQuestion[]): object;
  /** Executes a last statement, where there is one, and commits. */
  commit(last: SqlQuestion | readonly []): void;
  /** Executes the statement; returns how many rows changed. */
  run(text: Sql, ...values: SqlValue[]): number;
  /**
   * Executes the statement before the next one that is answered, or before the commit. Where each answer is a round
   * trip it goes along with that one, and where it fails, that one does.
   */
  post(text: Sql, ...values: SqlValue[]): void;
  /** Posts an insert that ends with its one row of values, for any number of rows. */
  postRows(text: Sql, rows: readonly (readonly SqlValue[])[]): void;
  /**
   * Posts a statement for each row of values. That of PostgreSQL is one for all of them: it gets each column as an array.
   * No two rows may be about the same.
   */
  postEach(text: Dialects, rows: readonly (readonly SqlValue[])[]): void;
  find<Row>(text: Sql, ...values: SqlValue[]): OptionalRow<Row>;
  all<Row>(text: Sql, ...values: SqlValue[]): Row[];
  /** The rows of several questions, asked together. */
  allOf<Row>(questions: readonly SqlQuestion[]): Row[][];
  /** How long the transaction under way waited for others before it began; absent where that is not known. */
  readonly waitedMs?: number;
  /** A condition on runs, from AND on: their conversations are not on the disk of another service that lives. */
  readonly notElsewhere?: string;
  /** Notes that a conversation is on the disk of this service. */
  keepHere?(owner: string, key: string): void;
  /** The table or view of `Counters`; a database may count in several places. */
  readonly totals: string;
  /**
   * The question that puts waiting runs whose time has come into their queues, at most `limit`, the longest due first; for a
   * database where arrivals take no look at their queue. It has no rows.
   */
  placeDue?(nowMs: number, limit: number): SqlQuestion;
  /** Takes back wishes for a heartbeat that are counted elsewhere: of events that the next question sees. */
  forgetWishes?(): void;
}
