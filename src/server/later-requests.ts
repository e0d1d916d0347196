import type { Connection } from './exchange.ts';

/** Requests served in one turn of the event loop at most, of all that were written without waiting for an answer. */
const PER_TURN = 16;

/**
 * Requests that came on a connection together with one before them. Node hands over what it has read in one go, up to
 * some thousands of requests, and each that is served at once holds up all other senders; so these are served in later
 * turns of the event loop, one connection after the other. How many of one connection wait is bounded by who adds them.
 */
export class LaterRequests {
  readonly #waiting = new Map<Connection, (() => void)[]>();

  /** Calls `serve` in a later turn, or in the next ones where the connection is closed by then. */
  add(connection: Connection, serve: () => void): void {
    if (this.#waiting.size === 0) setImmediate(() => this.#goOn());
    const requests = this.#waiting.get(connection);
    if (requests === undefined) this.#waiting.set(connection, [serve]);
    else requests.push(serve);
  }

  #goOn(): void {
    let left = PER_TURN;
    // A connection that is put back is met again behind the others.
    for (const [connection, requests] of this.#waiting) {
      if (left === 0) break;
      this.#waiting.delete(connection);
      // Nobody reads these answers: they take no time.
      const count = connection.socket.destroyed ? requests.length : 1;
      for (const serve of requests.splice(0, count)) serve();
      // What was served may have added another one.
      requests.push(...(this.#waiting.get(connection) ?? []));
      this.#waiting.delete(connection);
      if (requests.length > 0) this.#waiting.set(connection, requests);
      left -= 1;
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#goOn());
  }
}
