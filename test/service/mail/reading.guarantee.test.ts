/** A reader against an IMAP server in this process. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { mailboxReport } from '../../../src/service/mail/mail.ts';
import { MailFailure } from '../../../src/service/mail/mail-failure.ts';
import { MailboxReader } from '../../../src/service/mail/mailbox-reader.ts';
import { type MailPayload, toMessage } from '../../../src/service/mail/message-payload.ts';
import type { MailSource } from '../../../src/service/mail/source.ts';
import { pause } from '../../../src/base/timers/timers.ts';
import {
  imapBlock,
  mailFixture,
  messageOf,
  testEndpoint,
  TEST_TIMES,
  type MailFixture,
} from '../../support/mail-fixture.ts';
import { cuttableLine, rawMail, startMailServer, type MailServer } from '../../support/mail-server.ts';

let server: MailServer;
let fixture: MailFixture;
const OLD = ['one', 'two', 'three'].map((subject) => rawMail(`old ${subject}`));

beforeEach(async () => {
  server = await startMailServer(OLD);
  fixture = await mailFixture();
});
afterEach(async () => {
  await fixture.stop();
  await server.stop();
});

const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 60_000, interval: 5 });
const isConnected = (service: { statuses: readonly { health: { state: string } }[] }) => () =>
  expect(service.statuses.map(({ health }) => health.state)).toEqual(service.statuses.map(() => 'connected'));

describe('a mailbox', () => {
  test('begins now: mail that is there starts nothing, what arrives is delivered once and in order', async () => {
    const { endpoint, subjects, requests } = testEndpoint();
    const service = fixture.start(imapBlock(server.port), endpoint);
    await until(isConnected(service));
    for (let n = 0; n < 20; n += 1) server.deliver(rawMail(`mail ${n}`));
    const expected = Array.from({ length: 20 }, (_, n) => `mail ${n}`);
    await until(() => expect(subjects).toEqual(expected));
    expect(requests).toHaveLength(20);
    expect(requests[0]?.payload).toMatchObject({
      source: 'imap',
      account: 'testuser',
      folder: 'INBOX',
      messages: [
        { from: 'Ann <ann@example.org>', subject: 'mail 0', body: 'Body of mail 0', truncated: false },
      ],
    });
    const ids = requests.map(({ payload }) => (payload as MailPayload).messages[0].id);
    expect(new Set(ids).size).toBe(20);
  });

  test('goes on after a restart where it stopped', async () => {
    const { endpoint, subjects } = testEndpoint();
    const first = fixture.start(imapBlock(server.port), endpoint);
    await until(isConnected(first));
    server.deliver(rawMail('before'));
    await until(() => expect(subjects).toEqual(['before']));
    await first.stop();
    server.deliver(rawMail('between'));
    const second = fixture.start(imapBlock(server.port, { subject: ['between', 'late'] }), endpoint);
    await until(() => expect(subjects).toEqual(['before', 'between']));
    server.deliver(rawMail('left out'));
    // What it came to is counted over restarts, also where a reader had no time to say so at its end.
    await until(async () =>
      expect(
        (await fixture.storage.listMailboxes()).map((one) => mailboxReport(one, Date.now())),
      ).toMatchObject([{ delivered: 2, filtered: 1, setAside: 0, lastMailAt: expect.any(Number) }]),
    );
    expect(second.statuses[0]?.figures).toMatchObject({ delivered: 2, filtered: 1 });
    await second.stop();
    const third = fixture.start(imapBlock(server.port), endpoint);
    await until(() => expect(third.statuses[0]?.figures).toMatchObject({ delivered: 2, filtered: 1 }));
  });

  test('takes older mail where a date is given, and only on the first run', async () => {
    await fixture.stop();
    fixture = await mailFixture();
    server.deliver(rawMail('long ago'), { at: new Date('2020-01-01T00:00:00Z') });
    server.deliver(rawMail('last week'), { at: new Date('2026-11-15T12:00:00Z') });
    const { endpoint, subjects } = testEndpoint();
    const block = imapBlock(server.port, { since: '2026-11-10' });
    const service = fixture.start(block, endpoint);
    await until(isConnected(service));
    server.deliver(rawMail('now'));
    await until(() => expect(subjects.at(-1)).toBe('now'));
    expect(subjects).toContain('last week');
    expect(subjects).not.toContain('long ago');
    await service.stop();
    const count = subjects.length;
    await until(isConnected(fixture.start(block, endpoint)));
    expect(subjects).toHaveLength(count);
  });

  test('reads several folders and leaves spam alone', async () => {
    const { endpoint, subjects } = testEndpoint();
    const service = fixture.start(
      imapBlock(server.port, { folders: ['INBOX', 'Work', 'Junk', 'Nowhere'] }),
      endpoint,
    );
    await until(() =>
      expect(service.statuses.map(({ health }) => health.state)).toEqual([
        'connected',
        'connected',
        'misconfigured',
        'misconfigured',
      ]),
    );
    server.deliver(rawMail('work'), { folder: 'Work' });
    server.deliver(rawMail('spam'), { folder: 'Junk' });
    server.deliver(rawMail('inbox'));
    await until(() => expect(subjects.toSorted()).toEqual(['inbox', 'work']));
    // A folder that is misconfigured is looked at again and again, and has no reason while it is.
    await until(() => {
      const reasons = service.statuses.map(({ health }) => ('reason' in health ? health.reason : ''));
      expect(reasons[2]).toContain('holds spam');
      expect(reasons[3]).toContain('no folder "Nowhere"; it has INBOX');
    });
  });

  test('delivers only what the filters let through', async () => {
    const { endpoint, subjects } = testEndpoint();
    const block = imapBlock(server.port, { from: ['@example.com', 'bob@example.net'], subject: ['INVOICE'] });
    const service = fixture.start(block, endpoint);
    await until(isConnected(service));
    server.deliver(rawMail('invoice 1', { from: 'Eve <eve@evil.example>' }));
    server.deliver(rawMail('Invoice 2', { from: 'Carol <carol@example.com>' }));
    server.deliver(rawMail('hello', { from: 'bob@example.net' }));
    server.deliver(rawMail('your invoice', { from: 'BOB@example.net' }));
    await until(() => expect(subjects).toEqual(['Invoice 2', 'your invoice']));
    await until(() =>
      expect(service.statuses[0]?.figures).toMatchObject({ delivered: 2, filtered: 2, setAside: 0 }),
    );
  });
});

describe('what the service answers', () => {
  test('sets a message aside that is refused for itself, and goes on with the next', async () => {
    const test = testEndpoint((request) =>
      JSON.stringify(request.payload).includes('bad')
        ? { status: 400, code: 'mapping_requires_message', detail: 'hook mapping requires message' }
        : { status: 202 },
    );
    const service = fixture.start(imapBlock(server.port), test.endpoint);
    await until(isConnected(service));
    for (const subject of ['good 1', 'bad', 'good 2']) server.deliver(rawMail(subject));
    await until(() => expect(test.subjects).toEqual(['good 1', 'good 2']));
    const [row] = await fixture.storage.listSetAsideMail({ limit: 10 });
    expect(row).toMatchObject({
      state: 'set-aside',
      status: 400,
      code: 'mapping_requires_message',
      from: 'Ann <ann@example.org>',
      subject: 'bad',
      attempts: 1,
    });
    test.answer = () => ({ status: 202 });
    await fixture.storage.retrySetAsideMail({ kind: 'ids', ids: [row?.id ?? ''] });
    await until(() => expect(test.subjects).toEqual(['good 1', 'good 2', 'bad']));
    await vi.waitFor(async () => expect(await fixture.storage.listSetAsideMail({ limit: 10 })).toEqual([]), {
      timeout: 60_000,
    });
  });

  test('sets aside what fails five times with the same 500, and not what fails less', async () => {
    let failures = 0;
    const test = testEndpoint((request) => {
      const text = JSON.stringify(request.payload);
      if (text.includes('poison')) return { status: 500, code: 'transform_failed', detail: 'failed' };
      if (text.includes('shaky') && failures++ < 4) return { status: 500, code: 'mapping_failed' };
      return { status: 202 };
    });
    const service = fixture.start(imapBlock(server.port), test.endpoint);
    await until(isConnected(service));
    for (const subject of ['poison', 'shaky', 'well']) server.deliver(rawMail(subject));
    await until(() => expect(test.subjects).toEqual(['shaky', 'well']));
    expect(await fixture.storage.listSetAsideMail({ limit: 10 })).toMatchObject([
      { subject: 'poison', code: 'transform_failed', status: 500 },
    ]);
    expect(test.requests.filter(({ payload }) => JSON.stringify(payload).includes('poison'))).toHaveLength(5);
  });

  test.each([
    [401, 'unauthorized'],
    [404, 'not_found'],
    [405, 'method_not_allowed'],
    [429, 'too_many_failures'],
    [503, 'backlog_full'],
  ])('waits with all mail on %i, says why, and delivers it afterwards', async (status, code) => {
    const test = testEndpoint(() => ({ status, code, detail: 'nothing is taken' }));
    const service = fixture.start(imapBlock(server.port), test.endpoint);
    await until(isConnected(service));
    server.deliver(rawMail('first'));
    server.deliver(rawMail('second'));
    await until(() => expect(service.statuses[0]?.health).toMatchObject({ state: 'held', code }));
    expect(await fixture.storage.listSetAsideMail({ limit: 10 })).toEqual([]);
    test.answer = () => ({ status: 202 });
    await until(() => expect(test.subjects).toEqual(['first', 'second']));
    await until(isConnected(service));
  });

  test('a repeat that the service knows under another body was delivered before', async () => {
    const test = testEndpoint((request) =>
      JSON.stringify(request.payload).includes('known')
        ? { status: 422, code: 'idempotency_mismatch' }
        : { status: 202 },
    );
    const service = fixture.start(imapBlock(server.port), test.endpoint);
    await until(isConnected(service));
    server.deliver(rawMail('known'));
    server.deliver(rawMail('new'));
    await until(() => expect(test.subjects).toEqual(['new']));
    expect(await fixture.storage.listSetAsideMail({ limit: 10 })).toEqual([]);
  });
});

describe('a level that mail has to reach', () => {
  const MX = 'mx.example.net';
  const proved = (subject: string, dmarc: string): string =>
    `Authentication-Results: ${MX}; dmarc=${dmarc} header.from=example.org\r\n${rawMail(subject)}`;
  const listed = () => fixture.storage.listSetAsideMail({ limit: 10 });

  test('sets other mail aside with the reason; the operator takes it by its id, and never with all others', async () => {
    const test = testEndpoint(({ payload }) =>
      JSON.stringify(payload).includes('refused') ? { status: 400, code: 'bad' } : { status: 202 },
    );
    const block = imapBlock(server.port, { accept: 'verified', authServers: [MX], subject: ['mail'] });
    await until(isConnected(fixture.start(block, test.endpoint)));
    for (const [subject, dmarc] of [
      ['forged mail', 'fail'],
      ['doubtful mail', 'none'],
      ['spam', 'fail'],
      ['good mail', 'pass'],
    ] as const)
      server.deliver(proved(subject, dmarc));
    server.deliver(`Received: from evil.example\r\n${proved('mail under a trace', 'none')}`);
    server.deliver(proved('refused mail', 'pass'));
    server.deliver(proved('last mail', 'pass'));
    await until(() => expect(test.subjects).toEqual(['good mail', 'last mail']));
    expect(await listed()).toMatchObject([
      { subject: 'forged mail', code: 'sender_not_proved', status: 0, from: 'Ann <ann@example.org>' },
      { subject: 'doubtful mail', code: 'sender_not_proved' },
      { subject: 'mail under a trace', code: 'sender_not_proved' },
      { subject: 'refused mail', code: 'bad' },
    ]);
    // One line tells of all of one reason, as strangers decide how many there are.
    const lines = fixture.lines.filter((line) => line.includes('was refused and set aside'));
    expect(lines.map((line) => (JSON.parse(line) as { code: string }).code)).toEqual([
      'sender_not_proved',
      'bad',
    ]);
    const [forged, doubtful] = await listed();
    expect(forged?.reason).toContain('this mail is unverified: mx.example.net says dmarc=fail, dkim=none');
    test.answer = () => ({ status: 202 });
    expect(await fixture.storage.retrySetAsideMail({ kind: 'all' })).toBe(1);
    await until(() => expect(test.subjects.at(-1)).toBe('refused mail'));
    await fixture.storage.retrySetAsideMail({ kind: 'ids', ids: [doubtful?.id ?? ''] });
    await until(() => expect(test.subjects.at(-1)).toBe('doubtful mail'));
    // What is proved stands in the mail that was taken, too.
    expect(messageOf(test.requests.at(-1)).proof).toMatchObject({ level: 'asserted', by: MX });
    await until(async () =>
      expect((await listed()).map(({ subject }) => subject)).toEqual(['forged mail', 'mail under a trace']),
    );
  });

  test.each([
    ['asserted', ['a pass', 'a none'], ['a fail']],
    ['any', ['a pass', 'a none', 'a fail'], []],
  ] as const)('%s', async (accept, delivered, aside) => {
    const test = testEndpoint();
    const block = imapBlock(server.port, { accept, authServers: [MX] });
    await until(isConnected(fixture.start(block, test.endpoint)));
    for (const dmarc of ['pass', 'none', 'fail']) server.deliver(proved(`a ${dmarc}`, dmarc));
    await until(() => expect(test.subjects).toEqual(delivered));
    await until(async () => expect((await listed()).map(({ subject }) => subject)).toEqual(aside));
  });
});

describe('trouble with the server', () => {
  test('a wrong password is dead after three tries; the main session hears of it once', async () => {
    const test = testEndpoint();
    const block = imapBlock(server.port, {
      folders: ['INBOX', 'Work'],
      auth: { kind: 'password', password: 'wrong-password-1' },
    });
    const service = fixture.start(block, test.endpoint);
    const isDead = () =>
      expect(service.statuses.map(({ health }) => health.state)).toEqual([
        'authentication-dead',
        'authentication-dead',
      ]);
    await until(isDead);
    await until(() => expect(test.wakes).toHaveLength(1));
    expect(test.wakes[0]).toContain('The mailbox testuser can no longer be read');
    await service.stop();
    const again = fixture.start(block, test.endpoint);
    await until(() => expect(again.statuses[0]?.health.state).toBe('authentication-dead'));
    expect(test.wakes).toHaveLength(1);
    expect(fixture.lines.join('\n')).not.toContain('wrong-password-1');
  });

  test('comes back after cuts, and after a server that was away', async () => {
    const line = await cuttableLine(server.port);
    const { endpoint, subjects } = testEndpoint();
    const service = fixture.start(imapBlock(line.port), endpoint);
    await until(isConnected(service));
    const expected: string[] = [];
    for (let n = 0; n < 10; n += 1) {
      expected.push(`mail ${n}`);
      server.deliver(rawMail(`mail ${n}`));
      if (n % 2 === 0) line.cut();
    }
    await until(() => expect(subjects).toEqual(expected));
    await line.stop();
    await until(() => expect(service.statuses[0]?.health.state).toBe('backing-off'));
  });

  test('gives up a server that hangs, and connects anew', async () => {
    const line = await cuttableLine(server.port);
    const { endpoint, subjects } = testEndpoint();
    const times = { connectMs: 500, callMs: 500 };
    const service = fixture.start(imapBlock(line.port), endpoint, { open: { imapTimes: times } });
    await until(isConnected(service));
    line.hang();
    await until(() => expect(service.statuses[0]?.health.state).toBe('backing-off'));
    await line.stop();
    await service.stop();
    fixture.start(imapBlock(server.port), endpoint);
    server.deliver(rawMail('after'));
    await until(() => expect(subjects).toEqual(['after']));
  });

  test('only one of two readers reads; the other takes over when the first lets go', async () => {
    const first = testEndpoint();
    const second = testEndpoint();
    const one = fixture.start(imapBlock(server.port), first.endpoint);
    await until(isConnected(one));
    const two = fixture.start(imapBlock(server.port), second.endpoint);
    await until(() => expect(two.statuses[0]?.health.state).toBe('standby'));
    server.deliver(rawMail('a'));
    await until(() => expect(first.subjects).toEqual(['a']));
    await one.stop();
    server.deliver(rawMail('b'));
    await until(() => expect(second.subjects).toEqual(['b']));
    expect(first.subjects).toEqual(['a']);
  });
});

test('after a change of UIDVALIDITY only what is unknown is delivered', async () => {
  const { endpoint, subjects } = testEndpoint();
  for (const n of [1, 2]) server.deliver(rawMail(`there at the start ${n}`));
  const service = fixture.start(imapBlock(server.port), endpoint);
  await until(isConnected(service));
  for (const n of [1, 2, 3]) server.deliver(rawMail(`mail ${n}`));
  await until(() => expect(subjects).toHaveLength(3));
  await service.stop();
  // The server gives all messages new UIDs, in another order, as after a rebuild from a backup.
  const inbox = server.hoodiecrow.getMailbox('INBOX');
  inbox.uidvalidity += 1;
  inbox.messages.reverse();
  for (const [index, message] of inbox.messages.entries()) message.uid = index + 1;
  inbox.uidnext = inbox.messages.length + 1;
  server.deliver(rawMail('while away'));
  const again = fixture.start(imapBlock(server.port), endpoint, {
    times: { ...TEST_TIMES },
  });
  await until(() => expect(subjects.at(-1)).toBe('while away'));
  server.deliver(rawMail('afterwards'));
  await until(() => expect(subjects).toEqual(['mail 1', 'mail 2', 'mail 3', 'while away', 'afterwards']));
  await again.stop();
});

/** A mailbox in which one message ends every connection that asks for it. */
function brokenSource(names: readonly string[]): MailSource {
  return {
    begin: async () => ({ position: '0', floorAt: 0, known: [] }),
    next: async (from) => {
      const candidates = names
        .map((identity, index) => ({ identity, position: String(index + 1) }))
        .slice(Number(from));
      return { candidates, position: candidates.at(-1)?.position ?? from };
    },
    fetch: async (identity) => {
      if (identity === 'bad') throw new MailFailure('connection', 'the server ended the connection');
      const source = Buffer.from(rawMail(identity));
      const content = { kind: 'raw', source, truncated: false } as const;
      return { identity, id: identity, receivedAt: 0, sizeBytes: source.length, content };
    },
    newest: async () => [],
    wait: pause,
    close: () => undefined,
  };
}

test('a message that the server never hands out is set aside, and another try of it stops nothing either', async () => {
  const { endpoint, subjects } = testEndpoint();
  const names = ['bad', 'after it'];
  const ignore = (): void => undefined;
  const reader = new MailboxReader({
    mail: imapBlock(1),
    folder: 'INBOX',
    holder: 'test',
    open: async () => brokenSource(names),
    store: fixture.storage,
    endpoint,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    onHealth: ignore,
    read: (mail) => toMessage(mail, { maxBodyChars: 20_000 }),
    times: { ...TEST_TIMES, maxRetryMs: 10 },
  });
  reader.start();
  try {
    await until(() => expect(subjects).toEqual(['after it']));
    const [row] = await fixture.storage.listSetAsideMail({ limit: 10 });
    expect(row).toMatchObject({ identity: 'bad', code: 'unreadable', state: 'set-aside', attempts: 1 });
    await fixture.storage.retrySetAsideMail({ kind: 'all' });
    await vi.waitFor(
      async () =>
        expect(await fixture.storage.listSetAsideMail({ limit: 10 })).toMatchObject([
          { code: 'unreadable', state: 'set-aside', attempts: 2 },
        ]),
      { timeout: 60_000 },
    );
    names.push('still read');
    reader.wake();
    await until(() => expect(subjects).toEqual(['after it', 'still read']));
  } finally {
    await reader.stop();
  }
});
