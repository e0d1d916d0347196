/** The key that Notion brings: taken once while it is waited for, and good when it is confirmed. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createHmac } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { takeKey } from '../../../src/service/startup/sent-key.ts';
import { serviceAdvice } from '../../../src/frontends/cli/lazy-advice.ts';
import { startService } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { cli } from '../../support/cli-terminal.ts';

const env = { SLUICE_HOOK_TOKEN: 'hook-token-of-the-test-0123456789', PATH: process.env['PATH'] };
const KEY = 'secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl';

test.each([
  ['yes', 202],
  ['no', 401],
])('a key that is answered with %s', async (answer, status) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-key-'));
  const configFile = join(folder, 'sluice.yaml');
  writeFileSync(
    configFile,
    'hooks: { enabled: true, token: "${SLUICE_HOOK_TOKEN}" }\nserver: { port: 0 }\ngateway: { runner: { kind: echo } }\n',
  );
  const file = join(folder, '.sluice/secrets/notion');
  expect((await cli(['add', 'notion'], { cwd: folder, env })).err).toContain('run this again in a terminal');
  const log = createLogger({ destination: { write: () => true } });
  const service = await startService({ ...serviceAdvice, configFile, env, log });
  onTestFinished(() => service.stop());
  const post = async (body: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
    (await fetch(`${new URL(service.url).origin}/hooks/notion`, { method: 'POST', body, headers })).status;
  const offer = `{"verification_token":"${KEY}"}`;
  expect(await post(offer)).toBe(401);

  let isWaiting: () => void = () => undefined;
  const waiting = new Promise<void>((resolve) => (isWaiting = resolve));
  const added = cli(['add', 'notion'], {
    cwd: folder,
    env,
    answers: [answer],
    onPrint: (text) => {
      if (text.includes('Waiting')) isWaiting();
    },
  });
  await waiting;
  expect(await post(`{"verification_token":"${KEY}","more":1}`)).toBe(401);
  expect(await post(offer)).toBe(200);
  expect(await post('{"verification_token":"secret_of_a_stranger_000000"}')).toBe(401);
  const { out } = await added;
  expect(out).toContain(KEY);
  expect(existsSync(file)).toBe(answer === 'yes');
  if (answer === 'yes') {
    expect(readFileSync(file, 'utf8').trim()).toBe(KEY);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  expect(existsSync(`${file}.sent`) || existsSync(`${file}.wanted`)).toBe(false);

  await service.reload();
  const event = JSON.stringify({ id: 'e1', type: 'comment.created', entity: { id: 'c', type: 'comment' } });
  const signature = createHmac('sha256', KEY).update(event).digest('hex');
  expect(await post(event, { 'x-notion-signature': `sha256=${signature}` })).toBe(status);
});

test('a key is taken within ten minutes, and once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-key-'));
  const file = join(folder, '.sluice/secrets/notion');
  mkdirSync(join(folder, '.sluice/secrets'), { recursive: true });
  const verify = {
    settings: { scheme: 'notion', secrets: [{ file: '.sluice/secrets/notion' }] },
    secrets: [''],
  };
  const generation = {
    config: { file: join(folder, 'sluice.yaml') },
    table: { settingsOf: () => ({ verify }) },
  } as unknown as Parameters<typeof takeKey>[0];
  const begin = Date.parse('2026-03-01T12:00:00Z');
  const want = (): void => {
    writeFileSync(`${file}.wanted`, '\n');
    utimesSync(`${file}.wanted`, begin / 1000, begin / 1000);
  };
  const take = (key: string, afterMs: number): Promise<boolean> =>
    takeKey(generation, { path: 'notion', key, nowMs: begin + afterMs });
  expect(await take('nobody-waits', 0)).toBe(false);
  want();
  const both = await Promise.all([take('first-key', 600_000), take('second-key', 600_000)]);
  expect(both.toSorted()).toEqual([false, true]);
  expect(readFileSync(`${file}.sent`, 'utf8').trim()).toBe(both[0] ? 'first-key' : 'second-key');
  expect(await take('third-key', 1)).toBe(false);
  want();
  expect(await take('late-key', 600_001)).toBe(false);
  expect(await take('late-key', 0)).toBe(false);
  expect(readFileSync(`${file}.sent`, 'utf8')).not.toContain('late-key');
});
