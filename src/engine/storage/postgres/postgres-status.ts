import type { Client } from 'pg';
import { newestVersion } from '../statements/migrations.ts';
import type { DatabaseClient, LockWait, ServerFacts, StoreStatus, StoreUser } from '../store-status.ts';
import { connectClient } from './connection.ts';
import { acceptFound } from './known-store.ts';
import { CHECK_ADDRESS, explainPostgresError, placeOf } from './postgres-errors.ts';
import { schemaVersion } from './set-up-schema.ts';

const FACTS = `SELECT pg_backend_pid() AS pid, current_setting('server_version') AS version,
  current_setting('synchronous_commit') AS "synchronousCommit", current_setting('fsync') AS fsync,
  current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') <> 'local'
    AS "hasSynchronousStandby"`;

export async function examineServer(client: Client): Promise<ServerFacts> {
  const { rows } = await client.query<Omit<ServerFacts, 'isPooled'> & { readonly pid: number }>(FACTS);
  const { pid, ...facts } = rows[0]!;
  // A pooler makes up the process that it names to its clients, as their questions go to many.
  const named = (client as unknown as { readonly processID: number | null }).processID;
  return { ...facts, isPooled: named !== pid };
}

/** What the operator should know, one sentence each; empty where all promises are kept. */
export function warningsOf(facts: ServerFacts): readonly string[] {
  const { isPooled, synchronousCommit, fsync } = facts;
  const warnings: readonly (readonly [holds: boolean, warning: string])[] = [
    [
      isPooled,
      'the connection goes through a pooler: other replicas are asked every second instead of announcing changes at once; connect directly to hear of them at once',
    ],
    [
      synchronousCommit === 'off',
      'synchronous_commit is off for this database; Sluice turns it on for its own connections, since accepted work would be lost otherwise',
    ],
    [
      fsync === 'off',
      'fsync is off on this database server: accepted work is lost when it loses power; turn it on',
    ],
  ];
  return warnings.flatMap(([holds, warning]) => (holds ? [warning] : []));
}

const USERS = `SELECT id, role, host, version, started_at AS "startedAt",
  lease_until - (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "leaseLeftMs",
  EXISTS (SELECT 1 FROM leaders WHERE holder = replicas.id) AS "isLeader" FROM replicas ORDER BY started_at, id`;

const clientOf = (table: string): string => `json_strip_nulls(json_build_object('pid', ${table}.pid,
  'program', ${table}.application_name, 'address', host(${table}.client_addr)))`;
const since = (column: string): string =>
  `greatest(floor(extract(epoch FROM clock_timestamp() - ${column}) * 1000), 0)::bigint`;
/** Sessions that wait for each other's locks; without the right to see other users' sessions, only their process is shown. */
const WAITING = `SELECT ${clientOf('waiting')} AS waits, ${since('waiting.query_start')} AS "waitedMs",
  ${clientOf('holding')} AS holds, ${since('holding.xact_start')} AS "heldMs",
  holding.state LIKE 'idle in transaction%' AS "isIdle"
  FROM pg_stat_activity AS waiting CROSS JOIN unnest(pg_blocking_pids(waiting.pid)) AS blocker
  JOIN pg_stat_activity AS holding ON holding.pid = blocker
  WHERE waiting.datname = current_database() AND waiting.wait_event_type = 'Lock' ORDER BY waiting.query_start`;

/** Asks over a connection of its own. @throws StorageError where the database cannot be reached */
export async function askDatabase<Result>(
  url: string,
  ask: (client: Client, place: string) => Promise<Result>,
): Promise<Result> {
  const place = placeOf(url);
  let client: Client | undefined;
  try {
    client = await connectClient(url, () => undefined);
    return await ask(client, place);
  } catch (error) {
    throw explainPostgresError(error, place, CHECK_ADDRESS);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

export function postgresStatus(url: string): Promise<StoreStatus> {
  return askDatabase(url, async (client, place) => {
    const server = await examineServer(client);
    const version = await schemaVersion(client);
    const newest = newestVersion('postgres');
    const use = version === newest ? await readUse(client) : { services: [] };
    const waiting = await readWaiting(client);
    return { engine: 'postgres', place, version, newest, server, waiting, ...use };
  });
}

/** Notes the store that a database holds as the one that is meant. */
export function acceptPostgres(url: string, file: string): Promise<string | undefined> {
  return askDatabase(url, (client) => acceptFound(client, file));
}

async function readWaiting(client: Client): Promise<readonly LockWait[]> {
  const { rows } = await client.query<Omit<LockWait, 'waits' | 'holds'> & Record<'waits' | 'holds', string>>(
    WAITING,
  );
  return rows.map((row) => ({
    ...row,
    waits: JSON.parse(row.waits) as DatabaseClient,
    holds: JSON.parse(row.holds) as DatabaseClient,
  }));
}

async function readUse(client: Client): Promise<Pick<StoreStatus, 'services' | 'copyOf'>> {
  const services = (await client.query<Required<StoreUser>>(USERS)).rows;
  const copies = (await client.query<{ source: string }>('SELECT source FROM store_copy')).rows;
  return { services, ...(copies[0] === undefined ? {} : { copyOf: copies[0].source }) };
}
