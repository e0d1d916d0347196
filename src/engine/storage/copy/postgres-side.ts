import type { Client } from 'pg';
import { CHECK_ADDRESS, explainPostgresError } from '../postgres/postgres-errors.ts';
import { askDatabase } from '../postgres/postgres-status.ts';
import { countServices, setUpSchema } from '../postgres/set-up-schema.ts';
import { PostgresStatements } from '../postgres/worker/postgres-statements.ts';
import { StorageError } from '../storage-error.ts';
import { CopySide } from './copy-store.ts';

const goOn = (table: string): string =>
  `SELECT ${(table === 'decisions' ? ['seq', 'number'] : ['seq'])
    .map(
      (column) =>
        `setval(pg_get_serial_sequence('${table}', '${column}'), (SELECT coalesce(max(${column}), 0) + 1 FROM ${table}), false)`,
    )
    .join(', ')}`;
/** To count the rows of a large table takes a while. */
const MAX_WAIT_MS = 600_000;

/**
 * Locks a database against all writers. Services are looked for first; one that starts meanwhile waits for the lock, or
 * finds the mark of the copy.
 */
export function openPostgresSide(url: string, role: 'source' | 'target'): Promise<CopySide> {
  return askDatabase(url, async (client, place) => {
    await setUpSchema(client, { place, isPerformer: role === 'target', mayBeCopy: true });
    await refuseUsers(client, place);
    const sql = new PostgresStatements({ url, maxWaitMs: MAX_WAIT_MS });
    if (role === 'source') lock(sql);
    const explain = (error: unknown) => explainPostgresError(error, place, CHECK_ADDRESS);
    return new CopySide({ place, sql, others: ['counter_slots'], goOn, explain, close: () => sql.close() });
  });
}

/** The source is locked while the target takes its time. */
function lock(sql: PostgresStatements): void {
  try {
    sql.run('SET idle_in_transaction_session_timeout = 0');
    sql.begin('SELECT one FROM counters');
  } catch (error) {
    sql.close();
    throw error;
  }
}

async function refuseUsers(client: Client, place: string): Promise<void> {
  const count = await countServices(client);
  if (count === 0) return;
  throw new StorageError(
    'locked',
    `${place}: ${count === 1 ? 'a service uses' : `${count} services use`} this store; stop them first ("sluice storage status" names them; one that was killed counts until its lease has ended)`,
  );
}
