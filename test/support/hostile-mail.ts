/** Messages that were made to hurt, messages as they really come, and a mail server that does not keep to the rules. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

const HEAD = 'From: Eve <eve@example.org>\r\nTo: me@example.com\r\n';

const body = (type: string, text: string): string => `Content-Type: ${type}\r\n\r\n${text}`;
const times = (unit: string, bytes: number): string => unit.repeat(Math.ceil(bytes / unit.length));
const html = (unit: string) => (bytes: number) => body('text/html', times(unit, bytes));

/** Each makes a message of about so many bytes, without From and Subject. */
const KINDS: Readonly<Record<string, (bytes: number) => string>> = {
  'blank lines': (bytes) => `\r\n${times('\n', bytes)}`,
  'blank lines with CR': (bytes) => `\r\n${times('\r\n', bytes)}`,
  'a calendar of short lines': (bytes) => body('text/calendar', times('a:b\r\n', bytes)),
  'flowed text of short lines': (bytes) => body('text/plain; format=flowed', times('a \r\n', bytes)),
  'groups in groups': (bytes) => `To: ${times('g:', Math.min(bytes, 250_000))}\r\n\r\nx`,
  'quotes without an end': (bytes) => `To: ${times('"', Math.min(bytes, 250_001))}\r\n\r\nx`,
  'encoded words': (bytes) => `Comments: ${times('=?utf-8?q?a?= ', Math.min(bytes, 250_000))}\r\n\r\nx`,
  'header fields': (bytes) => `${times('X: y\r\n', Math.min(bytes, 250_000))}\r\nx`,
  'folded lines': (bytes) => `X: y\r\n${times(' z\r\n', Math.min(bytes, 250_000))}\r\nx`,
  parts: (bytes) => body('multipart/mixed; boundary=b', times('--b\r\n\r\nx\r\n', bytes)),
  'messages in messages': (bytes) => times('Content-Type: message/rfc822\r\n\r\n', bytes),
  'open brackets': html('<a<'),
  'open elements': html('<div>'),
  'tables in tables': html('<table><tr><td>'),
  'attributes without an end': html('<b><a href="'),
  entities: html('&amp;'),
  quotations: html('<blockquote>'),
  lists: html('<ul><li>x'),
  'quoted-printable': (bytes) =>
    `Content-Transfer-Encoding: quoted-printable\r\n${body('text/plain', times('=41=\r\n', bytes))}`,
  'base64 of blank lines': (bytes) =>
    `Content-Transfer-Encoding: base64\r\n${body('text/plain', Buffer.from(times('\n', bytes / 2)).toString('base64'))}`,
};

export interface NamedMail {
  readonly name: string;
  readonly raw: string;
}

/** Every kind in this many sizes, up to 1 MB. */
export function hostileMails(sizes: number): readonly NamedMail[] {
  return Array.from({ length: sizes }, (_, index) => Math.round((1_000_000 * (index + 1)) / sizes)).flatMap(
    (bytes) =>
      Object.entries(KINDS).map(([kind, make]) => {
        const name = `${kind}, ${Math.round(bytes / 1000)} KB`;
        const made = make(bytes);
        return { name, raw: `Subject: ${name}\r\n${HEAD}${made}` };
      }),
  );
}

const paragraph = (n: number): string =>
  `In paragraph ${n} we look at what happened last week, and at what comes next; see <https://example.org/${n}>.`;
const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\r\n');
const real = (name: string, rest: string): NamedMail => ({
  name,
  raw: `From: Ann <ann@example.org>\r\nTo: me@example.com\r\nSubject: ${name}\r\nMIME-Version: 1.0\r\n${rest}`,
});

/** Written like what people and programs send, in their sizes; each has to arrive whole, or as much of it as is wanted. */
export const REAL_MAILS: readonly NamedMail[] = [
  real('a note', '\r\nSee you at ten.\r\n'),
  real(
    'a newsletter of 200 KB',
    body(
      'text/html',
      `<table>${lines(1_500, (n) => `<tr><td style="color:#333"><p>${paragraph(n)}</p></td></tr>`)}</table>`,
    ),
  ),
  real(
    'an invitation',
    body(
      'text/calendar; method=REQUEST',
      lines(120, (n) => `X-LINE-${n}:${paragraph(n)}`),
    ),
  ),
  real(
    'a calendar of 5,000 lines',
    body(
      'text/calendar',
      lines(5_000, (n) => `X-LINE-${n}:some words of line ${n}`),
    ),
  ),
  real(
    'a report of 1 MB',
    body(
      'text/plain; charset=utf-8',
      lines(12_000, (n) => `2026-11-22T00:00:00Z INFO worker-${n % 8} request ${n} was served in 12 ms`),
    ),
  ),
  real(
    'a digest of a list',
    body(
      'text/plain',
      lines(60, (n) => `Message: ${n}\r\n\r\n${lines(40, paragraph)}\r\n\r\n----------\r\n`),
    ),
  ),
  real(
    'a thread that quotes itself',
    body(
      'text/plain; format=flowed',
      lines(2_000, (n) => `${'>'.repeat(n % 30)} ${paragraph(n)} `),
    ),
  ),
  real(
    'a patch',
    body(
      'text/plain',
      lines(8_000, (n) => `${'+- '[n % 3] ?? ' '}  const value${n} = compute(${n});`),
    ),
  ),
  real(
    'a text with an attachment',
    body(
      'multipart/mixed; boundary=b',
      `--b\r\n${body('text/plain', 'see attached')}\r\n--b\r\nContent-Type: application/pdf; name=plan.pdf\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n${lines(9_000, () => 'QUJD'.repeat(19))}\r\n--b--\r\n`,
    ),
  ),
  real(
    'an alternative of text and HTML',
    body(
      'multipart/alternative; boundary=b',
      `--b\r\n${body('text/plain', lines(300, paragraph))}\r\n--b\r\n${body('text/html', `<p>${lines(300, paragraph)}</p>`)}\r\n--b--\r\n`,
    ),
  ),
];

export interface HostileImap {
  readonly port: number;
  /** Searches that it answered. */
  readonly searches: () => number;
  stop(): Promise<void>;
}

/** Lets everybody in, and answers every SEARCH with this many numbers on one line. */
export async function startHostileImap(options: { readonly numbers: number }): Promise<HostileImap> {
  let searches = 0;
  const line = `* SEARCH ${Array.from({ length: options.numbers }, (_, n) => n + 1).join(' ')}\r\n`;
  const server = createServer((socket) => {
    let rest = '';
    socket.on('error', () => undefined);
    socket.write('* OK ready\r\n');
    socket.on('data', (chunk) => {
      const received = (rest + chunk.toString('latin1')).split('\r\n');
      rest = received.pop() ?? '';
      for (const [tag = '', command = '', word = ''] of received.map((text) => text.split(' '))) {
        const name = command.toUpperCase() === 'UID' ? word.toUpperCase() : command.toUpperCase();
        if (name === 'SEARCH') {
          searches += 1;
          socket.write(line);
        } else socket.write(ANSWERS[name] ?? '');
        socket.write(name === 'IDLE' ? '+ idling\r\n' : `${tag} OK done\r\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    searches: () => searches,
    stop: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

const ANSWERS: Readonly<Record<string, string>> = {
  CAPABILITY: '* CAPABILITY IMAP4rev1 IDLE\r\n',
  LIST: '* LIST () "/" INBOX\r\n',
  EXAMINE: '* 5000000 EXISTS\r\n* OK [UIDVALIDITY 1] ok\r\n* OK [UIDNEXT 5000001] ok\r\n',
};
