export { clearControl, clearLine, escapeHtml, escapeText, formatSpan, showHidden } from './clear-control.ts';
export { createHealth } from './health.ts';
export type { Health, HealthReporter } from './health.ts';
export { createLogger } from './log.ts';
export type { Log, LogFields, LogLevel } from './log.ts';
export { REMOVED, withoutSecrets } from './redact.ts';
export { MIN_SECRET_NUMBER, namesSecret, namesSecretText, SECRET_CARRIER } from './secret-names.ts';
export { SECRET_KEY, SECRET_NAME, SIGNATURE_NAME } from './secret-names.ts';
export { openTracing } from './tracing.ts';
export type { Tracing } from './tracing.ts';
export type { BacklogFigures, GatewayMetrics, Metrics, TransformFigures } from './metrics.ts';

import type { Metrics, MetricsSources } from './metrics.ts';

/** Makes the metrics. Loads the metrics client only now, because most installations have no `metrics` setting. */
export async function openMetrics(sources: MetricsSources): Promise<Metrics> {
  const { createMetrics } = await import('./metrics.ts');
  return createMetrics(sources);
}
/** A stable code for an error nobody expected; its message may quote anything and stays out of the log. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? String(error.code) : error.name;
}
