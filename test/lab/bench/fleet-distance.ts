/**
 * What services accept and perform whose database is some milliseconds away: before each stands a proxy of its own that
 * adds the delay each way, so that waiting and not this machine is the limit. How much of the processors nobody wanted
 * is printed; where next to nothing was left, or a round trip took longer than its way, the run does not count.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import type { Row } from '../../support/parts.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { startServiceProcess, until, type ServiceProcess } from '../../support/service-process.ts';
import { type StartedServer, startServer, stopServer } from './child.ts';
import { median } from './figures.ts';
import { runLoad } from './load.ts';
import { readProgramTimes, shareOf } from './program-times.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
/** Of each service; each of them has a conversation of its own. */
const SENDERS = 8;
const SECONDS = 6;
/** V8 compiles what is called often, and each of four services gets fewer calls than one alone. */
const WARMUP_SECONDS = 6;
/** Of the processors: a run with less than this left over was limited by them. */
const MIN_LEFT = 0.1;
/** Beyond the delay itself, of which timers take up to 1.4 ms each way; where it was more, the proxies waited for a processor. */
const MAX_MORE_MS = 3;
const PROXY = new URL('../../support/delaying-proxy.ts', import.meta.url).pathname;

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

/** What is aimed at: of one service a second, and of several as multiples of what one does. */
interface Aim {
  readonly accepted: number;
  readonly performed: number;
}

interface Form {
  readonly delayMs: number;
  readonly one?: Aim;
  readonly four?: Aim;
  readonly ten?: boolean;
}

const FORMS: readonly Form[] = [
  { delayMs: 1, one: { accepted: 900, performed: 150 } },
  { delayMs: 4, one: { accepted: 300, performed: 100 }, four: { accepted: 3.2, performed: 2.5 } },
  { delayMs: 16, four: { accepted: 3.2, performed: 2.5 }, ten: true },
  { delayMs: 0, four: { accepted: 0.7, performed: 0.7 } },
];
/** One service and four in turns, so that a machine that is slow for a while is so for both. */
const ROUNDS = 3;

/** The rows of all forms. `FLEET_MAIN` names the program of another version, to be measured in turns with this one. */
export async function distanceRows(
  folder: string,
  server: PostgresServer,
  progress: (text: string) => void,
): Promise<readonly Row[]> {
  const main = process.env['FLEET_MAIN'];
  const measure = (services: number, delayMs: number): Promise<DistanceResult> => {
    progress(`${services} at ${delayMs} ms`);
    return measureDistance(folder, server, { delayMs, services, main });
  };
  const rows: Row[] = [];
  for (const form of FORMS) {
    const { delayMs } = form;
    const ones: DistanceResult[] = [];
    const fours: DistanceResult[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      ones.push(await measure(1, delayMs));
      if (form.four !== undefined) fours.push(await measure(4, delayMs));
    }
    rows.push(...rowsOf(form, ones, fours));
    if (form.ten === true)
      rows.push({ what: whatOf(10, delayMs), figure: figureOf(await measure(10, delayMs)) });
  }
  return rows;
}

function whatOf(services: number, delayMs: number): string {
  return `accepted and performed at once: ${services === 1 ? 'one service' : `${services} services`}, ${delayMs} ms away`;
}

function rowsOf(
  { delayMs, one, four }: Form,
  ones: readonly DistanceResult[],
  fours: readonly DistanceResult[],
): readonly Row[] {
  const rows: Row[] = [];
  const add = (services: number, results: readonly DistanceResult[], aim: Row['aim'], ratios = ''): void => {
    const doubt = doubtOf(delayMs, results);
    const figure = `${results.map(figureOf).join('; ')}${ratios}`;
    const what = whatOf(services, delayMs);
    if (aim === undefined || doubt !== '') rows.push({ what, figure: `${figure}${doubt}` });
    else rows.push({ what, figure, aim });
  };
  const middle = {
    accepted: median(ones.map(({ accepted }) => accepted)),
    performed: median(ones.map(({ performed }) => performed)),
  };
  const reaches = (found: Aim, aim: Aim): boolean =>
    found.accepted >= aim.accepted && found.performed >= aim.performed;
  add(
    1,
    ones,
    one && { text: `${one.accepted}/s and ${one.performed}/s (medians)`, met: reaches(middle, one) },
  );
  if (four === undefined) return rows;
  const times = {
    accepted: median(fours.map(({ accepted }, round) => accepted / (ones[round]?.accepted ?? 0))),
    performed: median(fours.map(({ performed }, round) => performed / (ones[round]?.performed ?? 0))),
  };
  const text = `${four.accepted} and ${four.performed} times one`;
  const ratios = `: ${times.accepted.toFixed(1)} and ${times.performed.toFixed(1)} times one (medians)`;
  add(4, fours, { text, met: reaches(times, four) }, ratios);
  return rows;
}

/** Why a form says nothing: most of its rounds were limited by the processors, or by proxies that waited for one. */
function doubtOf(delayMs: number, results: readonly DistanceResult[]): string {
  if (delayMs === 0) return '';
  const isDoubtful = ({ left, roundTripMs }: DistanceResult): boolean =>
    left < MIN_LEFT || roundTripMs > 2 * delayMs + MAX_MORE_MS;
  return results.filter(isDoubtful).length * 2 > results.length ? ': does not count' : '';
}
