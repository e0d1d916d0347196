import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import createHoodiecrow, { type Hoodiecrow } from 'hoodiecrow-imap';

const PLUGINS = ['ID', 'IDLE', 'SASL-IR', 'AUTH-PLAIN', 'NAMESPACE', 'SPECIAL-USE', 'XOAUTH2'];

export interface MailServer {
  readonly port: number;
  /** Puts a message into a folder; clients that wait hear of it. */
  deliver(raw: string, options?: { readonly folder?: string; readonly at?: Date }): void;
  readonly hoodiecrow: Hoodiecrow;
  stop(): Promise<void>;
}

/** User `testuser`, password `testpass`, access token `testtoken`. */
export async function startMailServer(messages: readonly string[] = []): Promise<MailServer> {
  const hoodiecrow = createHoodiecrow({
    plugins: PLUGINS,
    storage: {
      INBOX: { messages: messages.map((raw) => ({ raw })) },
      '': {
        separator: '/',
        folders: { Junk: { 'special-use': '\\Junk' }, Work: { messages: [] } },
      },
    },
  });
  const sockets = new Set<Socket>();
  hoodiecrow.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => hoodiecrow.listen(0, '127.0.0.1', resolve));
  return {
    port: (hoodiecrow.server.address() as AddressInfo).port,
    hoodiecrow,
    deliver: (raw, { folder = 'INBOX', at = new Date() } = {}) =>
      hoodiecrow.appendMessage(folder, [], at, raw),
    stop: async () => {
      const closed = once(hoodiecrow.server, 'close');
      hoodiecrow.server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A message as a sender writes it. */
export function rawMail(
  subject: string,
  more: { readonly from?: string; readonly body?: string } = {},
): string {
  const { from = 'Ann <ann@example.org>', body = `Body of ${subject}` } = more;
  return [
    `From: ${from}`,
    'To: me@example.org',
    `Subject: ${subject}`,
    `Message-ID: <${subject.replaceAll(/\W/g, '-')}@example.org>`,
    'Date: Sun, 22 Nov 2026 00:17:38 +0000',
    'Content-Type: text/plain; charset=utf-8',
    '',
    body,
    '',
  ].join('\r\n');
}

/** A line to a server that can be cut or held. */
export interface CuttableLine {
  readonly port: number;
  /** Connections open now. */
  readonly open: number;
  /** Ends all connections at once, as a network does. */
  cut(): void;
  /** From now on nothing gets through, and nothing is ended. */
  hang(): void;
  stop(): Promise<void>;
}

export async function cuttableLine(port: number): Promise<CuttableLine> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isHanging = false;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => {
        if (!isHanging) to.write(bytes);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return pairs.size;
    },
    cut,
    hang: () => {
      isHanging = true;
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
