import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from './node-http.ts';

/** A page of this machine that a browser is sent back to after a login (RFC 8252, section 7.3). */
export interface RedirectListener {
  readonly url: string;
  /** The address the browser came back with, its query included. */
  readonly received: Promise<URL>;
  close(): void;
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>Sluice</title>
<p>The login has been received. You can close this window and go back to the terminal.</p>`;

/** Listens on a free port of loopback for one redirect that carries an answer; everything else is answered 404. */
export async function listenForRedirect(): Promise<RedirectListener> {
  const { promise: received, resolve: receive } = Promise.withResolvers<URL>();
  const http = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  http.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const answer = answerIn(req, url);
    if (answer === undefined) return void res.writeHead(404).end();
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8', connection: 'close' }).end(PAGE);
    receive(answer);
  });
  const close = (): void => {
    http.close();
    http.closeIdleConnections();
  };
  return { url, received, close };
}

/** The address of a redirect that carries an answer. */
function answerIn(req: IncomingMessage, base: string): URL | undefined {
  const target = URL.parse(req.url ?? '', base);
  if (req.method !== 'GET' || target === null || target.pathname !== '/') return undefined;
  const { searchParams } = target;
  return searchParams.has('code') || searchParams.has('error') ? target : undefined;
}
