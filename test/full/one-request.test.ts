/** Ten requests at once that ask for as much work as they can: the service answers them, and others meanwhile. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, onTestFinished, test } from 'vitest';
import { type Service, startService } from '../../src/service.ts';
import { createLogger } from '../../src/telemetry/telemetry.ts';

const TOKEN = 'work-token-0123456789';
const MAPPINGS = `
- {id: each, match: {path: each}, forEach: items, deliver: false, messageTemplate: "{{shared}} {{item}}"}
- {id: loop, match: {path: loop}, forEach: items, deliver: false, messageTemplate: "{{#each @root.l}}{{#if this}}{{/if}}{{/each}}x"}
`;

async function start(): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-work-'));
  mkdirSync(join(folder, 'mappings'));
  writeFileSync(join(folder, 'mappings', 'work.yaml'), MAPPINGS);
  const configFile = join(folder, 'sluice.json');
  const hooks = { enabled: true, token: TOKEN, mappingsDir: 'mappings' };
  const storage = { url: `sqlite:${join(folder, 'sluice.db')}` };
  writeFileSync(
    configFile,
    JSON.stringify({ hooks, storage, server: { port: 0 }, gateway: { runner: 'echo' } }),
  );
  const log = createLogger({ destination: { write: () => true } });
  const service = await startService({ configFile, env: {}, log });
  onTestFinished(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return service;
}

async function post(service: Service, path: string, body: string): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const answer = await fetch(`${service.url}/hooks/${path}`, { method: 'POST', headers, body });
  await answer.text();
  return answer.status;
}

const shared = (unit: string): string =>
  JSON.stringify({
    items: Array.from({ length: 200 }, () => 1),
    shared: unit.repeat(245_000 / Buffer.byteLength(unit)),
  });

test.each([
  ['a shared text of ASCII', 'each', shared('x')],
  ['a shared text of é', 'each', shared('é')],
  ['a shared text of ﷺ', 'each', shared('ﷺ')],
  ['a shared text of &amp;', 'each', shared('&amp;')],
  [
    'loops',
    'loop',
    JSON.stringify({
      items: Array.from({ length: 200 }, () => 1),
      l: Array.from({ length: 100_000 }, () => 1),
    }),
  ],
  [
    'numbers of many digits',
    'each',
    `{"items":[${'1e400,'.repeat(199)}1],"shared":[${'1e400,'.repeat(40_000)}1]}`,
  ],
])('ten with %s', { timeout: 120_000 }, async (name, path, body) => {
  const service = await start();
  await post(service, path, '{"items":[1]}');
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let done = false;
  const all = Promise.all(Array.from({ length: 10 }, () => post(service, path, body))).finally(
    () => (done = true),
  );
  const health: number[] = [];
  const watch = async (): Promise<void> => {
    const begun = performance.now();
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    health.push(performance.now() - begun);
    await new Promise((resolve) => void setTimeout(resolve, 5));
    if (!done) await watch();
  };
  await watch();
  expect([...new Set(await all)]).toEqual([413]);
  delay.disable();
  const report = {
    name,
    longestHoldMs: delay.max / 1e6,
    slowestHealthMs: Math.max(...health),
    asked: health.length,
  };
  process.stderr.write(`${JSON.stringify(report)}\n`);
  expect(report.slowestHealthMs).toBeLessThan(100);
});
