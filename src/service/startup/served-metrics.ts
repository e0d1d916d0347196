import type { Settings } from '../../engine/config/config.ts';
import type { Sandbox } from '../../engine/sandbox/sandbox.ts';
import { startMetricsListener } from '../server/server.ts';
import type { Storage } from '../../engine/storage/storage.ts';
import { type Log, type MailboxFigures, type Metrics, openMetrics } from '../../base/telemetry/telemetry.ts';

/** Metrics on a listener of their own; absent where none is configured. */
export interface ServedMetrics {
  readonly metrics: Metrics;
  stop(): Promise<void>;
}

/** Whose figures are served. */
interface Measured {
  readonly storage: Storage;
  readonly sandbox: Sandbox;
  readonly mailboxes: () => readonly MailboxFigures[];
  readonly log: Log;
}

export async function startMetrics(
  settings: Settings,
  { storage, sandbox, mailboxes, log }: Measured,
): Promise<ServedMetrics | undefined> {
  if (settings.metrics === undefined) return undefined;
  const metrics = await openMetrics({
    backlog: () => storage.backlog(),
    isStoreWell: () => storage.health().kind === 'ok',
    database: storage.databaseUse,
    transforms: () => sandbox.stats,
    mailboxes,
  });
  const listener = await startMetricsListener({ ...settings.metrics, render: () => metrics.render() });
  log.info({ metricsUrl: `${listener.url}/metrics` }, 'metrics are served');
  return { metrics, stop: () => listener.stop() };
}
