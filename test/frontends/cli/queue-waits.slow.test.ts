import { afterAll, expect, test } from 'vitest';
import { openBench, serveBench, TOKEN } from '../../support/cli-service.ts';
import { listIn } from '../../support/output-check.ts';

const bench = openBench(
  {
    'sluice.yaml': `hooks: {enabled: true, token: ${TOKEN}, defaults: {limits: {runsPerHour: 1}}}
server: {port: 0}
gateway: {heartbeat: {everySeconds: 0}}
`,
    'mappings/a.yaml': '{id: a, match: {path: a}, messageTemplate: hi, deliver: false}\n',
    'mappings/asked.yaml':
      '{id: asked, match: {path: asked}, messageTemplate: "hi {{text}}", deliver: false, limits: {runsPerHour: 9}, approve: {channel: slack, to: C0123456}}\n',
  },
  afterAll,
);
const service = await serveBench(bench, [], afterAll);
/** Each look is a command with a start of its own. */
const SELDOM = { interval: 300 };
const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

test('queue pause and resume, and what waits for a limit, are told everywhere', async () => {
  for (let sent = 0; sent < 3; sent += 1)
    expect((await fetch(`${service.url}/hooks/a`, { method: 'POST', headers, body: '{}' })).status).toBe(202);
  const queue = async () => bench.run(['queue']);
  await expect
    .poll(async () => (await queue()).err, SELDOM)
    .toContain('mapping a is at its limit (limits.runsPerHour): 2 runs wait');
  expect((await queue()).out.match(/at its limit/g)).toHaveLength(2);

  expect((await bench.run(['queue', 'pause', 'a'])).out).toBe('paused mapping a\n');
  expect((await bench.run(['queue', 'pause', 'a', '--json'])).out).toContain('"changed":0}\n');
  expect((await queue()).err).toContain('"sluice queue resume a" ends that');
  const rows = listIn<{ id: string }>((await bench.run(['queue', '--json'])).out);
  const id = String(rows[0]?.id);
  expect((await bench.run(['explain', id])).out).toMatch(/waits: mapping a has been paused since/);
  expect((await bench.run(['doctor'])).out).toMatch(/problem +queue +mapping a has been paused since/);
  expect(await bench.run(['queue', 'resume', 'b'])).toMatchObject({ exitCode: 1 });

  // Named by its id it goes before the limit, but not before the pause.
  expect((await bench.run(['queue', 'retry', id])).out).toBe('1 due now\n');
  expect((await bench.run(['queue', 'pause'])).out).toBe('paused the queue\n');
  expect((await bench.run(['queue', 'resume', 'a'])).err).toContain('the queue has been paused since');
  expect((await bench.run(['queue', 'resume'])).out).toBe('resumed\n');
  // Turns of the main session, which hears of them, are runs too.
  const completed = ['runs', '--state', 'completed', '--kind', 'hook', '--json'];
  await expect.poll(async () => listIn((await bench.run(completed)).out), SELDOM).toHaveLength(2);
  expect(await bench.run(['queue', 'resume'])).toMatchObject({ exitCode: 1 });
});

test('a run that waits for an approval is told everywhere, and begins by the command', async () => {
  const ids: string[] = [];
  const body = JSON.stringify({ text: `\u202e${'x'.repeat(2_000)}` });
  for (let sent = 0; sent < 3; sent += 1) {
    const answer = await fetch(`${service.url}/hooks/asked`, { method: 'POST', headers, body });
    ids.push(((await answer.json()) as { runId: string }).runId);
  }
  const [good = '', bad = '', dropped = ''] = ids;
  expect((await bench.run(['queue'])).out).toMatch(new RegExp(`${good} +run +asked +queued .* approval`));
  expect((await bench.run(['explain', good])).out).toContain(`sluice approve ${good}, or with --deny`);
  expect((await bench.run(['approve', good])).out).toBe(`approved run ${good}\n`);
  const again = await bench.run(['approve', good, '--deny']);
  expect(again).toMatchObject({ exitCode: 1 });
  expect(again.err).toMatch(/is decided: it was approved by command at /);
  expect((await bench.run(['approve', bad, '--deny', '--json'])).out).toContain(
    '"decision":"denied","isFirst":true',
  );
  expect(await bench.run(['approve', 'unknown'])).toMatchObject({ exitCode: 2 });
  // All that it reads is shown before somebody decides, also where the request itself is not kept.
  expect((await bench.run(['explain', dropped])).out).toMatch(/it reads\n[^]*\| hi \[U\+202E\]x{2000}\n/);
  await bench.run(['queue', 'drop', dropped, '--yes']);
  expect((await bench.run(['approve', dropped])).err).toContain(`run ${dropped} is decided: it was dropped`);
  await expect
    .poll(async () => (await bench.run(['explain', good])).out, SELDOM)
    .toMatch(/completed, ok after 1 attempt/);
  expect((await bench.run(['explain', good])).out).toMatch(/ {2}approved by command at /);
  await expect
    .poll(async () => (await bench.run(['explain', bad])).out, SELDOM)
    .toContain('error denied: the run was denied');
});
