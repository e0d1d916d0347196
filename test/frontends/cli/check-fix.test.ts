/** `sluice check --fix` makes the edits of findings, in the files as they are, and says what it wrote; `--explain` prints pages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBench } from '../../support/cli-service.ts';
import { listIn } from '../../support/output-check.ts';

const ENV = { PATH: process.env['PATH'], T: 'a-hook-token-0123456789' };

const CONFIG = `# a comment that stays
hooks:
  enabled: yes   # YAML 1.2 knows no yes
  token: "\${T}"
  maxBodyBytes: '2000000'
gateway:
  runner: {kind: command, argv: [cat], cwd: private}
`;

const MAPPINGS = `- id: alert
  match:
    path: grafana
    when: '{"===": [{"var": "status"}, "firing"]}'
  mesageTemplate: {{title}} fires: now   # to the agent
  timeoutSeconds: '600'
  sessionKey: 'hook:grafana'
- match: { path: github, when: { '!!': { var: headers.X-GitHub-Event } } }
  messageTemplate: '{{trunkate ref 40}}'
`;

test('mends what is mechanical in all files, round after round, and leaves the rest as it is', async () => {
  const bench = openBench({ 'sluice.yaml': `\uFEFF${CONFIG}`, 'mappings/all.yaml': MAPPINGS });
  const before = await bench.run(['check', '--json'], { env: ENV });
  expect(listIn(before.out)).not.toEqual([]);
  const fixed = await bench.run(['check', '--fix'], { env: ENV });
  expect(fixed.out).toMatch(/^no findings: 2 mappings/);
  expect(fixed.exitCode).toBe(0);
  expect(fixed.err.split('\n').filter((line) => line.startsWith('fixed ')).length).toBeGreaterThan(6);
  const read = (file: string): string => readFileSync(join(bench.folder, file), 'utf8');
  expect(read('sluice.yaml')).toBe(
    `\uFEFF${CONFIG.replace('enabled: yes ', 'enabled: true ').replace("'2000000'", '2000000')}`,
  );
  expect(read('mappings/all.yaml')).toBe(`- id: alert
  match:
    path: grafana
    when: {"===": [{"var": "status"}, "firing"]}
  messageTemplate: '{{title}} fires: now'   # to the agent
  timeoutSeconds: 600
  sessionKey: 'hook:grafana'
- match: { path: github, when: { '!!': { var: headers.x-github-event } } }
  messageTemplate: '{{truncate ref 40}}'
`);
});

test('changes nothing where there is nothing to mend', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG.replace('yes', 'true').replace("'2000000'", '2000000') });
  const text = readFileSync(join(bench.folder, 'sluice.yaml'), 'utf8');
  const fixed = await bench.run(['check', '--fix'], { env: ENV });
  expect(fixed.err).toBe('');
  expect(readFileSync(join(bench.folder, 'sluice.yaml'), 'utf8')).toBe(text);
});

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
