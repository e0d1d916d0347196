import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openStorage, type RunRecord, type Storage } from '../../../src/engine/storage/storage.ts';
import { startServiceProcess, until, type ServiceProcess } from '../../support/service-process.ts';

const TOKEN = 'clock-token-0123456789';
const CLOCK = pathToFileURL(fileURLToPath(new URL('../../fixtures/jumping-clock.ts', import.meta.url))).href;
const HOUR_MS = 3_600_000;

let folder: string;
let service: ServiceProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-clock-'));
  // Asks to be run again the first time, so that every run waits for a time that a clock could move.
  const script = `cat > /dev/null; mkdir "$SLUICE_RUN_ID" 2>/dev/null && exit 75; echo "$SLUICE_RUN_ID" >> done.log; echo ok`;
  await writeFile(
    join(folder, 'sluice.yaml'),
    `
hooks:
  enabled: true
  token: ${TOKEN}
  mappings:
    - {id: twice, match: {path: twice}, runner: sh, messageTemplate: "{{id}}", deliver: false}
    - {id: once, match: {path: once}, messageTemplate: "{{id}}", deliver: false}
gateway:
  runners: {sh: {kind: command, argv: [sh, -c, ${JSON.stringify(script)}], cwd: ${JSON.stringify(folder)}, retryExitCodes: [75]}}
storage: {url: "sqlite:./store.db"}
`,
  );
});

afterEach(async () => {
  await service?.end('SIGKILL');
  service = undefined;
  await rm(folder, { recursive: true, force: true });
});

const start = (offsetsMs: readonly number[]): Promise<ServiceProcess> =>
  startServiceProcess(folder, { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_OFFSETS_MS: offsetsMs.join(',') });

async function post(
  { port }: ServiceProcess,
  path: string,
  id: string,
): Promise<{ status: number; runId?: string; duplicate?: boolean }> {
  const response = await fetch(`http://127.0.0.1:${port}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'idempotency-key': id },
    body: JSON.stringify({ id }),
  });
  return { ...((await response.json()) as object), status: response.status };
}

const runsOf = async (storage: Storage): Promise<readonly RunRecord[]> =>
  (await storage.listRuns({ limit: 10_000 })).filter(({ kind }) => kind === 'hook');

test('a clock that jumps back and forth under load, and across a restart, stalls, loses and doubles nothing', async () => {
  service = await start([0, -3 * HOUR_MS, 6 * HOUR_MS, -HOUR_MS]);
  const accepted = new Map<string, string>();
  for (let jump = 0; jump < 4; jump += 1) {
    for (let number = 0; number < 10; number += 1) {
      const id = `${jump}-${number}`;
      const { status, runId = '' } = await post(service, number === 0 ? 'twice' : 'once', id);
      expect(status).toBe(202);
      accepted.set(id, runId);
    }
    if (jump < 3) service.child.kill('SIGUSR2');
  }
  const beside = await openStorage(`sqlite:${join(folder, 'store.db')}`, { mode: 'attached' });
  onTestFinished(() => beside.close());
  const allEnded = (): Promise<unknown> =>
    until('every run to end', async () => {
      const runs = await runsOf(beside);
      return runs.length === accepted.size && runs.every(({ state }) => state === 'completed')
        ? true
        : undefined;
    });
  await allEnded();
  const accepts = (await runsOf(beside)).map(({ acceptedAt }) => acceptedAt);
  expect(Math.max(...accepts) - Math.min(...accepts)).toBeGreaterThan(8 * HOUR_MS);
  for (const [id, runId] of accepted) {
    const repeat = await post(service, id.endsWith('-0') ? 'twice' : 'once', id);
    expect(repeat).toMatchObject({ runId, duplicate: true });
  }
  // What waits for its retry was stored by a clock two days ahead of the one it finds.
  await service.end('SIGTERM');
  service = await start([48 * HOUR_MS]);
  const runId = (await post(service, 'twice', 'late')).runId ?? '';
  accepted.set('late', runId);
  // It waits for two seconds.
  await until('the first attempt', async () => {
    const { state, attempts } = (await beside.findRun(runId)) ?? {};
    return state === 'queued' && attempts === 1;
  });
  await service.end('SIGKILL');
  service = await start([0]);
  await allEnded();
  const runs = await runsOf(beside);
  expect(runs.map(({ id }) => id).toSorted()).toEqual([...accepted.values()].toSorted());
  expect(runs.every(({ outcome }) => outcome === 'ok')).toBe(true);
  expect(runs.filter(({ attempts }) => attempts === 2)).toHaveLength(5);
});
