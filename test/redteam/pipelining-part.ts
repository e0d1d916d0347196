/** Senders that write tens of thousands of requests on each connection without waiting for a single answer. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Part, Row } from '../support/parts.ts';
import { startAttacked, TOKEN } from './attacked-service.ts';
import { startFlood } from './flood.ts';
import { postAsGoodSender } from './good-sender.ts';
import { startProbe } from './probe.ts';

const CONNECTIONS = 50;
const REQUESTS = 40_000;
/** 64 may wait for their answers (docs/operations.md), and one may be answered before they come. */
const MAX_ANSWERS = 65;
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

/** 40,000 requests written at once on each of 50 connections, and a sender that waits for its answers. */
export const pipeliningPart: Part = {
  name: 'pipelining',
  run: async (progress) => {
    const rows: Row[] = [];
    for (const attack of ATTACKS) {
      progress(attack.name);
      // oxlint-disable-next-line no-await-in-loop -- attacks at once would be one attack
      rows.push(...(await measure(attack)));
    }
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
    const good = await postAsGoodSender({
      port,
      path: '/hooks/agent',
      token: TOKEN,
      posts: POSTS,
      concurrency: 4,
      everyMs: 10,
    });
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
