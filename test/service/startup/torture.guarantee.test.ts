import { expect, test } from 'vitest';
import { torture } from '../../support/torture.ts';

/** Only ends what hangs. */
const WITHIN_MS = 240_000;
const LONG = { timeout: 2 * WITHIN_MS };

test('four kills under load lose nothing, double nothing and leave nothing half done', LONG, async () => {
  const report = await torture({
    kills: 4,
    killsPerStop: 2,
    minLifeMs: 80,
    maxLifeMs: 400,
    minAnswers: 5,
    clients: 8,
    lanes: 6,
    seed: 7,
    drainMs: WITHIN_MS,
  });
  expect(report).toMatchObject({
    kills: 4,
    stops: 2,
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
    details: [],
  });
  // The figures would be empty praise if the load had not been there.
  expect(report.answered).toBeGreaterThanOrEqual(4 * 5);
  expect(report.sendings).toBeGreaterThan(report.requests);
  expect(Math.min(report.deliveries, report.callbacks, report.conversations.added)).toBeGreaterThan(0);
  const { approved, denied, unanswered, second } = report.approvals;
  expect(Math.min(approved + denied, unanswered, second)).toBeGreaterThan(0);
});
