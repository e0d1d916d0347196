/**
 * An `Upgrade` header is an offer that a server may ignore (RFC 9110 section 7.8), and this one does. Node's parser
 * stops behind such a request whether or not anybody takes the offer, so that a request pipelined behind it would never
 * be seen. Therefore the request is read once more without the offer: its head is put back in front of what follows.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection } from './exchange.ts';

/** Makes a server answer requests with `Upgrade` as if the header were not there. */
export function ignoreUpgrades(http: Server, find: (socket: Socket) => Connection | undefined): void {
  http.on('upgrade', (req, stream, rest: Buffer) => {
    const socket = stream as Socket;
    // Node has let go of the socket, and an error without a listener would end the process.
    const ignore = (): void => undefined;
    socket.on('error', ignore);
    const readAgain = (): void => {
      socket.off('error', ignore);
      if (socket.destroyed) return;
      socket.unshift(Buffer.concat([headWithoutUpgrade(req), rest]));
      http.emit('connection', socket);
    };
    const before = find(socket)?.latest;
    // An answer that is still under way must be through first: answers go out in the order of requests.
    if (before === undefined || before.res.writableFinished) readAgain();
    else before.res.once('finish', readAgain);
  });
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
