import type { NewRun } from '../prepared-request.ts';
import type { SQLInputValue } from 'node:sqlite';

export type Found<Row> = Row | undefined;
export type SqlValue = SQLInputValue;

/** What the store takes at most before it refuses requests. */
export interface AcceptLimits {
  readonly maxBacklogRuns: number;
  readonly maxBacklogBytes: number;
  readonly maxPendingEvents: number;
}

/**
 * Runs SQL one statement after the other. Texts are written in SQLite's dialect, and are constants or made from few
 * parts, so that each may be prepared once.
 */
export interface Statements {
  /** Whether a transaction is under way: an error of the disk may have ended it. */
  readonly isTransaction: boolean;
  /** Begins a transaction that no other writer of the store is in, and reads its first row, which is there. */
  begin(first: string): object;
  /** Executes a last statement, where there is one, and commits. */
  commit(last: readonly [text: string, ...values: (number | null)[]] | readonly []): void;
  /** Executes the statement; returns how many rows changed. */
  run(text: string, ...values: SqlValue[]): number;
  /** Inserts one row; returns its `seq`, or undefined where a conflict clause left it out. */
  insert(text: string, ...values: SqlValue[]): number | bigint | undefined;
  /** The first row. */
  find<Row>(text: string, ...values: SqlValue[]): Found<Row>;
  all<Row>(text: string, ...values: SqlValue[]): Row[];
  /**
   * Stores ready runs that stand in no queue, counted, in a transaction of one statement; false where there is no room
   * for all, then nothing is stored. For a database where each statement is a round trip.
   */
  acceptRuns?(runs: readonly NewRun[], limits: AcceptLimits): boolean;
}
