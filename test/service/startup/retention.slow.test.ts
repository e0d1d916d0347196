import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Service, startService } from '../../../src/service/startup/startup.ts';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { type Bench, openBench, TOKEN, waitFor } from '../../support/cli-service.ts';

const CONFIG = `
hooks:
  enabled: true
  token: ${TOKEN}
  mappings:
    - {id: ask, match: {path: ask}, messageTemplate: "{{id}} {{padding}}", sessionKey: "hook:{{id}}", deliver: false, wakeMode: next-heartbeat}
    - {id: note, match: {path: note}, action: wake, textTemplate: "{{id}}"}
server: {port: 0}
gateway: {heartbeat: {everySeconds: 0}}
storage: {keep: {rows: 5}}
`;

/** Stored five times over: message, prompt, reply, and both in the transcript. */
const PADDING = 20_000;

async function serve(bench: Bench, options: { readonly pruneEveryMs?: number } = {}): Promise<Service> {
  const service = await startService({
    configFile: join(bench.folder, 'sluice.yaml'),
    env: {},
    log: createLogger({ destination: { write: () => true } }),
    ...options,
  });
  onTestFinished(() => service.stop());
  return service;
}

async function post(service: Service, path: string, id: string): Promise<void> {
  const response = await fetch(`${service.url}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ id, padding: 'x'.repeat(PADDING) }),
  });
  expect(response.ok).toBe(true);
}

/** Counts what the store holds, beside the service. */
async function openCount(bench: Bench) {
  const url = `sqlite:${join(bench.folder, '.sluice/sluice.db')}`;
  const storage = await openStorage(url, { mode: 'attached' });
  onTestFinished(() => storage.close());
  return async () => {
    const [runs, events, sessions, { queuedRuns, activeRuns }] = await Promise.all([
      storage.listRuns({ limit: 10_000 }),
      storage.listEvents({ limit: 10_000 }),
      storage.listSessions({ limit: 10_000 }),
      storage.backlog(),
    ]);
    const wakes = events.filter(({ kind }) => kind === 'wake').length;
    return {
      runs: runs.length,
      summaries: events.length - wakes,
      wakes,
      sessions: sessions.length,
      open: queuedRuns + activeRuns,
    };
  };
}

test('a service that runs on and on keeps no more than storage.keep', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  const service = await serve(bench, { pruneEveryMs: 20 });
  const count = await openCount(bench);
  const waves = 5;
  for (let wave = 0; wave < waves; wave += 1) {
    await Promise.all(Array.from({ length: 20 }, (_, at) => post(service, 'ask', `${wave}-${at}`)));
    await Promise.all(Array.from({ length: 20 }, (_, at) => post(service, 'note', `${wave}-${at}`)));
    await waitFor(async () => {
      const { runs, summaries, wakes, sessions, open } = await count();
      return open === 0 && Math.max(runs, summaries + wakes, sessions) <= 10 ? true : undefined;
    });
  }
  // What was removed makes room for what comes: far less than went through.
  const { size } = statSync(join(bench.folder, '.sluice/sluice.db'));
  expect(size).toBeLessThan((waves * 20 * PADDING * 5) / 3);
});

test('a start applies storage.keep at once', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG.replace('rows: 5', 'rows: 1000') });
  const before = await serve(bench);
  const count = await openCount(bench);
  await Promise.all(Array.from({ length: 60 }, (_, at) => post(before, 'ask', `${at}`)));
  await waitFor(async () => ((await count()).summaries === 60 ? true : undefined));
  await before.stop();
  bench.put('sluice.yaml', CONFIG.replace('rows: 5', 'rows: 30'));
  const after = await serve(bench);
  await waitFor(async () => ((await count()).runs === 30 ? true : undefined));
  expect(await count()).toMatchObject({ runs: 30, summaries: 30, sessions: 30 });
  await after.stop();
});
