import { refuseUnknown } from '../../statements/migrations.ts';
import { IS_CLAIMED_WHEN_DUE, RUN } from '../../statements/rows.ts';
import { firstOf } from '../../statements/session-queue.ts';
import {
  BrokenTransaction,
  OneFailed,
  type OptionalRow,
  type SqlQuestion,
  type Sql,
  type SqlValue,
  type Statements,
} from '../../statements/statements.ts';
import type { StatementAnswer, Statement } from '../connection.ts';
import type { DatabaseCounter } from '../database-use.ts';
import type { ExpectedStore } from '../known-store.ts';
import { placeOf } from '../postgres-errors.ts';
import { BlockingConnection, findFate, isConnectionError } from './blocking-connection.ts';
import { PreparedTexts, rowsOf, textOf, toParameter } from './dialect.ts';

/**
 * Puts due runs into their queues, all at once. Of each queue the first in order of arrival is ready, where none is active:
 * one that has come back before it, or the one that was ready and came first. All others stand behind.
 */
export const PLACE = `WITH due AS (
  SELECT seq, line FROM runs WHERE state = ${RUN.waiting} AND due_at <= ?1 AND ${IS_CLAIMED_WHEN_DUE}
  ORDER BY due_at, seq LIMIT ?2
), heads AS (
  SELECT line, first, ${firstOf('lines.line', RUN.active)} IS NOT NULL AS busy,
    ${firstOf('lines.line', RUN.ready)} AS ready
  FROM (SELECT line, min(seq) AS first FROM due WHERE line IS NOT NULL GROUP BY line) AS lines
), placed AS (
  SELECT seq, CASE WHEN line IS NULL OR (NOT busy AND seq = first AND (ready IS NULL OR first < ready))
    THEN ${RUN.ready} ELSE ${RUN.blocked} END AS state FROM due LEFT JOIN heads USING (line)
  UNION ALL SELECT ready, ${RUN.blocked} FROM heads WHERE NOT busy AND first < ready
) UPDATE runs SET state = placed.state, due_at = CASE WHEN due_at = 0 THEN accepted_at ELSE due_at END
  FROM placed WHERE runs.seq = placed.seq`;

/** A place is the id of a folder, so several services may have the same one. */
const notElsewhere = (place: string): string => `AND NOT EXISTS (
  SELECT 1 FROM kept_conversations AS kept JOIN replicas USING (place) WHERE replicas.role <> 'front'
    AND kept.owner = runs.owner AND kept.key = runs.session_key AND place <> '${place}')`;
const KEEP = `INSERT INTO kept_conversations (owner, key, place) VALUES (?, ?, ?)
  ON CONFLICT (owner, key) DO UPDATE SET place = excluded.place WHERE kept_conversations.place <> excluded.place`;

const MAX_ROWS = 64;
/** Who made a wish meanwhile is waited for, so that the next question sees its event. */
const FORGET_WISHES = 'UPDATE counter_slots SET heartbeat_at = NULL WHERE heartbeat_at IS NOT NULL';

type BeginAnswers = [
  begun: StatementAnswer,
  locked: StatementAnswer,
  known: StatementAnswer,
  counted: StatementAnswer,
  ...ahead: StatementAnswer[],
];

const sinceMs = (time: string): string => `floor(extract(epoch FROM clock_timestamp() - ${time}) * 1000)`;
/** The one row that all of these transactions lock; a copy that begins has emptied its table. */
const LOCK = `SELECT pg_current_xact_id()::text AS transaction, (SELECT one FROM counters FOR UPDATE),
  ${sinceMs('statement_timestamp()')} AS waited`;
const VERSION = 'SELECT version FROM sluice_schema';

export interface StatementsOptions {
  readonly url: string;
  /** The channel on which every commit is announced; absent where somebody else announces it. */
  readonly channel?: string;
  /** Settings for each transaction, behind a pooler that keeps none for a connection. */
  readonly perTransaction?: string;
  /** An answer that takes longer counts as a lost connection; default 15 s. */
  readonly maxWaitMs?: number;
  readonly use?: DatabaseCounter;
  readonly expected?: ExpectedStore | undefined;
  /** The disk on which agents keep conversations. */
  readonly place?: string;
}

/**
 * Statements on PostgreSQL. A transaction begins by locking the one row of the counters, so that writers of all processes
 * take turns, as they do on one SQLite file: what an operation has read stays true until it commits. What needs no answer
 * is sent with the next question, so that the row is locked for few round trips.
 */
export class PostgresStatements implements Statements {
  readonly totals = 'totals';
  waitedMs = 0;
  readonly #connection: BlockingConnection;
  readonly #texts = new PreparedTexts();
  readonly #options: StatementsOptions;
  readonly notElsewhere: string;
  #posted: Statement[] = [];
  /** Answers that came along with the begin; true until something is written. */
  #ahead = new Map<string, object[]>();
  /** The transaction under way has changed something already. */
  #hasWritten = false;
  /** What the database calls the transaction under way; undefined where there is none. */
  #transaction: string | undefined;

  constructor(options: StatementsOptions) {
    const { url, perTransaction, expected, maxWaitMs, use } = options;
    this.#options = options;
    this.notElsewhere = options.place === undefined ? '' : notElsewhere(options.place);
    this.#connection = new BlockingConnection({
      url,
      isPooled: perTransaction !== undefined,
      expected,
      maxWaitMs,
      use,
    });
  }

  get isTransaction(): boolean {
    return this.#transaction !== undefined;
  }

  begin(first: string, askAhead: () => readonly SqlQuestion[] = () => []): object {
    this.#leave();
    const ahead = askAhead();
    const { perTransaction, use } = this.#options;
    const beginning = { text: perTransaction === undefined ? 'BEGIN' : `BEGIN; ${perTransaction}` };
    const questions: readonly SqlQuestion[] = [[LOCK], [VERSION], [first], ...ahead];
    const asked = [beginning, ...questions.map((question) => this.#statement(...question))];
    const [, locked, known, counted, ...answers] = this.#inTransaction(asked, {
      mayConnect: true,
    }) as BeginAnswers;
    const { transaction, waited } = locked.rows[0] as {
      readonly transaction: string;
      readonly waited: number;
    };
    const { version } = known.rows[0] as { readonly version: number };
    this.waitedMs = waited;
    if (waited > 0) use?.addWait(waited);
    this.#transaction = transaction;
    this.#hasWritten = false;
    this.#ahead = new Map(ahead.map((question, index) => [nameOf(question), rowsOf(answers[index]?.rows)]));
    this.#checkVersion(version);
    return counted.rows[0] as object;
  }

  /** Services of a newer version may have gone on with the store while this one was cut off. */
  #checkVersion(version: number): void {
    try {
      refuseUnknown(placeOf(this.#options.url), version, 'postgres');
    } catch (error) {
      this.run('ROLLBACK');
      throw error;
    }
  }

  commit(last: SqlQuestion | readonly []): void {
    const [text, ...values] = last;
    const transaction = this.#transaction;
    const posted = this.#leave();
    if (transaction === undefined) throw new BrokenTransaction('08006', 'the connection was lost');
    const { channel } = this.#options;
    // Nothing was written that could be lost.
    if (posted.length === 0 && text === undefined && !this.#hasWritten)
      return this.#connection.tell('COMMIT');
    const statements = [
      ...posted,
      ...(text === undefined ? [] : [this.#statement(text, ...values)]),
      { text: channel === undefined ? 'COMMIT' : `NOTIFY ${channel}; COMMIT` },
    ];
    try {
      this.#inTransaction(statements, { mayConnect: false });
    } catch (error) {
      if (isConnectionError(error)) this.#askForFate(transaction, error);
      else throw posted.length === 0 ? error : new OneFailed((error as Error).message, { cause: error });
    }
  }

  /** The answer to a commit was lost: whether it is stored, the database knows. */
  #askForFate(transaction: string, error: unknown): void {
    const fate = findFate(this.#connection, transaction);
    if (fate === 'committed') return;
    throw fate === 'unknown'
      ? error
      : new BrokenTransaction('08006', 'the connection was lost before the commit');
  }

  /** What fails leaves a transaction open in which nothing can be done any more. */
  #inTransaction(
    statements: readonly Statement[],
    options: { readonly mayConnect: boolean },
  ): readonly StatementAnswer[] {
    try {
      return this.#connection.ask(statements, options);
    } catch (error) {
      if (!isConnectionError(error)) this.#rollBack();
      throw error;
    }
  }

  /** Where there is a connection; without one nothing is open. */
  #rollBack(): void {
    try {
      this.#connection.ask([{ text: 'ROLLBACK' }], { mayConnect: false });
    } catch {
      // The first error says what is wrong.
    }
  }

  /** Ends the transaction as far as this side knows of it; returns what was not sent yet. */
  #leave(): readonly Statement[] {
    const posted = this.#posted;
    this.#posted = [];
    this.#ahead.clear();
    this.#transaction = undefined;
    return posted;
  }

  run(text: Sql, ...values: SqlValue[]): number {
    if (text === 'ROLLBACK') {
      const isInside = this.isTransaction;
      this.#leave();
      if (isInside) this.#rollBack();
      return 0;
    }
    this.#begunToWrite();
    return this.#answer(text, values).rowCount;
  }

  #begunToWrite(): void {
    this.#ahead.clear();
    this.#hasWritten = true;
  }

  post(text: Sql, ...values: SqlValue[]): void {
    this.#begunToWrite();
    this.#posted.push(this.#statement(text, ...values));
  }

  /** Few statements of many rows: each costs more than its rows. Of each number of rows there is one text. */
  postRows(sql: Sql, rows: readonly (readonly SqlValue[])[]): void {
    const text = textOf(sql);
    const one = text.slice(text.lastIndexOf('('));
    for (let from = 0; from < rows.length;) {
      const many = Math.min(2 ** Math.floor(Math.log2(rows.length - from)), MAX_ROWS);
      this.post(text + `, ${one}`.repeat(many - 1), ...rows.slice(from, from + many).flat());
      from += many;
    }
  }

  postEach(text: Sql, rows: readonly (readonly SqlValue[])[]): void {
    const [first] = rows;
    if (first === undefined) return;
    this.#begunToWrite();
    const columns = first.map((_, column) => rows.map((row) => toParameter(row[column] ?? null)));
    this.#posted.push({ ...this.#statement(text), values: columns });
  }

  find<Row>(text: Sql, ...values: SqlValue[]): OptionalRow<Row> {
    return this.all<Row>(text, ...values)[0];
  }

  all<Row>(text: Sql, ...values: SqlValue[]): Row[] {
    return rowsOf(this.#answer(text, values).rows) as Row[];
  }

  allOf<Row>(questions: readonly SqlQuestion[]): Row[][] {
    const known = questions.flatMap((question) => {
      const rows = this.#ahead.get(nameOf(question));
      return rows === undefined ? [] : [rows as Row[]];
    });
    if (known.length === questions.length) return known;
    const answers = this.#ask(questions.map((question) => this.#statement(...question)));
    return answers.map((answer) => rowsOf(answer.rows) as Row[]);
  }

  placeDue(nowMs: number, limit: number): SqlQuestion {
    return [PLACE, nowMs, limit];
  }

  keepHere(owner: string, key: string): void {
    const { place } = this.#options;
    if (place !== undefined) this.post(KEEP, owner, key, place);
  }

  forgetWishes(): void {
    this.post(FORGET_WISHES);
  }

  close(): void {
    this.#connection.close();
  }

  #answer(text: Sql, values: readonly SqlValue[]): StatementAnswer {
    return this.#ask([this.#statement(text, ...values)])[0] as StatementAnswer;
  }

  /** Sends what was posted, and then these; returns the answers to these. */
  #ask(statements: readonly Statement[]): readonly StatementAnswer[] {
    const posted = this.#posted;
    this.#posted = [];
    try {
      const mayConnect = !this.isTransaction;
      return this.#connection.ask([...posted, ...statements], { mayConnect }).slice(posted.length);
    } catch (error) {
      // With the connection the transaction is gone.
      if (isConnectionError(error)) this.#leave();
      throw error;
    }
  }

  #statement(text: Sql, ...values: readonly SqlValue[]): Statement {
    const prepared = this.#texts.get(text);
    // A pooler gives each transaction another connection, which knows no statement of the one before.
    const named = this.#options.perTransaction === undefined ? { name: prepared.name } : {};
    return { text: prepared.text, values: values.map(toParameter), ...named };
  }
}

function nameOf(question: SqlQuestion): string {
  return JSON.stringify(question);
}
