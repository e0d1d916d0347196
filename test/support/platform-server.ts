import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as a local platform server received it. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON, or as an object of form fields; undefined where it is neither. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

export type PlatformReply =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
      /** The answer is held until this resolves. */
      readonly after?: Promise<void>;
    }
  /** Reads the request and never answers. */
  | 'hang'
  /** Announces a longer answer than it sends, then drops the connection. */
  | 'cut'
  /** Drops the connection without a byte of answer. */
  | 'reset';

export interface PlatformServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  stop(): Promise<void>;
}

/** Starts a server on a free port of the loopback that answers as `reply` says. */
export async function startPlatform(
  reply: (request: ReceivedRequest, index: number) => PlatformReply,
): Promise<PlatformServer> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    void receive(request).then((received) => {
      requests.push(received);
      void answer(response, reply(received, requests.length - 1));
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A loopback address on which nothing listens. */
export async function findClosedUrl(): Promise<string> {
  const platform = await startPlatform(() => 'reset');
  await platform.stop();
  return platform.url;
}

async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString('utf8');
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    text,
    body: parseBody(text, request.headers['content-type'] ?? ''),
  };
}

function parseBody(text: string, type: string): Record<string, unknown> | undefined {
  if (type.startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

async function answer(response: ServerResponse, reply: PlatformReply): Promise<void> {
  if (reply === 'hang') return;
  if (reply === 'reset') {
    response.destroy();
  } else if (reply === 'cut') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"ok":true,"result":{', () => response.destroy());
  } else {
    await reply.after;
    const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {});
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(reply.status === 204 ? undefined : body);
  }
}
