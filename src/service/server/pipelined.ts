/**
 * Requests written on one connection without waiting for answers (RFC 9112 section 9.3.2). Node parses all of what it
 * has read in one go, up to 64 KB or 2,400 requests, and makes two objects for each; to pause or destroy the socket,
 * or the parser, holds from the next read on. Its parser stops at once only behind a request that changes the
 * protocol. So a request beyond the limit claims to be an upgrade, and nothing is made for it or parsed behind it.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerLimits } from './deps.ts';
import type { HttpConnection } from './exchange.ts';
import { IncomingMessage as NodeMessage } from './node-http.ts';
import { closeSide } from './send-answer.ts';

/**
 * Requests of one connection that may wait for their answers. Senders of hooks send one, and wait; each that waits
 * holds some 8 KB, on as many connections as are allowed (2,000), and all of it must fit a heap of 256 MB.
 */
export const MAX_PIPELINED = 4;

/** How often node asks for `upgrade` before it tells its parser to stop; asked once more, it hands the socket over. */
const ASKED_TO_STOP = 2;

export interface PipeliningOptions {
  /** Called once for each request, with its head: true where it is one too many. */
  readonly endIfFull: (socket: Socket) => boolean;
  /** Called where a body came in chunks of a few bytes: true where it is read no further. */
  readonly endIfTiny: (socket: Socket) => boolean;
}

/** The class of requests for `createServer`. */
export function boundedMessages({ endIfFull, endIfTiny }: PipeliningOptions): typeof IncomingMessage {
  return class extends NodeMessage {
    /** How often node asked whether it is an upgrade, where it is one too many; undefined until its head is judged. */
    declare private asked: number | 'fits' | undefined;
    declare private pieces: PieceCount | undefined;
    declare private isMuted: boolean | undefined;

    override push(piece: unknown, encoding?: BufferEncoding): boolean {
      if (!Buffer.isBuffer(piece)) return super.push(piece, encoding);
      if (this.isMuted === true) return false;
      this.pieces ??= new PieceCount();
      if (!this.pieces.isTooMany(piece.length, this.socket)) return super.push(piece, encoding);
      if (!endIfTiny(this.socket)) {
        this.pieces = undefined;
        return super.push(piece, encoding);
      }
      this.isMuted = true;
      muteBody(this);
      this.socket.pause();
      return false;
    }

    override _read(size: number): void {
      if (this.isMuted !== true) super._read(size);
    }

    get upgrade(): boolean {
      return typeof this.asked === 'number' ? (this.asked += 1) <= ASKED_TO_STOP : this.method === 'CONNECT';
    }

    /** Node sets null at first, then whether the head has an `Upgrade` header: an offer that a server may ignore. */
    set upgrade(offered: boolean | null) {
      if (offered !== null && this.asked === undefined) this.asked = endIfFull(this.socket) ? 0 : 'fits';
    }
  };
}

/**
 * Whether no further request of the connection is accepted: its last answer is decided, or as many wait as may. Once
 * one was passed over, none behind it is accepted either, since nobody knows where in its bytes the next one begins.
 *
 * A connection whose sender has proved itself closes with the answers to what waits. One of a stranger stays open until
 * it is swept or has to go: to close it at once would only free its place for the next one.
 */
export function endIfFull(connection: HttpConnection, isStranger: boolean): boolean {
  const { closing, flooded, open, latest } = connection;
  if (!closing && !flooded && open < MAX_PIPELINED && !offersUpgrade(latest)) return false;
  connection.flooded = true;
  if (!isStranger) connection.closing = true;
  connection.socket.pause();
  return true;
}

/** Whether a request offers another protocol (RFC 9110 section 7.8): it is ignored, and its answer is the last. */
export const offersUpgrade = (exchange: HttpConnection['latest']): boolean =>
  exchange?.headers.values['upgrade'] !== undefined;

/** Ends the connection after its last answer, which was decided too early to say so itself. */
export function endAfterLatest({ socket, latest }: HttpConnection, { drainMs }: ServerLimits): void {
  const close = (): void => closeSide(socket, drainMs);
  if (latest === undefined || latest.res.writableFinished) close();
  else latest.res.once('finish', close);
}

/** Most chunks of one read, beside one for each 256 bytes. Programs that write chunks write some KB in each. */
const FREE_PIECES = 64;
const BYTES_PER_PIECE = 256;

/**
 * Bodies in chunks of a few bytes (RFC 9112 section 7.1). Node's parser makes a buffer and an event of each chunk: 22
 * ms for one read of 64 KB in chunks of one byte, 40 s for 2,000 connections, whoever is to read the body. Nothing
 * stops it within a read but to take away what it calls; then it goes over the rest within 1 ms.
 */
class PieceCount {
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
function muteBody({ socket }: IncomingMessage): void {
  const { parser = {} } = socket as Socket & { readonly parser?: Record<number, unknown> };
  for (let index = 0; index < 8; index += 1) {
    const call = parser[index];
    if (typeof call !== 'function' || call.name !== 'parserOnBody') continue;
    parser[index] = undefined;
    // The parser belongs to this connection only until the end of this turn, and is used again for others.
    setImmediate(() => (parser[index] = call));
  }
}

/** Node lets go of a socket that it hands over, and an error without a listener would end the process. */
export function ignoreError(): void {
  return undefined;
}
