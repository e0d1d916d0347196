import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Part, Row } from '../../support/parts.ts';
import { type StartedServer, startServer, stopServer } from './child.ts';
import { residentMegabytes } from './figures.ts';
import { runLoad } from './load.ts';

const TOKEN = 'bench-token-0123456789abcdef';
const LOAD_SECONDS = 60;
/** `BENCH_LONG=1` waits ten minutes after the load, as the aim says; otherwise thirty seconds. */
const REST_SECONDS = process.env['BENCH_LONG'] === '1' ? 600 : 30;

/** Both ways people start it. The files in `deploy/` set the variable, which no program can set for itself. */
const WAYS: readonly { readonly name: string; readonly env: Readonly<Record<string, string>> }[] = [
  { name: 'resident', env: { MALLOC_ARENA_MAX: '1' } },
  { name: 'without MALLOC_ARENA_MAX=1: resident', env: {} },
];

/** What stays in memory: idle, after full load, and some time later; and what it is made of. */
export const memoryPart: Part = {
  name: 'memory',
  run: async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const services: StartedServer[] = [];
    try {
      const loaded: (readonly Row[])[] = [];
      for (const { name, env } of WAYS) {
        const service = await startService(folder, env);
        services.push(service);
        progress(`${name}: full load for ${LOAD_SECONDS} s`);
        loaded.push(await loadedRows(name, service));
      }
      progress(`rest of ${REST_SECONDS} s`);
      await wait(REST_SECONDS * 1000);
      const rested = await Promise.all(services.map(look));
      return WAYS.flatMap(({ name }, at) => [
        ...(loaded[at] ?? []),
        rowOf(`${name} ${REST_SECONDS} s later`, rested[at] as Look, 150),
      ]);
    } finally {
      await Promise.all(services.map(stopServer));
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Longer than the service waits before it gives back what the start left behind. */
const IDLE_MS = 5_000;

async function loadedRows(name: string, service: StartedServer): Promise<readonly Row[]> {
  await wait(IDLE_MS);
  const idle = await look(service);
  await load(service.port);
  return [
    rowOf(`${name} idle`, idle, 100),
    rowOf(`${name} after ${LOAD_SECONDS} s of full load`, await look(service), 200),
  ];
}

async function startService(root: string, env: Readonly<Record<string, string>>): Promise<StartedServer> {
  const folder = await mkdtemp(join(root, 'service-'));
  const config = join(folder, 'sluice.yaml');
  await writeFile(config, CONFIG);
  const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
  return startServer([main, 'serve', '-c', config, '--port', '0'], env);
}

const CONFIG = `
hooks: {enabled: true, token: ${TOKEN}}
log: {level: info}
gateway:
  maxRuns: 1
  runner: {kind: command, argv: [sleep, "600"]}
  heartbeat: {everySeconds: 0}
storage: {maxBacklog: {runs: 10000000, bytes: 100000000000}}
`;

async function load(port: number): Promise<void> {
  const body = JSON.stringify({ message: 'm'.repeat(1500), wakeMode: 'next-heartbeat', deliver: false });
  const { statuses } = await runLoad({
    host: '127.0.0.1',
    port,
    path: '/hooks/agent',
    headers: { authorization: `Bearer ${TOKEN}` },
    body,
    connections: 64,
    seconds: LOAD_SECONDS,
    warmupSeconds: 0,
  });
  if (Object.keys(statuses).join() !== '202') throw new Error(`answers were ${JSON.stringify(statuses)}`);
}

/** Megabytes that are in memory: all, what the process allocated itself, and what is mapped from files. */
interface Look {
  readonly resident: number;
  readonly own: number;
  readonly mapped: number;
}

async function look({ child }: StartedServer): Promise<Look> {
  const pid = child.pid ?? 0;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) / 1024;
  return {
    resident: await residentMegabytes(pid),
    own: megabytes('RssAnon'),
    mapped: megabytes('RssFile') + megabytes('RssShmem'),
  };
}

function rowOf(what: string, { resident, own, mapped }: Look, aim: number): Row {
  return {
    what,
    figure: `${resident.toFixed(0)} MB (own ${own.toFixed(0)}, files and shared ${mapped.toFixed(0)})`,
    aim: { text: `${aim} MB`, met: resident <= aim },
  };
}
