import { expect, test } from 'vitest';
import { dovecotMissing } from '../../support/dovecot.ts';
import { fleetTorture } from '../../support/fleet-torture.ts';

const KILLS = Number(process.env['KILLS'] ?? 50);

const FORMS = [
  ['', {}],
  [', with runs of a mapping limited over all services', { maxRunsPerMapping: 3 }],
] as const;

test.each(FORMS)(
  'kills of random services on one store lose nothing, double nothing and keep every order%s',
  { timeout: 5 * 60_000 + KILLS * 30_000 },
  async (_, form) => {
    const report = await fleetTorture({
      ...form,
      hasMail: dovecotMissing() === undefined,
      replicas: 3,
      kills: KILLS,
      minLifeMs: 200,
      maxLifeMs: 1_500,
      clients: 6,
      lanes: 6,
      leaseSeconds: 4,
      seed: 2026,
      // Senders are faster than those who perform: the more kills, the more has gathered.
      drainMs: 60_000 + KILLS * 15_000,
      onKill: (done) => {
        if (done % 10 === 0) process.stderr.write(`${done} kills\n`);
      },
    });
    process.stderr.write(`${JSON.stringify(report)}\n`);
    expect(report).toMatchObject({
      lost: [],
      doubled: [],
      halved: [],
      failed: [],
      strayed: [],
      unseen: [],
      overlapped: [],
      misdelivered: [],
      misapproved: [],
      conversationFaults: [],
      liveTokens: [],
      faults: [],
      misread: [],
    });
    expect(report.answered).toBeGreaterThan(500);
    expect(Math.min(report.conversations.added, report.conversations.ended)).toBeGreaterThan(0);
    const { approved, denied, unanswered, second } = report.approvals;
    expect(Math.min(approved, denied, unanswered, second)).toBeGreaterThan(0);
  },
);
