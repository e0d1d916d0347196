import type { Client } from 'pg';
import type { StoreStatus, StoreUser } from '../store-status.ts';
import { connectClient } from './connect.ts';
import { examineServer } from './examine-server.ts';
import { CHECK_ADDRESS, explainPostgresError, placeOf } from './postgres-errors.ts';
import { POSTGRES_MIGRATIONS } from './postgres-schema.ts';
import { schemaVersion } from './set-up-schema.ts';

const USERS = `SELECT id, role, host, version, started_at AS "startedAt",
  lease_until - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "leaseLeftMs",
  EXISTS (SELECT 1 FROM leaders WHERE holder = replicas.id) AS "isLeader" FROM replicas ORDER BY started_at, id`;

/** Asks a database about the store in it; @throws StorageError where it cannot be reached. */
export async function postgresStatus(url: string): Promise<StoreStatus> {
  const place = placeOf(url);
  let client: Client | undefined;
  try {
    client = await connectClient(url, () => undefined);
    const server = await examineServer(client);
    const version = await schemaVersion(client);
    const newest = POSTGRES_MIGRATIONS.length;
    const use = version === newest ? await readUse(client) : { services: [] };
    return { engine: 'postgres', place, version, newest, server, ...use };
  } catch (error) {
    throw explainPostgresError(error, place, CHECK_ADDRESS);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

async function readUse(client: Client): Promise<Pick<StoreStatus, 'services' | 'copyOf'>> {
  const services = (await client.query<Required<StoreUser>>(USERS)).rows;
  const copies = (await client.query<{ source: string }>('SELECT source FROM store_copy')).rows;
  return { services, ...(copies[0] === undefined ? {} : { copyOf: copies[0].source }) };
}
