import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Part, Row } from '../support/parts.ts';
import { freePort } from '../support/free-port.ts';
import { startServer, stopServer, type StartedServer } from './child.ts';
import { median, withSpread } from './figures.ts';
import { runLoad } from './load.ts';
import { microsPerRequest, readThreadTimes } from './thread-times.ts';

const ROUNDS = 3;
const SECONDS = 3;
const WARM_UP_SECONDS = 1;
const CONNECTIONS = 64;
const TOKEN = 'bench-token-0123456789abcdef';

const NOTHING_KEPT = 'service without a console that keeps no request';
const WITHOUT = 'service without a console';
const CLOSED = 'with a console that nobody has open';
const OPEN = 'with a console that is open';
const ORDER = [NOTHING_KEPT, WITHOUT, CLOSED, OPEN];

/** What an open console, and what is kept, costs those who send hooks: the same service and load, taking turns. */
export const consolePart: Part = {
  name: 'console',
  run: async (progress) => {
    const measured = new Map<string, Measured[]>();
    for (let round = 0; round < ROUNDS; round += 1) {
      // Each begins a round once: a machine that grows busy is nobody's fault.
      for (const name of [...ORDER.slice(round % ORDER.length), ...ORDER.slice(0, round % ORDER.length)]) {
        const found = await measure(name);
        measured.set(name, [...(measured.get(name) ?? []), found]);
        progress(`round ${round + 1}/${ROUNDS}  ${name}  ${Math.round(found.rate)}/s`);
      }
    }
    return [
      ...[...measured].map(([what, all]): Row => {
        const rate = withSpread(
          all.map((one) => one.rate),
          (value) => `${Math.round(value)}`,
        );
        const micros = withSpread(
          all.map((one) => one.mainMicros),
          (value) => value.toFixed(0),
        );
        return { what, figure: `${rate} a second, main thread ${micros} us a request` };
      }),
      timeRow('processor time with an open console against none', measured, [OPEN, WITHOUT]),
      timeRow('processor time with the default of what is kept against none', measured, [
        WITHOUT,
        NOTHING_KEPT,
      ]),
    ];
  },
};

interface Measured {
  readonly rate: number;
  /** Processor time of the main thread for a request: a busy machine changes it less than the rate. */
  readonly mainMicros: number;
}

function timeRow(
  what: string,
  measured: ReadonlyMap<string, readonly Measured[]>,
  [one, other]: readonly [string, string],
): Row {
  const without = measured.get(other) ?? [];
  const factors = (measured.get(one) ?? []).map(
    ({ mainMicros }, round) => mainMicros / (without[round]?.mainMicros ?? Number.NaN),
  );
  return {
    what,
    figure: `${withSpread(factors, (value) => value.toFixed(2))} times`,
    ratio: { value: median(factors), better: 'lower' },
  };
}

async function measure(name: string): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const [port, consolePort] = [await freePort(), await freePort()];
  const hasConsole = name === CLOSED || name === OPEN;
  const service = await startService(folder, { port, consolePort, hasConsole, keeps: name !== NOTHING_KEPT });
  const leave = name === OPEN ? await openPage(folder, consolePort) : (): void => undefined;
  const pid = service.child.pid ?? 0;
  // What opening a page starts is not what it costs while it is open.
  await setTimeout(1_500);
  try {
    const before = await readThreadTimes(pid);
    const { requestsPerSecond, requests, statuses } = await runLoad({
      host: '127.0.0.1',
      port,
      path: '/hooks/wake',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: '{"text":"disk is 91% full","mode":"next-heartbeat"}',
      connections: CONNECTIONS,
      warmupSeconds: WARM_UP_SECONDS,
      seconds: SECONDS,
    });
    if (Object.keys(statuses).some((status) => status !== '200')) throw new Error(JSON.stringify(statuses));
    // Requests of the warm-up are not counted, and their time is.
    const all = requests * (1 + WARM_UP_SECONDS / SECONDS);
    const { main } = microsPerRequest(before, await readThreadTimes(pid), all);
    return { rate: requestsPerSecond, mainMicros: main };
  } finally {
    leave();
    await stopServer(service);
    await rm(folder, { recursive: true, force: true });
  }
}

interface Listening {
  readonly port: number;
  readonly consolePort: number;
  readonly hasConsole: boolean;
  /** What `serve` keeps by default; else nothing. */
  readonly keeps: boolean;
}

async function startService(
  folder: string,
  { port, consolePort, hasConsole, keeps }: Listening,
): Promise<StartedServer> {
  const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
  const config = join(folder, 'sluice.yaml');
  const text = `
hooks: {enabled: true, token: ${TOKEN}}
console: {enabled: ${hasConsole}, port: ${consolePort}}
log: {level: info}
${keeps ? '' : 'storage: {keepRequests: {which: none}}'}
gateway: {heartbeat: {everySeconds: 0}, events: {maxPending: 10000000}}
`;
  await writeFile(config, text);
  return startServer([main, 'serve', '-c', config, '--port', String(port)]);
}

/** Reads what an open page reads: the list, then everything that comes. Resolves to how to leave. */
async function openPage(folder: string, port: number): Promise<() => void> {
  const origin = `http://127.0.0.1:${port}`;
  const key = (await readFile(join(folder, '.sluice/console-key'), 'utf8')).trim();
  const session = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  });
  const { token } = (await session.json()) as { readonly token: string };
  const headers = { 'x-sluice-session': token };
  const leaving = new AbortController();
  const list = await fetch(`${origin}/api/inbox`, { headers });
  const { cursor } = (await list.json()) as { readonly cursor: string };
  const feed = await fetch(`${origin}/api/feed?after=${cursor}`, { headers, signal: leaving.signal });
  void feed.body?.pipeTo(new WritableStream()).catch(() => undefined);
  return () => leaving.abort();
}
