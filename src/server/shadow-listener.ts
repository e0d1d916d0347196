/*
 * A listener in front of another gateway: every request goes on as it came, the sender gets the other gateway's answer
 * as it was, and afterwards somebody looks at both. Nothing of the looking can change what the sender gets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen, type ListeningAddress, listeningAddress } from './listen.ts';
import { createServer, request } from './node-http.ts';

/** A request and the answer it got from the other gateway. */
export interface ShadowedExchange {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  /** Names in lower case; several values joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent where it was longer than what is looked at. */
  readonly body: Buffer | undefined;
  readonly status: number;
  readonly answer: Buffer;
}

export interface ShadowOptions {
  readonly host: string;
  /** 0 asks the system for a free one. */
  readonly port: number;
  /** Address of the other gateway, without path. */
  readonly upstream: URL;
  onExchange(exchange: ShadowedExchange): void;
  /** The other gateway could not be asked; the sender got 502. */
  onFailure(url: string, code: string): void;
}

export interface ShadowListener extends ListeningAddress {
  /** Idempotent. */
  stop(): Promise<void>;
}

/** Longer bodies go through and are not looked at: more than the largest batch an OpenClaw gateway takes. */
const MAX_LOOKED_AT_BYTES = 8 * 1024 * 1024;
/** The other gateway may hold a request until a run has ended. */
const UPSTREAM_TIMEOUT_MS = 15 * 60_000;
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

/** @throws Error naming the setting where the address cannot be listened on */
export async function startShadowListener(options: ShadowOptions): Promise<ShadowListener> {
  const http = createServer((req, res) => passOn(options, req, res));
  await listen(http, options, 'server');
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeIdleConnections();
      setTimeout(() => http.closeAllConnections(), 2_000).unref();
    });
  return { ...listeningAddress(http), stop: () => (stopped ??= stop()) };
}

function passOn(options: ShadowOptions, req: IncomingMessage, res: ServerResponse): void {
  const { upstream } = options;
  const url = req.url ?? '/';
  const send = upstream.protocol === 'https:' ? process.getBuiltinModule('node:https').request : request;
  const out = send({
    hostname: upstream.hostname.replace(/^\[|\]$/g, ''),
    port: upstream.port === '' ? undefined : upstream.port,
    method: req.method,
    path: url,
    headers: endToEnd(req.rawHeaders),
    timeout: UPSTREAM_TIMEOUT_MS,
  });
  const sent = collect(req);
  out.on('response', (answer) => {
    const received = collect(answer);
    res.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders));
    answer.pipe(res);
    answer.on('end', () => {
      const status = answer.statusCode ?? 502;
      const looked = { method: req.method ?? 'GET', url, headers: joined(req), status };
      options.onExchange({ ...looked, body: sent.body(), answer: received.body() ?? Buffer.alloc(0) });
    });
  });
  out.on('timeout', () => out.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
  out.on('error', (error: NodeJS.ErrnoException) => {
    options.onFailure(url, error.code ?? error.name);
    if (res.headersSent) res.destroy();
    else res.writeHead(502, { 'content-type': 'text/plain' }).end('the other gateway could not be reached\n');
  });
  res.on('close', () => {
    if (!res.writableFinished) out.destroy();
  });
  req.pipe(out);
}

/** Name and value pairs without those that belong to one connection. */
export function endToEnd(raw: readonly string[]): string[] {
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

function joined(req: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(req.headersDistinct)) headers[name] = (values ?? []).join(', ');
  return headers;
}

/** Keeps what passes, up to the limit; undefined beyond it. */
function collect(stream: IncomingMessage): { body(): Buffer | undefined } {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= MAX_LOOKED_AT_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  });
  return { body: () => (length > MAX_LOOKED_AT_BYTES ? undefined : Buffer.concat(chunks)) };
}
