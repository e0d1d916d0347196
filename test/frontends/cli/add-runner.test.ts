/** `sluice runners add NAME --worker` writes a runner that a service serves, and shows its token to nobody. */
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../src/engine/config/config.ts';
import { cli } from '../../support/cli-terminal.ts';

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
