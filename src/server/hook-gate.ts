/*
 * What a tunnel reaches: a listener of its own that lets hooks through to the service and nothing else. Health, metrics
 * and console stay on this machine, whatever the service serves beside the hooks.
 */
import { listen, type ListeningAddress, listeningAddress, stopperOf } from './listen.ts';
import { createServer } from './node-http.ts';
import { passOn } from './pass-on.ts';
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

/** Listens on a free port of the loopback. */
export async function openHookGate(options: HookGateOptions): Promise<HookGate> {
  const upstream = { address: options.service, unreachable: 'the service does not answer\n' };
  const http = createServer((req, res) => {
    if (isHook(req.url ?? '', options.hooksPath)) passOn(req, res, upstream);
    else res.writeHead(404, { 'content-type': 'text/plain', connection: 'close' }).end('not found\n');
  });
  // Nothing here speaks another protocol: the connection ends.
  http.on('upgrade', (_req, socket) => socket.destroy());
  await listen(http, { host: '127.0.0.1', port: 0 }, 'server');
  return { ...listeningAddress(http), stop: stopperOf(http) };
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
