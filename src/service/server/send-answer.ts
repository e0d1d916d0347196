import type { Socket } from 'node:net';
import type { ServerLimits } from './deps.ts';
import type { HttpAnswer, Exchange } from './exchange.ts';

/** A refused body of at most this many announced bytes is read to its end, and the connection stays usable. */
const KEEP_ALIVE_DRAIN_BYTES = 65_536;

/**
 * Sends the answer. Where the sender is still writing a body nobody wants, closing at once would make the kernel
 * reset the connection and the sender lose the answer (RFC 9112 section 9.6), so the rest is read and dropped: a
 * short one with the connection kept, any other within `limits` and with the connection closed after it.
 */
export function sendAnswer(
  exchange: Exchange,
  answer: HttpAnswer,
  { close, limits }: { readonly close: boolean; readonly limits: ServerLimits },
): void {
  const { req, res, connection } = exchange;
  if (connection.socket.destroyed || res.headersSent) return;
  const body = answer.body ?? '';
  const length = Buffer.byteLength(body);
  const head = [
    'x-request-id',
    exchange.ids.id,
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
  ];
  if (answer.body !== undefined) {
    head.push('content-type', answer.contentType ?? 'application/json');
    head.push('content-length', String(length));
  }
  if (answer.headers !== undefined) head.push(...answer.headers);
  const pending = exchange.hasBody && !req.complete;
  if (close) connection.closing = true;
  if (pending && !staysUsable(exchange))
    return sendAndDrain(exchange, { status: answer.status, head, body }, limits);
  if (connection.closing && connection.latest === exchange) {
    connection.closeSent = true;
    head.push('connection', 'close');
  }
  res.writeHead(answer.status, head);
  // Most texts have one byte a character, which latin1 writes faster.
  res.end(body, length === body.length ? 'latin1' : 'utf8');
  if (pending) {
    connection.refused = req;
    req.resume();
  }
}

function staysUsable(exchange: Exchange): boolean {
  // A sender that waits for 100-continue may or may not write its body after a refusal: nobody could tell where the
  // next request begins (RFC 9110 section 10.1.1).
  if (exchange.expectsContinue || exchange.connection.closing) return false;
  const announced = exchange.headers.values['content-length'];
  return announced !== undefined && Number(announced) <= KEEP_ALIVE_DRAIN_BYTES;
}

/**
 * Writes the whole answer but does not end it, because node destroys a connection to be closed as soon as its last
 * answer ends. Our side is closed after the answer; the sender's is read until it closes too or a limit is reached.
 * Of a flood nothing more is read, and a stranger's connection is swept with those that rest.
 */
function sendAndDrain(
  exchange: Exchange,
  message: { status: number; head: string[]; body: string },
  limits: ServerLimits,
): void {
  const { req, res, connection } = exchange;
  const { socket } = connection;
  const wasClosing = connection.closing;
  connection.closing = true;
  connection.closeSent = true;
  message.head.push('connection', 'close');
  req.on('error', () => undefined);
  res.writeHead(message.status, message.head);
  if (req.method === 'HEAD') res.end();
  else {
    res.write(message.body, () => {
      // Only now may what was read with the head show that this is a flood.
      setImmediate(() => {
        const isSwept = connection.flooded && !wasClosing && !exchange.isProved;
        if (!isSwept) closeSide(socket, limits.drainMs);
      });
    });
  }
  if (connection.flooded) return;
  let drained = 0;
  req.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > limits.drainBytes) socket.destroy();
  });
  req.resume();
}

/** Closes our side, and after some time the sender's too. */
export function closeSide(socket: Socket, drainMs: number): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), drainMs);
  socket.once('close', () => clearTimeout(timer));
}
