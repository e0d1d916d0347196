/**
 * What a node:http server of a dozen lines does under the same flood on the same machine: it takes up every connection,
 * keeps as many as the service does, closes the oldest one for a new one, and answers without reading or storing
 * anything. A good post waits there for the system, for node and for the attacker's share of the processors alone.
 * Run as a program: `node test/lab/redteam/bare-server.ts '{"connections":2000}'`.
 */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startServer, stopServer } from '../bench/child.ts';
import { cpuSeconds, residentMb, TOKEN } from './attacked-service.ts';

export interface BareServer {
  readonly port: number;
  cpuSeconds(): number | undefined;
  residentMb(): number | undefined;
  stop(): Promise<void>;
}

export interface BareOptions {
  readonly connections: number;
  /** Connections the system keeps until they are taken up. */
  readonly backlog: number;
  /** Of V8; default its own. */
  readonly heapMb?: number;
}

export async function startBare(options: BareOptions): Promise<BareServer> {
  const { heapMb } = options;
  const flags = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
  const started = await startServer([...flags, fileURLToPath(import.meta.url), JSON.stringify(options)]);
  return {
    port: started.port,
    cpuSeconds: () => cpuSeconds(started.child.pid),
    residentMb: () => residentMb(started.child.pid),
    stop: () => stopServer(started),
  };
}

function listen({ connections, backlog }: BareOptions): void {
  const open = new Set<Socket>();
  const http = createServer({ keepAliveTimeout: 75_000 }, (req, res) => {
    req.resume();
    const status = req.headers.authorization === `Bearer ${TOKEN}` ? 202 : 401;
    req.once('end', () => res.writeHead(status).end('{}'));
  });
  http.on('connection', (socket) => {
    const [oldest] = open.size >= connections ? open : [];
    oldest?.destroy();
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  http.listen({ host: '127.0.0.1', port: 0, backlog }, () => {
    process.stderr.write(`port=${(http.address() as AddressInfo).port}\n`);
  });
}

const [, file, json] = process.argv;
if (file === fileURLToPath(import.meta.url) && json !== undefined) listen(JSON.parse(json) as BareOptions);
