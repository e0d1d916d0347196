import { expect, test } from 'vitest';
import { fleetTorture } from '../support/fleet-torture.ts';

test(
  'a hundred kills of random services on one store lose nothing and double nothing',
  { timeout: 30 * 60_000 },
  async () => {
    const report = await fleetTorture({
      replicas: 3,
      kills: 100,
      minLifeMs: 200,
      maxLifeMs: 1_500,
      clients: 6,
      leaseSeconds: 2,
      seed: 2026,
      drainMs: 600_000,
      onKill: (done) => {
        if (done % 10 === 0) process.stderr.write(`${done}/100 kills\n`);
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
    });
    expect(report.answered).toBeGreaterThan(1_000);
  },
);
