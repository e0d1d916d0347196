import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Part, Row } from '../../support/parts.ts';
import { startServer, stopServer, type StartedServer } from './child.ts';
import { median, percent, withSpread } from './figures.ts';
import { type LoadOptions, type LoadResult, runLoad } from './load.ts';
import { microsPerRequest, readThreadTimes, type ThreadTimes } from './thread-times.ts';

/** Rounds per target, alternating; the medians are shown, and how far the rounds lie apart. */
const ROUNDS = 5;
const SECONDS = 3;
/** Of every target in every round, as every round has new processes: V8 compiles for the first two seconds. */
const WARM_UP_SECONDS = 3;
/** Of the measurement at half of the highest load. */
const HALF_LOAD_ROUNDS = 3;
const HALF_LOAD_SECONDS = 5;
const CONNECTIONS = 64;
/** A transform is also compared where there is less to gather into one message. */
const FEW_CONNECTIONS = 16;
const TOKEN = 'bench-token-0123456789abcdef';

interface Target {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly path: string;
  readonly body: string;
  readonly connections?: number;
}

type Progress = Parameters<Part['run']>[0];

/** One round of one target: what the load saw, and what it cost the server. */
interface Round {
  readonly load: LoadResult;
  readonly micros: ThreadTimes;
}

/**
 * HTTP throughput of the durable service (token checked, one fsync per commit) against a bare node:http server that
 * reads the body, parses the JSON and answers, each in a process of its own, under the same load generator.
 */
export const httpPart: Part = {
  name: 'http',
  run: async (progress) => {
    const push = JSON.stringify(JSON.parse(await readFile(new URL('./push.json', import.meta.url), 'utf8')));
    const rounds = new Map<string, Round[]>();
    for (let round = 0; round < ROUNDS; round++) {
      await withServers(async (servers) => {
        for (const target of targetsOf(servers, push)) {
          const measured = await measure(target);
          rounds.set(target.name, [...(rounds.get(target.name) ?? []), measured]);
          const rate = Math.round(measured.load.requestsPerSecond);
          progress(`round ${round + 1}/${ROUNDS}  ${target.name}  ${rate}/s`);
        }
      });
    }
    const agent = rounds.get(AGENT_MAPPING) ?? [];
    const most = median(agent.map(({ load: { requestsPerSecond } }) => requestsPerSecond));
    return [...toRows(rounds), ...(await halfLoadRows(push, most / 2, progress))];
  },
};

/** The two sides of the ratios, each in a process of its own. */
interface Servers {
  readonly bare: StartedServer;
  readonly service: StartedServer;
}

/** New ones for every round: both are equally warm, and what one round queued does not slow the next. */
export async function withServers<T>(use: (servers: Servers) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const bare = await startBare();
  const service = await startService(folder);
  try {
    return await use({ bare, service });
  } finally {
    await stopServer(bare);
    await stopServer(service);
    await rm(folder, { recursive: true, force: true });
  }
}

const BARE = 'bare node:http, same body';
const WAKE_MAPPING = 'mapped hook that wakes, GitHub push 2 KB';
const AGENT_MAPPING = 'mapped hook that runs an agent, same body';
const TRANSFORM = 'mapped hook with a transform, same body';
const TRANSFORM_TIME = 'processor time of all processes, transform hook against the same without';
const AT_FEW = `with ${FEW_CONNECTIONS} connections`;
const WAKE = '/wake';
export const WAKE_BODY = '{"text":"disk is 91% full","mode":"next-heartbeat"}';

function targetsOf({ bare, service }: Servers, push: string): readonly Target[] {
  const at = ({ child, port }: StartedServer) => ({ pid: child.pid ?? 0, port });
  return [
    { name: BARE, ...at(bare), path: '/hooks/github', body: push },
    { name: WAKE_MAPPING, ...at(service), path: '/hooks/wakes', body: push },
    { name: AGENT_MAPPING, ...at(service), path: '/hooks/github', body: push },
    { name: TRANSFORM, ...at(service), path: '/hooks/digest', body: push },
    ...[
      { name: `${AGENT_MAPPING}, ${AT_FEW}`, path: '/hooks/github' },
      { name: `${TRANSFORM}, ${AT_FEW}`, path: '/hooks/digest' },
    ].map((target) => ({ ...target, ...at(service), body: push, connections: FEW_CONNECTIONS })),
    {
      name: WAKE,
      ...at(service),
      path: '/hooks/wake',
      body: WAKE_BODY,
    },
  ];
}

async function measure(target: Target): Promise<Round> {
  const { connections = CONNECTIONS } = target;
  await load(target, { seconds: WARM_UP_SECONDS, connections });
  const before = await readThreadTimes(target.pid);
  const result = await load(target, { seconds: SECONDS, connections });
  const after = await readThreadTimes(target.pid);
  return { load: result, micros: microsPerRequest(before, after, result.requests) };
}

/** @throws Error where an answer was no success: its figures would say nothing. */
export async function load(
  target: Pick<Target, 'port' | 'path' | 'body'>,
  options: Pick<LoadOptions, 'seconds'> &
    Partial<Pick<LoadOptions, 'warmupSeconds' | 'rate' | 'connections'>>,
): Promise<LoadResult> {
  const result = await runLoad({
    host: '127.0.0.1',
    port: target.port,
    path: target.path,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'x-github-event': 'push',
    },
    body: target.body,
    connections: CONNECTIONS,
    warmupSeconds: 0,
    ...options,
  });
  const bad = Object.keys(result.statuses).filter((status) => !status.startsWith('2'));
  if (bad.length > 0 || result.errors > 0) {
    throw new Error(
      `${target.path}: ${JSON.stringify(result.statuses)}, ${result.errors} errors: the figures would be worthless`,
    );
  }
  return result;
}

function toRows(rounds: ReadonlyMap<string, readonly Round[]>): readonly Row[] {
  const of = (name: string): readonly Round[] => rounds.get(name) ?? [];
  return [
    ...[...rounds].flatMap(([name, measured]) => [throughputRow(name, measured), timeRow(name, measured)]),
    ratioRow('durable wake mapping against bare', of(WAKE_MAPPING), of(BARE), 0.6),
    ratioRow('durable agent mapping against bare', of(AGENT_MAPPING), of(BARE), 0.5),
    ratioRow('/wake against bare', of(WAKE), of(BARE)),
    ratioRow('transform hook against the same without', of(TRANSFORM), of(AGENT_MAPPING), 0.65),
    timeRatioRow('processor time of the agent mapping against bare', of(AGENT_MAPPING), of(BARE)),
    timeRatioRow('processor time of the wake mapping against bare', of(WAKE_MAPPING), of(BARE)),
    timeRatioRow(TRANSFORM_TIME, of(TRANSFORM), of(AGENT_MAPPING), 1.8),
    ratioRow(
      `transform hook against the same without, ${AT_FEW}`,
      of(`${TRANSFORM}, ${AT_FEW}`),
      of(`${AGENT_MAPPING}, ${AT_FEW}`),
      0.65,
    ),
    timeRatioRow(
      `${TRANSFORM_TIME}, ${AT_FEW}`,
      of(`${TRANSFORM}, ${AT_FEW}`),
      of(`${AGENT_MAPPING}, ${AT_FEW}`),
      1.8,
    ),
  ];
}

export function throughputRow(name: string, rounds: readonly Pick<Round, 'load'>[]): Row {
  const rate = withSpread(
    rounds.map(({ load: { requestsPerSecond } }) => requestsPerSecond),
    (value) => `${Math.round(value)}`,
  );
  const p50 = median(rounds.map(({ load: { p50Ms } }) => p50Ms)).toFixed(1);
  const p99 = withSpread(
    rounds.map(({ load: { p99Ms } }) => p99Ms),
    (value) => value.toFixed(1),
  );
  return { what: name, figure: `${rate} a second, p50 ${p50} ms, p99 ${p99} ms` };
}

function timeRow(name: string, rounds: readonly Round[]): Row {
  const micros = (thread: keyof ThreadTimes): string =>
    median(rounds.map((round) => round.micros[thread])).toFixed(0);
  const generator = median(rounds.map((round) => round.load.generatorMicros)).toFixed(0);
  return {
    what: `${name}: processor time`,
    figure: `main ${micros('main')}, store ${micros('storage')}, others ${micros('others')}, workers ${micros('workers')} us a request; load generator ${generator}`,
  };
}

/** Of the rounds one by one, because both sides of a round met the same machine. */
export function ratioRow(
  what: string,
  own: readonly Pick<Round, 'load'>[],
  other: readonly Pick<Round, 'load'>[],
  aim?: number,
): Row {
  const shares = own.map(
    ({ load: { requestsPerSecond } }, at) => requestsPerSecond / (other[at]?.load.requestsPerSecond ?? 0),
  );
  const value = median(shares);
  return {
    what,
    figure: withSpread(shares, percent),
    ratio: { value, better: 'higher' },
    ...(aim === undefined ? {} : { aim: { text: percent(aim), met: value >= aim } }),
  };
}

function timeRatioRow(what: string, own: readonly Round[], other: readonly Round[], aim?: number): Row {
  const all = ({ micros }: Round): number => Object.values(micros).reduce((sum, each) => sum + each, 0);
  const factors = own.map((round, at) => all(round) / all(other[at] as Round));
  const value = median(factors);
  return {
    what,
    figure: `${withSpread(factors, (factor) => factor.toFixed(2))} times`,
    ratio: { value, better: 'lower' },
    ...(aim === undefined ? {} : { aim: { text: `${aim} times`, met: value <= aim } }),
  };
}

/** The way a service runs on a busy day: half of what it can take. In turns with the bare server at the same rate. */
async function halfLoadRows(push: string, half: number, progress: Progress): Promise<readonly Row[]> {
  const rate = Math.round(half);
  const p99s: Record<string, number[]> = { [BARE]: [], [AGENT_MAPPING]: [] };
  for (let round = 0; round < HALF_LOAD_ROUNDS; round += 1) {
    await withServers(async (servers) => {
      for (const target of targetsOf(servers, push).filter(({ name }) => name in p99s)) {
        const { p99Ms } = await load(target, {
          warmupSeconds: WARM_UP_SECONDS,
          seconds: HALF_LOAD_SECONDS,
          rate,
        });
        p99s[target.name]?.push(p99Ms);
        progress(
          `half load, round ${round + 1}/${HALF_LOAD_ROUNDS}  ${target.name}  p99 ${p99Ms.toFixed(1)} ms`,
        );
      }
    });
  }
  const [bare = [], agent = []] = Object.values(p99s);
  const figure = (values: readonly number[]): string =>
    `${withSpread(values, (value) => value.toFixed(1))} ms`;
  return [
    {
      what: `p99 at half of the highest load (${rate} a second)`,
      figure: figure(agent),
      aim: { text: '5 ms', met: median(agent) <= 5 },
    },
    { what: 'p99 of bare node:http at the same rate', figure: figure(bare) },
  ];
}

function startBare(): Promise<StartedServer> {
  return startServer([fileURLToPath(new URL('./bare-server.ts', import.meta.url))]);
}

async function startService(folder: string): Promise<StartedServer> {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const config = join(folder, 'sluice.yaml');
  await writeFile(config, benchConfig(root));
  return startServer([join(root, 'dist', 'main.js'), 'serve', '-c', config, '--port', '0']);
}

/** Accepting is what is measured: one run sleeps at the head while all others wait in the store. */
function benchConfig(root: string): string {
  return `
hooks:
  enabled: true
  token: ${TOKEN}
  transformsDir: ${JSON.stringify(join(root, 'transforms'))}
  mappings:
    - id: push
      match: {path: github, when: {"===": [{var: headers.x-github-event}, push]}}
      name: GitHub
      sessionKey: "hook:github:{{repository.full_name}}"
      wakeMode: next-heartbeat
      deliver: false
      messageTemplate: |
        {{pusher.name}} pushed {{commits.length}} commit(s) to {{repository.full_name}}
        {{#each commits}}- {{truncate message 120}}
        {{/each}}
    - id: digest
      match: {path: digest}
      name: GitHub
      wakeMode: next-heartbeat
      deliver: false
      transform: {module: github-push-digest.ts}
    - id: wakes
      match: {path: wakes}
      action: wake
      wakeMode: next-heartbeat
      textTemplate: "{{pusher.name}} pushed {{commits.length}} commit(s) to {{repository.full_name}}"
log: {level: info}
gateway:
  maxRuns: 1
  runner: {kind: command, argv: [sleep, "600"]}
  heartbeat: {everySeconds: 0}
  events: {maxPending: 10000000}
storage: {maxBacklog: {runs: 10000000, bytes: 100000000000}}
`;
}
