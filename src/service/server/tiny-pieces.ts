/**
 * Bodies in chunks of a few bytes (RFC 9112 section 7.1). Node's parser makes a buffer and an event of each chunk: 22 ms
 * for one read of 64 KB in chunks of one byte, 40 s for 2,000 connections, whoever is to read the body. Nothing stops it
 * within a read but to take away what it calls; then it goes over the rest within 1 ms.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Pieces of one read: so many, and one more for each 256 bytes. Programs that write chunks write some KB. */
const FREE_PIECES = 64;
const BYTES_PER_PIECE = 256;

/** Counts the pieces of a body that came with the same read of its connection. */
export class PieceCount {
  #readBytes = -1;
  #left = 0;

  /** Whether this piece is one too many. */
  isTooMany(bytes: number, { bytesRead }: Socket): boolean {
    if (bytesRead !== this.#readBytes) {
      this.#readBytes = bytesRead;
      this.#left = FREE_PIECES;
    }
    this.#left += bytes / BYTES_PER_PIECE - 1;
    return this.#left < 0;
  }
}

/** Lets the parser drop what is left of the body in this read; the socket must not be read further. */
export function muteBody({ socket }: IncomingMessage): void {
  const { parser = {} } = socket as Socket & { readonly parser?: Record<number, unknown> };
  for (let index = 0; index < 8; index += 1) {
    const call = parser[index];
    if (typeof call !== 'function' || call.name !== 'parserOnBody') continue;
    parser[index] = undefined;
    // Parsers are used again for other connections; until the end of this turn it belongs to this one.
    setImmediate(() => (parser[index] = call));
  }
}
