import { workerData } from 'node:worker_threads';
import { StorageError } from '../../storage-error.ts';
import { Engine } from '../../engine/engine.ts';
import { HealthMonitor } from '../../engine/health-monitor.ts';
import { postMessage, refuse, serveBatches } from '../../engine/serve-batches.ts';
import { EVENT, OUTBOX } from '../../engine/states.ts';
import type { AcceptLimits } from '../../engine/store.ts';
import { explainPostgresError, placeOf } from '../postgres-errors.ts';
import { POSTGRES_MIGRATIONS } from './postgres-schema.ts';
import { PostgresStatements } from './postgres-statements.ts';

export interface PostgresInput {
  readonly url: string;
  readonly mode: 'performer' | 'attached';
  readonly limits: AcceptLimits;
}

/** How often a store that could not be reached is tried again. */
const WATCH_MS = 400;
/** What processes listen to, within one database. */
const CHANNEL = 'sluice_changed';
const LOCK_KEY = '.sluice.performer';

function main({ url, mode, limits }: PostgresInput): void {
  const place = placeOf(url);
  const explain = (error: unknown) => explainPostgresError(error, place);
  const sql = new PostgresStatements({
    url,
    channel: CHANNEL,
    ...(mode === 'performer' ? { lockKey: LOCK_KEY } : {}),
    onOutsideChange: () => postMessage({ kind: 'outside-change' }),
  });
  try {
    setUp(sql, { place, mayMigrate: mode === 'performer' });
    if (mode === 'performer') start(sql);
  } catch (error) {
    sql.close();
    refuse(explain(error));
    return;
  }
  const health = new HealthMonitor(() => undefined);
  const probe = () => sql.exec('UPDATE counters SET opened = opened + 1');
  const engine = new Engine(sql, { limits, explain, probe, ...(mode === 'performer' && { health }) });
  const timer = setInterval(() => engine.checkHealth(), WATCH_MS);
  serveBatches(engine, () => {
    clearInterval(timer);
    sql.close();
  });
}

/**
 * Brings the schema up to date, once: who comes at the same time waits for the lock and then finds it done.
 * @throws StorageError for a schema that is missing or newer
 */
function setUp(
  sql: PostgresStatements,
  { place, mayMigrate }: { readonly place: string; readonly mayMigrate: boolean },
): void {
  const version = versionOf(sql);
  const newest = POSTGRES_MIGRATIONS.length;
  if (version > newest) {
    throw new StorageError(
      'newer_schema',
      `${place}: the store has schema version ${version}, this Sluice knows up to ${newest}; run the newer Sluice that wrote it, or restore a copy from before the upgrade`,
    );
  }
  if (version === newest) return;
  if (!mayMigrate) {
    throw new StorageError(
      'not_found',
      `${place}: the store is ${version === 0 ? 'empty' : 'of an older version'}; start the service once, it sets the store up`,
    );
  }
  const steps = POSTGRES_MIGRATIONS.slice(version).join('\n');
  sql.exec(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.sluice.schema', 0));
    ${steps} UPDATE sluice_schema SET version = ${newest}; COMMIT`);
}

function versionOf(sql: PostgresStatements): number {
  const { found } = sql.find<{ found: string | null }>(
    `SELECT to_regclass(current_schema() || '.sluice_schema')::text AS found`,
  ) ?? { found: null };
  if (found === null) return 0;
  return sql.find<{ version: number }>('SELECT version FROM sluice_schema')?.version ?? 0;
}

/** Takes up what a process left that died, as for SQLite. */
function start(sql: PostgresStatements): void {
  sql.exec(`BEGIN; SELECT one FROM counters FOR UPDATE;
    UPDATE counters SET opened = opened + 1,
      queued_outbox = queued_outbox + (SELECT count(*) FROM outbox WHERE state = ${OUTBOX.active}),
      heartbeat_at = CASE WHEN EXISTS (SELECT 1 FROM events WHERE state = ${EVENT.claimed}) THEN 0
        ELSE heartbeat_at END;
    UPDATE outbox SET state = ${OUTBOX.queued}, due_at = 0 WHERE state = ${OUTBOX.active};
    COMMIT`);
}

main(workerData as PostgresInput);
