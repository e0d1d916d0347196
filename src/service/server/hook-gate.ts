/*
 * Hands hooks on to another server, and nothing else, for a tunnel (`dev --tunnel`). Two servers behind each other must
 * see the same end of each request, or what a stranger wrote behind it becomes the beginning of the next sender's. So
 * each request goes on with the one frame by which it was read here, on a connection of its own.
 */
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { HookError } from '../../base/errors.ts';
import { request } from './node-http.ts';
import { checkProtocol, findHookName, isOfConnection, readHeaders } from './received.ts';
import { type SideListener, startHandlerListener } from './side-listener.ts';

export interface HookGateOptions {
  /** Address of the server behind, without a path. */
  readonly service: URL;
  /** `hooks.path`. */
  readonly hooksPath: string;
}

/** A service may answer only when a run has ended; this limit is for one that does not answer at all. */
const TIMEOUT_MS = 15 * 60_000;
/** A tunnel keeps some dozens of connections open; a large body over a slow network takes minutes. */
const LIMITS = { connections: 500, timeoutMs: 300_000 };

/** Listens on loopback, at a free port. */
export function openHookGate(options: HookGateOptions): Promise<SideListener> {
  return startHandlerListener({
    host: '127.0.0.1',
    port: 0,
    setting: 'server',
    limits: LIMITS,
    handle: (req, res) => {
      try {
        checkHook(req, options.hooksPath);
      } catch (error) {
        const { status, detail } = error as HookError;
        res.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${detail}\n`);
        return;
      }
      passOn(req, res, options);
    },
  });
}

/** @throws HookError for what is no hook, and for what the server behind could read otherwise than it was read here */
function checkHook(req: IncomingMessage, hooksPath: string): void {
  const headers = readHeaders(req.rawHeaders);
  checkProtocol(req, headers);
  const { 'transfer-encoding': coding, 'content-length': length = '0', connection = '' } = headers.values;
  if (!isHook(req.url ?? '', hooksPath)) throw new HookError('not_found', 'not found');
  if (/^(GET|HEAD)$/.test(req.method ?? '') && (coding !== undefined || Number(length) > 0))
    throw new HookError('malformed_request', 'a request with GET or HEAD has no body; send it with POST');
  const named = connection.split(',').map((name) => name.trim().toLowerCase());
  if (!named.every((name) => name === '' || name === 'close' || isOfConnection(name)))
    throw new HookError(
      'malformed_request',
      'Connection names a header that is meant for the receiver of the hook; name none there',
    );
}

/** Hands a request on as it came, and the answer back as it is. */
function passOn(req: IncomingMessage, res: ServerResponse, { service }: HookGateOptions): void {
  const out = requestTo(service, req);
  out.on('response', (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders));
    answer.on('error', () => res.destroy());
    answer.pipe(res);
  });
  out.on('error', () => {
    if (res.headersSent) res.destroy();
    else
      res
        .writeHead(502, { 'content-type': 'text/plain' })
        .end('the service behind this address does not answer\n');
  });
  res.on('close', () => {
    if (!res.writableFinished) out.destroy();
  });
  req.pipe(out);
}

function requestTo(address: URL, req: IncomingMessage): ClientRequest {
  const send = address.protocol === 'https:' ? process.getBuiltinModule('node:https').request : request;
  const isChunked = req.headers['transfer-encoding'] !== undefined;
  const out = send({
    hostname: address.hostname.replace(/^\[|\]$/g, ''),
    port: address.port === '' ? undefined : address.port,
    method: req.method,
    path: req.url ?? '/',
    headers: [...endToEnd(req.rawHeaders), ...(isChunked ? ['Transfer-Encoding', 'chunked'] : [])],
    timeout: TIMEOUT_MS,
    agent: false,
  });
  out.on('timeout', () => out.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
  return out;
}

/** Name and value pairs without those that belong to one connection. */
function endToEnd(raw: readonly string[]): string[] {
  return raw.flatMap((name, index) =>
    index % 2 === 1 || isOfConnection(name) ? [] : [name, raw[index + 1] ?? ''],
  );
}

/**
 * Whether a request target is a hook, however it is read: as it was written, and with its dot segments, escapes and
 * backslashes resolved. One that reads differently the two ways is none, since somebody behind may resolve it.
 */
export function isHook(target: string, hooksPath: string): boolean {
  if (!/^\/(?!\/)[!-[\]-~]*$/.test(target)) return false;
  const written = target.replace(/[?#].*$/s, '');
  const resolved = URL.parse(target, 'http://localhost')?.pathname;
  return resolved === written && (findHookName(written, hooksPath) ?? '') !== '';
}
