/**
 * Senders that write as much as they are let on each connection, read nothing, and come again when they are sent away.
 * They live in a process of their own: `node test/lab/redteam/writers.ts '{"port":8787,…}'` until standard input closes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface WriterOptions {
  readonly port: number;
  /** Connections held or tried for at any time. */
  readonly count: number;
  /** From how many of 127.0.0.1, 127.0.0.2, … they come, in turns. */
  readonly addresses: number;
  /** Written at once: `head`, and `fill` as many `times`. */
  readonly head: string;
  readonly fill: string;
  readonly times: number;
  /** Written every `dripMs` wherever all before it has gone out; default nothing. */
  readonly drip?: string;
  readonly dripMs?: number;
  /** Pause before a connection that was closed is opened again. */
  readonly reconnectMs: number;
}

export interface Writers {
  /** Connections opened so far. */
  opened(): number;
  stop(): void;
}

/** Starts them in this process. */
export function startWriters(options: WriterOptions): Writers {
  const { port, count, addresses, head, fill, times, drip, dripMs = 100, reconnectMs } = options;
  const bytes = Buffer.from(head + fill.repeat(times), 'latin1');
  const sockets = new Set<Socket>();
  let opened = 0;
  let isStopped = false;
  const open = (index: number): void => {
    if (isStopped) return;
    const localAddress = `127.0.0.${1 + (index % addresses)}`;
    const socket = connect({ host: '127.0.0.1', port, localAddress }).pause();
    sockets.add(socket);
    socket.once('connect', () => {
      opened += 1;
      socket.write(bytes);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      setTimeout(() => open(index), reconnectMs).unref();
    });
  };
  for (let index = 0; index < count; index += 1) open(index);
  const dripping = setInterval(() => {
    if (drip === undefined) return;
    for (const socket of sockets) if (socket.writable && socket.writableLength === 0) socket.write(drip);
  }, dripMs);
  return {
    opened: () => opened,
    stop: () => {
      isStopped = true;
      clearInterval(dripping);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Starts them in a process of their own, so that their work is not taken for the service's. */
export async function forkWriters(
  options: WriterOptions,
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
  const writers = startWriters(JSON.parse(json) as WriterOptions);
  // The long run ends with the process that started it, or at the latest after ten minutes.
  process.stdin.on('close', () => process.exit(0)).resume();
  setTimeout(() => process.exit(1), 600_000);
  setInterval(() => void process.stdout.write(`${writers.opened()}\n`), 250);
}
