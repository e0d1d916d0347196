/**
 * Services on one PostgreSQL store against one on a file, as they really run: what they accept and perform in a second
 * with 64 senders, the same with a database some milliseconds away, and how long the others take to go on with the work
 * of one that is gone. All services, the database and the senders share this machine, so more services mean more
 * throughput only where waiting is the limit.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import type { Part, Row } from '../../support/parts.ts';
import { query, startPostgres } from '../../support/postgres-server.ts';
import { startServiceProcess, until, type ServiceProcess } from '../../support/service-process.ts';
import { distanceRows } from './fleet-distance.ts';
import { runLoad } from './load.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
const SENDERS = 64;
const SECONDS = 6;
const REPLICAS = [1, 2, 4];
/** Until everything that was accepted has been performed. */
const DRAIN_MS = 180_000;
/** What the start wrote is over. */
const IDLE_FROM_MS = 3_000;
const IDLE_SECONDS = 20;
/** The default of `storage.leaseSeconds` is 20. */
const LEASE_SECONDS = 20;

interface Throughput {
  readonly accepted: number;
  readonly performed: number;
  readonly p99Ms: number;
}

function configuration(folder: string, storage: string): void {
  const echo = '{echo: {kind: echo}, slow: {kind: command, argv: [sh, -c, "sleep 90; echo done"]}}';
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `
hooks: {enabled: true, token: ${TOKEN}, defaults: {summary: never, deliver: false}, mappings: [
  {id: slow, match: {path: slow}, runner: slow, messageTemplate: "x"}]}
server: {stopGraceSeconds: 0.1}
gateway: {runner: echo, maxRuns: 64, heartbeat: {everySeconds: 0}, runners: ${echo}}
storage: {url: "${storage}", maxBacklog: {runs: 1000000}}
`,
  );
}

async function measure(url: string, services: readonly ServiceProcess[]): Promise<Throughput> {
  const store = await openStorage(url, { mode: 'attached' });
  const body = JSON.stringify({ message: 'm'.repeat(1_500), deliver: false });
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const began = performance.now();
  const loads = await Promise.all(
    services.map(({ port }) =>
      runLoad({
        host: '127.0.0.1',
        port,
        path: '/hooks/agent',
        headers,
        body,
        connections: SENDERS / services.length,
        seconds: SECONDS,
        warmupSeconds: 0,
      }),
    ),
  );
  await until('the work to end', () => isDone(store), DRAIN_MS);
  const tookSeconds = (performance.now() - began) / 1000;
  await store.close();
  const accepted = loads.reduce((sum, { statuses }) => sum + (statuses['202'] ?? 0), 0);
  return {
    accepted: accepted / SECONDS,
    performed: accepted / tookSeconds,
    p99Ms: Math.max(...loads.map(({ p99Ms }) => p99Ms)),
  };
}

function send({ port }: ServiceProcess, path: string, body: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function isDone(store: Storage): Promise<boolean> {
  const { queuedRuns, activeRuns } = await store.backlog();
  return queuedRuns + activeRuns === 0;
}

/** Seconds from the end of a service until another one has begun its run again. */
async function handOver(folder: string, url: string, signal: NodeJS.Signals): Promise<number> {
  const env = { DATABASE_URL: url };
  const first = await startServiceProcess(folder, env);
  const store = await openStorage(url, { mode: 'attached' });
  await send(first, 'slow', {});
  const isActive = async () => (await store.listRuns({ limit: 1, state: 'active' })).length > 0;
  await until('the run to begin', isActive);
  const second = await startServiceProcess(folder, env);
  const [run] = await store.listRuns({ limit: 1 });
  if (run === undefined) throw new Error('the run is gone');
  const began = performance.now();
  first.child.kill(signal);
  await until(
    'the other service to begin it',
    async () => ((await store.findRun(run.id))?.startedAt ?? 0) > (run.startedAt ?? 0),
    5 * LEASE_SECONDS * 1000,
  );
  const seconds = (performance.now() - began) / 1000;
  await second.end('SIGTERM');
  await store.close();
  return seconds;
}

async function onServices(
  folder: string,
  { url, count }: { readonly url: string; readonly count: number },
): Promise<Throughput> {
  const services: ServiceProcess[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      services.push(await startServiceProcess(folder, { DATABASE_URL: url }));
    }
    // V8 compiles what is called often: the first time is not counted.
    await measure(url, services);
    return await measure(url, services);
  } finally {
    for (const service of services) await service.end('SIGTERM');
  }
}

/** What a service that has nothing to do costs the database: its own commits, and those of the looks at it. */
async function idle(port: number, url: string, folder: string): Promise<Row> {
  const service = await startServiceProcess(folder, { DATABASE_URL: url });
  try {
    const store = await openStorage(url, { mode: 'attached' });
    await send(service, 'agent', { message: 'one finished run', deliver: false });
    await until('it to be performed', () => isDone(store));
    await store.close();
    await wait(IDLE_FROM_MS);
    const before = await writesOf(port);
    await wait(IDLE_SECONDS * 1000);
    const perMinute = ((await writesOf(port)) - before) * (60 / IDLE_SECONDS);
    const aim = { text: '60', met: perMinute <= 60 };
    return { what: 'commits of an idle service in a minute', figure: `${Math.round(perMinute)}`, aim };
  } finally {
    await service.end('SIGTERM');
  }
}

/** Transactions that wrote something, of all of the server: what only reads is given no number. */
async function writesOf(port: number): Promise<number> {
  const [row] = await query(
    `postgres://postgres@127.0.0.1:${port}/postgres`,
    'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next',
  );
  return Number(row?.['next']);
}

function rowOf(what: string, { accepted, performed, p99Ms }: Throughput): Row {
  return {
    what,
    figure: `${Math.round(accepted)}/s, ${Math.round(performed)}/s, p99 ${Math.round(p99Ms)} ms`,
  };
}

export const fleetPart: Part = {
  name: 'fleet',
  run: async (progress) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-fleet-'));
    const server = await startPostgres({ settings: { fsync: 'on', shared_buffers: '256MB' } });
    try {
      const rows: Row[] = [];
      const file = `sqlite:${join(folder, 'store.db')}`;
      // First: after much work the database itself tidies up, which counts as transactions, too.
      configuration(folder, '${DATABASE_URL}');
      progress('idle');
      const quiet = await idle(server.port, await server.freshUrl(), folder);
      configuration(folder, file);
      progress('one service on a file');
      const alone = await onServices(folder, { url: file, count: 1 });
      rows.push(rowOf('accepted and performed: one service on a file', alone));
      configuration(folder, '${DATABASE_URL}');
      let one: Throughput | undefined;
      for (const count of REPLICAS) {
        progress(`${count} on PostgreSQL`);
        const found = await onServices(folder, { url: await server.freshUrl(), count });
        const times =
          one === undefined
            ? ''
            : `: ${(found.accepted / one.accepted).toFixed(1)} and ${(found.performed / one.performed).toFixed(1)} times one`;
        one ??= found;
        const { what, figure } = rowOf(`the same: ${count} on one PostgreSQL`, found);
        rows.push({ what, figure: `${figure}${times}` });
        if (count > 1) continue;
        const ratio = alone.performed / found.performed;
        rows.push({
          what: 'time for a run on PostgreSQL, accepted and performed, against a file',
          figure: `${ratio.toFixed(1)} times`,
          ratio: { value: ratio, better: 'lower' },
        });
      }
      const far = join(folder, 'far');
      mkdirSync(far);
      rows.push(...(await distanceRows(far, server, progress)));
      rows.push(quiet);
      progress('hand-over');
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        const seconds = await handOver(folder, await server.freshUrl(), signal);
        const what = signal === 'SIGKILL' ? 'killed' : 'stopped in order, without a grace';
        rows.push({
          what: `hand-over of a run whose service was ${what} (lease of ${LEASE_SECONDS} s)`,
          figure: `${seconds.toFixed(1)} s`,
        });
      }
      return rows;
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
