/** Shopify's sample order ids through the whole service: three orders are three runs, three sessions, three keys. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startService, type Service } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { cli } from '../../support/cli-terminal.ts';
import { listIn } from '../../support/output-check.ts';

const TOKEN = 'exact-token-0123456789';
const IDS = ['820982911946154508', '820982911946154509', '820982911946154510'];
const MAPPINGS = `
- id: vip
  match: {path: orders, when: {"===": [{var: id}, ${IDS[1]}]}}
  messageTemplate: "VIP {{id}} {{json payload}}"
  sessionKey: "order:{{id}}"
  deliver: false
  dedupe: body
- id: order
  match: {path: orders}
  messageTemplate: "Order {{id}} {{json payload}}"
  sessionKey: "order:{{id}}"
  deliver: false
  dedupe: {key: "{{id}}"}
- id: broken
  match: {path: broken}
  transform: broken.js
`;

async function start(): Promise<{ readonly service: Service; readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-exact-'));
  mkdirSync(join(folder, 'mappings'));
  mkdirSync(join(folder, 'transforms'));
  writeFileSync(join(folder, 'mappings', 'orders.yaml'), MAPPINGS);
  writeFileSync(
    join(folder, 'transforms', 'broken.js'),
    'export default ({ payload }) => { console.log("id", payload.id); throw new Error("x"); };',
  );
  const config = {
    hooks: {
      enabled: true,
      token: TOKEN,
      exposeRuns: true,
      mappingsDir: 'mappings',
      transformsDir: 'transforms',
    },
    server: { port: 0 },
    storage: { url: `sqlite:${join(folder, 'sluice.db')}` },
    gateway: { runner: 'echo' },
  };
  const configFile = join(folder, 'sluice.json');
  writeFileSync(configFile, JSON.stringify(config));
  const log = createLogger({ destination: { write: () => true } });
  const service = await startService({ configFile, env: {}, log });
  onTestFinished(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return { service, folder };
}

async function post(service: Service, path: string, body: string) {
  const answer = await fetch(`${service.url}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', prefer: 'wait=20' },
    body,
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('neighbouring ids of 18 digits stay apart from the wire to the store', async () => {
  const { service, folder } = await start();
  const answers = [];
  for (const id of IDS) {
    // oxlint-disable-next-line no-await-in-loop -- in order
    answers.push(await post(service, 'orders', `{"id":${id},"total":1e400}`));
  }
  for (const [index, { status, body }] of answers.entries()) {
    const word = index === 1 ? 'VIP' : 'Order';
    expect([status, body['duplicate'], body['outcome']]).toEqual([200, undefined, 'ok']);
    expect(body['reply']).toContain(`${word} ${IDS[index]} {"id":${IDS[index]},"total":1e400}`);
  }
  const repeats = await Promise.all(IDS.map((id) => post(service, 'orders', `{"id":${id},"total":1e400}`)));
  expect(repeats.map(({ body }) => [body['duplicate'], body['runId']])).toEqual(
    answers.map(({ body }) => [true, body['runId']]),
  );
  const failed = await post(service, 'broken', `{"id":${IDS[0]}}`);
  expect(failed).toMatchObject({ status: 500, body: { code: 'transform_failed' } });

  const run = async (...args: readonly string[]): Promise<string> =>
    (await cli([...args, '--config', 'sluice.json'], { cwd: folder })).out;
  const sessions = listIn<{ readonly key: string }>(await run('sessions', 'list', '--json'));
  const keys = sessions.map(({ key }) => key).filter((key) => key.startsWith('order:'));
  expect(keys.toSorted()).toEqual(IDS.map((id) => `order:${id}`));
  const requestId = failed.body['requestId'] as string;
  await expect.poll(() => run('explain', requestId, '--all')).toContain('console.log: id 820982911946154500');
});
