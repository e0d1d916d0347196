import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { agent, work } from '../../support/storage-builders.ts';
import type { Part } from '../../support/parts.ts';
import { startServer, stopServer } from './child.ts';
import { median, residentMegabytes } from './figures.ts';

const BACKLOGS = [0, 10_000, 100_000];
const ROUNDS = 3;
const SETTLE_MS = 3_000;
const PROMPT = 'p'.repeat(1500);
const MESSAGE = 'm'.repeat(300);

/** From spawn to work, and the memory, of a service that was killed with a backlog and four runs under way. */
export const backlogPart: Part = {
  name: 'backlog',
  run: async (progress) => {
    const measured: Measured[] = [];
    for (const queued of BACKLOGS) {
      const rounds: Measured[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        rounds.push(await measure(queued));
        progress(`${queued} queued, round ${round + 1}/${ROUNDS}`);
      }
      measured.push({
        queued,
        readyMs: median(rounds.map(({ readyMs }) => readyMs)),
        claimedMs: median(rounds.map(({ claimedMs }) => claimedMs)),
        residentMb: median(rounds.map(({ residentMb }) => residentMb)),
        workingMb: median(rounds.map(({ workingMb }) => workingMb)),
      });
    }
    const empty = measured[0];
    return measured.map(({ queued, readyMs, claimedMs, residentMb, workingMb }) => {
      const more = residentMb - (empty?.residentMb ?? 0);
      return {
        what: `${queued} queued`,
        figure:
          `ready after ${readyMs.toFixed(0)} ms, first claim after ${claimedMs.toFixed(0)} ms, ` +
          `${residentMb.toFixed(0)} MB when ready (${more.toFixed(0)} MB more than empty), ${workingMb.toFixed(0)} MB after ${SETTLE_MS / 1000} s of work`,
      };
    });
  },
};

interface Measured {
  readonly queued: number;
  readonly readyMs: number;
  readonly claimedMs: number;
  readonly residentMb: number;
  readonly workingMb: number;
}

async function measure(queued: number): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-backlog-'));
  const url = `sqlite:${join(folder, 'store.db')}`;
  const config = join(folder, 'sluice.yaml');
  try {
    await writeFile(
      config,
      `hooks: {enabled: true, token: bench-token-0123456789abcdef}\nlog: {level: info}\nstorage: {url: "${url}", maxBacklog: {runs: 1000000}}\n`,
    );
    await fill(url, queued);
    // Opened before, so that looking costs the service's start nothing.
    const beside = await openStorage(url, { mode: 'attached' });
    const isClaimed = async (): Promise<boolean> => {
      const { queuedRuns, activeRuns } = await beside.backlog();
      return queued === 0 || queuedRuns + activeRuns < queued;
    };
    const startedAt = performance.now();
    const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
    const service = await startServer([main, 'serve', '-c', config, '--port', '0']);
    try {
      const residentMb = await residentMegabytes(service.child.pid ?? 0);
      while (!(await isClaimed())) await wait(2);
      const claimedMs = performance.now() - startedAt;
      await wait(SETTLE_MS);
      const workingMb = await residentMegabytes(service.child.pid ?? 0);
      return { queued, readyMs: service.readyMs, claimedMs, residentMb, workingMb };
    } finally {
      await stopServer(service);
      await beside.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Leaves a store as a killed service does: runs queued, half of them under twenty keys, and four under way. */
async function fill(url: string, queued: number): Promise<void> {
  const storage = await openStorage(url, { fsync: false, maxBacklogRuns: 10_000_000, maxBacklogBytes: 1e12 });
  for (let index = 0; index < queued; index += 500) {
    const actions = Array.from({ length: Math.min(500, queued - index) }, (_, at) =>
      agent({
        prompt: PROMPT,
        message: MESSAGE,
        ...(at % 2 === 0 ? { sessionKey: `hook:key:${at % 40}` } : {}),
      }),
    );
    await storage.accept(work(actions, { receivedAt: Date.now() }));
  }
  await storage.claimRuns({ nowMs: Date.now(), limit: 4 });
  await storage.close();
}
