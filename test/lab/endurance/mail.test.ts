/** The long forms of the mail tests: 1,000 mails under 100 cuts and 50 kills, and a folder of 200,000 messages. */
import { expect, test, vi } from 'vitest';
import { dovecotMissing, startDovecot } from '../../support/dovecot.ts';
import { imapBlock, mailFixture, testEndpoint } from '../../support/mail-fixture.ts';
import { rawMail } from '../../support/mail-server.ts';
import { tortureMail } from '../../support/mail-torture.ts';

const missing = dovecotMissing();

test.skipIf(missing !== undefined).each(['serve', 'run', 'child'] as const)(
  '1,000 mails, 100 cuts, 50 kills of %s: each mail is one run, in order',
  async (reader) => {
    const result = await tortureMail({ mails: 1_000, cuts: 100, kills: 50, seed: 1, reader });
    process.stderr.write(`mail torture of ${reader}: ${JSON.stringify(result)}\n`);
    expect(result).toMatchObject({ delivered: 1_000, lost: 0, doubled: 0, outOfOrder: 0 });
  },
  1_800_000,
);

test.skipIf(missing !== undefined)(
  'a mail is a run within seconds',
  async () => {
    const result = await tortureMail({ mails: 100, cuts: 0, kills: 0, seed: 1, reader: 'serve' });
    process.stderr.write(`quiet mailbox: ${JSON.stringify(result)}\n`);
    expect(result).toMatchObject({ delivered: 100, lost: 0, doubled: 0, outOfOrder: 0 });
    expect(result.medianSeconds).toBeLessThan(5);
  },
  300_000,
);

test.skipIf(missing !== undefined)(
  'a folder of 200,000 messages starts no run, soon and in little memory',
  async () => {
    const dovecot = await startDovecot({ mbox: mbox(200_000) });
    const fixture = await mailFixture();
    try {
      // The server makes its index on the first look, which is its time and not ours.
      await dovecot.append([rawMail('before')]);
      const { endpoint, subjects, requests } = testEndpoint();
      globalThis.gc?.();
      const memoryBefore = process.memoryUsage().rss;
      const startedAt = performance.now();
      const service = fixture.start(imapBlock(dovecot.port), endpoint);
      await vi.waitFor(() => expect(service.statuses[0]?.health.state).toBe('connected'), {
        timeout: 120_000,
        interval: 10,
      });
      const startSeconds = (performance.now() - startedAt) / 1000;
      const memoryMb = (process.memoryUsage().rss - memoryBefore) / 1e6;
      expect(requests).toEqual([]);
      const sentAt = performance.now();
      await dovecot.append([rawMail('after')]);
      await vi.waitFor(() => expect(subjects).toEqual(['after']), { timeout: 60_000, interval: 10 });
      const seconds = (performance.now() - sentAt) / 1000;
      process.stderr.write(`200,000 messages: ${JSON.stringify({ startSeconds, memoryMb, seconds })}\n`);
      expect(startSeconds).toBeLessThan(30);
      expect(memoryMb).toBeLessThan(200);
    } finally {
      await fixture.stop();
      await dovecot.stop();
    }
  },
  600_000,
);

/** Old mail in the mbox format (RFC 4155). */
function mbox(count: number): string {
  const messages: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const at = new Date(Date.UTC(2020, 0, 1) + n * 60_000);
    const date = at.toUTCString().replace(/^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/, '$1 $3 $2 $5 $4');
    messages.push(
      `From ann@example.org ${date}\nFrom: ann@example.org\nSubject: old ${n}\nMessage-ID: <${n}@example.org>\n\nBody ${n}\n\n`,
    );
  }
  return messages.join('');
}
