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
  if (!deps.log.isEnabled(level)) return;
  deps.log[level](
    {
      requestId: exchange.ids.id,
      outcome: exchange.outcome,
      status,
      code: exchange.code,
      hook: exchange.hookName,
      mapping: exchange.mappingId,
      bytes: exchange.bodyBytes,
      tookMs: rounded(tookMs),
      evaluateMs: rounded(exchange.evaluateMs),
      storeMs: rounded(exchange.storeMs),
      generation: exchange.generation.id,
      address: exchange.address,
      transform: exchange.failedTransform,
      fault: exchange.fault,
    },
    'request',
  );
}

/** Probes and strangers at other paths would bury the hooks. */
function levelOf(exchange: Exchange, status: number): 'debug' | 'info' | 'error' {
  if (exchange.outcome === 'served' || (exchange.hookName === undefined && status === 404)) return 'debug';
  return status >= 500 ? 'error' : 'info';
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000;
}
