import { HookError } from '../../base/errors.ts';
import type { Exchange } from './exchange.ts';

/**
 * What bodies take up whose senders have not proved themselves: most proofs are made of the body, so strangers could
 * hold as many times `maxBodyBytes` as there are connections. Beyond the limit the oldest that is not complete gives
 * way, which is the slowest; bodies of webhooks are complete in a moment.
 */
export class UnprovedBodies {
  readonly #maxBytes: number;
  readonly #incomplete = new Set<Exchange>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Notes how much the body is about to take up; false where it was the one to give way. */
  hold(exchange: Exchange, bytes: number): boolean {
    if (exchange.isProved) return true;
    this.#bytes += bytes - exchange.heldBytes;
    exchange.heldBytes = bytes;
    this.#incomplete.add(exchange);
    for (const oldest of this.#incomplete) {
      if (this.#bytes <= this.#maxBytes) break;
      this.release(oldest);
      oldest.failBody?.(new HookError('bodies_full', 'bodies without a proof take up too much together'));
    }
    return this.#incomplete.has(exchange);
  }

  /** A complete body stays until its proof is judged. */
  complete(exchange: Exchange): void {
    this.#incomplete.delete(exchange);
  }

  /** The sender is proved, or the request answered. */
  release(exchange: Exchange): void {
    this.#incomplete.delete(exchange);
    this.#bytes -= exchange.heldBytes;
    exchange.heldBytes = 0;
  }
}
