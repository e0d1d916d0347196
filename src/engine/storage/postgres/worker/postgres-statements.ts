import { randomUUID } from 'node:crypto';
import { PROMOTED_PER_CLAIM } from '../../statements/claimable-runs.ts';
import { refuseUnknown } from '../../statements/migrations.ts';
import type { ClaimedRow, RunHead } from '../../statements/rows.ts';
import {
  type AtOnce,
  type Presumption,
  BrokenTransaction,
  type OptionalRow,
  OneFailed,
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
import {
  BELIEVED,
  claimStatement,
  GUARD,
  KEEP,
  notElsewhere,
  PAUSED,
  PLACE,
  sinceMs,
} from './claim-statement.ts';
import { PreparedTexts, rowsOf, textOf, toParameter } from './dialect.ts';

/** Rows of one statement. */
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
  readonly atOnce: AtOnce = {
    presume: (presumption) => this.#presume(presumption),
    claim: (holder, options) => this.#claim(holder, options),
  };
  readonly #connection: BlockingConnection;
  readonly #texts = new PreparedTexts();
  readonly #options: StatementsOptions;
  readonly notElsewhere: string;
  readonly #claimText: string;
  #posted: Statement[] = [];
  /** In a transaction that presumes: the statements that lock, and check what is presumed. */
  #unlocked: readonly Statement[] = [];
  /** Answers that came along with the begin; true until something is written. */
  #ahead = new Map<string, object[]>();
  /** The transaction under way has changed something already. */
  #hasWritten = false;
  /** What the database calls the transaction under way; undefined where there is none, empty where it was not asked. */
  #transaction: string | undefined;

  constructor(options: StatementsOptions) {
    const { url, perTransaction, expected, maxWaitMs, use } = options;
    this.#options = options;
    this.notElsewhere = options.place === undefined ? '' : notElsewhere(options.place);
    this.#claimText = claimStatement(this.notElsewhere);
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
    const asked = this.#beginning([LOCK], [VERSION], [first], ...ahead);
    const [, locked, known, counted, ...answers] = this.#inTransaction(asked, {
      mayConnect: true,
    }) as BeginAnswers;
    const { transaction } = locked.rows[0] as { readonly transaction: string };
    const { version } = known.rows[0] as { readonly version: number };
    this.#noteWait([locked]);
    this.#transaction = transaction;
    this.#hasWritten = false;
    this.#ahead = new Map(ahead.map((question, index) => [nameOf(question), rowsOf(answers[index]?.rows)]));
    this.#checkVersion(version);
    return counted.rows[0] as object;
  }

  /** The answer to the lock says how long it was waited for; where none was asked for, nothing was. */
  #noteWait(answers: readonly StatementAnswer[]): void {
    const rows: readonly ({ readonly waited?: number } | undefined)[] = answers.map(({ rows: [row] }) => row);
    const waited = rows.find((row) => row?.waited !== undefined)?.waited ?? 0;
    this.waitedMs = waited;
    if (waited > 0) this.#options.use?.addWait(waited);
  }

  #beginning(...questions: readonly SqlQuestion[]): readonly Statement[] {
    const { perTransaction } = this.#options;
    const text = ['BEGIN', ...(perTransaction === undefined ? [] : [perTransaction])].join('; ');
    return [{ text }, ...questions.map((question) => this.#statement(...question))];
  }

  #presume({ holder, heads, sessions, answers, isJournal }: Presumption): void {
    this.#leave();
    const values = [JSON.stringify(heads), heads.length, holder, JSON.stringify(sessions)];
    const believed = this.#statement(BELIEVED, ...values);
    this.#posted = [...this.#beginning()];
    // What may be lost waits for no disk.
    this.#unlocked = isJournal
      ? [believed, { text: 'SET LOCAL synchronous_commit TO off' }]
      : [this.#statement(LOCK), believed];
    this.#ahead = new Map(answers.map(([question, rows]) => [nameOf(question), [...rows]]));
    this.#transaction = '';
  }

  lock(): void {
    this.#posted.push(...this.#unlocked);
    this.#unlocked = [];
  }

  #claim(
    holder: string,
    { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
  ): ClaimedRow[] | undefined {
    const claim = randomUUID();
    const claiming = this.#beginning(
      [LOCK],
      [GUARD],
      this.placeDue(nowMs, PROMOTED_PER_CLAIM),
      [PAUSED],
      [this.#claimText, limit, holder, nowMs, claim],
    );
    const answers = this.#askAtOnce([...claiming, { text: 'COMMIT' }]);
    this.#noteWait(answers);
    const [paused, claimed] = answers.slice(-3);
    if (paused?.rows.length !== 0) return undefined;
    return rowsOf(claimed?.rows).map((row) => claimedRow(row as ClaimColumns));
  }

  /** Once more where the answer was lost. */
  #askAtOnce(statements: readonly Statement[]): readonly StatementAnswer[] {
    try {
      return this.#inTransaction(statements, { mayConnect: true });
    } catch (error) {
      if (!(error instanceof BrokenTransaction)) throw error;
      return this.#inTransaction(statements, { mayConnect: true });
    }
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
    this.lock();
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
    if (transaction === '') return this.#sendAll(statements);
    try {
      this.#inTransaction(statements, { mayConnect: false });
    } catch (error) {
      if (isConnectionError(error)) this.#askForFate(transaction, error);
      else throw posted.length === 0 ? error : new OneFailed((error as Error).message, { cause: error });
    }
  }

  /** A transaction that asks nothing. */
  #sendAll(statements: readonly Statement[]): void {
    try {
      this.#noteWait(this.#inTransaction(statements, { mayConnect: true }));
    } catch (error) {
      throw isConnectionError(error) ? new BrokenTransaction('08006', (error as Error).message) : error;
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
    this.#unlocked = [];
    this.#ahead.clear();
    this.#transaction = undefined;
    return posted;
  }

  run(text: Sql, ...values: SqlValue[]): number {
    if (text === 'ROLLBACK') {
      const isInside = this.isTransaction && this.#transaction !== '';
      this.#leave();
      if (isInside) this.#rollBack();
      return 0;
    }
    this.#begunToWrite();
    return this.#answer(text, values).rowCount;
  }

  #begunToWrite(): void {
    // What is presumed stays so.
    if (this.#transaction !== '') this.#ahead.clear();
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

  insert(text: string, ...values: SqlValue[]): number | undefined {
    this.#begunToWrite();
    const [row] = this.#answer(`${text} RETURNING seq`, values).rows as readonly { readonly seq: number }[];
    return row?.seq;
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

type ClaimColumns = Omit<ClaimedRow, 'head'> & RunHead;

const NOT_CARRIED = { workerAttempt: null, workerUntil: null };

function claimedRow(claimed: ClaimColumns): ClaimedRow {
  const { queue, mappingId, sessionKey, bytes, holder, ...row } = claimed;
  const { seq, id, state } = row;
  return { ...row, head: { seq, id, state, sessionKey, queue, mappingId, bytes, holder, ...NOT_CARRIED } };
}

function nameOf(question: SqlQuestion): string {
  return JSON.stringify(question);
}
