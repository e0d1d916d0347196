/*
 * What a tunnel reaches: a listener of its own that lets hooks through to the service and nothing else. Health, metrics
 * and console stay on this machine, whatever the service serves beside the hooks.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, type ListeningAddress, listeningAddress } from './listen.ts';
import { createServer, request } from './node-http.ts';
import { endToEnd } from './shadow-listener.ts';
import { findHookName } from './target.ts';

export interface HookGateOptions {
  /** Address of the service on this machine, without a path. */
  readonly service: URL;
  /** `hooks.path`. */
  readonly hooksPath: string;
}

export interface HookGate extends ListeningAddress {
  /** Idempotent. */
  stop(): Promise<void>;
}

/** The service ends what takes too long; this is for one that does not answer at all. */
const SERVICE_TIMEOUT_MS = 15 * 60_000;
const STOP_GRACE_MS = 2_000;

/** Listens on a free port of the loopback. */
export async function openHookGate(options: HookGateOptions): Promise<HookGate> {
  const http = createServer((req, res) => {
    if (isHook(req.url ?? '', options.hooksPath)) passOn(options.service, req, res);
    else res.writeHead(404, { 'content-type': 'text/plain', connection: 'close' }).end('not found\n');
  });
  // Nothing here speaks another protocol: the connection ends.
  http.on('upgrade', (_req, socket) => socket.destroy());
  await listen(http, { host: '127.0.0.1', port: 0 }, 'server');
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeIdleConnections();
      setTimeout(() => http.closeAllConnections(), STOP_GRACE_MS).unref();
    });
  return { ...listeningAddress(http), stop: () => (stopped ??= stop()) };
}

/**
 * Whether a request target is a hook, however it is read: as it was written, and with its dot segments, escapes and
 * backslashes resolved. One that reads differently the two ways is none, since somebody behind may resolve it.
 */
export function isHook(target: string, hooksPath: string): boolean {
  if (!target.startsWith('/') || target.startsWith('//') || target.includes('\\')) return false;
  const written = target.replace(/[?#].*$/s, '');
  const resolved = URL.parse(target, 'http://localhost')?.pathname;
  return resolved === written && (findHookName(written, hooksPath) ?? '') !== '';
}

function passOn(service: URL, req: IncomingMessage, res: ServerResponse): void {
  const out = request({
    hostname: service.hostname.replace(/^\[|\]$/g, ''),
    port: service.port,
    method: req.method,
    path: req.url,
    headers: endToEnd(req.rawHeaders),
    timeout: SERVICE_TIMEOUT_MS,
  });
  out.on('response', (answer) => {
    res.writeHead(answer.statusCode ?? 502, endToEnd(answer.rawHeaders));
    answer.pipe(res);
  });
  out.on('timeout', () => out.destroy());
  out.on('error', () => {
    if (res.headersSent) res.destroy();
    else res.writeHead(502, { 'content-type': 'text/plain' }).end('the service does not answer\n');
  });
  res.on('close', () => {
    if (!res.writableFinished) out.destroy();
  });
  req.pipe(out);
}
