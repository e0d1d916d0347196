import { HookError } from '../errors.ts';
import type { Exchange } from './exchange.ts';

const EMPTY = Buffer.alloc(0);

/**
 * Reads the body within its limit. Its time is kept by the server's check of open connections, which fails it
 * through the connection: a timer of its own for every request would cost more than reading does.
 * @throws HookError `body_too_large`, `body_timeout`, `request_aborted`
 */
export function readBody(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  if (!exchange.hasBody) return Promise.resolve(EMPTY);
  const { req, res, connection } = exchange;
  // What says itself that it is too long need not be read.
  const announced = exchange.headers.values['content-length'];
  if (announced !== undefined && Number(announced) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  if (connection.failure !== undefined) return Promise.reject(connection.failure);
  if (exchange.expectsContinue) res.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const fail = (error: HookError): void => {
      connection.failBody = undefined;
      req.off('data', onData);
      req.off('end', onEnd);
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      exchange.bodyBytes += chunk.length;
      if (exchange.bodyBytes > maxBytes) fail(tooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      connection.failBody = undefined;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, exchange.bodyBytes));
    };
    connection.failBody = fail;
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('error', () => fail(aborted()));
  });
}

/** The sender left, or closed its side, before its request was complete. */
export function aborted(): HookError {
  return new HookError('request_aborted', 'the connection ended before the request was complete');
}

export function tooLarge(maxBytes: number): HookError {
  return new HookError('body_too_large', `the body is longer than the ${maxBytes} bytes this hook takes`);
}
