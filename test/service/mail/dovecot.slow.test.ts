/** A real IMAP server, and a service that is cut off and killed while mail arrives. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ImapClient } from '../../../src/service/mail/imap-client.ts';
import { dovecotMissing, startDovecot, type Dovecot } from '../../support/dovecot.ts';
import {
  imapBlock,
  mailFixture,
  messageOf,
  testEndpoint,
  type MailFixture,
} from '../../support/mail-fixture.ts';
import { rawMail } from '../../support/mail-server.ts';
import { DINNER, DINNER_KEY } from '../../support/signed-mail.ts';
import { tortureMail } from '../../support/mail-torture.ts';

const missing = dovecotMissing();

describe.skipIf(missing !== undefined)(`Dovecot${missing === undefined ? '' : `: ${missing}`}`, () => {
  let dovecot: Dovecot;
  let fixture: MailFixture | undefined;
  beforeAll(async () => {
    dovecot = await startDovecot();
  });
  afterAll(() => dovecot.stop());
  afterEach(async () => {
    await fixture?.stop();
    fixture = undefined;
  });

  test.concurrent(
    'each mail becomes one run, in order, though connections are cut and the service is killed',
    async () => {
      const result = await tortureMail({ mails: 20, cuts: 3, kills: 1, seed: 20_261_122, reader: 'serve' });
      expect(result).toMatchObject({ delivered: 20, lost: 0, doubled: 0, outOfOrder: 0 });
    },
  );

  test.concurrent(
    'the same holds for "mail run" beside a service whose path asks for another proof',
    async () => {
      const result = await tortureMail({ mails: 20, cuts: 3, kills: 1, seed: 20_261_122, reader: 'run' });
      expect(result).toMatchObject({ delivered: 20, lost: 0, doubled: 0, outOfOrder: 0 });
    },
  );

  test('a wrong password is told from a server that is away', async () => {
    const access = { host: '127.0.0.1', security: 'none', user: 'testuser' } as const;
    const secret = { kind: 'password', value: 'x' } as const;
    const inbox = { folder: 'INBOX' };
    const wrong = ImapClient.open({ ...access, port: dovecot.port, secret }, inbox);
    await expect(wrong).rejects.toMatchObject({ kind: 'authentication' });
    const away = ImapClient.open({ ...access, port: 1, secret }, inbox);
    await expect(away).rejects.toMatchObject({ kind: 'connection' });
  });

  test('a mail of 50 MB is delivered with its text and the list of its attachments', async () => {
    fixture = await mailFixture();
    const { endpoint, requests } = testEndpoint();
    const service = fixture.start(imapBlock(dovecot.port), endpoint);
    await vi.waitFor(() => expect(service.statuses[0]?.health.state).toBe('connected'), { timeout: 60_000 });
    const before = process.memoryUsage().arrayBuffers;
    await dovecot.append([mailOf50Mb()]);
    await vi.waitFor(() => expect(requests).toHaveLength(1), { timeout: 60_000 });
    const message = messageOf(requests[0]);
    expect(message).toMatchObject({
      subject: 'large',
      body: 'see attached',
      truncated: true,
      attachments: [{ name: 'disk.img', type: 'application/octet-stream' }],
    });
    expect(message.attachments[0]?.sizeBytes).toBeGreaterThan(35_000_000);
    expect(message.sizeBytes).toBeGreaterThan(50_000_000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200_000_000);
  });

  test('Dovecot says nothing of senders: signatures do, and a field that claims its name is a stranger', async () => {
    fixture = await mailFixture();
    const { endpoint, subjects, requests } = testEndpoint();
    const block = imapBlock(dovecot.port, { accept: 'verified' });
    const service = fixture.start(block, endpoint, {
      lookUp: async (name) =>
        name === DINNER_KEY[0] ? [[DINNER_KEY[1]]] : Promise.reject(new Error('none')),
    });
    await vi.waitFor(() => expect(service.statuses[0]?.health.state).toBe('connected'), { timeout: 60_000 });
    const forged = 'Authentication-Results: mx.google.com; dmarc=pass header.from=example.org\r\n';
    const dinner = DINNER.replaceAll('\n', '\r\n');
    await dovecot.append([
      `${forged}${rawMail('forged')}`,
      dinner.replace('lost', 'won'),
      `Received: from a by b\r\n${dinner}`,
      rawMail('unsigned'),
    ]);
    await vi.waitFor(() => expect(subjects).toEqual(['Is dinner ready?']), { timeout: 60_000 });
    expect(messageOf(requests[0]).proof).toMatchObject({ level: 'verified', by: 'mailauth' });
    await vi.waitFor(
      async () =>
        expect(await fixture?.storage.listSetAsideMail({ limit: 10 })).toMatchObject([
          { subject: 'forged', code: 'sender_not_proved', reason: expect.stringContaining('is asserted') },
          { subject: 'Is dinner ready?', reason: expect.stringContaining('is unverified: mailauth says') },
          { subject: 'unsigned' },
        ]),
      { timeout: 60_000 },
    );
  });

  test('spam is refused as a folder, and a filter by domain reads what fits', async () => {
    fixture = await mailFixture();
    const { endpoint, subjects } = testEndpoint();
    const service = fixture.start(
      imapBlock(dovecot.port, { folders: ['INBOX', 'Junk'], from: ['@example.net'] }),
      endpoint,
    );
    await vi.waitFor(
      () =>
        expect(service.statuses.map(({ health }) => health.state)).toEqual(['connected', 'misconfigured']),
      { timeout: 60_000 },
    );
    await dovecot.append([rawMail('one'), rawMail('two', { from: 'Bob <bob@example.net>' })]);
    await vi.waitFor(() => expect(subjects).toEqual(['two']), { timeout: 60_000 });
  });
});

function mailOf50Mb(): string {
  const line = `${'QUJD'.repeat(19)}\r\n`;
  return [
    'From: a@example.org',
    'Subject: large',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'see attached',
    '--b',
    'Content-Type: application/octet-stream',
    'Content-Disposition: attachment; filename=disk.img',
    'Content-Transfer-Encoding: base64',
    '',
    `${line.repeat(Math.ceil(50_000_000 / line.length))}--b--`,
    '',
  ].join('\r\n');
}
