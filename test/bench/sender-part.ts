import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Part, Row } from '../support/parts.ts';
import { startServer, stopServer } from './child.ts';
import { median, percent, withSpread } from './figures.ts';
import { TOKEN, WAKE_BODY, withServers } from './http-part.ts';
import { runLoad } from './load.ts';

/** Rounds for each number of connections, the targets in turns. */
const ROUNDS = 5;
const SECONDS = 2;
/** V8 compiles what one sender at a time asks for as long as this. */
const WARM_UP_SECONDS = 6;
/** The first is a sender that waits for each answer before it sends the next request. */
const CONNECTIONS = [1, 16, 64] as const;
const AIM = 0.25;

interface Target {
  readonly name: 'bare' | 'syncing' | 'wake';
  readonly port: number;
  readonly path: string;
}

/**
 * What one sender gets that waits for each answer, and what more of them get: `/wake` of the durable service against a
 * bare node:http server, and against one that does nothing but sync a page in a thread before it answers.
 */
export const senderPart: Part = {
  name: 'sender',
  run: async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-sender-'));
    const program = fileURLToPath(new URL('./syncing-server.ts', import.meta.url));
    const syncing = await startServer([program, join(folder, 'pages')]);
    try {
      return await withServers(async ({ bare, service }) => {
        const targets: readonly Target[] = [
          { name: 'bare', port: bare.port, path: '/hooks/wake' },
          { name: 'syncing', port: syncing.port, path: '/hooks/wake' },
          { name: 'wake', port: service.port, path: '/hooks/wake' },
        ];
        for (const target of targets)
          for (const connections of CONNECTIONS)
            await rateOf(target, connections, WARM_UP_SECONDS / CONNECTIONS.length);
        const rows: Row[] = [];
        for (const connections of CONNECTIONS) {
          const rates = { bare: [] as number[], syncing: [] as number[], wake: [] as number[] };
          for (let round = 0; round < ROUNDS; round += 1) {
            for (const target of targets) rates[target.name].push(await rateOf(target, connections, SECONDS));
            progress(`${connections} connections, round ${round + 1}/${ROUNDS}`);
          }
          rows.push(...rowsOf(connections, rates));
        }
        return rows;
      });
    } finally {
      await stopServer(syncing);
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function rateOf({ port, path }: Target, connections: number, seconds: number): Promise<number> {
  const { requestsPerSecond, statuses, errors } = await runLoad({
    host: '127.0.0.1',
    port,
    path,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: WAKE_BODY,
    connections,
    seconds,
    warmupSeconds: 0.3,
  });
  if (errors > 0 || Object.keys(statuses).some((status) => !status.startsWith('2')))
    throw new Error(`${path}: ${JSON.stringify(statuses)}, ${errors} errors: the figures would be worthless`);
  return requestsPerSecond;
}

function rowsOf(
  connections: number,
  { bare, syncing, wake }: Readonly<Record<Target['name'], readonly number[]>>,
): readonly Row[] {
  const who = connections === 1 ? 'one sender' : `${connections} senders`;
  const shares = (own: readonly number[], other: readonly number[]) =>
    own.map((rate, round) => rate / (other[round] ?? 0));
  const rate = (rates: readonly number[]) => withSpread(rates, (value) => `${Math.round(value)}`);
  const ofBare = shares(wake, bare);
  return [
    { what: `${who}: bare node:http`, figure: `${rate(bare)} a second` },
    {
      what: `${who}: the same with a page synced in a thread, against bare`,
      figure: `${withSpread(shares(syncing, bare), percent)}, ${rate(syncing)} a second`,
    },
    {
      what: `${who}: /wake against bare`,
      figure: `${withSpread(ofBare, percent)}, ${rate(wake)} a second`,
      ...(connections === 1 ? { aim: { text: percent(AIM), met: median(ofBare) >= AIM } } : {}),
    },
    {
      what: `${who}: /wake against the one that syncs`,
      figure: withSpread(shares(wake, syncing), percent),
      ratio: { value: median(shares(wake, syncing)), better: 'higher' },
    },
  ];
}
