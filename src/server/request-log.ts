import type { Exchange } from './exchange.ts';
import type { Front } from './front.ts';

/** Writes the one line of a request and counts it. No text of the payload, no header value, no token. */
export function logRequest(front: Front, exchange: Exchange, status: number): void {
  const { deps } = front;
  const tookMs = performance.now() - exchange.startedAt;
  deps.metrics?.observeRequest({
    status,
    outcome: exchange.outcome,
    mappingId: exchange.mappingId,
    bodyBytes: exchange.bodyBytes,
    evaluateMs: exchange.evaluateMs,
    storeMs: exchange.storeMs,
    tookMs,
  });
  const level = levelOf(exchange, status);
  if (deps.log.isEnabled(level)) deps.log[level](lineOf(exchange, status, tookMs), 'request');
}

function lineOf(exchange: Exchange, status: number, tookMs: number): Record<string, unknown> {
  const line: Record<string, unknown> = {
    requestId: exchange.ids.id,
    outcome: exchange.outcome,
    status,
    hook: exchange.hookName,
    mapping: exchange.mappingId,
    bytes: exchange.bodyBytes,
    tookMs: rounded(tookMs),
    evaluateMs: rounded(exchange.evaluateMs),
    storeMs: rounded(exchange.storeMs),
  };
  if (exchange.code === undefined) return line;
  return {
    ...line,
    code: exchange.code,
    address: exchange.address,
    transform: exchange.failedTransform,
    fault: exchange.fault,
  };
}

/** Probes and strangers at other paths would bury the hooks. */
function levelOf(exchange: Exchange, status: number): 'debug' | 'info' | 'warn' | 'error' {
  if (exchange.outcome === 'served' || (exchange.hookName === undefined && status === 404)) return 'debug';
  if (status < 500) return 'info';
  return status === 503 && exchange.fault === undefined ? 'warn' : 'error';
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000;
}
