import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import {
  runCommand,
  startServiceProcess,
  until,
  type ServiceProcess,
} from '../../support/service-process.ts';
import { cli } from '../../support/cli-terminal.ts';
import { listIn } from '../../support/output-check.ts';

const TOKEN = 'life-token-0123456789abcdef';
const GATEWAY_TOKEN = 'life-gateway-token-0123456789';
const CONFIG = `
hooks:
  enabled: true
  token: ${TOKEN}
  mappings:
    - {id: note, match: {path: note}, action: wake, textTemplate: "{{text}}", wakeMode: next-heartbeat}
server: {stopGraceSeconds: 5}
gateway: {token: ${GATEWAY_TOKEN}, heartbeat: {everySeconds: 0}}
storage: {url: "sqlite:./store.db"}
`;

let folder: string;
let services: ServiceProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-life-'));
  services = [];
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
});

afterEach(async () => {
  await Promise.all(services.map((service) => service.end('SIGKILL')));
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<ServiceProcess> {
  const service = await startServiceProcess(folder);
  services.push(service);
  return service;
}

async function post(service: ServiceProcess, path: string, body: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${service.port}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(120_000),
  });
}

const listEvents = async (): Promise<readonly { text: string }[]> =>
  listIn<{ text: string }>((await cli(['events', '--json'], { cwd: folder })).out);

/** What is stored, read beside the service or after it. */
async function read<Read>(ask: (storage: Storage) => Promise<Read>): Promise<Read> {
  const storage = await openStorage(`sqlite:${join(folder, 'store.db')}`, { mode: 'attached' });
  try {
    return await ask(storage);
  } finally {
    await storage.close();
  }
}

test('SIGTERM under load: everything answered 2xx is in the store, and the exit is clean', async () => {
  const service = await start();
  const answered: string[] = [];
  const stop = new AbortController();
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let number = 0; !stop.signal.aborted; number++) {
      const text = `c${client}-${number}`;
      const response = await post(service, 'note', { text }).catch(() => undefined);
      await response?.arrayBuffer().catch(() => undefined);
      if (response === undefined) return;
      if (response.status === 200) answered.push(text);
      if (response.status === 503) return;
    }
  });
  await until('some load', () => (answered.length > 200 ? true : undefined));
  const ending = await service.end('SIGTERM');
  stop.abort();
  await Promise.all(clients);
  expect(ending).toEqual({ code: 0, signal: null });
  const events = await read((storage) => storage.listEvents({ limit: 100_000 }));
  const stored = new Set(events.map((event) => event.text));
  expect(answered.filter((text) => !stored.has(text))).toEqual([]);
});

test('a second service on the store is refused with the remedy, while the CLI works beside the first', async () => {
  const first = await start();
  await post(first, 'note', { text: 'hello' });
  const second = await runCommand(folder, ['serve', '-c', join(folder, 'sluice.yaml'), '--port', '0']);
  expect(second.code).toBe(3);
  expect(second.err).toMatch(/store\.db/);
  expect(second.err).toMatch(/another|second|already|lock/i);
  expect((await listEvents()).map((event) => event.text)).toEqual(['hello']);
  expect((await post(first, 'note', { text: 'still here' })).status).toBe(200);
});

test('three deploys while an agent works: each stop is orderly, and the run is neither counted nor given up', async () => {
  const mark = join(folder, 'started');
  const agent = `{kind: command, argv: [sh, -c, "echo x >> ${mark}; sleep 60"], cwd: private}`;
  const quick = CONFIG.replace('stopGraceSeconds: 5', 'stopGraceSeconds: 0.2');
  await writeFile(join(folder, 'sluice.yaml'), quick.replace('gateway: {', `gateway: {runner: ${agent}, `));
  const starts = (): number => (existsSync(mark) ? readFileSync(mark, 'utf8').length / 2 : 0);
  for (let deploy = 1; deploy <= 3; deploy += 1) {
    const service = await start();
    if (deploy === 1) expect((await post(service, 'agent', { message: 'long' })).status).toBe(202);
    await until(`start ${deploy} of the agent`, () => (starts() === deploy ? true : undefined));
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
    const [run] = await read((storage) => storage.listRuns({ limit: 9 }));
    expect(run).toMatchObject({ state: 'queued', attempts: 0 });
  }
});

describe('reload', () => {
  test('SIGHUP makes a new generation live; a broken one never replaces it, and readyz says so until one goes live', async () => {
    const service = await start();
    await writeFile(join(folder, 'sluice.yaml'), CONFIG.replace('path: note', 'path: memo'));
    service.child.kill('SIGHUP');
    await until('the new generation', async () =>
      (await post(service, 'memo', { text: 'x' })).status === 200 ? true : undefined,
    );
    expect((await post(service, 'note', { text: 'x' })).status).toBe(404);
    await writeFile(join(folder, 'sluice.yaml'), CONFIG.replace('path: note', 'path: wake'));
    service.child.kill('SIGHUP');
    const ready = async (token = ''): Promise<{ status: number; degraded: object[] }> => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`http://127.0.0.1:${service.port}/readyz`, { headers });
      const { degraded } = (await response.json()) as { degraded: object[] };
      return { status: response.status, degraded };
    };
    await until('readyz to say so', async () => ((await ready()).degraded.length > 0 ? true : undefined));
    expect(await ready()).toMatchObject({ status: 200, degraded: [{ code: 'reload_rejected', count: 1 }] });
    expect(JSON.stringify(await ready())).not.toContain('findings');
    expect(JSON.stringify(await ready(GATEWAY_TOKEN))).toContain('sluice check');
    expect((await post(service, 'memo', { text: 'x' })).status).toBe(200);
    // The log comes through a pipe: it may be behind the answer.
    await until('the finding in the log', () =>
      service.log.join('\n').includes('RESERVED_PATH') ? true : undefined,
    );
    await writeFile(join(folder, 'sluice.yaml'), CONFIG);
    service.child.kill('SIGHUP');
    await until('it to be well again', async () =>
      (await ready()).degraded.length === 0 ? true : undefined,
    );
    const said = await until('both lines', () => {
      const lines = service.log.filter((line) => line.includes('"condition":"reload_rejected"'));
      return lines.length === 2 ? lines : undefined;
    });
    expect(said.map((line) => /"level":"(\w+)"/.exec(line)?.[1])).toEqual(['warn', 'info']);
  });

  test('a rotated token in a secret file is live after SIGHUP', async () => {
    await writeFile(join(folder, 'token'), TOKEN);
    await writeFile(join(folder, 'sluice.yaml'), CONFIG.replace(`token: ${TOKEN}`, 'token: {file: ./token}'));
    const service = await start();
    expect((await post(service, 'note', { text: 'x' })).status).toBe(200);
    await writeFile(join(folder, 'token'), 'another-token-0123456789abc');
    service.child.kill('SIGHUP');
    await until('the old token to fail', async () =>
      (await post(service, 'note', { text: 'x' })).status === 401 ? true : undefined,
    );
  });
});

test('neither the log nor the command line ever shows the token or a payload', async () => {
  const service = await start();
  await post(service, 'note', { text: 'payload-canary-1' });
  await fetch(`http://127.0.0.1:${service.port}/hooks/note?token=${TOKEN}`, {
    method: 'POST',
    body: '{"text":"payload-canary-2"}',
  });
  await fetch(`http://127.0.0.1:${service.port}/hooks/note?token=wrong-canary-3`, {
    method: 'POST',
    body: '{"text": broken-canary-4',
  });
  await fetch(`http://127.0.0.1:${service.port}/hooks/note`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: '{"text": broken-canary-5',
  });
  await service.end('SIGTERM');
  const log = service.log.join('\n');
  expect(log).not.toContain(TOKEN);
  expect(log).not.toMatch(/canary/);
  expect(existsSync(join(folder, 'store.db'))).toBe(true);
  expect(readFileSync(join(folder, 'store.db')).includes(TOKEN)).toBe(false);
});
