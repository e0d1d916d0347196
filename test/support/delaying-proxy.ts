/**
 * A proxy that adds a delay each way, in a process of its own, so that its work is not a service's:
 * `node test/support/delaying-proxy.ts PORT DELAY_MS` says on stderr which port it listens on. Pieces keep their order,
 * and any number of them is under way at once, as on a long wire.
 */
import { connect, createServer, type Socket } from 'node:net';

interface Piece {
  readonly dueAt: number;
  send(): void;
}

/** Timers are as exact as a millisecond; who comes earlier by less than this has arrived. */
const EARLY_MS = 0.1;

/** Both ways of all connections: all are delayed by the same time, so what comes first goes first. */
class Wire {
  readonly #delayMs: number;
  readonly #pieces: Piece[] = [];
  #isArmed = false;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  pass(from: Socket, to: Socket): void {
    from.setNoDelay(true);
    from.on('data', (piece) => this.#later(() => void (to.writable && to.write(piece))));
    from.on('error', () => undefined);
    from.on('close', () => this.#later(() => to.destroy()));
  }

  #later(send: () => void): void {
    this.#pieces.push({ dueAt: performance.now() + this.#delayMs, send });
    this.#arm();
  }

  #arm(): void {
    const [first] = this.#pieces;
    if (first === undefined || this.#isArmed) return;
    this.#isArmed = true;
    setTimeout(() => this.#deliver(), Math.max(first.dueAt - performance.now(), 0));
  }

  #deliver(): void {
    this.#isArmed = false;
    const now = performance.now() + EARLY_MS;
    while ((this.#pieces[0]?.dueAt ?? Infinity) <= now) this.#pieces.shift()?.send();
    this.#arm();
  }
}

if (import.meta.main) {
  const [target, delayMs] = process.argv.slice(2).map(Number);
  const wire = new Wire(delayMs ?? 0);
  const server = createServer((near) => {
    const far = connect(target ?? 0, '127.0.0.1');
    wire.pass(near, far);
    wire.pass(far, near);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.stderr.write(`port=${address?.port}\n`);
  });
}
