import { expect, test } from 'vitest';
import { torture } from '../support/torture.ts';

test('two hundred kills under load lose nothing and double nothing', { timeout: 30 * 60_000 }, async () => {
  const report = await torture({
    kills: 200,
    killsPerStop: 10,
    minLifeMs: 50,
    maxLifeMs: 700,
    clients: 16,
    seed: 2026,
    drainMs: 600_000,
    onKill: (done) => {
      if (done % 20 === 0) process.stderr.write(`${done}/200 kills\n`);
    },
  });
  process.stderr.write(`${JSON.stringify(report)}\n`);
  expect(report).toMatchObject({
    kills: 200,
    stops: 20,
    lost: [],
    doubled: [],
    halved: [],
    failed: [],
    strayed: [],
    unseen: [],
    overlapped: [],
    misdelivered: [],
  });
  expect(report.answered).toBeGreaterThan(2000);
});
