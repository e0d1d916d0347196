import type { Client } from 'pg';
import type { AcceptLimits, Question } from '../../engine/statements.ts';
import type { DatabaseCounter } from '../database-use.ts';
import { connectClient, SESSION_SETTINGS, TRANSACTION_SETTINGS } from '../connect.ts';
import { escapeText, rowsOf, toParameter, toPostgres, unescapeText } from '../worker/dialect.ts';
import {
  acceptStatements,
  acceptValues,
  type Entry,
  FIND_KEYS,
  type FoundKey,
  type KeyQuery,
  lineOf,
  SLOTS,
} from './accept-statement.ts';

/** Batches under way at once: so many round trips share the way to a distant database. */
const MAX_CONNECTIONS = 4;
/** Entries of one statement. */
const MAX_BATCH = 256;
/** An answer that takes longer counts as a lost connection. */
const MAX_WAIT_MS = 15_000;

export interface LaneOptions {
  readonly url: string;
  readonly limits: AcceptLimits;
  /** Whether a pooler stands between, which keeps no settings for a connection. */
  readonly isPooled: boolean;
  readonly use?: DatabaseCounter;
  /** Whether questions are sent without waiting for the answers of those before; default where a pooler stands between. */
  readonly pipeline?: boolean;
}

interface Waiting<Asked, Answer> {
  readonly asked: Asked;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

type Storing = Waiting<Entry, boolean>;
type Finding = Waiting<KeyQuery, FoundKey | undefined>;

/** Stores what needs no look at others, on connections of its own, in front of which nothing stands. */
export class AcceptLane {
  readonly #options: LaneOptions;
  /** Connections without work. */
  readonly #idle: LaneConnection[] = [];
  readonly #all = new Set<LaneConnection>();
  #reader: LaneConnection | undefined;
  #storing: readonly Storing[] = [];
  #finding: readonly Finding[] = [];
  /** Keys and conversations whose entries are being stored. */
  readonly #underWay = new Set<string>();
  #isScheduled = false;
  #isClosed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** False where nothing was stored: a key is taken, or there is no room; who looks at others says which. */
  store(asked: Entry): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      this.#storing = [...this.#storing, { asked, resolve, reject }];
      this.#schedule();
    });
  }

  /** The rows of questions in SQLite's dialect. They change nothing, and stand behind nobody who stores. */
  read(questions: readonly Question[]): Promise<readonly object[][]> {
    this.#reader ??= new LaneConnection({ ...this.#options, pipeline: true });
    const reader = this.#reader;
    return Promise.all(questions.map((question) => reader.read(question)));
  }

  find(asked: KeyQuery): Promise<FoundKey | undefined> {
    return new Promise((resolve, reject) => {
      this.#finding = [...this.#finding, { asked, resolve, reject }];
      this.#schedule();
    });
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#begin();
    while (this.#idle.length < this.#all.size) await Promise.all([...this.#all].map(({ last }) => last));
    await Promise.all(
      [...this.#idle, ...(this.#reader === undefined ? [] : [this.#reader])].map((each) => each.end()),
    );
  }

  /** What comes in one turn of the event loop goes together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    while (this.#storing.length + this.#finding.length > 0) {
      const connection = this.#idle.pop() ?? this.#another();
      if (connection === undefined) return;
      if (this.#finding.length > 0) {
        const batch = this.#finding;
        this.#finding = [];
        const sent = this.#send(batch, (asked) => connection.find(asked));
        void sent.then(() => this.#free(connection));
      } else {
        const batch = this.#takeBatch();
        if (batch.length === 0) return void this.#idle.push(connection);
        void this.#storeBatch(connection, batch).then(() => this.#free(connection));
      }
    }
  }

  #another(): LaneConnection | undefined {
    if (this.#all.size >= MAX_CONNECTIONS) return undefined;
    const connection = new LaneConnection(this.#options);
    this.#all.add(connection);
    return connection;
  }

  /** The first that wait, but those who have to come after one that is under way. */
  #takeBatch(): readonly Storing[] {
    const batch: Storing[] = [];
    const rest: Storing[] = [];
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

  async #storeBatch(connection: LaneConnection, batch: readonly Storing[]): Promise<void> {
    const names = batch.flatMap(({ asked }) => {
      const { key, lines } = namesOf(asked);
      return key === '' ? lines : [key, ...lines];
    });
    for (const name of names) this.#underWay.add(name);
    await this.#send(batch, (asked) => connection.store(asked));
    for (const name of names) this.#underWay.delete(name);
  }

  async #send<Asked, Answer>(
    batch: readonly Waiting<Asked, Answer>[],
    ask: (asked: readonly Asked[]) => Promise<(index: number) => Answer>,
  ): Promise<void> {
    try {
      const answerTo = await ask(batch.map(({ asked }) => asked));
      for (const [index, { resolve }] of batch.entries()) resolve(answerTo(index));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #free(connection: LaneConnection): void {
    this.#idle.push(connection);
    this.#begin();
  }
}

interface Asked {
  readonly text: string;
  readonly name: string;
  readonly values: readonly unknown[];
}

interface Answer {
  readonly rows: readonly object[];
  /** The answer of the first time was lost. */
  readonly isAgain: boolean;
}

interface StoredRow {
  readonly room: number;
  readonly open: string | null;
}

const LOST = 'the connection was lost before the answer';

/** Where there was no connection, nothing was asked. */
function isNeverSent(error: Error & { readonly code?: string }): boolean {
  return error.code === '08001' || /^E(?!PIPE|CONNRESET)[A-Z]+$/.test(error.code ?? '');
}

/** What keeps an entry behind others: its key, or empty, and the conversations of its runs. */
function namesOf({ key, runs }: Entry): { readonly key: string; readonly lines: readonly string[] } {
  const lines = runs.flatMap((run) => lineOf(run) ?? []);
  return { key: key === undefined ? '' : JSON.stringify([key.scope, key.key]), lines };
}

/** One connection that stores one batch after the other. */
class LaneConnection {
  readonly #options: LaneOptions;
  readonly #slot = Math.floor(Math.random() * SLOTS);
  #client: Client | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #texts = new Map<string, readonly [name: string, text: string]>();

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Settles with what is under way. */
  get last(): Promise<unknown> {
    return this.#last;
  }

  /** Which of the entries were stored: nothing is stored twice, however often it is asked. */
  async store(entries: readonly Entry[]): Promise<(index: number) => boolean> {
    const values = acceptValues(entries, { slot: this.#slot, limits: this.#options.limits });
    const { first, again } = acceptStatements(entries);
    const { rows, isAgain } = await this.#ask({ ...first, values }, { ...again, values });
    const { room, open } = rows[0] as StoredRow;
    // Whether it was stored before, the one that looks at others could not tell from a repeat.
    if (room === 0 && isAgain) throw Object.assign(new Error(LOST), { code: '08006' });
    const taken = new Set(open === null ? [] : (JSON.parse(open) as number[]));
    return (index) => room > 0 && (entries[index]?.key === undefined || taken.has(index));
  }

  async find(queries: readonly KeyQuery[]): Promise<(index: number) => FoundKey | undefined> {
    const asked = queries.map(({ scope, key, nowMs }, n) => ({
      n,
      scope: escapeText(scope),
      key: escapeText(key),
      nowMs: Math.floor(nowMs),
    }));
    const { rows } = await this.#ask({ text: FIND_KEYS, name: 'keys', values: [JSON.stringify(asked)] });
    const found = new Map(
      (rows as readonly (FoundKey & { readonly n: number })[]).map((row) => [row.n, row]),
    );
    return (index) => {
      const row = found.get(index);
      return row && { bodySha256: row.bodySha256, result: unescapeText(row.result) };
    };
  }

  async read([asked, ...given]: Question): Promise<object[]> {
    let known = this.#texts.get(asked);
    if (known === undefined) this.#texts.set(asked, (known = [`r${this.#texts.size}`, toPostgres(asked)]));
    const [name, text] = known;
    return rowsOf((await this.#ask({ text, name, values: given.map(toParameter) })).rows);
  }

  async end(): Promise<void> {
    await this.#client?.end().catch(() => undefined);
  }

  /** A connection that breaks is made anew once. */
  #ask(question: Asked, again = question): Promise<Answer> {
    const answer = this.#askOnce(question).then(
      ({ rows }) => ({ rows, isAgain: false }),
      async (error: unknown) => {
        if (this.#client !== undefined || !(error instanceof Error) || isNeverSent(error)) throw error;
        return { rows: (await this.#askOnce(again)).rows, isAgain: true };
      },
    );
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #askOnce(question: Asked): Promise<{ readonly rows: readonly object[] }> {
    const client = (this.#client ??= await this.#connect());
    const askedAt = performance.now();
    const answer = await this.#bounded(client, this.#query(client, question));
    this.#options.use?.addTrip(performance.now() - askedAt);
    return answer;
  }

  async #query(client: Client, { text, name, values }: Asked): Promise<{ readonly rows: readonly object[] }> {
    if (!this.#options.isPooled) return client.query({ text, name, values: [...values] });
    const [, answer] = await Promise.all([
      client.query(`BEGIN; ${TRANSACTION_SETTINGS}`),
      client.query({ text, values: [...values] }),
      client.query('COMMIT'),
    ]);
    return answer;
  }

  async #connect(): Promise<Client> {
    const forget = (gone: Client): void => {
      if (this.#client === gone) this.#client = undefined;
    };
    const { url, isPooled, pipeline = isPooled } = this.#options;
    const client = await connectClient(url, forget, { pipeline });
    if (!isPooled) await client.query(SESSION_SETTINGS);
    return client;
  }

  async #bounded<Result>(client: Client, question: Promise<Result>): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#client = undefined;
        client.end().catch(() => undefined);
        (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
        reject(Object.assign(new Error('the database did not answer in time'), { code: '08000' }));
      }, MAX_WAIT_MS);
    });
    try {
      return await Promise.race([question, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
