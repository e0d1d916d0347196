/** A mapping's `callbackUrl` by reference, through the service: what `check` takes must start and call back. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Service, startService } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { startPlatform, type PlatformServer } from '../../support/platform-server.ts';
import { until } from '../../support/service-process.ts';
import { said } from '../../support/said.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TOKEN = 'callback-token-0123456789';

interface Started {
  readonly folder: string;
  readonly service: Service;
  readonly receiver: PlatformServer;
  readonly log: readonly string[];
}

async function start(
  callbackUrl: unknown,
  place: (folder: string, url: string) => NodeJS.ProcessEnv,
): Promise<Started> {
  const folder = temporaryFolder();
  const receiver = await startPlatform(() => ({ status: 204 }));
  onTestFinished(() => receiver.stop());
  const configFile = join(folder, 'sluice.json');
  const mapping = { id: 'told', match: { path: 'told' }, messageTemplate: 'x', deliver: false, callbackUrl };
  writeFileSync(
    configFile,
    JSON.stringify({
      hooks: { enabled: true, token: TOKEN, mappings: [mapping] },
      server: { port: 0, stopGraceSeconds: 0.1 },
      gateway: { heartbeat: { everySeconds: 0 } },
      log: { level: 'debug' },
    }),
  );
  const env = place(folder, `${receiver.url}/secret-path-4711`);
  const log: string[] = [];
  const logger = createLogger({ destination: { write: (line) => log.push(line) > 0 } });
  const service = await startService({ configFile, env, log: logger });
  onTestFinished(() => service.stop());
  return { folder, service, receiver, log };
}

async function expectCallback({ folder, service, receiver, log }: Started): Promise<void> {
  const answer = await fetch(`${service.url}/hooks/told`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: '{}',
  });
  expect(answer.status).toBe(202);
  await until('the callback', () => (receiver.requests.length === 1 ? true : undefined));
  expect(receiver.requests[0]?.body).toMatchObject({ type: 'run.completed' });
  expect(log.join('')).not.toContain('secret-path-4711');
  const store = join(folder, '.sluice');
  const files = readdirSync(store).filter((name) => name.startsWith('sluice.db'));
  expect(files).not.toEqual([]);
  for (const file of files) {
    const bytes = readFileSync(join(store, file), 'latin1');
    expect([file, bytes.includes('secret-path-4711')]).toEqual([file, false]);
  }
}

test('${NAME} in callbackUrl is the variable, and its value stays out of the log', async () => {
  const started = await start('${CALLBACK}', (_folder, url) => ({ CALLBACK: url }));
  await expectCallback(started);
});

test('{file: PATH} in callbackUrl is the text of the file, which is watched', async () => {
  let file = '';
  const started = await start({ file: 'callback.url' }, (folder, url) => {
    file = join(folder, 'callback.url');
    writeFileSync(file, `${url}\n`);
    return {};
  });
  expect(started.service.watchedPaths()).toContain(file);
  await expectCallback(started);
});

test.each(['a variable that is not set', 'a variable that is no URL'])(
  'a start is refused for %s, with the place',
  async (what) => {
    const env = what === 'a variable that is no URL' ? { CALLBACK: 'not-a-url-4711' } : {};
    const found: string[] = [];
    const folder = temporaryFolder();
    const configFile = join(folder, 'sluice.yaml');
    const mapping = '{id: told, messageTemplate: x, callbackUrl: "${CALLBACK}"}';
    writeFileSync(configFile, `hooks: {enabled: true, token: ${TOKEN}, mappings: [${mapping}]}\n`);
    const log = createLogger({ destination: { write: () => true } });
    const starting = startService({
      configFile,
      env,
      log,
      onFindings: (all) => void found.push(...all.map(({ code, message }) => `${code} ${said(message)}`)),
    });
    await expect(starting).rejects.toThrow();
    expect(found).toContainEqual(
      expect.stringMatching(/^INVALID_CALLBACK_URL the value that callbackUrl refers to/),
    );
    expect(found.join()).not.toContain('4711');
  },
);
