import { setTimeout as delay } from 'node:timers/promises';
import { startAttacked, TOKEN } from './attacked-service.ts';
import { startBare } from './bare-server.ts';
import { countInTime, postAsGoodSender, type GoodReport } from './good-sender.ts';
import { type QueueReport, watchQueue } from './listen-queue.ts';
import { startProbe } from './probe.ts';
import type { Part, Row } from '../../support/parts.ts';
import { forkStrangers, STRANGER_KINDS, type StrangerKind } from './strangers.ts';

const STRANGERS = 10_000;
const POSTS = 400;
/** The posts last four seconds, so that some of them meet every wave of strangers that come back. */
const POST_EVERY_MS = 10;
const MAX_P99_MS = 100;
/** Of a bare server's p99 under the same attack, where this machine is too slow for the milliseconds above. */
const MAX_TIMES = 5;

interface Attack {
  readonly name: string;
  readonly kinds: readonly StrangerKind[];
  readonly addresses: number;
  readonly reconnectMs: number;
}

const ATTACKS: readonly Attack[] = [
  ...STRANGER_KINDS.map((kind) => ({ name: kind, kinds: [kind], addresses: 200, reconnectMs: 2_000 })),
  { name: 'all kinds, one address', kinds: STRANGER_KINDS, addresses: 1, reconnectMs: 2_000 },
  { name: 'all kinds, back after 0.2 s', kinds: STRANGER_KINDS, addresses: 200, reconnectMs: 200 },
];

/** It keeps as many connections as the service's default, and lets as many wait. */
const BARE = { connections: 2_000, backlog: 4_096 };

/** 10,000 connections without a token against a service that keeps 2,000, and a sender that has one. */
export const strangersPart: Part = {
  name: 'strangers',
  run: async (progress) => {
    progress('nobody else');
    const rows: Row[] = [await measureAlone()];
    for (const attack of ATTACKS) {
      progress(attack.name);
      // oxlint-disable-next-line no-await-in-loop -- attacks at once would be one attack
      const outcome = await runAttack(attack, await startAttacked());
      progress(`${attack.name}, a bare server`);
      // oxlint-disable-next-line no-await-in-loop
      const floor = await runAttack(attack, await startBare(BARE));
      rows.push(...rowsOf(attack.name, outcome, floor));
    }
    return rows;
  },
};

const KEPT_ATTACKS: readonly (Pick<Attack, 'kinds'> & { readonly connections: number })[] = [
  { kinds: ['wrong token'], connections: 150 },
  { kinds: ['wrong token'], connections: 300 },
  { kinds: ['wrong token'], connections: 450 },
  { kinds: ['long address'], connections: 150 },
  { kinds: ['health'], connections: 450 },
];
const KEPT_POSTS = 50;
const IN_TIME_MS = 3_000;
const MIN_SHARE = 0.9;

/** One address that writes without end on connections that it keeps, and a sender of the same address that opens new ones. */
export const keptPart: Part = {
  name: 'kept',
  run: async (progress) => {
    const rows: Row[] = [];
    for (const attack of KEPT_ATTACKS) {
      const name = `${attack.kinds.join()} on ${attack.connections} kept connections`;
      progress(name);
      // oxlint-disable-next-line no-await-in-loop -- attacks at once would be one attack
      const served = await postDuring(attack, await startAttacked());
      // oxlint-disable-next-line no-await-in-loop
      const bare = await postDuring(attack, await startBare(BARE));
      rows.push({
        what: `${name}: good posts within ${IN_TIME_MS / 1000} s`,
        figure: `${served} of ${KEPT_POSTS}; at a bare server ${bare}`,
        aim: { text: `${MIN_SHARE} of a bare server's`, met: bare > 0 && served >= MIN_SHARE * bare },
      });
    }
    return rows;
  },
};

async function postDuring(
  { kinds, connections }: (typeof KEPT_ATTACKS)[number],
  victim: Victim,
): Promise<number> {
  const { port } = victim;
  const path = '/hooks/agent';
  const addresses = ['127.0.0.1'];
  const strangers = await forkStrangers({
    port,
    path,
    count: connections,
    addresses,
    kinds,
    reconnectMs: 200,
  });
  try {
    await delay(1_000);
    return await countInTime({
      port,
      path,
      token: TOKEN,
      posts: KEPT_POSTS,
      everyMs: 200,
      withinMs: IN_TIME_MS,
    });
  } finally {
    await strangers.stop();
    await victim.stop();
  }
}

/** The same posts without strangers: what this machine and its disk do by themselves. */
async function measureAlone(): Promise<Row> {
  const service = await startAttacked();
  try {
    const { p50Ms, p99Ms } = await postGood(service);
    return { what: 'nobody else: time of a good post', figure: `p50 ${p50Ms} ms, p99 ${p99Ms} ms` };
  } finally {
    await service.stop();
  }
}

function postGood({ port }: Victim): Promise<GoodReport> {
  const path = '/hooks/agent';
  return postAsGoodSender({
    port,
    path,
    token: TOKEN,
    posts: POSTS,
    concurrency: 4,
    everyMs: POST_EVERY_MS,
  });
}

/** What is attacked: the service, or a bare server for comparison. */
interface Victim {
  readonly port: number;
  readonly healthPort?: number;
  cpuSeconds(): number | undefined;
  stop(): Promise<void>;
}

interface Outcome {
  readonly good: GoodReport;
  /** Processor time for each connection of a stranger meanwhile; undefined where it is not known. */
  readonly connectionUs: number | undefined;
  /** Slowest answer to the probe of `/healthz` on its own listener; undefined where there is none. */
  readonly healthMs: number | undefined;
  readonly queue: QueueReport | undefined;
}

async function runAttack({ kinds, addresses, reconnectMs }: Attack, victim: Victim): Promise<Outcome> {
  const strangers = await forkStrangers({
    port: victim.port,
    path: '/hooks/agent',
    count: STRANGERS,
    addresses: Array.from({ length: addresses }, (_, index) => `127.0.${index >> 7}.${(index & 127) + 1}`),
    kinds,
    reconnectMs,
  });
  try {
    // The first wave is over when each of them has had its turn.
    await delay(3_000);
    const before = { opened: strangers.opened(), cpu: victim.cpuSeconds() };
    const queue = watchQueue(victim.port);
    const posting = postGood(victim);
    const probe = victim.healthPort === undefined ? undefined : await startProbe(victim.healthPort);
    const good = await posting;
    const slowestMs = await probe?.stop();
    const opened = strangers.opened() - before.opened;
    const cpu = (victim.cpuSeconds() ?? Number.NaN) - (before.cpu ?? Number.NaN);
    return {
      good,
      healthMs: slowestMs === undefined ? undefined : Math.round(slowestMs),
      queue: queue(),
      connectionUs: opened === 0 || Number.isNaN(cpu) ? undefined : Math.round((cpu * 1e6) / opened),
    };
  } finally {
    await strangers.stop();
    await victim.stop();
  }
}

function rowsOf(
  name: string,
  { good, healthMs, connectionUs, queue }: Outcome,
  floor: Outcome,
): readonly Row[] {
  const { posts, accepted, p99Ms, failures } = good;
  const failed = failures.length === 0 ? '' : ` (${[...new Set(failures)].join(', ')})`;
  return [
    {
      what: `${name}: good posts`,
      figure: `${accepted} of ${posts}${failed}`,
      aim: { text: 'all', met: accepted === posts },
    },
    {
      what: `${name}: time of a good post`,
      figure: timesOf(good),
      aim: {
        text: `p99 under ${MAX_P99_MS} ms, or ${MAX_TIMES} times a bare server's`,
        met: p99Ms < Math.max(MAX_P99_MS, MAX_TIMES * floor.good.p99Ms),
      },
    },
    { what: `${name}: the same at a bare server`, figure: timesOf(floor.good) },
    ...(healthMs === undefined
      ? []
      : [
          {
            what: `${name}: slowest probe`,
            figure: `${healthMs} ms`,
            aim: {
              text: `under ${MAX_P99_MS} ms, or a bare server's p99 of good posts`,
              met: healthMs < Math.max(MAX_P99_MS, floor.good.p99Ms),
            },
          },
        ]),
    { what: `${name}: connections waiting to be taken up`, figure: queueText(queue) },
    { what: `${name}: the same at a bare server`, figure: queueText(floor.queue) },
    {
      what: `${name}: processor time for each connection`,
      figure: `${connectionUs ?? '?'} us, good posts included; bare ${floor.connectionUs ?? '?'} us`,
    },
  ];
}

function timesOf({ p50Ms, p99Ms, keptP99Ms, newP99Ms }: GoodReport): string {
  return `p50 ${p50Ms} ms, p99 ${p99Ms} ms (kept connections ${keptP99Ms} ms, new ones ${newP99Ms} ms)`;
}

function queueText(queue: QueueReport | undefined): string {
  if (queue === undefined) return 'the system does not say';
  const { longest, overflows, sentAgain } = queue;
  return `at most ${longest}; ${overflows} found the queue full, ${sentAgain} first packets sent again`;
}
