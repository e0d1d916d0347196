import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Service, startService } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';

const TOKENS = { near: 'near-token-0123456789', far: 'far-token-9876543210' };

/** A whole service on a free port with the given gateway settings. */
async function start(token: string, gateway: object): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-forward-'));
  const configFile = join(folder, 'sluice.json');
  writeFileSync(
    configFile,
    JSON.stringify({ hooks: { enabled: true, token, exposeRuns: true }, server: { port: 0 }, gateway }),
  );
  const log = createLogger({ destination: { write: () => true } });
  const service = await startService({ configFile, env: {}, log });
  onTestFinished(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return service;
}

async function post(service: Service, what: { token: string; path: string; body: object; wait?: number }) {
  const answer = await fetch(`${service.url}/hooks/${what.path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${what.token}`,
      'content-type': 'application/json',
      ...(what.wait === undefined ? {} : { prefer: `wait=${what.wait}` }),
    },
    body: JSON.stringify(what.body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('one service takes the turns of another, and its reply comes back to the sender', async () => {
  const far = await start(TOKENS.far, { runner: 'echo' });
  const runner = { kind: 'forward', url: `${far.url}/hooks`, token: TOKENS.far };
  const near = await start(TOKENS.near, { runner });
  const body = {
    message: 'Three commits were pushed',
    deliver: false,
    sessionKey: 'hook:one',
    timeoutSeconds: 20,
  };
  const answer = await post(near, { token: TOKENS.near, path: 'agent', body, wait: 20 });
  expect(answer).toMatchObject({ status: 200, body: { state: 'completed', outcome: 'ok' } });
  expect(answer.body['reply']).toContain('Three commits were pushed');
});

test('a wrong token of the other gateway ends the run with its reason, not with a secret', async () => {
  const far = await start(TOKENS.far, { runner: 'echo' });
  const runner = { kind: 'forward', url: `${far.url}/hooks`, token: 'wrong-token-5555555555' };
  const near = await start(TOKENS.near, { runner });
  const body = { message: 'hello', deliver: false };
  const answer = await post(near, { token: TOKENS.near, path: 'agent', body, wait: 20 });
  expect(answer.body).toMatchObject({ outcome: 'error', error: { code: 'unauthorized' } });
  expect(JSON.stringify(answer.body)).not.toContain('5555555555');
});
