import type { Client, QueryArrayResult, QueryResult } from 'pg';
import { checkNotRefused, checkStore, type ExpectedStore } from './known-store.ts';
import { connectClient, giveUp, SESSION_SETTINGS, streamOf } from './connect.ts';

export interface ConnectionOptions {
  readonly url: string;
  /** Whether a pooler stands between, which keeps no settings for a connection. */
  readonly isPooled: boolean;
  /** The store that is meant: a new connection that leads elsewhere is refused. */
  readonly expected?: ExpectedStore | undefined;
}

export interface Statement {
  readonly text: string;
  /** Absent for a text of several statements. */
  readonly values?: readonly unknown[];
  /** The name a statement is prepared under. */
  readonly name?: string;
}

/** Of each statement; of one that is several, what its last one answered. */
export interface Answered {
  readonly rows: readonly object[];
  readonly rowCount: number;
}

/** A connection that is made with a question, and anew with the next one where it broke. */
export class Connection {
  readonly #options: ConnectionOptions;
  /** Known before it is ready, so that one that never becomes it can be given up. */
  #client: Client | undefined;
  /** While one is made: who asks meanwhile waits for the same one. */
  #making: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  /**
   * Sends statements together; their answers come back together. Rejects with the first that fails, as whatever comes
   * after it fails because of it; every error has a code. Inside a transaction `mayConnect` is false: a new connection
   * would not be in it.
   */
  async ask(statements: readonly Statement[], mayConnect = true): Promise<readonly Answered[]> {
    checkNotRefused(this.#options.expected);
    if (this.#client === undefined && mayConnect) this.#making ??= this.#connect();
    await this.#making;
    const client = this.#client;
    if (client === undefined) throw Object.assign(new Error('the connection was lost'), { code: '08006' });
    const settled = await Promise.allSettled(sendTogether(client, statements));
    for (const outcome of settled) if (outcome.status === 'rejected') throw withCode(outcome.reason);
    return settled.map((outcome) => answeredBy(outcome as { value: Results }));
  }

  /** Gives it up where it does not answer; the server ends its transaction. */
  abandon(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) giveUp(client);
  }

  async end(): Promise<void> {
    await this.#making?.catch(() => undefined);
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const forget = (gone: Client) => {
      if (this.#client === gone) this.#client = undefined;
    };
    const { url, isPooled, expected } = this.#options;
    try {
      const client = await connectClient(url, forget, { pipeline: true });
      this.#client = client;
      if (!isPooled) await client.query(SESSION_SETTINGS);
      await checkStore(client, expected);
    } catch (error) {
      await this.#client?.end().catch(() => undefined);
      this.#client = undefined;
      throw withCode(error);
    } finally {
      this.#making = undefined;
    }
  }
}

type Results = QueryResult | QueryArrayResult | readonly QueryResult[];

/** One piece for the network, however many statements there are. */
function sendTogether(client: Client, statements: readonly Statement[]): Promise<Results>[] {
  const stream = streamOf(client);
  stream?.cork();
  try {
    return statements.map(({ text, values, name }) =>
      client.query(values === undefined ? { text } : { text, values: [...values], ...(name && { name }) }),
    );
  } finally {
    stream?.uncork();
  }
}

function answeredBy({ value }: { readonly value: Results }): Answered {
  const { rows, rowCount } = (Array.isArray(value) ? value.at(-1) : value) as QueryResult;
  return { rows: (rows ?? []) as object[], rowCount: rowCount ?? 0 };
}

/** What the client itself says about a connection that has ended has no code. */
function withCode(reason: unknown): Error {
  const error = reason as Error & { code?: string };
  return error.code === undefined ? Object.assign(error, { code: '08006' }) : error;
}
