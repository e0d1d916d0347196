import { expect, test } from 'vitest';
import { createHealth, type Health } from '../../../src/base/telemetry/telemetry.ts';

interface Line {
  readonly level: 'warn' | 'info';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

function open(): { readonly health: Health; readonly lines: Line[]; tick(ms: number): void } {
  const lines: Line[] = [];
  let now = 1_000;
  const write = (level: Line['level']) => (fields: Line['fields'], message: string) =>
    void lines.push({ level, fields, message });
  const health = createHealth({ log: { warn: write('warn'), info: write('info') }, clock: () => now });
  return { health, lines, tick: (ms) => void (now += ms) };
}

test('a trouble is listed with its beginning and said once, however often it is raised', () => {
  const { health, lines, tick } = open();
  health.raise({ code: 'runner_away', name: 'slow', message: 'no answer' });
  tick(500);
  health.raise({ code: 'runner_away', name: 'slow', message: 'connection refused' });
  health.raise({ code: 'runner_away', name: 'other', message: 'no answer' });
  expect(health.unready()).toEqual([]);
  expect(health.degraded()).toEqual([
    {
      code: 'runner_away',
      since: 1_000,
      count: 2,
      details: [
        { name: 'slow', message: 'connection refused', since: 1_000 },
        { name: 'other', message: 'no answer', since: 1_500 },
      ],
    },
  ]);
  expect(lines.map(({ level, fields }) => [level, fields['name']])).toEqual([
    ['warn', 'slow'],
    ['warn', 'other'],
  ]);
});

test('what is well again leaves the list and is said once', () => {
  const { health, lines, tick } = open();
  health.raise({ code: 'store_cannot_accept', message: 'the disk is full' });
  expect(health.unready()).toMatchObject([{ code: 'store_cannot_accept', count: 1 }]);
  tick(2_500);
  health.clear({ code: 'store_cannot_accept' });
  health.clear({ code: 'store_cannot_accept' });
  expect(health.unready()).toEqual([]);
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']);
  expect(lines[1]?.fields).toEqual({ condition: 'store_cannot_accept', afterSeconds: 2.5 });
  expect(lines[1]?.message).toBe('recovered');
  health.raise({ code: 'reload_rejected', message: '1 finding' });
  health.clear({ code: 'reload_rejected' });
  expect(lines[3]?.message).toMatch(/are live$/);
});

test('a code can be told as a whole: who is named is in trouble, the others are well', () => {
  const { health, lines } = open();
  health.replace('transform_failing', [
    { name: 'a.ts', message: 'failed' },
    { name: 'b.ts', message: 'failed' },
  ]);
  health.replace('transform_failing', [{ name: 'b.ts', message: 'failed' }]);
  expect(health.degraded()).toMatchObject([{ code: 'transform_failing', details: [{ name: 'b.ts' }] }]);
  health.replace('transform_failing', []);
  expect(health.degraded()).toEqual([]);
  expect(lines.map(({ level, fields }) => [level, fields['name']])).toEqual([
    ['warn', 'a.ts'],
    ['warn', 'b.ts'],
    ['info', 'a.ts'],
    ['info', 'b.ts'],
  ]);
});

test('the list is bounded', () => {
  const { health, lines } = open();
  for (let i = 0; i < 5_000; i += 1) health.raise({ code: 'mailbox_away', name: `c${i}`, message: 'away' });
  expect(health.degraded()[0]?.count).toBe(1_000);
  expect(lines).toHaveLength(1_000);
});
