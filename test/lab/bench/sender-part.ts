import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Part, Row } from '../../support/parts.ts';
import { startServer, stopServer } from './child.ts';
import { load, ratioRow, throughputRow, WAKE_BODY, withServers } from './http-part.ts';
import type { LoadResult } from './load.ts';

/** Rounds for each number of connections, the targets in turns. */
const ROUNDS = 5;
const SECONDS = 2;
/** Of each target with each number of connections: V8 compiles anew for one sender at a time. */
const WARM_UP_SECONDS = 2;
/** After each change of the target. */
const SETTLE_SECONDS = 0.3;
/** The first is a sender that waits for each answer before it sends the next request. */
const CONNECTIONS = [1, 16, 64] as const;
const AIM = 0.25;

const NAMES = ['bare', 'syncing', 'wake'] as const;
type Rounds = Readonly<Record<(typeof NAMES)[number], { readonly load: LoadResult }[]>>;

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
        const ports = { bare: bare.port, syncing: syncing.port, wake: service.port };
        const loadOf = (name: keyof Rounds, options: Parameters<typeof load>[1]) =>
          load({ port: ports[name], path: '/hooks/wake', body: WAKE_BODY }, options);
        for (const name of NAMES)
          for (const connections of CONNECTIONS)
            await loadOf(name, { connections, seconds: WARM_UP_SECONDS });
        const rows: Row[] = [];
        for (const connections of CONNECTIONS) {
          const rounds: Rounds = { bare: [], syncing: [], wake: [] };
          for (let round = 0; round < ROUNDS; round += 1) {
            for (const name of NAMES) {
              const options = { connections, seconds: SECONDS, warmupSeconds: SETTLE_SECONDS };
              rounds[name].push({ load: await loadOf(name, options) });
            }
            progress(`${connections} connections, round ${round + 1}/${ROUNDS}`);
          }
          rows.push(...rowsOf(connections, rounds));
        }
        return rows;
      });
    } finally {
      await stopServer(syncing);
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function rowsOf(connections: number, { bare, syncing, wake }: Rounds): readonly Row[] {
  const who = connections === 1 ? 'one sender' : `${connections} senders`;
  return [
    throughputRow(`${who}: bare node:http`, bare),
    throughputRow(`${who}: the same with a page synced in a thread`, syncing),
    throughputRow(`${who}: /wake`, wake),
    ratioRow(`${who}: a page synced in a thread against bare`, syncing, bare),
    ratioRow(`${who}: /wake against bare`, wake, bare, connections === 1 ? AIM : undefined),
    ratioRow(`${who}: /wake against a page synced in a thread`, wake, syncing),
  ];
}
