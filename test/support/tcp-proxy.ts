import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** Stands between a client and a server, and can be cut without either of them noticing. */
export interface TcpProxy {
  readonly port: number;
  /** Where new connections lead. */
  target: number;
  /** Passes nothing on any more, in both directions; new connections get no answer. */
  cut(): void;
  /** Ends all connections, and every new one at once. */
  refuse(): void;
  /** Passes on again. What was on its way is lost with its connection, as with a network that was away for long. */
  heal(): void;
  /** How long each piece takes. */
  delayMs: number;
  /**
   * Breaks the connection of the next client that sends this text: the question may be lost or its answer, or both sides
   * may lose each other while the server works on it. Resolves when it has happened.
   */
  breakAt(text: string, lost: Loss): Promise<void>;
  /** How often a client, on any connection, sent something after the server had: round trips. */
  readonly turns: number;
  stop(): Promise<void>;
}

/** How a server of PostgreSQL says that it waits for the next question, outside of a transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

type Loss = 'question' | 'answer' | 'connection';

interface Break {
  readonly text: string;
  readonly lost: Loss;
  done(): void;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let isRefusing = false;
  let turns = 0;
  let awaited: Break | undefined;
  const server = createServer((near) => {
    if (isRefusing) return void near.destroy();
    const far = connect(proxy.target, '127.0.0.1');
    countTurns(near, far);
    pass(near, far, (piece) => breakUp({ near, far, piece }));
    pass(far, near);
  });
  const proxy: TcpProxy & { port: number } = {
    port: 0,
    target,
    delayMs: 0,
    get turns() {
      return turns;
    },
    breakAt: (text: string, lost: Loss) =>
      new Promise<void>((done) => {
        awaited = { text, lost, done };
      }),
    cut: () => {
      isCut = true;
    },
    refuse: () => {
      isRefusing = true;
      for (const socket of sockets) socket.destroy();
    },
    heal: () => {
      isCut = false;
      isRefusing = false;
      for (const socket of sockets) socket.destroy();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };

  function countTurns(near: Socket, far: Socket): void {
    let wasAnswered = true;
    far.on('data', () => (wasAnswered = true));
    near.on('data', () => {
      if (wasAnswered) turns += 1;
      wasAnswered = false;
    });
  }

  /** Whether the piece is lost. */
  function breakUp({ near, far, piece }: { near: Socket; far: Socket; piece: Buffer }): boolean {
    const here = awaited;
    if (here === undefined || !piece.includes(here.text)) return false;
    awaited = undefined;
    const end = () => {
      near.destroy();
      here.done();
    };
    if (here.lost === 'answer') {
      far.removeAllListeners('data');
      // Statements that were sent together are answered one by one: the last one has ended the transaction.
      far.on('data', (answer) => {
        if (answer.subarray(-READY.length).equals(READY)) end();
      });
      return false;
    }
    if (here.lost === 'connection') far.write(piece, end);
    else end();
    return true;
  }

  function pass(from: Socket, to: Socket, isLost: (piece: Buffer) => boolean = () => false): void {
    sockets.add(from);
    let last = Promise.resolve();
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      if (!isCut) to.destroy();
    });
    from.on('data', (piece) => {
      if (isCut || isLost(piece)) return;
      if (proxy.delayMs === 0) return void to.write(piece);
      last = last.then(async () => {
        await wait(proxy.delayMs);
        if (!isCut && to.writable) to.write(piece);
      });
    });
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  proxy.port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return proxy;
}
