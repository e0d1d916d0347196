import type { Connection } from './exchange.ts';

/** Requests served in one turn of the event loop at most, of all that were written without waiting for an answer. */
const PER_TURN = 16;

/**
 * Requests that came on a connection together with one before them. Each that is served at once holds up all other
 * senders; so these are served in later turns of the event loop, one connection after the other. How many of one
 * connection wait is bounded by who adds them.
 */
export class LaterRequests {
  readonly #waiting = new Map<Connection, (() => void)[]>();
  #isGoingOn = false;

  /** Calls `serve` in a later turn. */
  add(connection: Connection, serve: () => void): void {
    const requests = this.#waiting.get(connection);
    if (requests === undefined) this.#waiting.set(connection, [serve]);
    else requests.push(serve);
    this.#goOnLater();
  }

  /** Forgets what waits of a connection that is closed: nobody reads these answers. Returns how many there were. */
  drop(connection: Connection): number {
    const requests = this.#waiting.get(connection);
    this.#waiting.delete(connection);
    return requests?.length ?? 0;
  }

  #goOnLater(): void {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    setImmediate(() => this.#goOn());
  }

  #goOn(): void {
    this.#isGoingOn = false;
    let left = PER_TURN;
    // A connection that is put back is met again behind the others.
    for (const [connection, requests] of this.#waiting) {
      if (left === 0) break;
      this.#waiting.delete(connection);
      requests.shift()?.();
      // What was served may have added another one.
      requests.push(...(this.#waiting.get(connection) ?? []));
      this.#waiting.delete(connection);
      if (requests.length > 0) this.#waiting.set(connection, requests);
      left -= 1;
    }
    if (this.#waiting.size > 0) this.#goOnLater();
  }
}
