import { createServer } from 'node:http';
import { listen, type ListeningAddress, listeningAddress } from './listen.ts';

/** A listener of its own for `/metrics`, so that figures need not be where hooks are. */
export interface MetricsListener extends ListeningAddress {
  /** Idempotent. */
  stop(): Promise<void>;
}

export interface MetricsListenerOptions {
  readonly host: string;
  /** 0 asks the system for a free one. */
  readonly port: number;
  readonly render: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

const MAX_CONNECTIONS = 50;
const TIMEOUT_MS = 10_000;

/**
 * Serves `GET /metrics`; anything else is 404.
 * @throws Error naming the setting where the address cannot be listened on
 */
export async function startMetricsListener(options: MetricsListenerOptions): Promise<MetricsListener> {
  const http = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, (req, res) => {
    const path = (req.url ?? '').split('?')[0];
    if (path !== '/metrics' || (req.method !== 'GET' && req.method !== 'HEAD')) {
      res.writeHead(404, { 'content-type': 'text/plain' }).end('only GET /metrics is served here\n');
      return;
    }
    options.render().then(
      ({ contentType, text }) => res.writeHead(200, { 'content-type': contentType }).end(text),
      () => res.writeHead(500).end(),
    );
  });
  http.maxConnections = MAX_CONNECTIONS;
  await listen(http, options, 'metrics');
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  return { ...listeningAddress(http), stop: () => (stopped ??= stop()) };
}
