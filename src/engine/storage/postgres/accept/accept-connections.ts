import type { AcceptLimits, SqlQuestion } from '../../statements/statements.ts';
import {
  PostgresConnection,
  type ConnectionOptions,
  type Statement,
  transactionSettings,
} from '../connection.ts';
import type { DatabaseCounter } from '../database-use.ts';
import { connectionFault } from '../postgres-errors.ts';
import { PreparedTexts, rowsOf, toParameter } from '../worker/dialect.ts';
import { acceptStatements, acceptValues, type AcceptEntry, lineOf, SLOTS } from './accept-statement.ts';

/** Batches under way at once: so many round trips share the way to a distant database. */
const MAX_CONNECTIONS = 4;
const MAX_BATCH = 256;
/** An answer that takes longer counts as a lost connection. */
const MAX_WAIT_MS = 15_000;
/**
 * A statement that reaches the database later stores nothing: one that hung goes on with what it was asked. Nobody is
 * given up sooner: a connection that is not made takes 5 s (`connection.ts`), and a sender waits for 10 (`make-storage.ts`).
 */
const MAX_DELAY_MS = 4_000;
/** Where several come at once, the first waits for the others for this part of a round trip, and no longer. */
const GATHERED_PART = 0.15;
const MAX_GATHERED_MS = 4;

export interface AcceptConnectionOptions extends ConnectionOptions {
  readonly limits: AcceptLimits;
  readonly use?: DatabaseCounter;
}

interface PendingAccept {
  readonly asked: AcceptEntry;
  resolve(isStored: boolean): void;
  reject(error: unknown): void;
}

/** Stores what needs no look at others, on connections of its own, in front of which nothing stands. */
export class AcceptConnections {
  readonly #options: AcceptConnectionOptions;
  readonly #idle: AcceptConnection[] = [];
  readonly #all = new Set<AcceptConnection>();
  readonly #clock: DatabaseClock = { aheadMs: Infinity };
  readonly #reader: AcceptConnection;
  #storing: readonly PendingAccept[] = [];
  /** Keys and conversations whose entries are being stored. */
  readonly #underWay = new Set<string>();
  #isScheduled = false;
  /** How long the last batch took, and whether others were stored with it or at the same time. */
  #tripMs = 0;
  #isShared = false;
  #isClosed = false;

  constructor(options: AcceptConnectionOptions) {
    this.#options = options;
    this.#reader = new AcceptConnection(options, this.#clock);
  }

  /** False where nothing was stored: a key is taken, or there is no space; the usual way says which. */
  store(asked: AcceptEntry): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      this.#storing = [...this.#storing, { asked, resolve, reject }];
      this.#schedule();
    });
  }

  /** The rows of questions. They change nothing, and stand behind nobody who stores. */
  read(questions: readonly SqlQuestion[]): Promise<readonly object[][]> {
    return Promise.all(questions.map((question) => this.#reader.read(question)));
  }

  giveUp(): void {
    for (const { reject } of this.#storing) reject(lost());
    this.#storing = [];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#begin();
    while (this.#idle.length < this.#all.size) await Promise.all([...this.#all].map(({ last }) => last));
    await Promise.all([...this.#idle, this.#reader].map((each) => each.end()));
  }

  /**
   * What comes in one turn of the event loop goes together, and with a distant database what comes in a small part of its
   * round trip: a statement costs several times as much as a row in it. Where they come one after the other, none waits.
   */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const begin = () => {
      this.#isScheduled = false;
      this.#begin();
    };
    const waitMs = Math.min(this.#isShared ? this.#tripMs * GATHERED_PART : 0, MAX_GATHERED_MS);
    if (waitMs < 1) setImmediate(begin);
    else setTimeout(begin, waitMs);
  }

  #begin(): void {
    while (this.#storing.length > 0) {
      const connection = this.#idle.pop() ?? this.#another();
      if (connection === undefined) return;
      const batch = this.#takeBatch();
      if (batch.length === 0) return void this.#idle.push(connection);
      void this.#storeBatch(connection, batch).then(() => this.#free(connection));
    }
  }

  #another(): AcceptConnection | undefined {
    if (this.#all.size >= MAX_CONNECTIONS) return undefined;
    const connection = new AcceptConnection(this.#options, this.#clock);
    this.#all.add(connection);
    return connection;
  }

  /** The first that wait, but those who have to come after one that is under way. */
  #takeBatch(): readonly PendingAccept[] {
    const batch: PendingAccept[] = [];
    const rest: PendingAccept[] = [];
    const keys = new Set(this.#underWay);
    const held = new Set(this.#underWay);
    for (const waiting of this.#storing) {
      const { key, lines } = namesOf(waiting.asked);
      // A statement takes a key once, and a conversation goes over one connection at a time.
      const isHeld = batch.length === MAX_BATCH || lines.some((line) => held.has(line)) || keys.has(key);
      if (isHeld) for (const line of lines) held.add(line);
      else if (key !== '') keys.add(key);
      (isHeld ? rest : batch).push(waiting);
    }
    this.#storing = rest;
    return batch;
  }

  async #storeBatch(connection: AcceptConnection, batch: readonly PendingAccept[]): Promise<void> {
    const names = batch.flatMap(({ asked }) => {
      const { key, lines } = namesOf(asked);
      return key === '' ? lines : [key, ...lines];
    });
    for (const name of names) this.#underWay.add(name);
    const sentAt = performance.now();
    try {
      const isStored = await connection.store(batch.map(({ asked }) => asked));
      for (const [index, { resolve }] of batch.entries()) resolve(isStored(index));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    for (const name of names) this.#underWay.delete(name);
    this.#tripMs = performance.now() - sentAt;
    this.#isShared = batch.length > 1 || this.#idle.length + 1 < this.#all.size;
  }

  #free(connection: AcceptConnection): void {
    this.#idle.push(connection);
    this.#begin();
  }
}

/** What it is ahead of `performance.now()` at most. */
interface DatabaseClock {
  aheadMs: number;
}

interface AcceptAnswer {
  readonly rows: readonly object[];
  /** The answer of the first time was lost. */
  readonly isAgain: boolean;
}

interface StoredRow {
  readonly space: number;
  readonly open: string | null;
  /** When the database got the statement, by its own clock. */
  readonly at: number;
}

/** Where it is not known whether it is stored, or where it is not sent any more. */
function lost(): Error {
  return Object.assign(new Error('the connection was lost before the answer'), { code: '08006' });
}

/** What keeps an entry behind others: its key, or empty, and the conversations of its runs. */
function namesOf({ key, runs }: AcceptEntry): { readonly key: string; readonly lines: readonly string[] } {
  const lines = runs.flatMap((run) => lineOf(run) ?? []);
  return { key: key === undefined ? '' : JSON.stringify([key.scope, key.key]), lines };
}

/** One connection that stores one batch after the other. */
class AcceptConnection {
  readonly #options: AcceptConnectionOptions;
  readonly #connection: PostgresConnection;
  readonly #slot = Math.floor(Math.random() * SLOTS);
  readonly #texts = new PreparedTexts();
  #last: Promise<unknown> = Promise.resolve();
  readonly #clock: DatabaseClock;

  constructor(options: AcceptConnectionOptions, clock: DatabaseClock) {
    this.#options = options;
    this.#clock = clock;
    this.#connection = new PostgresConnection(options);
  }

  /** Settles with what is under way. */
  get last(): Promise<unknown> {
    return this.#last;
  }

  /** Which of the entries were stored: nothing is stored twice, however often it is asked. */
  async store(entries: readonly AcceptEntry[]): Promise<(index: number) => boolean> {
    const sentAt = performance.now();
    const notAfter = sentAt + this.#clock.aheadMs + MAX_DELAY_MS;
    const values = acceptValues(entries, { slot: this.#slot, limits: this.#options.limits, notAfter });
    const { first, again } = acceptStatements(entries);
    const { rows, isAgain } = await this.#ask({ ...first, values }, { ...again, values });
    const { space, open, at } = rows[0] as StoredRow;
    const isLate = performance.now() - sentAt > MAX_DELAY_MS;
    // Whether it was stored before, the one that looks at others could not tell from a repeat.
    if (space === 0 && (isAgain || isLate)) throw lost();
    // Where there was no space, the clock may have been set.
    this.#clock.aheadMs = Math.min(space === 0 ? Infinity : this.#clock.aheadMs, at - sentAt);
    const taken = new Set(open === null ? [] : (JSON.parse(open) as number[]));
    return (index) => space > 0 && (entries[index]?.key === undefined || taken.has(index));
  }

  async read([text, ...given]: SqlQuestion): Promise<object[]> {
    return rowsOf((await this.#ask({ ...this.#texts.get(text), values: given.map(toParameter) })).rows);
  }

  end(): Promise<void> {
    return this.#connection.end();
  }

  /** A connection that breaks is made anew once. */
  #ask(question: Statement, again = question): Promise<AcceptAnswer> {
    const answer = this.#askOnce(question).then(
      (rows) => ({ rows, isAgain: false }),
      async (error: unknown) => {
        const { code = '' } = error as { readonly code?: string };
        if (this.#connection.isOpen || connectionFault(code) === 'never-made') throw error;
        return { rows: await this.#askOnce(again), isAgain: true };
      },
    );
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #askOnce(question: Statement): Promise<readonly object[]> {
    const { isPooled, expected, use } = this.#options;
    const { name: _name, ...unnamed } = question;
    const statements = isPooled
      ? [{ text: `BEGIN; ${transactionSettings(expected)}` }, unnamed, { text: 'COMMIT' }]
      : [question];
    const askedAt = performance.now();
    const timer = setTimeout(() => this.#connection.abandon(), MAX_WAIT_MS);
    try {
      const answers = await this.#connection.ask(statements);
      use?.addTrip(performance.now() - askedAt);
      return answers[isPooled ? 1 : 0]?.rows ?? [];
    } finally {
      clearTimeout(timer);
    }
  }
}
