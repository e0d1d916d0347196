/** What debounce did with a request: it waits, it was joined, and what acts on the first event at once. */
import { expect, test } from 'vitest';
import { debounceNote } from '../../src/explanation/debounce-note.ts';
import type { RunRecord } from '../../src/storage/storage.ts';
import { evaluateHook, settingsWith } from '../support/hook-fixture.ts';
import { agent, NOW, origin } from '../support/storage-builders.ts';
import { printSentence } from '../../src/finding.ts';

function mappingOf(seconds: number) {
  const settings = settingsWith({
    table: `- {id: m, match: {path: p}, debounce: {key: "{{camera}}", seconds: ${seconds}}, messageTemplate: x}`,
  });
  const { evaluation } = evaluateHook({ path: 'p', payload: { camera: 'a' } }, settings);
  if (evaluation.mapping === undefined) throw new Error('no mapping took it');
  return evaluation.mapping;
}

const run = (parts: Partial<RunRecord>): RunRecord => ({
  id: 'run-1',
  kind: 'hook',
  action: agent({ id: 'run-1', origin }),
  state: 'queued',
  attempts: 0,
  acceptedAt: NOW,
  dueAt: NOW + 1_800_000,
  ...parts,
});

function textOf(seconds: number, parts: Partial<RunRecord>, requestId = 'request-1'): string {
  const decision = {
    requestId,
    receivedAt: NOW,
    path: 'p',
    status: 202,
    outcome: 'accepted',
    actionIds: ['run-1'],
    generation: 'g',
    tookMs: 1,
    bodyBytes: 1,
  } as const;
  const stored = { decision, runs: [{ run: run(parts), outbox: [] }], events: [] };
  const note = debounceNote({ mapping: mappingOf(seconds), stored });
  return note === undefined ? '' : printSentence(note.text);
}

const DONE = { state: 'completed', attempts: 1 } as const;
const second = agent({ id: 'run-2', origin: { ...origin, requestId: 'request-2' } });

test('a run that waits says when it begins, and what acts on the first event at once', () => {
  expect(textOf(1800, {})).toBe(
    "the run waits until no event of its key came for 1800 s (30 min), at most 18000 s (5 h) after the first: it begins at 2027-01-15T08:30:00Z if no other comes. To act on the first event at once, and then on none of its key for 1800 s (30 min), write dedupe: { key: '{{camera}}', ttlSeconds: 1800 } in place of debounce",
  );
  expect(textOf(3000, {})).toContain('The unit is seconds: for 3 s write seconds: 3');
});

test('an event that joined the run of another request says whose it is', () => {
  const parts = { eventCount: 2, events: [second] };
  expect(textOf(1800, parts, 'request-2')).toMatch(
    /^this event is number 2 of run run-1, which the request request-1 began: it has no run of its own\. The run waits/,
  );
  expect(textOf(30, { ...parts, ...DONE })).toMatch(
    /^it made one run of 2 events.*To act on the first event/,
  );
});

test('a run of one event that began after a short wait is nothing to tell', () => {
  expect(textOf(30, DONE)).toBe('');
  expect(textOf(1800, DONE)).toContain('the run began only when no other event of its key had come');
});
