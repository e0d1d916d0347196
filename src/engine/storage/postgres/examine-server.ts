import type { Client } from 'pg';
import type { ServerFacts } from '../store-status.ts';

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
  return [
    ...(isPooled
      ? [
          'the connection goes through a pooler: other replicas are asked every second instead of telling at once; connect directly to be told',
        ]
      : []),
    ...(synchronousCommit === 'off'
      ? [
          'synchronous_commit is off for this database; Sluice turns it on for its own connections, since accepted work would be lost otherwise',
        ]
      : []),
    ...(fsync === 'off'
      ? ['fsync is off on this database server: accepted work is lost when it loses power; turn it on']
      : []),
  ];
}
