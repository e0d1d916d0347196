import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { wake, work } from '../../support/storage-builders.ts';
import {
  runCommand,
  startServiceProcess,
  until,
  type ServiceProcess,
} from '../../support/service-process.ts';

const TOKEN = 'trouble-token-0123456789';
const CONFIG = `
hooks:
  enabled: true
  token: ${TOKEN}
  mappings:
    - {id: note, match: {path: note}, action: wake, textTemplate: "{{text}}", wakeMode: next-heartbeat}
    - {id: ask, match: {path: ask}, messageTemplate: "{{text}}", deliver: false, wakeMode: next-heartbeat}
gateway: {heartbeat: {everySeconds: 0}}
storage: {url: "sqlite:./disk/store.db"}
`;

let folder: string;
let disk: string;
let service: ServiceProcess | undefined;
let isMounted = false;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-trouble-'));
  disk = join(folder, 'disk');
  mkdirSync(disk);
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
});

afterEach(async () => {
  await service?.end('SIGKILL');
  service = undefined;
  if (isMounted) execFileSync('umount', ['-l', disk]);
  isMounted = false;
  await rm(folder, { recursive: true, force: true });
});

function post({ port }: ServiceProcess, path: string, text: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ text }),
    signal: AbortSignal.timeout(120_000),
  });
}

/** A small file system for the store; false where this user may not mount one. */
function mountSmallDisk(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk], { stdio: 'ignore' });
    isMounted = true;
  } catch {
    // Only root may.
  }
  return isMounted;
}

test('a full disk: 503 with Retry-After and nothing half, then it goes on by itself when there is space', async ({
  skip,
}) => {
  if (!mountSmallDisk()) skip('only root may mount a small file system');
  service = await startServiceProcess(folder);
  const running = service;
  const filler = join(disk, 'filler');
  writeFileSync(filler, Buffer.alloc(1_500_000));
  const answered: string[] = [];
  const refused: string[] = [];
  const send = async (number: number): Promise<Response> => {
    const path = number % 2 === 0 ? 'note' : 'ask';
    const id = `${path}-${number}.`;
    const response = await post(running, path, id + 'x'.repeat(15_000));
    if (response.ok) answered.push(id);
    else refused.push(id);
    return response;
  };
  let answer = await send(0);
  for (let number = 1; answer.ok && number < 1000; number += 1) answer = await send(number);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('30');
  expect(await answer.json()).toMatchObject({ ok: false, code: 'storage_unavailable' });
  expect(answered.length).toBeGreaterThan(10);
  expect(await readiness(running)).toMatchObject({ status: 503, codes: ['store_cannot_accept'] });
  // Side by side too: all of a refused commit, and each of them wholly.
  const burst = await Promise.all(Array.from({ length: 8 }, (_, at) => send(2000 + at)));
  expect(burst.every(({ status }) => [200, 202, 503].includes(status))).toBe(true);

  rmSync(filler);
  // Without a request that tries: readiness is what brings requests back.
  await until('readiness', async () => ((await readiness(running)).status === 200 ? true : undefined));
  expect((await send(3000)).ok).toBe(true);
  const { runs, events } = await until('all runs to end', async () => {
    const storage = await openStorage(`sqlite:${join(disk, 'store.db')}`, { mode: 'attached' });
    try {
      const list = await storage.listRuns({ limit: 10_000 });
      if (list.some(({ state }) => state !== 'completed')) return undefined;
      return { runs: list, events: await storage.listEvents({ limit: 10_000 }) };
    } finally {
      await storage.close();
    }
  });
  const idOf = (text: string): string => text.slice(0, text.indexOf('.') + 1);
  const stored = [
    ...runs.map(({ action }) => idOf(action.message)),
    ...events.filter(({ kind }) => kind === 'wake').map(({ text }) => idOf(text)),
  ];
  expect(stored.toSorted()).toEqual(answered.toSorted());
  expect(runs.every(({ attempts, outcome }) => attempts === 1 && outcome === 'ok')).toBe(true);
  expect(events.filter(({ kind }) => kind === 'summary')).toHaveLength(runs.length);
  expect(refused.length).toBeGreaterThan(0);
  expect(running.log.join('\n')).not.toContain('xxxx');
  expect(await running.end('SIGTERM')).toEqual({ code: 0, signal: null });
});

/** What `/readyz` says. */
async function readiness({ port }: ServiceProcess) {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  const { unready } = (await answer.json()) as { readonly unready: readonly { readonly code: string }[] };
  return { status: answer.status, codes: unready.map(({ code }) => code) };
}

test('a store that is moved away: 503 until it is back, said once each way', async () => {
  service = await startServiceProcess(folder);
  const running = service;
  expect((await post(running, 'note', 'before')).status).toBe(200);
  renameSync(join(disk, 'store.db'), join(disk, 'moved.db'));
  const refused = await post(running, 'note', 'meanwhile');
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ code: 'storage_unavailable' });
  expect(await readiness(running)).toEqual({ status: 503, codes: ['store_replaced'] });
  renameSync(join(disk, 'moved.db'), join(disk, 'store.db'));
  await until('readiness', async () => ((await readiness(running)).status === 200 ? true : undefined));
  expect((await post(running, 'note', 'after')).status).toBe(200);
  const said = () => running.log.filter((line) => line.includes('store_replaced'));
  await until('both lines', () => (said().length < 2 ? undefined : true));
  expect(said()).toHaveLength(2);
});

/** The store with some events in it, closed. */
async function makeStore(): Promise<string> {
  const file = join(disk, 'store.db');
  const storage = await openStorage(`sqlite:${file}`);
  for (let number = 0; number < 40; number += 1)
    await storage.accept(work([wake({ text: `${number}`.repeat(400) })]));
  await storage.close();
  return file;
}

/** Names, modes and bytes of everything in the store's folder. */
function snapshot(): readonly object[] {
  return readdirSync(disk).map((name) => {
    const file = join(disk, name);
    return { name, mode: statSync(file).mode, bytes: readFileSync(file).toString('base64') };
  });
}

const serve = () => runCommand(folder, ['serve', '-c', join(folder, 'sluice.yaml'), '--port', '0']);

test.each([
  [
    'a corrupt database',
    (file: string) => {
      const bytes = readFileSync(file);
      bytes.fill(0xa5, 4096, 12_288);
      writeFileSync(file, bytes);
    },
    /store\.db.*damaged.*storage backup/s,
  ],
  [
    'a database whose first bytes are destroyed',
    (file: string) => {
      const bytes = readFileSync(file);
      bytes.fill(0, 0, 100);
      writeFileSync(file, bytes);
    },
    /store\.db.*destroyed.*storage backup/s,
  ],
  [
    'a read-only database',
    (file: string) => chmodSync(file, 0o400),
    /store\.db.*cannot be written.*writable/s,
  ],
  ['a read-only folder', () => chmodSync(disk, 0o500), /disk.*cannot be written.*writable/s],
])('%s: the start is refused with what to do, and nothing is touched', async (...cases) => {
  const [, spoil, message] = cases;
  spoil(await makeStore());
  const before = snapshot();
  const refused = await serve();
  expect(refused.code).toBe(3);
  expect(refused.err).toMatch(message);
  expect(refused.err).not.toMatch(/\n\s+at .*\.[jt]s:/);
  // So a supervisor may try as often as it likes.
  expect(snapshot()).toEqual(before);
});
