/** Several services as an operator starts them, and the commands of their store, on one PostgreSQL. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newestVersion, stepsFrom } from '../../../src/engine/storage/statements/migrations.ts';
import { cli, type CliRun } from '../../support/cli-terminal.ts';
import { startPlatform } from '../../support/platform-server.ts';
import { query, startPostgres } from '../../support/postgres-server.ts';
import {
  runCommand,
  type ServiceProcess,
  startServiceProcess,
  until,
} from '../../support/service-process.ts';
import { listIn } from '../../support/output-check.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
const NEWEST = newestVersion('postgres');
const FAILOVER = 'synchronous_standby_names is empty: accepted work may be lost with the primary';

// Durable, as the doctor finds fault with one that is not.
const server = await startPostgres({ settings: { fsync: 'on' } });
const receiver = await startPlatform(() => ({ status: 204 }));
const folder = mkdtempSync(join(tmpdir(), 'sluice-shared-store-'));
const services = new Map<string, ServiceProcess>();
let url: string;

beforeAll(async () => {
  url = await server.freshUrl();
  writeFileSync(join(folder, 'sluice.yaml'), configuration('${DATABASE_URL}'));
});

afterAll(async () => {
  for (const { child } of services.values()) child.kill('SIGKILL');
  await receiver.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** An agent that replies with the id of the process that started it. */
function configuration(store: string): string {
  return `
hooks:
  enabled: true
  token: ${TOKEN}
  exposeRuns: true
  defaults: {summary: never, deliver: false}
  mappings: [{id: told, match: {path: told}, messageTemplate: "{{id}}", callbackUrl: "${receiver.url}"}]
gateway:
  heartbeat: {everySeconds: 0}
  runner: {kind: command, argv: [sh, -c, 'echo "$PPID"']}
storage: {url: "${store}", leaseSeconds: 2}
`;
}

async function start(role: string): Promise<ServiceProcess> {
  const service = await startServiceProcess(folder, { DATABASE_URL: url }, { role });
  services.set(role, service);
  return service;
}

/** What that process replies as an agent. */
const replyOf = (service: ServiceProcess | undefined): string => String(service?.child.pid);

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function call(role: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${services.get(role)?.port}/${path}`, {
    ...init,
    headers: { authorization: `Bearer ${TOKEN}`, ...(init.headers as Record<string, string>) },
    signal: AbortSignal.timeout(120_000),
  });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}

const post = (role: string, path: string, prefer = 'respond-async'): Promise<Answer> => {
  const body = JSON.stringify({ id: 'x', message: 'hello' });
  return call(role, `hooks/${path}`, { method: 'POST', headers: { prefer }, body });
};

const command = (args: readonly string[], store = url): Promise<CliRun> =>
  cli(args, { cwd: folder, env: { DATABASE_URL: store, PATH: process.env['PATH'] ?? '' } });

test('a front takes hooks and performs nothing; a worker performs, and serves its health only', async () => {
  const { log } = await start('front');
  expect(log.filter((line) => line.includes(FAILOVER))).toEqual([expect.stringContaining('"level":"info"')]);
  const held = await post('front', 'agent', 'wait=1');
  expect(held).toMatchObject({ status: 202, body: { ok: true } });
  const path = `hooks/runs/${String(held.body['runId'])}`;
  expect((await call('front', path)).body).toMatchObject({ state: 'queued', attempts: 0 });

  const worker = await start('worker');
  const run = await until('the worker to perform it', async () => {
    const { body } = await call('front', path);
    return body['state'] === 'completed' ? body : undefined;
  });
  expect(run).toMatchObject({ outcome: 'ok', reply: replyOf(worker), attempts: 1 });
  expect((await post('worker', 'agent')).status).toBe(404);
  expect((await call('worker', path)).status).toBe(404);
  expect((await call('worker', 'healthz')).status).toBe(200);
  expect(await call('worker', 'readyz')).toMatchObject({
    status: 200,
    body: { ready: true, hooksEnabled: false },
  });
  const refused = await until('the refusal to be kept', async () => {
    const { out: text } = await command(['requests', '--json']);
    const listed = listIn(text) as unknown as readonly {
      readonly requestId: string;
      readonly findings?: readonly { readonly code: string }[];
    }[];
    return listed.find(({ findings = [] }) => findings.some(({ code }) => code === 'worker'))?.requestId;
  });
  const told = (await command(['explain', refused])).out;
  expect(told).toContain('--role worker');
  expect(told).toContain('another role');
  const { out } = await command(['storage', 'status']);
  expect(out).toMatch(/ {2}front, on [^]* {2}worker, on .*, leads/);
});

test('whoever waits at a front gets the reply of the worker, and the callback is sent once', async () => {
  const reply = replyOf(services.get('worker'));
  const waited = await post('front', 'told', 'wait=20');
  expect(waited).toMatchObject({ status: 200, body: { ok: true, outcome: 'ok', reply } });
  await until('the callback', () => receiver.requests.length > 0);
  await until('nothing to be left', async () =>
    /, 0 active, .*; 0 deliveries and callbacks queued/.test((await command(['storage', 'status'])).out),
  );
  expect(receiver.requests.map(({ body }) => body)).toEqual([
    expect.objectContaining({
      type: 'run.completed',
      data: expect.objectContaining({ runId: waited.body['runId'], outcome: 'ok', reply }) as unknown,
    }),
  ]);
});

test('a service of all roles takes hooks and performs them, and those of a front', async () => {
  expect(await services.get('worker')?.end('SIGTERM')).toEqual({ code: 0, signal: null });
  const reply = replyOf(await start('all'));
  expect(await post('all', 'agent', 'wait=20')).toMatchObject({ status: 200, body: { reply } });
  expect(await post('front', 'agent', 'wait=20')).toMatchObject({ status: 200, body: { reply } });
  for (const role of ['front', 'all']) {
    expect(await services.get(role)?.end('SIGTERM')).toEqual({ code: 0, signal: null });
  }
});

test('a role that does not exist, and a role without a store that is shared, are refused with what to do', async () => {
  const wrong = await command(['serve', '--role', 'leader']);
  expect(wrong).toMatchObject({ exitCode: 2, out: '' });
  expect(wrong.err).toContain("'leader' is invalid. Allowed choices are front, worker, all.");
  const alone = temporaryFolder();
  writeFileSync(join(alone, 'sluice.yaml'), configuration('sqlite:./store.db'));
  const { code, err } = await runCommand(alone, ['serve', '--role', 'front', '--port', '0']);
  expect(code).toBe(1);
  expect(err).toContain(
    '--role front needs a store that several services share: set storage.url to postgres:',
  );
});

test('storage migrate makes a store where there is none, and status tells before and after', async () => {
  const fresh = await server.freshUrl();
  expect((await command(['storage', 'status'], fresh)).out).toContain('schema    there is no store yet');
  const made = await command(['storage', 'migrate'], fresh);
  expect(made).toMatchObject({ exitCode: 0 });
  expect(made.out).toContain(`: migrated from version 0 to ${NEWEST}\n`);
  const { out } = await command(['storage', 'status'], fresh);
  expect(out).toContain(`schema    version ${NEWEST}, up to date\n`);
  expect(out).toContain(`failover  ${FAILOVER}\n`);
  expect(out).toContain('services  none\n');
  expect((await command(['storage', 'migrate'], fresh)).out).toContain(
    `version ${NEWEST}, already up to date`,
  );
  const findings = listIn((await command(['doctor', '--json'], fresh)).out);
  expect(findings).toContainEqual({
    area: 'store',
    ok: true,
    text: expect.stringContaining(FAILOVER) as string,
  });
});

test('storage migrate brings an older store up to date with what is in it, once no service uses it', async () => {
  const old = await server.freshUrl();
  await query(
    old,
    `${stepsFrom(0, 'postgres').slice(0, -1).join('\n')} UPDATE sluice_schema SET version = ${NEWEST - 1};
     INSERT INTO events (id, kind, state, mode, mapping_id, created_at, origin, text) VALUES
       ('kept', 'wake', 0, 'now', '', 1, '{"requestId":"r","path":"wake","trusted":false}', 'from before');
     UPDATE counters SET pending_wakes = 1, pending_events = 1;
     INSERT INTO replicas VALUES ('r', 'all', 'h', '0', 0, 9007199254740991)`,
  );
  const { out } = await command(['storage', 'status'], old);
  expect(out).toContain(`schema    version ${NEWEST - 1}, to be brought to ${NEWEST} by the next start`);
  const refused = await command(['storage', 'migrate'], old);
  expect(refused).toMatchObject({ exitCode: 3, out: '' });
  expect(refused.err).toContain('a service of an older version uses this store; stop it');
  await query(old, 'DELETE FROM replicas');
  const migrated = await command(['storage', 'migrate'], old);
  expect(migrated.out).toContain(`: migrated from version ${NEWEST - 1} to ${NEWEST}\n`);
  expect((await command(['storage', 'verify'], old)).exitCode).toBe(0);
  expect(listIn((await command(['events', '--json'], old)).out)).toMatchObject([
    { id: 'kept', text: 'from before' },
  ]);
});

test('storage migrate leaves a newer store alone', async () => {
  const newer = await server.freshUrl();
  await command(['storage', 'migrate'], newer);
  await query(newer, 'UPDATE sluice_schema SET version = 99');
  const { out } = await command(['storage', 'status'], newer);
  expect(out).toContain(`schema    version 99; this Sluice knows up to ${NEWEST}\n`);
  const refused = await command(['storage', 'migrate'], newer);
  expect(refused).toMatchObject({ exitCode: 3, out: '' });
  expect(refused.err).toContain(`schema version 99, this Sluice knows up to ${NEWEST}; run the newer Sluice`);
  expect(await query(newer, 'SELECT version FROM sluice_schema')).toEqual([{ version: 99 }]);
});

test('of two who migrate at once one waits for the other, and both are done', async () => {
  const fresh = await server.freshUrl();
  const holder = new Client({ connectionString: fresh });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('BEGIN');
  await holder.query(
    `SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.sluice.schema', 0))`,
  );
  const both = [command(['storage', 'migrate'], fresh), command(['storage', 'migrate'], fresh)];
  await until('both to wait', async () => {
    const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    return (await query(fresh, waiting)).length === 2;
  });
  await holder.query('COMMIT');
  for (const { exitCode, out } of await Promise.all(both)) {
    expect(exitCode).toBe(0);
    expect(out).toContain(`: migrated from version 0 to ${NEWEST}\n`);
  }
  expect((await command(['storage', 'verify'], fresh)).exitCode).toBe(0);
});
