import { createServer } from 'node:net';

/** Below the ports that systems give to connections and to whoever asks for any: from 32,768 on Linux, 49,152 elsewhere. */
const [FIRST, COUNT] = [20_000, 12_000];
const given = new Set<number>();

/**
 * A port of 127.0.0.1 that nobody listens on, for a program that cannot be started on port 0. Until that program listens,
 * no connection gets it, and nobody who asks for it in the same process.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
