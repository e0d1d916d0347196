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

const CONSTANT = (comment: string): string => `id: alerts
match: { path: a }
messageTemplate: '{{title}}'
${comment}
dedupe: { key: alerts }
`;
const RUNNER =
  'hooks: { enabled: true, token: "${T}" }\ngateway: { runner: { kind: command, argv: [cat], cwd: private } }\n';

test('a warning that is meant is left out, counted, and listed with its reason', async () => {
  const bench = openBench({
    'sluice.yaml': RUNNER,
    'mappings/a.yaml': CONSTANT('# sluice-ignore DEDUPE_KEY_CONSTANT: one an hour'),
  });
  const { out, exitCode } = await bench.run(['check', '--strict'], { env: ENV });
  expect([out, exitCode]).toEqual([
    expect.stringMatching(/^no findings: .*\nleft out, as the files say they are meant: 1\n/),
    0,
  ]);
  const { ignored } = JSON.parse((await bench.run(['check', '--json'], { env: ENV })).out) as {
    readonly ignored: readonly object[];
  };
  expect(ignored).toEqual([
    expect.objectContaining({ code: 'DEDUPE_KEY_CONSTANT', line: 5, reason: 'one an hour' }),
  ]);
});

test('a comment of no use is told in each file, also where two have the same text', async () => {
  const text =
    '# sluice-ignore DEDUPE_KEY_CONSTANT: meant\n{ match: { path: a }, messageTemplate: x, continue: true }\n';
  const bench = openBench({ 'sluice.yaml': RUNNER, 'mappings/a.yaml': text, 'mappings/b.yaml': text });
  const { out } = await bench.run(['check'], { env: ENV });
  expect(out.match(/IGNORE_COMMENT/g)).toHaveLength(2);
});

test.each([
  ['no reason', CONSTANT('# sluice-ignore DEDUPE_KEY_CONSTANT'), ['DEDUPE_KEY_CONSTANT', 'IGNORE_COMMENT']],
  ['no code', CONSTANT('# sluice-ignore : meant'), ['DEDUPE_KEY_CONSTANT', 'IGNORE_COMMENT']],
  [
    'another code',
    CONSTANT('# sluice-ignore TEXT_CUT_BY_COMMENT: meant'),
    ['DEDUPE_KEY_CONSTANT', 'IGNORE_COMMENT'],
  ],
  ['the sign of JSON5', CONSTANT('# // sluice-ignore DEDUPE_KEY_CONSTANT: meant'), ['DEDUPE_KEY_CONSTANT']],
  [
    'safety',
    'id: a\nmatch: { path: a }\nmessageTemplate: "{{title}}"\n# sluice-ignore UNSAFE_CONTENT_ALLOWED: meant\nallowUnsafeExternalContent: true\n',
    ['IGNORE_COMMENT', 'UNSAFE_CONTENT_ALLOWED'],
  ],
  [
    'an error',
    'id: a\nmatch: { path: a }\n# sluice-ignore UNKNOWN_KEY: meant\nmesageTemplate: "{{title}}"\n',
    ['UNKNOWN_KEY'],
  ],
])('a comment with %s leaves nothing out', async (_what, mapping, codes) => {
  const bench = openBench({ 'sluice.yaml': RUNNER, 'mappings/a.yaml': mapping });
  const { out } = await bench.run(['check', '--json'], { env: ENV });
  const { findings, ignored } = JSON.parse(out) as {
    readonly findings: readonly { readonly code: string }[];
    readonly ignored: readonly object[];
  };
  expect([findings.map(({ code }) => code).toSorted(), ignored]).toEqual([codes, []]);
});
