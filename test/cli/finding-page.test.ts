import { expect, test } from 'vitest';
import { openBench } from '../support/cli-service.ts';

test('check --explain prints the page of a code without what is for the tests, wherever it is asked', async () => {
  const { run } = openBench();
  const { exitCode, out } = await run(['check', '--explain', 'unknown-channel']);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^# UNKNOWN_CHANNEL\n/);
  expect(out).toContain('sluice check says:\n\nerror UNKNOWN_CHANNEL: unknown channel "telegrm"');
  expect(out).toContain('sluice check --fix makes of mappings.yaml:\n\n');
  expect(out).not.toContain('```');
});

test('of a code that is none, check --explain names the nearest', async () => {
  const { run } = openBench();
  for (const [asked, said] of [
    ['UNKNOWN_CHANEL', 'did you mean UNKNOWN_CHANNEL?'],
    ['../../README', 'a finding begins with its code'],
  ] as const) {
    const { exitCode, err } = await run(['check', '--explain', asked]);
    expect([exitCode, err]).toEqual([2, expect.stringContaining(said)]);
  }
});
