/** Bodies that are nearly complete, of senders without a proof and of one that has it but takes its time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Part, Row } from '../../support/parts.ts';
import { type AttackedService, startAttacked, TOKEN } from './attacked-service.ts';
import { postAsGoodSender } from './good-sender.ts';
import { forkWriters, type WriterOptions } from './writers.ts';

/** 64 MB for the bodies, and what is read and thrown away until the collector comes; without the bound 540 MB and 2 GB. */
const MAX_MORE_MB = 256;
const POSTS = 100;
const MAX_WAIT_MS = 1_000;
const ATTACK_MS = 6_000;
const SAMPLE_MS = 50;

const SECRET = 'a-secret-of-the-sender-0123456789';
const VERIFY = `verify: {scheme: github, secrets: ["\${HOOK_SECRET}"]}, deliver: false, messageTemplate: x`;
const MAPPINGS = `
- {id: signed, match: {path: signed}, ${VERIFY}}
- {id: large, match: {path: large}, maxBodyBytes: 2097152, ${VERIFY}}
`;

const MB = 1024 * 1024;

type Attack = { readonly name: string } & Pick<WriterOptions, 'count' | 'head' | 'fill' | 'times' | 'drip'>;

const signed = (path: string, more: string): string =>
  `POST /hooks/${path} HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n${more}\r\n\r\n`;

const ATTACKS: readonly Attack[] = [
  {
    name: '2,000 bodies of 256 KB',
    count: 2_000,
    head: signed('signed', `Content-Length: ${MB / 4}`),
    fill: 'x',
    times: MB / 4 - 1,
  },
  {
    name: '1,000 bodies of 2 MB',
    count: 1_000,
    head: signed('large', `Content-Length: ${2 * MB}`),
    fill: 'x',
    times: 2 * MB - 1,
  },
  {
    name: '2,000 bodies in chunks of one byte',
    count: 2_000,
    head: signed('signed', 'Transfer-Encoding: chunked'),
    fill: '1\r\nx\r\n',
    times: 40_000,
  },
  {
    name: '2,100 slow bodies with the token',
    count: 2_100,
    head: `POST /hooks/agent HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 60000\r\n\r\n`,
    fill: '{',
    times: 1,
    drip: ' ',
  },
];

export const bodiesPart: Part = {
  name: 'bodies',
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

async function measure({ name, ...attack }: Attack): Promise<readonly Row[]> {
  const service = await startAttacked({ mappings: MAPPINGS, variables: { HOOK_SECRET: SECRET } });
  const idleMb = service.residentMb();
  const writers = await forkWriters({ ...attack, port: service.port, addresses: 5, reconnectMs: 100 });
  try {
    const most = watchMemory(service);
    await delay(ATTACK_MS / 2);
    const good = await postAsGoodSender({
      port: service.port,
      path: '/hooks/agent',
      token: TOKEN,
      posts: POSTS,
      concurrency: 4,
      everyMs: ATTACK_MS / 2 / POSTS,
    });
    const moreMb = Math.round(most() - (idleMb ?? Number.NaN));
    const { accepted, p50Ms, p99Ms, failures } = good;
    return [
      {
        what: `${name}: memory`,
        figure: `${moreMb} MB more than idle (${idleMb} MB); ${writers.opened()} connections opened`,
        aim: { text: `at most ${MAX_MORE_MB} MB more`, met: !(moreMb > MAX_MORE_MB) },
      },
      {
        what: `${name}: good posts`,
        figure: `${accepted} of ${POSTS}, p50 ${p50Ms} ms, p99 ${p99Ms} ms ${[...new Set(failures)].join(', ')}`,
        aim: { text: `all, p99 under ${MAX_WAIT_MS} ms`, met: accepted === POSTS && p99Ms < MAX_WAIT_MS },
      },
    ];
  } finally {
    await writers.stop();
    await service.stop();
  }
}

/** Answers to the most megabytes that it held in memory since. */
export function watchMemory(service: Pick<AttackedService, 'residentMb'>): () => number {
  let most = 0;
  const sampling = setInterval(() => (most = Math.max(most, service.residentMb() ?? 0)), SAMPLE_MS);
  return () => {
    clearInterval(sampling);
    return most;
  };
}
