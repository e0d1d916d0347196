/**
 * The HTTP front alone against a bare node:http server that reads, parses and answers: alternating, each in a process
 * of its own, the load from a third. Storage and evaluation do nothing, so the ratio is the price of the front.
 * `node test/lab/bench/front.ts` prints a table; `bare` and `front` are the two servers it starts.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startServer } from '../../../src/service/server/server.ts';
import { createHealth, createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { BEARER, generationOf, recordingStore, SERVER } from '../../support/server-fixture.ts';
import { type LoadResult, runLoad } from './load.ts';

const ROUNDS = 3;

/** About 2 KB, nested as webhooks are. */
export const BODY = JSON.stringify({
  ref: 'refs/heads/main',
  repository: { id: 1, full_name: 'acme/site', owner: { login: 'acme', id: 7 }, private: false },
  pusher: { name: 'ada', email: 'ada@example.com' },
  commits: Array.from({ length: 8 }, (_, i) => ({
    id: `0123456789abcdef${i}`,
    message: `fix: number ${i}, which makes the line about as long as lines are`,
    author: { name: 'ada', email: 'ada@example.com' },
    added: ['a.ts'],
    removed: [],
    modified: ['src/b.ts', 'src/c.ts'],
  })),
});

async function serveBare(): Promise<number> {
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString());
      res.writeHead(202, { 'content-type': 'application/json' });
      res.end('{"ok":true}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function serveFront(): Promise<number> {
  const { storage } = recordingStore({ recordDecision: () => undefined });
  const generation = generationOf({ maxBodyBytes: 262_144 });
  const server = await startServer({
    server: { ...SERVER, stopGraceSeconds: 1 },
    generation: () => generation,
    storage: {
      ...storage,
      // Answers in a later turn of the event loop, as a store that commits in another thread does.
      accept: ({ actions, warnings }) =>
        new Promise((resolve) => {
          setImmediate(resolve, {
            accepted: actions.map(({ kind, id }) => ({ kind, id, mode: 'now' as const, duplicate: false })),
            warnings,
            duplicate: false,
          });
        }),
    },
    log: createLogger({ destination: { write: () => undefined } }),
    health: createHealth({ log: { warn: () => undefined, info: () => undefined } }),
    onAccepted: () => undefined,
    waitForRun: () => Promise.resolve(undefined),
  });
  return server.port;
}

interface Measured extends LoadResult {
  /** CPU time the server used per request, which other programs on the machine disturb least. */
  readonly cpuMicros: number;
}

async function measure(kind: 'bare' | 'front'): Promise<Measured> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [kind], { stdio: 'inherit' });
  try {
    const [port] = (await once(child, 'message')) as [number];
    const load = {
      host: '127.0.0.1',
      port,
      path: '/hooks/github',
      headers: BEARER,
      body: BODY,
      connections: 32,
      seconds: 1,
      warmupSeconds: 0,
    };
    await runLoad(load);
    const before = await cpuOf(child);
    const result = await runLoad({ ...load, seconds: 3 });
    const cpuMicros = Math.round(((await cpuOf(child)) - before) / result.requests);
    return { ...result, cpuMicros };
  } finally {
    child.kill('SIGKILL');
  }
}

async function cpuOf(child: ChildProcess): Promise<number> {
  const answer = once(child, 'message') as Promise<[NodeJS.CpuUsage]>;
  child.send('cpu');
  const [{ user, system }] = await answer;
  return user + system;
}

async function compare(): Promise<void> {
  const best = { bare: Infinity, front: Infinity };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of ['bare', 'front'] as const) {
      // The two must not run at once: they would share the processors.
      // oxlint-disable-next-line no-await-in-loop
      const result = await measure(kind);
      best[kind] = Math.min(best[kind], result.cpuMicros);
      process.stdout.write(
        `${kind.padEnd(6)} ${String(result.requestsPerSecond).padStart(7)} req/s  ${result.cpuMicros} us CPU/req  ` +
          `p50 ${result.p50Ms} ms  p99 ${result.p99Ms} ms  generator ${result.generatorMicros} us a request  ` +
          `${JSON.stringify(result.statuses)}\n`,
      );
    }
  }
  process.stdout.write(
    `CPU per request: bare ${best.bare} us, front ${best.front} us, bare/front ${((best.bare / best.front) * 100).toFixed(0)}%\n`,
  );
}

const [kind] = process.argv.slice(2);
if (kind === undefined) await compare();
else {
  const port = await (kind === 'bare' ? serveBare() : serveFront());
  process.on('message', () => process.send?.(process.cpuUsage()));
  process.send?.(port);
}
