import type { Client } from 'pg';
import { findBroken } from '../engine/invariants.ts';
import type { SqlValue } from '../engine/statements.ts';
import { connectClient } from '../postgres/connect.ts';
import { CHECK_ADDRESS, explainPostgresError, placeOf } from '../postgres/postgres-errors.ts';
import { setUpSchema } from '../postgres/set-up-schema.ts';
import { escapeText, unescapeText } from '../postgres/worker/dialect.ts';
import { PostgresStatements } from '../postgres/worker/postgres-statements.ts';
import { StorageError } from '../storage-error.ts';
import { COPIED_TABLES, type CopiedRow, type CopyPosition, type CopySide } from './copied-tables.ts';

const LIVING = `SELECT count(*) AS count FROM replicas
  WHERE lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/**
 * Locks a database against all writers. Services are looked for first; one that starts meanwhile waits for the lock, or
 * finds the mark of the copy.
 */
export async function openPostgresSide(url: string, role: 'source' | 'target'): Promise<CopySide> {
  const place = placeOf(url);
  let client: Client | undefined;
  try {
    client = await connectClient(url, () => undefined);
    await setUpSchema(client, { place, isPerformer: role === 'target', mayBeCopy: true });
    await refuseUsers(client, place);
    if (role === 'source')
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT one FROM counters FOR UPDATE');
    return new PostgresSide(client, url);
  } catch (error) {
    await client?.end().catch(() => undefined);
    throw explainPostgresError(error, place, CHECK_ADDRESS);
  }
}

async function refuseUsers(client: Client, place: string): Promise<void> {
  const { rows } = await client.query<{ count: number }>(LIVING);
  const count = rows[0]?.count ?? 0;
  if (count === 0) return;
  throw new StorageError(
    'locked',
    `${place}: ${count === 1 ? 'a service uses' : `${count} services use`} this store; stop them first ("sluice storage status" names them; one that was killed counts until its lease has ended)`,
  );
}

class PostgresSide implements CopySide {
  readonly place: string;
  readonly #client: Client;
  readonly #url: string;

  constructor(client: Client, url: string) {
    this.place = placeOf(url);
    this.#client = client;
    this.#url = url;
  }

  read(table: string, after: readonly SqlValue[] | undefined, limit: number): Promise<CopiedRow[]> {
    return readRows(this.#ask, table, { after, limit });
  }

  async count(table: string): Promise<number> {
    return Number((await this.#ask(`SELECT count(*) AS count FROM ${table}`))[0]?.['count'] ?? 0);
  }

  async findCopy(): Promise<{ readonly source: string; readonly position: CopyPosition } | undefined> {
    const [row] = await this.#ask('SELECT source, position FROM store_copy');
    if (row === undefined) return undefined;
    const position = JSON.parse(unescapeText(row['position'] as string)) as CopyPosition;
    return { source: row['source'] as string, position };
  }

  begin(source: string, position: CopyPosition): Promise<void> {
    const insert = 'INSERT INTO store_copy (one, source, position) VALUES (1, $1, $2)';
    return this.#inTransaction(async () => {
      await this.#ask(
        `TRUNCATE ${Object.keys(COPIED_TABLES).join(', ')}, counter_slots, kept_conversations, store_copy`,
      );
      await this.#ask(insert, [source, escapeText(JSON.stringify(position))]);
    });
  }

  write(table: string, rows: readonly CopiedRow[], position: CopyPosition): Promise<void> {
    const insert = `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`;
    return this.#inTransaction(async () => {
      const escaped = rows.map((row) => mapTexts(row, escapeText));
      await this.#ask(insert, [JSON.stringify(escaped)]);
      await this.#ask('UPDATE store_copy SET position = $1', [escapeText(JSON.stringify(position))]);
    });
  }

  async verify(): Promise<readonly string[]> {
    return verify(this.#url);
  }

  finish(): Promise<void> {
    return this.#inTransaction(async () => {
      for (const [table, [key]] of Object.entries(COPIED_TABLES)) {
        if (key !== 'seq' || table === 'run_actions') continue;
        // Numbers go on behind those that were copied.
        // oxlint-disable-next-line no-await-in-loop
        await this.#ask(
          `SELECT setval(pg_get_serial_sequence('${table}', 'seq'), (SELECT coalesce(max(seq), 0) + 1 FROM ${table}), false)`,
        );
      }
      await this.#ask('DELETE FROM store_copy');
    });
  }

  close(): Promise<void> {
    return this.#client.end();
  }

  readonly #ask: Ask = async (text, values = []) => {
    try {
      return (await this.#client.query<Record<string, SqlValue>>(text, [...values])).rows;
    } catch (error) {
      throw explainPostgresError(error, this.place, CHECK_ADDRESS);
    }
  };

  async #inTransaction(change: () => Promise<void>): Promise<void> {
    await this.#ask('BEGIN');
    try {
      await change();
      await this.#ask('COMMIT');
    } catch (error) {
      await this.#client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}

type Ask = (text: string, values?: readonly unknown[]) => Promise<readonly CopiedRow[]>;

async function readRows(
  ask: Ask,
  table: string,
  { after, limit }: { readonly after: readonly SqlValue[] | undefined; readonly limit: number },
): Promise<CopiedRow[]> {
  const keys = (COPIED_TABLES[table] ?? []).join(', ');
  const marks = (after ?? []).map((_, index) => `$${index + 1}`).join(', ');
  const behind = after === undefined ? '' : `WHERE (${keys}) > (${marks})`;
  const values = (after ?? []).map((value) => (typeof value === 'string' ? escapeText(value) : value));
  // What is counted in several places comes as one.
  const from = table === 'counters' ? 'totals' : table;
  const rows = await ask(`SELECT * FROM ${from} ${behind} ORDER BY ${keys} LIMIT ${limit}`, values);
  return rows.map((row) => mapTexts(row, unescapeText));
}

function mapTexts(row: CopiedRow, change: (text: string) => string): CopiedRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? change(value) : value]),
  );
}

function verify(url: string): readonly string[] {
  const sql = new PostgresStatements({ url });
  try {
    return findBroken(sql);
  } finally {
    sql.close();
  }
}
