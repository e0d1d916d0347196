import { HookError } from '../../base/errors.ts';
import { inflateBody } from '../../base/payload/payload.ts';
import type { Exchange } from './exchange.ts';

const EMPTY = Buffer.alloc(0);
const FIRST_BYTES = 4_096;
/** Each new buffer and copy costs more than space that is never written to. */
const GROWTH = 8;

export interface BodyOptions {
  readonly maxBytes: number;
  /** All bodies without a proof. */
  readonly unproved: UnprovedBodies;
}

/**
 * Reads the body within its limit. Its time is kept by the server's check of open connections, which fails it
 * through the connection: a timer of its own for every request would cost more than reading does.
 * @throws HookError `body_too_large`, `body_timeout`, `bodies_full`, `request_aborted`
 */
export function readBody(exchange: Exchange, { maxBytes, unproved }: BodyOptions): Promise<Buffer> {
  if (!exchange.hasBody) return Promise.resolve(EMPTY);
  const { req, res, connection } = exchange;
  // A body whose Content-Length is too long is not read.
  const announced = exchange.headers.values['content-length'];
  if (announced !== undefined && Number(announced) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  if (connection.failure !== undefined) return Promise.reject(connection.failure);
  if (exchange.expectsContinue) res.writeContinue();
  return new Promise((resolve, reject) => {
    const longest = announced === undefined ? maxBytes : Number(announced);
    // The buffer grows, as each piece would take up 150 bytes beside its own, and pieces can be of one byte.
    let body: Buffer = EMPTY;
    // True where the body is the first piece itself.
    let isWhole = false;
    const fail = (error: HookError): void => {
      exchange.failBody = undefined;
      req.off('data', onData);
      req.off('end', onEnd);
      // The listener of errors stays, and would keep the body.
      if (!isWhole) free(body);
      body = EMPTY;
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      const before = exchange.bodyBytes;
      const bytes = before + chunk.length;
      exchange.bodyBytes = bytes;
      if (bytes > maxBytes) return fail(tooLarge(maxBytes));
      isWhole = chunk.length === longest;
      if (bytes > body.length) {
        const space = Math.min(longest, Math.max(FIRST_BYTES, GROWTH * bytes));
        if (!unproved.hold(exchange, space)) return;
        body = isWhole ? chunk : grown(body, before, space);
      }
      if (!isWhole) chunk.copy(body, before);
    };
    const onEnd = (): void => {
      exchange.failBody = undefined;
      unproved.complete(exchange);
      resolve(body.subarray(0, exchange.bodyBytes));
    };
    exchange.failBody = fail;
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('error', () => fail(aborted()));
  });
}

function grown(body: Buffer, bytes: number, space: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(space);
  body.copy(larger, 0, 0, bytes);
  free(body);
  return larger;
}

/** Gives the memory back at once: until the collector comes, floods of bodies would take up several times their bound. */
function free({ buffer }: Buffer): void {
  if (buffer.byteLength > 0) (buffer as ArrayBuffer).transfer(0);
}

/**
 * What the body unpacks to. Before the proof it counts as a part of the body: a stranger takes up no more with packed
 * bodies than with others.
 * @throws HookError `unsupported_encoding`, `invalid_body`, `body_too_large`, `bodies_full`, `request_aborted`
 */
export async function unpackBody(
  exchange: Exchange,
  body: Buffer,
  { maxBytes, unproved }: BodyOptions,
): Promise<Buffer> {
  const encoding = exchange.headers.values['content-encoding'];
  if (encoding === undefined) return body;
  let failure: HookError | undefined;
  exchange.failBody = (error) => (failure = error);
  const checkSpace = (): void => {
    if (failure !== undefined) throw failure;
  };
  try {
    const unpacked = await inflateBody(body, encoding, maxBytes, (length) => {
      // A body that has given way takes no more space from others.
      checkSpace();
      unproved.hold(exchange, body.length + length);
      checkSpace();
    });
    // The body may have given way after its last byte.
    checkSpace();
    return unpacked;
  } finally {
    exchange.failBody = undefined;
    unproved.complete(exchange);
  }
}

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

  /** Notes how much the body is about to take up; false where this body has to give way. */
  hold(exchange: Exchange, bytes: number): boolean {
    if (exchange.isProved) return true;
    this.#bytes += bytes - exchange.unprovedBytes;
    exchange.unprovedBytes = bytes;
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

  /** Called when the sender is proved or the request answered. */
  release(exchange: Exchange): void {
    this.#incomplete.delete(exchange);
    this.#bytes -= exchange.unprovedBytes;
    exchange.unprovedBytes = 0;
  }
}

/** The error where the sender left, or closed its side, before its request was complete. */
export function aborted(): HookError {
  return new HookError('request_aborted', 'the connection ended before the request was complete');
}

export function tooLarge(maxBytes: number): HookError {
  return new HookError('body_too_large', `the body is longer than the ${maxBytes} bytes this hook takes`);
}
