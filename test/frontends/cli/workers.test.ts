/** Runners of workers on the command line: `runners add NAME --worker`, `runners`, and `queue drop --before`. */
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../src/engine/config/config.ts';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { cli } from '../../support/cli-terminal.ts';
import { agent, work } from '../../support/storage-builders.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'sluice-add-runner-'));
});
const write = (text: string): void => writeFileSync(join(cwd, 'sluice.yaml'), text);
const add = (...words: string[]) => cli(['runners', 'add', ...words], { cwd });

test('writes the runner and a token that only its owner reads, and says what to run on the other machine', async () => {
  write('# mine\nserver: { publicUrl: https://hooks.example.org }\ngateway: { runner: echo }\n');
  const { out, err, exitCode } = await add('laptop', '--worker');
  expect([exitCode, err]).toEqual([0, '']);
  const file = join(cwd, '.sluice/secrets/worker-laptop');
  const token = readFileSync(file, 'utf8').trim();
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(out).toContain('\n  sluice worker https://hooks.example.org --token-file token --agent claude\n');
  expect(out + readFileSync(join(cwd, 'sluice.yaml'), 'utf8')).not.toContain(token);
  const { config, findings } = await loadConfig(join(cwd, 'sluice.yaml'), { env: {}, needSecrets: true });
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(config?.settings.gateway.runners['laptop']).toMatchObject({ kind: 'worker', tokens: [token] });
});

test('changes nothing where the runner is there, has no name, or is none of workers', async () => {
  const text = 'gateway: { runners: { laptop: { kind: echo } } }\n';
  write(text);
  for (const [words, said] of [
    [['laptop', '--worker'], 'there is a runner laptop'],
    [['--worker'], 'name one runner'],
    [['a b', '--worker'], 'name one runner'],
    [['office'], 'say --worker'],
  ] as const) {
    const { err, exitCode } = await add(...words);
    expect([exitCode, err]).toEqual([2, expect.stringContaining(said)]);
  }
  expect(readFileSync(join(cwd, 'sluice.yaml'), 'utf8')).toBe(text);
});

test('names the port of their own where workers have one, and lists who has not asked yet', async () => {
  write('gateway: { workers: { listen: { port: 8790 } } }\n');
  expect((await add('laptop', '--worker')).out).toContain('sluice worker https://ADDRESS-OF-WORKERS');
  for (const words of [['runners'], ['runners', 'laptop'], ['runners', 'check', 'laptop']])
    expect(await cli(words, { cwd })).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining('no worker has asked yet') as string,
    });
});

test('lists the workers of a runner, and drops what waits from before a time', async () => {
  write(
    'storage: { url: "sqlite:./store.db" }\ngateway: { runners: { laptop: { kind: worker, tokens: [{ file: token }] } } }\n',
  );
  writeFileSync(join(cwd, 'token'), '0'.repeat(32));
  const storage = await openStorage(`sqlite:${join(cwd, 'store.db')}`);
  const [now, hour] = [Date.now(), 3_600_000];
  const [carried, stale, fresh] = ['carried', 'stale', 'fresh'].map((message) =>
    agent({ message, runner: 'laptop' }),
  );
  await storage.accept(work([carried!], { receivedAt: now - 3 * hour }));
  const lease = { runner: 'laptop', worker: 'mba', attempt: 'attempt-1', until: now + hour };
  await storage.claimRuns({ nowMs: now, limit: 1, worker: lease });
  await storage.noteWorker({ runner: 'laptop', name: 'mba', seenAt: now - 12_000 });
  await storage.accept(work([stale!], { receivedAt: now - 2 * hour }));
  await storage.accept(work([fresh!], { receivedAt: now }));
  await storage.close();
  const listed = await cli(['runners', '--json'], { cwd });
  expect(listed.exitCode).toBe(0);
  expect(JSON.parse(listed.out)).toMatchObject({
    runners: [
      {
        runner: 'laptop',
        kind: 'worker',
        ok: true,
        said: expect.stringMatching(/^mba, last heard of \d+ s ago, 1 under way$/) as string,
      },
    ],
  });
  const drop = (...words: string[]) => cli(['queue', 'drop', ...words, '--yes'], { cwd });
  expect(await drop('--before', 'yesterday')).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining('--before takes a time') as string,
  });
  expect(await drop('--before', new Date(now - hour).toISOString())).toMatchObject({
    exitCode: 0,
    out: '1 dropped\n',
  });
  const again = await openStorage(`sqlite:${join(cwd, 'store.db')}`, { mode: 'attached' });
  const states = await Promise.all(
    [carried, stale, fresh].map(async (run) => (await again.findRun(run!.id))?.state),
  );
  await again.close();
  expect(states).toEqual(['active', 'completed', 'queued']);
});
