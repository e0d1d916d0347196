import { expect, test } from 'vitest';
import { torture } from '../../support/torture.ts';

const KILLS = Number(process.env['KILLS'] ?? 200);

test('two hundred kills under load lose nothing and double nothing', { timeout: 30 * 60_000 }, async () => {
  const report = await torture({
    kills: KILLS,
    killsPerStop: 10,
    minLifeMs: 50,
    maxLifeMs: 700,
    minAnswers: 10,
    clients: 16,
    lanes: 6,
    seed: 2026,
    drainMs: 600_000,
    onKill: (done) => {
      if (done % 20 === 0) process.stderr.write(`${done} kills\n`);
    },
  });
  process.stderr.write(`${JSON.stringify(report)}\n`);
  expect(report).toMatchObject({
    kills: KILLS,
    stops: Math.floor(KILLS / 10),
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
  });
  expect(report.answered).toBeGreaterThanOrEqual(KILLS * 10);
  expect(Math.min(report.conversations.added, report.conversations.ended)).toBeGreaterThan(0);
  expect(Math.min(...Object.values(report.approvals))).toBeGreaterThan(0);
});
