import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { request } from './node-http.ts';

/** A server behind this one. */
export interface Upstream {
  /** Without a path. */
  readonly address: URL;
  /** What the sender reads with the 502 where it does not answer. */
  readonly unreachable: string;
  /** Told of each answer when it has begun to go to the sender. */
  onAnswer?(answer: IncomingMessage): void;
  onFailure?(code: string): void;
}

/** It may hold a request until a run has ended; this is for one that does not answer at all. */
const TIMEOUT_MS = 15 * 60_000;
/** Headers of one connection, which the next one has of its own (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Hands a request on as it came, and the answer back as it is. */
export function passOn(req: IncomingMessage, res: ServerResponse, upstream: Upstream): void {
  const out = requestTo(upstream.address, req);
  out.on('response', (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders));
    answer.pipe(res);
    upstream.onAnswer?.(answer);
  });
  out.on('error', (error: NodeJS.ErrnoException) => {
    upstream.onFailure?.(error.code ?? error.name);
    if (res.headersSent) res.destroy();
    else res.writeHead(502, { 'content-type': 'text/plain' }).end(upstream.unreachable);
  });
  res.on('close', () => {
    if (!res.writableFinished) out.destroy();
  });
  req.pipe(out);
}

function requestTo(address: URL, req: IncomingMessage): ClientRequest {
  const send = address.protocol === 'https:' ? process.getBuiltinModule('node:https').request : request;
  const out = send({
    hostname: address.hostname.replace(/^\[|\]$/g, ''),
    port: address.port === '' ? undefined : address.port,
    method: req.method,
    path: req.url ?? '/',
    headers: endToEnd(req.rawHeaders),
    timeout: TIMEOUT_MS,
  });
  out.on('timeout', () => out.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
  return out;
}

/** Name and value pairs without those that belong to one connection. */
function endToEnd(raw: readonly string[]): string[] {
  const named = new Set(HOP_BY_HOP);
  for (let index = 0; index < raw.length; index += 2) {
    if (raw[index]?.toLowerCase() !== 'connection') continue;
    for (const name of (raw[index + 1] ?? '').split(',')) named.add(name.trim().toLowerCase());
  }
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (!named.has(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '');
  }
  return kept;
}
