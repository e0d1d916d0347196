/**
 * What services accept and perform whose database is some milliseconds away: before each stands a proxy of its own that
 * adds the delay each way, so that waiting and not this machine is the limit. How much of the processors nobody wanted
 * is printed; where next to nothing was left, or a round trip took longer than its way, the run does not count.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import type { Row } from '../support/parts.ts';
import type { PostgresServer } from '../support/postgres-server.ts';
import { startServiceProcess, until, type ServiceProcess } from '../support/service-process.ts';
import { type StartedServer, startServer, stopServer } from './child.ts';
import { runLoad } from './load.ts';
import { readProgramTimes, shareOf } from './program-times.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
/** Of each service; each of them has a conversation of its own. */
const SENDERS = 8;
const SECONDS = 6;
const WARMUP_SECONDS = 2;
/** Of the processors: a run with less than this left over was limited by them. */
const MIN_LEFT = 0.1;
/** Beyond the delay itself; where a round trip took longer, the proxies waited for a processor. */
const MAX_MORE_MS = 2;
const PROXY = new URL('../support/delaying-proxy.ts', import.meta.url).pathname;

export interface Distance {
  readonly delayMs: number;
  readonly services: number;
  /** The program; default the one of this folder. */
  readonly main?: string | undefined;
}

export interface DistanceResult {
  /** A second, of all services together, while the senders send. */
  readonly accepted: number;
  readonly performed: number;
  readonly p99Ms: number;
  /** Of one question without work, there and back. */
  readonly roundTripMs: number;
  /** The share of the processors that nobody wanted, but who gives way to all others. */
  readonly left: number;
  /** How many processors each program took. */
  readonly share: string;
}

function configure(folder: string): void {
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `
hooks: {enabled: true, token: ${TOKEN}, defaults: {summary: never, deliver: false}}
server: {stopGraceSeconds: 0.1}
gateway: {runner: echo, maxRuns: 64, heartbeat: {everySeconds: 0}}
storage: {url: "\${DATABASE_URL}", maxBacklog: {runs: 1000000}}
`,
  );
}

async function measureDistance(
  folder: string,
  server: PostgresServer,
  { delayMs, services: count, main }: Distance,
): Promise<DistanceResult> {
  configure(folder);
  const url = await server.freshUrl();
  const proxies: StartedServer[] = [];
  const services: ServiceProcess[] = [];
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (let index = 0; index < count; index += 1) {
      const through =
        delayMs === 0 ? undefined : await startServer([PROXY, String(server.port), String(delayMs)]);
      if (through !== undefined) proxies.push(through);
      const far = through === undefined ? url : url.replace(`:${server.port}/`, `:${through.port}/`);
      services.push(
        await startServiceProcess(folder, { DATABASE_URL: far }, main === undefined ? {} : { main }),
      );
    }
    const [proxy] = proxies;
    const roundTripMs =
      proxy === undefined ? 0 : await roundTrip(url.replace(`:${server.port}/`, `:${proxy.port}/`));
    return { ...(await load(client, services)), roundTripMs };
  } finally {
    await client.end();
    // What waits would be performed first.
    for (const { child } of services) child.kill('SIGKILL');
    for (const proxy of proxies) await stopServer(proxy);
  }
}

async function load(
  client: Client,
  services: readonly ServiceProcess[],
): Promise<Omit<DistanceResult, 'roundTripMs'>> {
  const results = services.map(({ port }, index) =>
    runLoad({
      host: '127.0.0.1',
      port,
      path: '/hooks/agent',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ message: 'm'.repeat(300), deliver: false, sessionKey: `hook:s${index}:@@` }),
      connections: SENDERS,
      seconds: SECONDS,
      warmupSeconds: WARMUP_SECONDS,
    }),
  );
  await until('the first to be performed', async () => (await endedRuns(client)) > 0);
  await wait(WARMUP_SECONDS * 1000);
  const before = await look(client);
  // A little before the first of them ends: a program that has ended took no time.
  await wait((SECONDS - 1) * 1000);
  const after = await look(client);
  const seconds = (after.at - before.at) / 1000;
  const loads = await Promise.all(results);
  return {
    accepted: loads.reduce((sum, { statuses }) => sum + (statuses['202'] ?? 0), 0) / SECONDS,
    performed: (after.runs - before.runs) / seconds,
    p99Ms: Math.max(...loads.map(({ p99Ms }) => p99Ms)),
    left: (after.left.spare - before.left.spare) / (after.left.all - before.left.all),
    share: shareOf(before.times, after.times, seconds),
  };
}

async function look(client: Client) {
  const runs = await endedRuns(client);
  return { runs, left: processorTime(), times: readProgramTimes(), at: performance.now() };
}

async function endedRuns(client: Client): Promise<number> {
  const { rows } = await client.query<{ ended: number }>('SELECT ended_runs AS ended FROM counters');
  return rows[0]?.ended ?? 0;
}

async function roundTrip(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const times: number[] = [];
  for (let count = 0; count < 21; count += 1) {
    const asked = performance.now();
    await client.query('SELECT 1');
    times.push(performance.now() - asked);
  }
  await client.end();
  return times.toSorted((a, b) => a - b)[10] ?? 0;
}

/** Ticks of all processors, and those that were idle or went to programs that give way (nice). */
function processorTime(): { readonly spare: number; readonly all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const [, nice = 0, , idle = 0, waiting = 0] = ticks;
  return { spare: nice + idle + waiting, all: ticks.reduce((sum, each) => sum + each, 0) };
}

export function figureOf({ accepted, performed, p99Ms, left, share, roundTripMs }: DistanceResult): string {
  const rates = `${Math.round(accepted)}/s, ${Math.round(performed)}/s, p99 ${Math.round(p99Ms)} ms`;
  const way = roundTripMs === 0 ? '' : `, a round trip of ${roundTripMs.toFixed(1)} ms`;
  return `${rates}${way}, ${Math.round(left * 100)} % of the processors left (${share})`;
}

/** What is aimed at, at a distance: of one service, and of four as multiples of one. */
interface Aim {
  readonly accepted: number;
  readonly performed: number;
}

const FORMS: readonly (Omit<Distance, 'main'> & { readonly aim: Aim; readonly of?: 'one' })[] = [
  { delayMs: 1, services: 1, aim: { accepted: 900, performed: 150 } },
  { delayMs: 4, services: 1, aim: { accepted: 300, performed: 100 } },
  { delayMs: 4, services: 4, aim: { accepted: 3.2, performed: 2.5 }, of: 'one' },
  { delayMs: 16, services: 1, aim: { accepted: 0, performed: 0 } },
  { delayMs: 16, services: 4, aim: { accepted: 3.2, performed: 2.5 }, of: 'one' },
  { delayMs: 16, services: 10, aim: { accepted: 0, performed: 0 } },
  { delayMs: 0, services: 1, aim: { accepted: 0, performed: 0 } },
  { delayMs: 0, services: 4, aim: { accepted: 0.7, performed: 0.7 }, of: 'one' },
];

/** The rows of all forms. `FLEET_MAIN` names the program of another version, to be measured in turns with this one. */
export async function distanceRows(
  folder: string,
  server: PostgresServer,
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let one: Aim = { accepted: 1, performed: 1 };
  for (const { aim, of, ...form } of FORMS) {
    const { delayMs, services } = form;
    progress(`${services} at ${delayMs} ms`);
    const found = await measureDistance(folder, server, { ...form, main: process.env['FLEET_MAIN'] });
    if (services === 1) one = found;
    rows.push(rowOf(form, found, { aim, one: of === 'one' ? one : { accepted: 1, performed: 1 } }));
  }
  return rows;
}

function rowOf(
  { delayMs, services }: Distance,
  found: DistanceResult,
  { aim, one }: { readonly aim: Aim; readonly one: Aim },
): Row {
  const who = services === 1 ? 'one service' : `${services} services`;
  const what = `accepted and performed at once: ${who}, ${delayMs} ms away`;
  const figure = figureOf(found);
  if (aim.accepted === 0) return { what, figure };
  const isLate = found.roundTripMs > 2 * delayMs + MAX_MORE_MS;
  if (delayMs > 0 && (isLate || found.left < MIN_LEFT)) return { what, figure: `${figure}: does not count` };
  const isOfOne = one.accepted !== 1;
  const text = isOfOne
    ? `${aim.accepted} and ${aim.performed} times one`
    : `${aim.accepted}/s and ${aim.performed}/s`;
  const [accepted, performed] = [found.accepted / one.accepted, found.performed / one.performed];
  const times = isOfOne ? `, ${accepted.toFixed(1)} and ${performed.toFixed(1)} times one` : '';
  return {
    what,
    figure: `${figure}${times}`,
    aim: { text, met: accepted >= aim.accepted && performed >= aim.performed },
  };
}
