/** A reply that reached nobody, and a callback that was not taken: what is said above all else of its request. */
import { expect, test } from 'vitest';
import { OUTBOX_RULES } from '../../src/explanation/outbox-notes.ts';
import type { OutboxRecord } from '../../src/storage/storage.ts';
import { settingsWith } from '../support/hook-fixture.ts';
import { agent, NOW, origin } from '../support/storage-builders.ts';
import { printSentence } from '../../src/finding.ts';

const [mapping] = settingsWith({
  table: `- {id: m, match: {path: p}, channel: slack, to: "{{team.channel}}", trust: [to], messageTemplate: x}`,
}).table.mappings;

const entry = (parts: Partial<OutboxRecord>): OutboxRecord => ({
  id: 'outbox-1',
  kind: 'delivery',
  runId: 'run-1',
  state: 'dead',
  attempts: 1,
  chunksSent: 0,
  createdAt: NOW,
  dueAt: NOW,
  delivery: { channel: 'slack', to: '#ops', text: 'done', fromMain: false },
  lastError: { code: 'not_found', message: 'Slack knows no such recipient' },
  ...parts,
});

function noteOf(setting: keyof typeof OUTBOX_RULES, parts: Partial<OutboxRecord>): string | undefined {
  const action = agent({ id: 'run-1', origin });
  const run = { id: 'run-1', kind: 'hook', action, state: 'completed', attempts: 1 } as const;
  const runs = [{ run: { ...run, acceptedAt: NOW, dueAt: NOW }, outbox: [entry(parts)] }];
  const stored = { runs, events: [] };
  const told = OUTBOX_RULES[setting]({ config: {} as never, stored, mapping });
  return told && printSentence(told.text);
}

test('a delivery that was given up says to whom and why; one that went out, or did not begin, says nothing', () => {
  expect(noteOf('channel', {})).toBe('slack (#ops) did not get the message: Slack knows no such recipient');
  expect(noteOf('channel', { state: 'completed' })).toBeUndefined();
  expect(noteOf('callbackUrl', {})).toBeUndefined();
});

test('a recipient that rendered empty is told with a default for it', () => {
  const lastError = { code: 'no_recipient', message: 'there is no recipient' };
  expect(noteOf('channel', { lastError })).toContain(`Write to: '{{default team.channel "RECIPIENT"}}'`);
});

test('a callback that was refused says so, and that it is tried again', () => {
  const callback = { url: 'https://a.example/x', body: '{}' };
  expect(noteOf('callbackUrl', { kind: 'callback', callback, state: 'queued' })).toMatch(
    /; it is tried again$/,
  );
});
