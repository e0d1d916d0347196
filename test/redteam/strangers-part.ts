import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { startAttacked, TOKEN } from './attacked-service.ts';
import { postAsGoodSender, type GoodReport } from './good-sender.ts';
import type { Part, Row } from '../support/parts.ts';
import { forkStrangers, STRANGER_KINDS, type StrangerKind } from './strangers.ts';

const STRANGERS = 10_000;
const POSTS = 400;
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
    const rows: Row[] = [];
    for (const attack of ATTACKS) {
      progress(attack.name);
      // oxlint-disable-next-line no-await-in-loop -- attacks at once would be one attack
      rows.push(...rowsOf(attack.name, await runAttack(attack)));
    }
    return rows;
  },
};

interface Outcome {
  readonly good: GoodReport;
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
    const posting = postAsGoodSender({
      port: service.port,
      path: '/hooks/agent',
      token: TOKEN,
      posts: POSTS,
      concurrency: 4,
    });
    const healthMs = await probe(service.healthPort);
    return { good: await posting, healthMs };
  } finally {
    strangers.stdin?.end();
    if (strangers.exitCode === null) await once(strangers, 'exit');
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

function rowsOf(name: string, { good, healthMs }: Outcome): readonly Row[] {
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
  ];
}
