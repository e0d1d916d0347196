/** Senders that write tens of thousands of requests on each connection without waiting for a single answer. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Part, Row } from '../../support/parts.ts';
import { type AttackedService, startAttacked, TOKEN } from './attacked-service.ts';
import { startBare } from './bare-server.ts';
import { watchMemory } from './bodies-part.ts';
import { startFlood } from './flood.ts';
import { type GoodReport, postAsGoodSender } from './good-sender.ts';
import { startProbe } from './probe.ts';
import { forkWriters } from './writers.ts';

const CONNECTIONS = 50;
const REQUESTS = 40_000;
/** 4 may wait for their answers (docs/operations.md), and one may be answered before they come. */
const MAX_ANSWERS = 5;
const POSTS = 100;
const MAX_WAIT_MS = 1_000;

interface Attack {
  readonly name: string;
  readonly request: string;
}

const HEAD = 'POST /hooks/agent HTTP/1.1\r\nHost: x\r\n';

const ATTACKS: readonly Attack[] = [
  { name: 'probes', request: 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n' },
  { name: 'no token', request: `${HEAD}Content-Length: 2\r\n\r\n{}` },
  {
    name: 'with the token, empty',
    request: `${HEAD}Authorization: Bearer ${TOKEN}\r\nContent-Length: 2\r\n\r\n{}`,
  },
];

/** As many connections as the service keeps, each with 112 KB of requests, and a new one for each that is closed. */
const EVERYWHERE = { count: 2_000, addresses: 4, reconnectMs: 5, drip: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n' };
const HEAP_MB = 256;
const TURNS = 3;
const TURN_MS = 20_000;
const MAX_MORE_MB = 150;
const MAX_TIMES = 10;

/**
 * 40,000 requests written at once on each of 50 connections, and a sender that waits for its answers; then a minute of
 * it on as many connections as there may be, from four addresses.
 */
export const pipeliningPart: Part = {
  name: 'pipelining',
  run: async (progress) => {
    const rows: Row[] = [];
    for (const attack of ATTACKS) {
      progress(attack.name);
      // oxlint-disable-next-line no-await-in-loop -- attacks at once would be one attack
      rows.push(...(await measure(attack)));
    }
    progress('from four addresses');
    rows.push(...(await measureEverywhere()));
    progress('from four addresses, a bare server');
    rows.push(await measureBare());
    return rows;
  },
};

async function measure({ name, request }: Attack): Promise<readonly Row[]> {
  const service = await startAttacked();
  try {
    const probe = await startProbe(service.healthPort);
    await delay(50);
    const { port } = service;
    const flood = await startFlood({ port, connections: CONNECTIONS, request, times: REQUESTS });
    const good = await postGood(port, 10);
    const answers = await flood.answers;
    const slowestMs = Math.round(await probe.stop());
    const most = Math.max(...answers);
    return [
      {
        what: `${name}: good posts`,
        figure: `${good.accepted} of ${POSTS}, p99 ${good.p99Ms} ms`,
        aim: {
          text: `all, p99 under ${MAX_WAIT_MS} ms`,
          met: good.accepted === POSTS && good.p99Ms < MAX_WAIT_MS,
        },
      },
      {
        what: `${name}: slowest probe`,
        figure: `${slowestMs} ms`,
        aim: { text: `under ${MAX_WAIT_MS} ms`, met: slowestMs < MAX_WAIT_MS },
      },
      {
        what: `${name}: answers on one connection`,
        figure: `at most ${most} of ${REQUESTS}`,
        aim: { text: `at most ${MAX_ANSWERS}`, met: most <= MAX_ANSWERS },
      },
    ];
  } finally {
    await service.stop();
  }
}

function postGood(port: number, everyMs: number): Promise<GoodReport> {
  const path = '/hooks/agent';
  return postAsGoodSender({ port, path, token: TOKEN, posts: POSTS, concurrency: 4, everyMs });
}

/** A server under attack for some seconds, and a good sender all the while. */
async function attackEverywhere(port: number, milliseconds: number): Promise<GoodReport> {
  const { drip } = EVERYWHERE;
  const times = Math.floor((112 * 1024) / drip.length);
  const writers = await forkWriters({ ...EVERYWHERE, port, head: '', fill: drip, times });
  try {
    return await postGood(port, milliseconds / POSTS);
  } finally {
    await writers.stop();
  }
}

async function measureEverywhere(): Promise<readonly Row[]> {
  const service = await startAttacked({ heapMb: HEAP_MB });
  try {
    const idleMb = service.residentMb() ?? Number.NaN;
    const most = watchMemory(service);
    const alone: GoodReport[] = [];
    const attacked: GoodReport[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      // oxlint-disable-next-line no-await-in-loop -- in turns
      alone.push(await postGood(service.port, 10));
      // oxlint-disable-next-line no-await-in-loop -- in turns
      attacked.push(await attackEverywhere(service.port, TURN_MS));
    }
    return rowsOf({ alone, attacked, idleMb, moreMb: most() - idleMb, isAlive: isAlive(service) });
  } finally {
    await service.stop();
  }
}

interface Minute {
  readonly alone: readonly GoodReport[];
  readonly attacked: readonly GoodReport[];
  readonly idleMb: number;
  readonly moreMb: number;
  readonly isAlive: boolean;
}

function rowsOf({ alone, attacked, idleMb, moreMb, isAlive: isStillAlive }: Minute): readonly Row[] {
  const what = `four addresses, heap of ${HEAP_MB} MB`;
  const accepted = attacked.reduce((sum, report) => sum + report.accepted, 0);
  const p99 = (reports: readonly GoodReport[]): number => Math.max(...reports.map(({ p99Ms }) => p99Ms));
  const posts = TURNS * POSTS;
  return [
    {
      what: `${what}: the service`,
      figure: isStillAlive ? 'alive' : 'dead',
      aim: { text: 'alive', met: isStillAlive },
    },
    {
      what: `${what}: memory`,
      figure: `${moreMb} MB more than idle (${idleMb} MB)`,
      aim: { text: `at most ${MAX_MORE_MB} MB more`, met: !(moreMb > MAX_MORE_MB) },
    },
    {
      what: `${what}: good posts`,
      figure: `${accepted} of ${posts}`,
      aim: { text: 'all', met: accepted === posts },
    },
    {
      what: `${what}: p99 of a good post`,
      figure: `${attacked.map(({ p99Ms }) => p99Ms).join(', ')} ms; not attacked, in turns, ${alone.map(({ p99Ms }) => p99Ms).join(', ')} ms`,
      aim: { text: `at most ${MAX_TIMES} times`, met: p99(attacked) <= MAX_TIMES * p99(alone) },
    },
  ];
}

/** For comparison: what a node:http server of a dozen lines does meanwhile. */
async function measureBare(): Promise<Row> {
  const bare = await startBare({ connections: EVERYWHERE.count, backlog: 4_096, heapMb: HEAP_MB });
  let state: string | undefined;
  // It may live and answer nobody: a good sender would wait 20 s for each answer.
  const ending = setTimeout(() => {
    state = isAlive(bare) ? `alive after ${(2 * TURN_MS) / 1000} s` : 'dead';
    void bare.stop();
  }, 2 * TURN_MS);
  try {
    const most = watchMemory(bare);
    const { accepted, p99Ms } = await attackEverywhere(bare.port, TURN_MS);
    state ??= isAlive(bare) ? 'alive' : 'dead';
    return {
      what: 'four addresses, a bare server',
      figure: `${state}, ${accepted} of ${POSTS} good posts, p99 ${p99Ms} ms, at most ${most()} MB`,
    };
  } finally {
    clearTimeout(ending);
    await bare.stop();
  }
}

function isAlive(server: Pick<AttackedService, 'residentMb'>): boolean {
  return (server.residentMb() ?? 0) > 0;
}
