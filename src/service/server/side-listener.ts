import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { HttpAnswer } from './exchange.ts';
import { createServer } from './node-http.ts';
import { createAddressList } from './addresses.ts';
import { ConnectionTable } from './connections.ts';
import { boundedMessages, MAX_PIPELINED } from './pipelined.ts';

export interface ListeningAddress {
  readonly host: string;
  readonly port: number;
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
}

/**
 * Connections the system keeps until they are taken up. Beyond it a sender's first packet is dropped and sent again
 * only after a second; node's own 511 are gone in a moment under a flood. The system may allow less (`somaxconn`).
 */
const BACKLOG = 4_096;

/** Listens, or rejects with an error that names the setting: `server`, `metrics`. */
export function listen(
  http: Server,
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      const problem = `cannot listen on ${host} port ${port}: ${reasonOf(error, setting)}`;
      reject(new Error(problem, { cause: error }));
    };
    http.once('error', fail);
    http.listen({ port, host, backlog: BACKLOG }, () => {
      http.off('error', fail);
      resolve();
    });
  });
}

function reasonOf({ code, message }: NodeJS.ErrnoException, setting: string): string {
  return code === 'EADDRINUSE'
    ? `another program listens there; choose another ${setting}.port`
    : `the system says ${code ?? message}; check ${setting}.host and ${setting}.port`;
}

export function listeningAddress(http: Server): ListeningAddress {
  const { address: host, port, family } = http.address() as AddressInfo;
  return { host, port, url: `http://${family === 'IPv6' ? `[${host}]` : host}:${port}` };
}

/** A separate listener for questions of operators, so that they need not come to the port of hooks. */
export interface SideListener extends ListeningAddress {
  /** Idempotent. */
  stop(): Promise<void>;
}

export interface SideListenerOptions {
  readonly host: string;
  /** Port 0 asks the system for a free one. */
  readonly port: number;
  /** The key of the configuration, for errors. */
  readonly setting: string;
  /** The answers to GET and HEAD by path. */
  readonly routes: Readonly<Record<string, (req: IncomingMessage) => HttpAnswer | Promise<HttpAnswer>>>;
}

/** A handler gets node's own objects, so that it can write an answer piece by piece. */
export type ListenerRequest = IncomingMessage;
export type ListenerResponse = ServerResponse;

export interface HandlerListenerOptions extends Pick<SideListenerOptions, 'host' | 'port' | 'setting'> {
  /** Answers every request; must not throw. */
  handle(req: ListenerRequest, res: ListenerResponse): void;
}

/** The limits for clients that ask something short. */
const MAX_CONNECTIONS = 50;
const TIMEOUT_MS = 10_000;

/**
 * Serves the routes; anything else is 404.
 * @throws Error naming the setting where the address cannot be listened on
 */
export function startSideListener(options: SideListenerOptions): Promise<SideListener> {
  return startHandlerListener({
    ...options,
    handle: (req, res) => {
      void answerOf(options, req).then(({ status, body, contentType, headers = [] }) => {
        res.writeHead(status, ['content-type', contentType ?? 'application/json', ...headers]).end(body);
      });
    },
  });
}

/**
 * Serves whatever the handler answers.
 * @throws Error naming the setting where the address cannot be listened on
 */
export async function startHandlerListener(options: HandlerListenerOptions): Promise<SideListener> {
  const table = new ConnectionTable({
    limits: { connections: MAX_CONNECTIONS, perAddress: MAX_CONNECTIONS, strangerMs: Infinity },
    proxies: createAddressList([]),
    onFull: () => undefined,
  });
  const end = (socket: Socket): true => {
    socket.destroy();
    return true;
  };
  const endIfFull = (socket: Socket): boolean =>
    (table.find(socket)?.open ?? MAX_PIPELINED) >= MAX_PIPELINED && end(socket);
  const IncomingMessage = boundedMessages({ endIfFull, endIfTiny: end });
  const http = createServer(
    { IncomingMessage, requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS },
    (req, res) => options.handle(req, res),
  );
  keepConnections(http, table);
  await listen(http, options, options.setting);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  return { ...listeningAddress(http), stop: () => (stopped ??= stop()) };
}

/**
 * Beyond the limit the connection that waits longest for a request closes for a new one: else some silent connections
 * would keep every probe out. Where all wait for an answer, the new one is closed.
 */
function keepConnections(http: Server, table: ConnectionTable): void {
  http.on('connection', (socket) => table.add(socket));
  http.on('request', ({ socket }, res) => {
    const connection = table.find(socket);
    if (connection === undefined) return;
    connection.open += 1;
    table.proved(connection);
    res.once('close', () => {
      connection.open -= 1;
      table.answered(connection, true);
    });
  });
}

async function answerOf({ routes }: SideListenerOptions, req: IncomingMessage): Promise<HttpAnswer> {
  const path = (req.url ?? '').split('?', 1)[0] ?? '';
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route === undefined || (req.method !== 'GET' && req.method !== 'HEAD')) {
    const served = Object.keys(routes).join(' and GET ');
    return { status: 404, body: `only GET ${served} is served here\n`, contentType: 'text/plain' };
  }
  try {
    return await route(req);
  } catch {
    return { status: 500, body: '', contentType: 'text/plain' };
  }
}

/**
 * Serves `GET /metrics`.
 * @throws Error naming the setting where the address cannot be listened on
 */
export function startMetricsListener({
  host,
  port,
  render,
}: Pick<SideListenerOptions, 'host' | 'port'> & {
  readonly render: () => Promise<{ readonly contentType: string; readonly text: string }>;
}): Promise<SideListener> {
  const metrics = async (): Promise<HttpAnswer> => {
    const { contentType, text } = await render();
    return { status: 200, body: text, contentType };
  };
  return startSideListener({ host, port, setting: 'metrics', routes: { '/metrics': metrics } });
}

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
  const listener = await startHandlerListener({
    host: '127.0.0.1',
    port: 0,
    setting: 'server',
    handle: ({ method, url = '' }, res) => {
      const target = URL.parse(url, listener.url);
      const hasAnswer =
        target?.searchParams.has('code') === true || target?.searchParams.has('error') === true;
      if (method !== 'GET' || target?.pathname !== '/' || !hasAnswer) return void res.writeHead(404).end();
      res.writeHead(200, { 'content-type': 'text/html; charset=utf-8', connection: 'close' }).end(PAGE);
      receive(target);
    },
  });
  return { url: `${listener.url}/`, received, close: () => void listener.stop() };
}
