import { workerData } from 'node:worker_threads';
import { BatchExecutor, serveBatches } from '../../statements/batch-executor.ts';
import { HealthMonitor } from '../../statements/health-monitor.ts';
import type { AcceptLimits } from '../../statements/statements.ts';
import { transactionSettings } from '../connection.ts';
import { DatabaseCounter } from '../database-use.ts';
import type { ExpectedStore } from '../known-store.ts';
import { explainPostgresError, placeOf } from '../postgres-errors.ts';
import { CHANNEL } from '../replica-lease.ts';
import { PostgresStatements } from './postgres-statements.ts';

export interface PostgresInput {
  readonly url: string;
  readonly mode: 'performer' | 'attached';
  readonly limits: AcceptLimits;
  /** The name under which this process claims work. */
  readonly holder: string;
  /** Whether a pooler stands between. */
  readonly isPooled: boolean;
  readonly place?: string | undefined;
  readonly expected?: ExpectedStore | undefined;
  /** The memory of a `DatabaseCounter`. */
  readonly use: SharedArrayBuffer;
}

/** How often a store that could not be reached is tried again. */
const WATCH_MS = 400;

function main(input: PostgresInput): void {
  const { url, mode, limits, holder } = input;
  const place = placeOf(url);
  const explain = (error: unknown) => explainPostgresError(error, place);
  const isPerformer = mode === 'performer';
  const sql = makeStatements(input);
  const health = new HealthMonitor(() => undefined);
  const probe = () => {
    sql.begin('SELECT one FROM counters');
    sql.commit(['UPDATE counters SET opened = opened + 1']);
  };
  const executor = new BatchExecutor(sql, { limits, holder, explain, probe, ...(isPerformer && { health }) });
  const timer = setInterval(() => executor.checkHealth(), WATCH_MS);
  serveBatches(executor, () => {
    clearInterval(timer);
    sql.close();
  });
}

function makeStatements({ url, mode, isPooled, place, expected, use }: PostgresInput): PostgresStatements {
  return new PostgresStatements({
    url,
    use: new DatabaseCounter(use),
    ...(place !== undefined && { place }),
    expected,
    ...(isPooled && { perTransaction: transactionSettings(expected) }),
    // A process that is attached tells of its commits itself; the others have a connection for that.
    ...(mode === 'attached' && { channel: CHANNEL }),
  });
}

main(workerData as PostgresInput);
