import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Stands between a client and a server, and can be cut without either of them noticing. */
export interface TcpProxy {
  readonly port: number;
  /** Passes nothing on any more, in both directions; new connections get no answer. */
  cut(): void;
  /** Passes on again. What was on its way is lost with its connection, as with a network that was away for long. */
  heal(): void;
  /** How long each piece takes. */
  delayMs: number;
  stop(): Promise<void>;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    pass(near, far);
    pass(far, near);
  });
  const proxy: TcpProxy = {
    port: 0,
    delayMs: 0,
    cut: () => (isCut = true),
    heal: () => {
      isCut = false;
      for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };

  function pass(from: Socket, to: Socket): void {
    sockets.add(from);
    let last = Promise.resolve();
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      if (!isCut) to.destroy();
    });
    from.on('data', (piece) => {
      if (isCut) return;
      if (proxy.delayMs === 0) return void to.write(piece);
      last = last.then(async () => {
        await wait(proxy.delayMs);
        if (!isCut && to.writable) to.write(piece);
      });
    });
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  return Object.assign(proxy, { port: typeof address === 'object' ? (address?.port ?? 0) : 0 });
}
