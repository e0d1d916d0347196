/**
 * Strangers: senders without a token that hold as many connections as they can get, in every way that costs them
 * little, and come again when they are sent away. Run as a program they live in a process of their own:
 * `node test/lab/redteam/strangers.ts '{"port":8787,"count":10000,…}'` until standard input closes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What a stranger does with its connection. */
export const STRANGER_KINDS = ['idle', 'slow headers', 'no token', 'slow body'] as const;
/** Of those that keep their connection and write the next request with each answer. */
const KEPT_KINDS = ['wrong token', 'long address', 'health'] as const;
export type StrangerKind = (typeof STRANGER_KINDS)[number] | (typeof KEPT_KINDS)[number];

export interface StrangerOptions {
  readonly port: number;
  readonly path: string;
  /** Connections held or tried for at any time. */
  readonly count: number;
  /** Local addresses they come from, in turns. */
  readonly addresses: readonly string[];
  readonly kinds: readonly StrangerKind[];
  /** Pause before a connection that was closed is opened again. */
  readonly reconnectMs: number;
}

export interface Strangers {
  /** Connections opened so far. */
  opened(): number;
  stop(): void;
}

/** How often the slow ones send a byte. */
const DRIP_MS = 500;

/** Starts them in this process. */
export function startStrangers(options: StrangerOptions): Strangers {
  const sockets = new Set<Socket>();
  let opened = 0;
  let isStopped = false;
  const open = (index: number): void => {
    if (isStopped) return;
    const localAddress = options.addresses[index % options.addresses.length] ?? '127.0.0.1';
    const socket = connect({ host: '127.0.0.1', port: options.port, localAddress });
    sockets.add(socket);
    const kind = options.kinds[index % options.kinds.length] ?? 'idle';
    socket.once('connect', () => {
      opened += 1;
      behave(socket, kind, options.path);
    });
    socket.on('data', () => undefined);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      setTimeout(() => open(index), options.reconnectMs).unref();
    });
  };
  for (let index = 0; index < options.count; index += 1) open(index);
  const dripping = setInterval(() => {
    for (const socket of sockets) if (slow.has(socket) && socket.writable) socket.write('a');
  }, DRIP_MS);
  return {
    opened: () => opened,
    stop: () => {
      isStopped = true;
      clearInterval(dripping);
      for (const socket of sockets) socket.destroy();
    },
  };
}

const slow = new WeakSet<Socket>();

function behave(socket: Socket, kind: StrangerKind, path: string): void {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\n`;
  switch (kind) {
    case 'idle':
      return;
    case 'slow headers':
      socket.write(`${head}X-Slow: `);
      slow.add(socket);
      return;
    case 'no token':
      socket.write(`${head}Content-Length: 2\r\n\r\n{}`);
      return;
    case 'slow body':
      socket.write(`${head}Content-Length: 60000\r\n\r\n`);
      slow.add(socket);
      return;
    case 'wrong token':
      return writeAgain(socket, `${head}Authorization: Bearer wrong\r\nContent-Length: 2\r\n\r\n{}`);
    case 'health':
      return writeAgain(socket, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    case 'long address':
      writeAgain(
        socket,
        `${head.replace(path, `${path}?${'a=%20b&'.repeat(2_000)}`)}Content-Length: 2\r\n\r\n{}`,
      );
  }
}

/** Writes the request, and again with each answer. */
function writeAgain(socket: Socket, request: string): void {
  socket.write(request);
  socket.on('data', () => socket.write(request));
}

/** Starts them in a process of their own, so that their work is not taken for the service's. */
export async function forkStrangers(
  options: StrangerOptions,
): Promise<{ readonly opened: () => number; readonly stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let opened = 0;
  const lines = createInterface({ input: child.stdout }).on('line', (line) => (opened = Number(line)));
  await Promise.race([once(lines, 'line'), once(child, 'exit')]);
  if (child.exitCode !== null) throw new Error(`the attackers ended with ${child.exitCode}`);
  return {
    opened: () => opened,
    stop: async () => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

const [, file, json] = process.argv;
if (file === fileURLToPath(import.meta.url) && json !== undefined) {
  const strangers = startStrangers(JSON.parse(json) as StrangerOptions);
  // The long run ends with the process that started it, or at the latest after ten minutes.
  process.stdin.on('close', () => process.exit(0)).resume();
  setTimeout(() => process.exit(1), 600_000);
  setInterval(() => void process.stdout.write(`${strangers.opened()}\n`), 250);
}
