import type { HttpConnection } from './exchange.ts';

/** Most of these requests that are served in one turn of the event loop. */
const PER_TURN = 16;
/**
 * While a connection comes in each turn, these requests are served in two of so many turns only. A turn accepts one
 * connection, so a new one waits for all before it: 2,000 with four requests each took a second, and now half of it.
 */
const CROWDED_TURNS = 32;

/**
 * Requests that came on a connection together with one before them, or after one without a proof. Each that is served
 * at once holds up all other senders: a connection is taken up in one turn, read in the next and answered in a third,
 * and 400 strangers that write again with each answer make each turn last as long as all of them. So these are served
 * in later turns of the event loop, one connection after the other. How many of one connection wait is bounded by who
 * adds them.
 */
export class LaterRequests {
  readonly #waiting = new Map<HttpConnection, (() => void)[]>();
  #isGoingOn = false;
  #hasCome = false;
  #crowdedTurns = 0;

  /** Notes that a connection came: more may follow. */
  connectionCame(): void {
    this.#hasCome = true;
  }

  add(connection: HttpConnection, serve: () => void): void {
    const requests = this.#waiting.get(connection);
    if (requests === undefined) this.#waiting.set(connection, [serve]);
    else requests.push(serve);
    this.#goOnLater();
  }

  /** Forgets what waits of a connection that is closed: nobody reads these answers. Returns how many there were. */
  drop(connection: HttpConnection): number {
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
    this.#crowdedTurns = this.#hasCome ? (this.#crowdedTurns + 1) % CROWDED_TURNS : 0;
    this.#hasCome = false;
    if (this.#crowdedTurns > 1) return this.#goOnLater();
    let left = PER_TURN;
    // A connection that is put back comes again behind the others.
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
