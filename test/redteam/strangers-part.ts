import { setTimeout as delay } from 'node:timers/promises';
import { type AttackedService, startAttacked, TOKEN } from './attacked-service.ts';
import { postAsGoodSender, type GoodReport } from './good-sender.ts';
import type { Part, Row } from '../support/parts.ts';
import { forkStrangers, STRANGER_KINDS, type StrangerKind } from './strangers.ts';

const STRANGERS = 10_000;
const POSTS = 400;
/** The posts last four seconds, so that some of them meet every wave of strangers that come back. */
const POST_EVERY_MS = 10;
const MAX_P99_MS = 100;

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

/** 10,000 connections without a token against a service that keeps 2,000, and a sender that has one. */
export const strangersPart: Part = {
  name: 'strangers',
  run: async (progress) => {
    progress('nobody else');
    const rows: Row[] = [await measureAlone()];
    for (const attack of ATTACKS) {
      progress(attack.name);
      // oxlint-disable-next-line no-await-in-loop -- attacks at once would be one attack
      rows.push(...rowsOf(attack.name, await runAttack(attack)));
    }
    return rows;
  },
};

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

function postGood({ port }: AttackedService): Promise<GoodReport> {
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

interface Outcome {
  readonly good: GoodReport;
  /** Processor time of the service for each connection of a stranger meanwhile; undefined where it is not known. */
  readonly connectionUs: number | undefined;
  /** Slowest of the probes of `/healthz` on its own listener. */
  readonly healthMs: number;
}

async function runAttack({ kinds, addresses, reconnectMs }: Attack): Promise<Outcome> {
  const service = await startAttacked();
  const strangers = await forkStrangers({
    port: service.port,
    path: '/hooks/agent',
    count: STRANGERS,
    addresses: Array.from({ length: addresses }, (_, index) => `127.0.${index >> 7}.${(index & 127) + 1}`),
    kinds,
    reconnectMs,
  });
  try {
    // The first wave is over when each of them has had its turn.
    await delay(3_000);
    const before = { opened: strangers.opened(), cpu: service.cpuSeconds() };
    const posting = postGood(service);
    const healthMs = await probe(service.healthPort);
    const good = await posting;
    const opened = strangers.opened() - before.opened;
    const cpu = (service.cpuSeconds() ?? Number.NaN) - (before.cpu ?? Number.NaN);
    return {
      good,
      healthMs,
      connectionUs: opened === 0 || Number.isNaN(cpu) ? undefined : Math.round((cpu * 1e6) / opened),
    };
  } finally {
    await strangers.stop();
    await service.stop();
  }
}

async function probe(port: number): Promise<number> {
  let slowest = 0;
  for (let index = 0; index < 10; index += 1) {
    const begun = performance.now();
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as probes are
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    slowest = Math.max(slowest, answer?.ok === true ? performance.now() - begun : Number.POSITIVE_INFINITY);
    // oxlint-disable-next-line no-await-in-loop
    await delay(50);
  }
  return Math.round(slowest);
}

function rowsOf(name: string, { good, healthMs, connectionUs }: Outcome): readonly Row[] {
  const { posts, accepted, p50Ms, p99Ms, failures } = good;
  const failed = failures.length === 0 ? '' : ` (${[...new Set(failures)].join(', ')})`;
  return [
    {
      what: `${name}: good posts`,
      figure: `${accepted} of ${posts}${failed}`,
      aim: { text: 'all', met: accepted === posts },
    },
    {
      what: `${name}: time of a good post`,
      figure: `p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
      aim: { text: `p99 under ${MAX_P99_MS} ms`, met: p99Ms < MAX_P99_MS },
    },
    {
      what: `${name}: slowest probe`,
      figure: `${healthMs} ms`,
      aim: { text: `under ${MAX_P99_MS} ms`, met: healthMs < MAX_P99_MS },
    },
    ...(connectionUs === undefined
      ? []
      : [
          {
            what: `${name}: processor time for each connection`,
            figure: `${connectionUs} us, good posts included`,
          },
        ]),
  ];
}
