import { expect, test } from 'vitest';
import { JournalBuffer } from '../../src/storage/client/journal-buffer.ts';
import type { DecisionRecord } from '../../src/storage/storage.ts';

test('a request is handed over before its decision: who finds the decision finds the request', () => {
  const calls: string[] = [];
  const journal = new JournalBuffer({
    keepRequests: async () => void calls.push('request'),
    recordDecisions: async () => void calls.push('decision'),
    recordStrangers: async () => void calls.push('stranger'),
  });
  const decision: DecisionRecord = {
    requestId: 'r',
    receivedAt: 1,
    path: 'p',
    status: 202,
    outcome: 'accepted',
    bodyBytes: 2,
    tookMs: 1,
    actionIds: [],
    generation: 'g',
  };
  journal.recordDecision(decision);
  journal.keepRequest({ requestId: 'r', receivedAt: 1, json: '{}' });
  journal.stop();
  expect(calls).toEqual(['request', 'decision']);
});
