import type { Client } from 'pg';
import { newestVersion, refuseUnknown, stepsFrom } from '../statements/migrations.ts';
import { StorageError } from '../storage-error.ts';

const NEWEST = newestVersion('postgres');

export interface SetUpOptions {
  readonly place: string;
  /** Only a performer brings the schema up to date. */
  readonly isPerformer: boolean;
  /** True where the target of a copy is meant. */
  readonly mayBeCopy?: boolean;
}

/**
 * Brings the schema up to date.
 * @throws StorageError for a schema that is missing, newer, in use by older services, or the target of a copy that has
 * not ended
 */
export async function setUpSchema(
  client: Client,
  { place, isPerformer, mayBeCopy = false }: SetUpOptions,
): Promise<void> {
  const version = await schemaVersion(client);
  refuseUnknown(place, version, 'postgres');
  if (version < NEWEST && !isPerformer) {
    throw new StorageError(
      'not_found',
      `${place}: the store is ${version === 0 ? 'empty' : 'of an older version'}; start the service once, or run "sluice storage migrate"; they set the store up`,
    );
  }
  if (version < NEWEST) await migrate(client, place);
  if (isPerformer && !mayBeCopy) await refuseHalfCopy(client, place);
}

/** Once: who comes at the same time waits for the lock and then finds it done. For anybody else nobody waits long. */
async function migrate(client: Client, place: string): Promise<void> {
  await client.query(`BEGIN; SET LOCAL lock_timeout = 0;
    SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.sluice.schema', 0)); SET LOCAL lock_timeout = '5s'`);
  try {
    const version = await schemaVersion(client);
    refuseUnknown(place, version, 'postgres');
    // Who writes just now ends first, and who comes next finds the new schema.
    if (version > 0) await client.query('SELECT one FROM counters FOR UPDATE');
    if (version > 0 && version < NEWEST) await refuseWhileShared(client, place);
    const steps = stepsFrom(version, 'postgres').join('\n');
    if (steps !== '') await client.query(`${steps} UPDATE sluice_schema SET version = ${NEWEST}`);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** 0 where there is no store. */
export async function schemaVersion(client: Client): Promise<number> {
  const { rows } = await client.query<{ found: string | null }>(
    `SELECT to_regclass(quote_ident(current_schema()) || '.sluice_schema')::text AS found`,
  );
  if (typeof rows[0]?.found !== 'string') return 0;
  const found = await client.query<{ version: number }>('SELECT version FROM sluice_schema');
  return found.rows[0]?.version ?? 0;
}

/** Counts services whose lease has not ended. */
export async function countServices(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`SELECT count(*) AS count FROM replicas
    WHERE lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint`);
  return rows[0]?.count ?? 0;
}

/** An older service would go on with a schema that it does not know. */
async function refuseWhileShared(client: Client, place: string): Promise<void> {
  const count = await countServices(client);
  if (count === 0) return;
  throw new StorageError(
    'locked',
    `${place}: ${count === 1 ? 'a service of an older version uses' : `${count} services of an older version use`} this store; stop ${count === 1 ? 'it' : 'them'}, then start this one, which brings the store up to date`,
  );
}

async function refuseHalfCopy(client: Client, place: string): Promise<void> {
  const { rows } = await client.query<{ source: string }>('SELECT source FROM store_copy');
  const [copy] = rows;
  if (copy === undefined) return;
  throw new StorageError(
    'unfinished_copy',
    `${place}: the copy of ${copy.source} into this store has not ended; run "sluice storage copy" again, it goes on where it stopped`,
  );
}
