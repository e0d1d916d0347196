/**
 * `npm run bench:peers`: what people would use instead, doing the same work: a token is checked, a template is
 * rendered over a GitHub push of 2 KB, and the result waits for its turn when the answer goes out. Each peer is
 * installed in a folder of its own, outside this project, and started as its documentation says.
 *
 *   npm run bench:peers                 every peer that this machine can install or has
 *   npm run bench:peers -- openclaw     only the peers named
 *
 * What a peer does less is said in its row: no store that survives a crash, no sandbox, no boundary.
 */
import { readFile } from 'node:fs/promises';
import { countMissed, type Part, runParts } from '../../../support/parts.ts';
import { percent, median, withSpread } from '../figures.ts';
import { runLoad } from '../load.ts';
import { bullmq } from './bullmq.ts';
import { openclaw } from './openclaw.ts';
import { pgBoss } from './pg-boss.ts';
import { type Peer, PeerMissing, type RunningPeer, TOKEN } from './peer.ts';
import { sluice } from './sluice.ts';
import { webhook } from './webhook.ts';

const PEERS: readonly Peer[] = [openclaw, webhook, bullmq, pgBoss];
const ROUNDS = 3;
const SECONDS = 4;
const CONNECTIONS = [1, 16, 64];
const push = await readFile(new URL('../push.json', import.meta.url), 'utf8');

const parts = PEERS.map((peer) => (): Promise<Part> => Promise.resolve(partOf(peer)));
const measured = await runParts(parts, process.argv.slice(2));
process.exitCode = countMissed(measured) === 0 ? 0 : 1;

/** One peer against Sluice, in turns. */
function partOf(peer: Peer): Part {
  return {
    name: peer.name,
    run: async (progress) => {
      progress(`${peer.name} is being installed and started`);
      let running: RunningPeer;
      try {
        running = await peer.start();
      } catch (error) {
        if (!(error instanceof PeerMissing)) throw error;
        return [{ what: 'not measured', figure: error.message }];
      }
      const own = await sluice.start();
      try {
        return await compare({ peer, running, own }, progress);
      } finally {
        await own.stop();
        await running.stop();
      }
    },
  };
}

interface Match {
  readonly peer: Peer;
  readonly running: RunningPeer;
  readonly own: RunningPeer;
}

/** One hook of both sides, by its paths. */
interface Hook {
  readonly name: 'template' | 'transform';
  readonly peer: string;
  readonly own: string;
}

async function compare({ peer, running, own }: Match, progress: (text: string) => void) {
  const hooks: Hook[] = [{ name: 'template', peer: running.path, own: own.path }];
  if (running.transformPath !== undefined && own.transformPath !== undefined) {
    hooks.push({ name: 'transform', peer: running.transformPath, own: own.transformPath });
  }
  const rows = [{ what: 'what it does', figure: peer.does }];
  for (const hook of hooks)
    for (const connections of CONNECTIONS) {
      const label = `${hook.name}, ${connections} connections`;
      const rates = { peer: [] as number[], own: [] as number[] };
      const waits = { peer: [] as number[], own: [] as number[] };
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [side, server] of [
          ['peer', running],
          ['own', own],
        ] as const) {
          const { requestsPerSecond, p99Ms } = await load(
            { port: server.port, path: hook[side] },
            connections,
          );
          rates[side].push(requestsPerSecond);
          waits[side].push(p99Ms);
          progress(`${label}, round ${round + 1}/${ROUNDS}  ${side}  ${requestsPerSecond}/s`);
        }
      }
      const figure = (side: 'peer' | 'own'): string =>
        `${withSpread(rates[side], (rate) => `${Math.round(rate)}`)} a second, p99 ${median(waits[side]).toFixed(1)} ms`;
      rows.push(
        { what: `${label}, ${peer.name}`, figure: figure('peer') },
        { what: `${label}, Sluice`, figure: figure('own') },
        {
          what: `${label}, Sluice against ${peer.name}`,
          figure: percent(median(rates.own) / median(rates.peer)),
        },
      );
    }
  return rows;
}

async function load(server: Pick<RunningPeer, 'port' | 'path'>, connections: number) {
  const result = await runLoad({
    host: '127.0.0.1',
    port: server.port,
    path: server.path,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'x-github-event': 'push',
    },
    body: JSON.stringify(JSON.parse(push)),
    connections,
    seconds: SECONDS,
    warmupSeconds: 1,
  });
  const bad = Object.keys(result.statuses).filter((status) => !status.startsWith('2'));
  if (bad.length > 0 || result.errors > 0) {
    throw new Error(
      `${JSON.stringify(result.statuses)}, ${result.errors} errors: the figures would be worthless`,
    );
  }
  return result;
}
