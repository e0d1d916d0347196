/** What a message becomes: samples of real senders' habits, and what breaks the rules of MIME. */
import { describe, expect, test } from 'vitest';
import { htmlText, bodiless, toMessage } from '../../../src/service/mail/message-payload.ts';
import type { FetchedMail } from '../../../src/service/mail/source.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

function mail(raw: string | Buffer, more: Partial<FetchedMail> = {}): FetchedMail {
  const source = typeof raw === 'string' ? Buffer.from(raw.replaceAll('\n', '\r\n')) : raw;
  return {
    identity: '1:1',
    id: 'id',
    receivedAt: Date.UTC(2026, 10, 22),
    sizeBytes: source.length,
    content: { kind: 'raw', source, truncated: false },
    ...more,
  };
}

const read = (raw: string | Buffer, maxBodyChars = 20_000) => toMessage(mail(raw), { maxBodyChars });

test.each([
  ['message/rfc822', 'From: b@example.com\nSubject: Bounced\n\nWords of Bob\n', 'Words of Bob'],
  [
    'text/calendar; charset=utf-8',
    'BEGIN:VEVENT\nSUMMARY:Stand\u00fcp\nEND:VEVENT',
    'BEGIN:VEVENT\nSUMMARY:Standüp\nEND:VEVENT',
  ],
  ['application/pdf', 'PDF', ''],
])('of a mail that is %s alone, what stands in it', async (type, content, body) => {
  const message = await read(`From: a@example.com\nMIME-Version: 1.0\nContent-Type: ${type}\n\n${content}`);
  expect(message.body).toBe(body);
  expect(message.attachments).toHaveLength(1);
});

test.each([
  ['of its text', 'Content-Type: text/plain; charset=iso-8859-1', 'Gr\u00fc\u00dfe'],
  ['of HTML', 'Content-Type: text/html; charset=iso-8859-1', '<p>Gr\u00fc\u00dfe</p>'],
])('a message within the text is read as a forwarded one, in the charset %s', async (_, type, text) => {
  const inner = `From: =?utf-8?Q?B=C3=B6b?= <b@example.com>\nSubject: =?utf-8?Q?=C3=9Cber?=\n${type}\n\n${text}\n`;
  const part = `Content-Type: message/rfc822\nContent-Disposition: inline\n\n${inner}`;
  const plain = (words: string) => `Content-Type: text/plain\n\n${words}\n`;
  const { body, attachments } = await read(
    Buffer.from(
      `From: a@example.com\nContent-Type: multipart/mixed; boundary=b\n\n--b\n${plain('before')}--b\n${part}--b\n${plain('after')}--b--\n`,
      'latin1',
    ),
  );
  const lines = body.split(/\n+/).filter((line) => /\w/.test(line));
  expect(lines.map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'before',
    'From: Böb <b@example.com>',
    'Subject: Über',
    'Grüße',
    'after',
  ]);
  expect(attachments).toEqual([]);
});

const bytesOf = (type: string, body: string): Buffer =>
  Buffer.from(`From: a@example.com\r\nMIME-Version: 1.0\r\n${type}\r\n${body}`, 'latin1');
const ofText = (charset: string): string =>
  `Content-Type: text/plain${charset === '' ? '' : `; charset=${charset}`}\r\n`;
const HTML = 'Content-Type: text/html\r\n';
const UTF8 = Buffer.from('Größe').toString('latin1');

test.each([
  ['UTF-8', ofText(''), UTF8, 'Größe'],
  ['no header at all', '', 'Gr\u00fc\u00dfe \u0096 na\u00efve', 'Grüße – naïve'],
  ['ISO-2022-JP', ofText(''), '\x1b$B%F%9%H\x1b(B', 'テスト'],
  ['a variant of ISO-2022-JP', ofText('iso-2022-jp-ms'), '\x1b$B%F%9%H\x1b(B', 'テスト'],
  ['Windows-1252', ofText(''), 'caf\u00e9', 'café'],
  ['quoted-printable', `${ofText('')}Content-Transfer-Encoding: quoted-printable\r\n`, 'Gr=FC=DFe', 'Grüße'],
  ['HTML that says it', HTML, '<meta charset="windows-1251"><p>\u00cf\u00f0</p>', 'Пр'],
  ['HTML that says it as a header', HTML, '<meta content="text/html; charset=koi8-r"><p>\u00f0</p>', 'П'],
  ['HTML that says what is wrong', HTML, '<meta charset="utf-8"><p>\u00fc</p>', 'ü'],
  ['a name nobody knows', ofText('x-unknown'), UTF8, 'Größe'],
  ['a name of every object', ofText('constructor'), UTF8, 'Größe'],
  ['a name with more behind it', ofText('"utf-8;"'), UTF8, 'Größe'],
  ['another name of Shift_JIS', ofText('cp932'), '\u0083e\u0083X\u0083g', 'テスト'],
])('a text in %s is read as it was written', async (_what, type, body, text) => {
  expect((await read(bytesOf(type, `\r\n${body}`))).body).toBe(text);
  // Beside a part with another charset.
  const parts = `--b\r\n${type}\r\n${body}\r\n--b\r\n${ofText('iso-8859-5')}\r\n\u00d0\r\n--b--\r\n`;
  const both = await read(bytesOf('Content-Type: multipart/mixed; boundary=b\r\n', `\r\n${parts}`));
  expect(both.body).toContain(text);
  expect(both.body).toContain('а');
});

test('UTF-8 that was cut within a character stays UTF-8', async () => {
  const source = bytesOf(ofText(''), `\r\n${UTF8}\u00c3`);
  expect((await read(source)).body).toMatch(/^Größe/);
});

test('a mail whose parts have another boundary than its Content-Type is said to be cut', async () => {
  const parts = `\r\n--b\r\n${ofText('')}\r\nhi\r\n--b--\r\n`;
  const message = await read(bytesOf('Content-Type: multipart/mixed; boundary=a\r\n', parts));
  expect(message).toMatchObject({ body: '', truncated: true });
});

describe('a message', () => {
  test('has its text part as body, whatever the charset and encoding', async () => {
    const message = await read(`From: =?iso-8859-1?Q?J=F6rg?= <joerg@example.org>
To: "Doe, Jane" <jane@example.org>, team: a@example.org, b@example.org;
Cc: c@example.org
Reply-To: reply@example.org
Subject: =?utf-8?B?R3LDvMOfZQ==?= =?utf-8?Q?_aus_K=C3=B6ln?=
Message-ID: <x@example.org>
Date: Sun, 22 Nov 2026 01:02:03 +0100
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain; charset=iso-8859-15
Content-Transfer-Encoding: quoted-printable

F=FCnf =A4
--b
Content-Type: text/html

<b>five</b>
--b--
`);
    expect(message).toMatchObject({
      id: 'id',
      messageId: '<x@example.org>',
      from: 'Jörg <joerg@example.org>',
      cc: ['c@example.org'],
      replyTo: 'reply@example.org',
      subject: 'Grüße aus Köln',
      date: '2026-11-22T00:02:03.000Z',
      receivedAt: '2026-11-22T00:00:00.000Z',
      body: 'Fünf €',
      truncated: false,
      attachments: [],
    });
    expect(message.to[0]).toBe('Doe, Jane <jane@example.org>');
  });

  test('has the text of its HTML part where there is no text: links, lists, no images, no scripts', async () => {
    const { body, snippet } = await read(`Subject: news
Content-Type: text/html; charset=utf-8

<style>p{color:red}</style><h1>Title</h1><p>See <a href="https://example.org/x">here</a>.</p><img src="https://track.example/p.gif"><script>alert(1)</script><ul><li>one</li><li>two</li></ul>`);
    expect(body).toContain('Title');
    expect(body).toContain('here [https://example.org/x]');
    expect(body).toContain('* one');
    expect(body).not.toMatch(/track|alert|color/);
    expect(snippet).not.toContain('\n');
  });

  test.each([
    ['Auto-Submitted: auto-replied (vacation)', 'auto-replied (vacation)'],
    ['Return-Path: <>', 'return-path: <>'],
    ['Precedence: Bulk', 'precedence: Bulk'],
    ['List-Id: Builds <builds.example.org>', 'list-id: Builds <builds.example.org>'],
    ['Auto-Submitted: no\nPrecedence: bulk', undefined],
    ['Return-Path: <a@example.org>\nPrecedence: first-class', undefined],
  ])('tells of %j whether it wants an answer of a machine', async (header, autoSubmitted) => {
    expect((await read(`From: a@example.org\n${header}\n\nhi`)).autoSubmitted).toBe(autoSubmitted);
  });

  test('lists attachments and carries none', async () => {
    const { attachments, body } = await read(`Subject: files
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

see attached
--b
Content-Type: application/pdf; name="a.pdf"
Content-Disposition: attachment; filename="=?utf-8?Q?Pl=C3=A4ne.pdf?="
Content-Transfer-Encoding: base64

SGVsbG8=
--b--
`);
    expect(attachments).toEqual([{ name: 'Pläne.pdf', type: 'application/pdf', sizeBytes: 5 }]);
    expect(body).toBe('see attached');
  });

  test('is bounded in every text', async () => {
    const long = 'x'.repeat(50_000);
    const many = Array.from({ length: 500 }, (_, n) => `a${n}@example.org`).join(', ');
    const message = await read(
      `From: ${long}\nTo: ${many}\nSubject: ${long}\n\n${'😀'.repeat(30_000)}`,
      1001,
    );
    expect(message.from.length).toBeLessThanOrEqual(1000);
    expect(message.subject).toHaveLength(1000);
    expect(message.to).toHaveLength(50);
    expect(message.body).toHaveLength(1000);
    expect(message.body.isWellFormed()).toBe(true);
    expect(message.truncated).toBe(true);
    expect(message.snippet.length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(message).length).toBeLessThan(80_000);
  });

  test.each([
    [
      'an address written into an encoded word',
      '=?utf-8?q?Boss=0d=0a<boss@example.com>?= <eve@evil.example>',
      'Boss boss@example.com <eve@evil.example>',
    ],
    [
      'an address quoted as a name',
      '"Boss <boss@example.com>" <eve@evil.example>',
      'Boss boss@example.com <eve@evil.example>',
    ],
    [
      'two addresses in brackets',
      '<boss@example.com> <eve@evil.example>',
      'boss@example.com <eve@evil.example>',
    ],
    ['an encoded word alone', '=?utf-8?b?PGJvc3NAZXhhbXBsZS5jb20+?=', 'boss@example.com <>'],
    ['a comment in place of a name', 'ann@example.org (Ann Other)', 'Ann Other <ann@example.org>'],
    [
      'a comma in a name',
      '"Other, \\"A.\\" Ann" <ann@example.org>, bob@example.org',
      'Other, "A." Ann <ann@example.org>',
    ],
    [
      'a name in several words',
      '=?utf-8?q?J=C3?= =?utf-8?q?=B6rg?= Other <j@example.org>',
      'Jörg Other <j@example.org>',
    ],
    ['no address', 'Ann', 'Ann <>'],
    ['an address alone', 'ann@example.org', 'ann@example.org'],
  ])('takes %s for what it is', async (_, from, expected) => {
    expect((await read(`From: ${from}\nSubject: s\n\nx`)).from).toBe(expected);
  });

  test('lists the members of a group, and nobody where there are none', async () => {
    const { to, cc } = await read(
      'To: team: a@example.org, Bob <b@example.org>;, c@example.org\nTo: d@example.org\nCc: undisclosed-recipients:;\n\nx',
    );
    expect(to).toEqual(['a@example.org', 'Bob <b@example.org>', 'c@example.org', 'd@example.org']);
    expect(cc).toEqual([]);
  });

  test('is read without its body in little time, whatever its header holds', async () => {
    for (const text of ['g:', '"', '<', '(', '=?a?q?', '@ ', ',', '\\"', '"\\"', 'a@b <']) {
      const startedAt = threadMs();
      const raw = `From: ann@example.org\nTo: ${text.repeat(Math.floor(250_000 / text.length))}\n\nbody`;
      const message = await bodiless(mail(raw));
      expect(threadMs() - startedAt).toBeLessThan(computingMs(500));
      expect(message).toMatchObject({ from: 'ann@example.org', body: '', truncated: true });
    }
  });

  test('has no body where none is wanted', async () => {
    expect(await read('Subject: s\n\nsecret', 0)).toMatchObject({ body: '', snippet: '', truncated: true });
  });
});

describe('what breaks the rules', () => {
  test.each([
    ['nothing at all', ''],
    ['no header', 'just text without any header'],
    ['only line feeds', 'Subject: lf\nFrom: a@example.org\n\nbody'],
    ['a boundary that never comes', 'Subject: s\nContent-Type: multipart/mixed; boundary=never\n\ntext\n'],
    ['a boundary without an end', 'Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext'],
    ['no boundary parameter', 'Subject: s\nContent-Type: multipart/mixed\n\ntext'],
    ['broken base64', 'Subject: s\nContent-Transfer-Encoding: base64\n\n!!!not*base64==='],
    ['broken quoted-printable', 'Subject: s\nContent-Transfer-Encoding: quoted-printable\n\na=ZZ b=C3'],
    ['an unknown charset', 'Subject: s\nContent-Type: text/plain; charset=x-klingon\n\nplop'],
    ['a raw 8-bit header', Buffer.from('Subject: caf\xe9\r\nFrom: \xff\xfe <x@y>\r\n\r\n\x80\x81', 'latin1')],
    ['broken encoded words', 'Subject: =?utf-8?B?%%%?= =?bogus?Q?x?= =?utf-8?Q?=C3?=\n\nx'],
    ['NUL and control characters', 'Subject: a\x00b\x07\n\nbell \x07 nul \x00 end'],
    ['a header of 300 KB', `Subject: s\nX-Long: ${'y'.repeat(300_000)}\n\nbody`],
    ['2,000 nested parts', nested(2_000)],
    ['100,000 parts', `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\nx\n'.repeat(100_000)}`],
    [
      'a message in a message in a message',
      `Content-Type: message/rfc822\n\n${'Content-Type: message/rfc822\n\n'.repeat(500)}x`,
    ],
    ['random bytes', Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 7919 + 13) % 256))],
  ])('%s is still a message', async (_, raw) => {
    const startedAt = threadMs();
    const message = await read(raw);
    expect(threadMs() - startedAt).toBeLessThan(computingMs(5_000));
    expect(message.id).toBe('id');
    expect(JSON.stringify(message).isWellFormed()).toBe(true);
    for (const text of [message.subject, message.from, message.body]) {
      expect(text).not.toMatch(/(?![\n\t])\p{Cc}/u);
    }
  });

  // The defects of real mail in the fixtures of mikel/mail (spec/fixtures/emails/error_emails, MIT), written anew.
  test.each([
    ['an encoded word in no charset', 'Subject: =?NONE?B?VEVTVA=?=\n\nkept', 'TEST', 'kept'],
    [
      'a misspelt parameter and an empty date',
      'Subject: s\nDate: \nContent-Type: text/html   ; charest="us-ascii"\n\n<p>kept',
      's',
      'kept',
    ],
    ['an empty encoding', 'Subject: s\nContent-Transfer-Encoding: \n\nkept', 's', 'kept'],
    ['an empty In-Reply-To', 'In-Reply-To: \nRecivied-SPF: (invalid) \nSubject: s\n\nkept', 's', 'kept'],
    [
      'a multipart that ends with its header',
      'Subject: s\nContent-Type: multipart/mixed;\n\tboundary="b"\n\n\n',
      's',
      '',
    ],
    ['a time without an hour', 'Date: Wed, 15 Dec 2010    59:10 -0500\nSubject: s\n\nkept', 's', 'kept'],
  ])('%s loses nothing that can be read', async (_, raw, subject, body) => {
    expect(await read(raw)).toMatchObject({ subject, body });
  });

  test.each([
    ['100,000 open elements', '<div>'.repeat(100_000)],
    ['20,000 tables in tables', '<table><tr><td>'.repeat(20_000)],
    ['attributes without an end', '<b><a href="'.repeat(20_000)],
    ['30,000 quotes in quotes', `${'<blockquote>'.repeat(30_000)}words`],
    ['100,000 entities', '&amp;'.repeat(50_000)],
  ])('HTML with %s does not hold up the service', async (_, html) => {
    const startedAt = threadMs();
    await htmlText(html);
    expect(threadMs() - startedAt).toBeLessThan(computingMs(5_000));
  });
});

function nested(depth: number): string {
  const open = Array.from(
    { length: depth },
    (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
  );
  return `Subject: deep\n${open.join('')}\ndeep text`;
}
