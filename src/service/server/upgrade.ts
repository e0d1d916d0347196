/**
 * An `Upgrade` header is an offer that a server may ignore (RFC 9110 section 7.8), and this one does. Node's parser
 * stops behind such a request whether or not anybody takes the offer, so that a request pipelined behind it would never
 * be seen. Therefore the request is read once more without the offer: its head is put back in front of what follows.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Connection } from './exchange.ts';

/** What node hands over with the event `upgrade`. */
export interface Offer {
  readonly req: IncomingMessage;
  /** What was read behind the head of the request. */
  readonly rest: Buffer;
}

/** Answers a request with `Upgrade` as if the header were not there. */
export function ignoreUpgrade(http: Server, { socket, latest }: Connection, { req, rest }: Offer): void {
  const readAgain = (): void => {
    socket.off('error', ignoreError);
    if (socket.destroyed) return;
    socket.unshift(Buffer.concat([headWithoutUpgrade(req), rest]));
    http.emit('connection', socket);
  };
  // An answer that is still under way must be through first: answers go out in the order of requests.
  if (latest === undefined || latest.res.writableFinished) readAgain();
  else latest.res.once('finish', readAgain);
}

/** Node lets go of a socket that it hands over, and an error without a listener would end the process. */
export function ignoreError(): void {
  return undefined;
}

/** The request line and headers as they came; the parser has checked them, so nothing in them can end a line. */
function headWithoutUpgrade(req: IncomingMessage): Buffer {
  const lines = [`${req.method ?? ''} ${req.url ?? ''} HTTP/${req.httpVersion}`];
  for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i] as string;
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${req.rawHeaders[i + 1] as string}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
