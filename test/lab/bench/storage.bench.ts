import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentAction } from '../../../src/base/action.ts';
import { deriveActionId } from '../../../src/engine/hook/ids.ts';
import { openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import type { Part } from '../../support/parts.ts';
import { median, percent } from './figures.ts';
import { agent, completion, DAY_MS, failure, NOW, wake, work } from '../../support/storage-builders.ts';

/** What the store does on this machine. Rates per second, times in milliseconds. */
export interface StorageFigures {
  readonly acceptsPerSecond: { readonly fsync: number; readonly noFsync: number };
  readonly backlogs: readonly BacklogFigures[];
  /** Longest time an accept took while 20,000 ended runs were pruned. */
  readonly slowestAcceptWhilePruningMs: number;
}

export interface BacklogFigures {
  readonly queued: number;
  readonly openMs: number;
  readonly claimMs: number;
  readonly claimUnderLimitsMs: number;
  /** Claim and completion of one run, as the gateway does them. */
  readonly turnMs: number;
  readonly backlogMs: number;
  readonly acceptsPerSecond: number;
  /** Of an empty store, measured in turns with this one. */
  readonly emptyPerSecond: number;
  readonly residentMb: number;
  readonly fileMb: number;
}

export interface StorageBenchOptions {
  /** Accepts per measurement; default 20,000. */
  readonly accepts?: number;
  /** Requests in flight; default 64. */
  readonly concurrency?: number;
  /** Sizes of backlog to measure; default 10,000 and 100,000. */
  readonly backlogs?: readonly number[];
}

const PROMPT = 'p'.repeat(1500);
const MESSAGE = 'm'.repeat(300);

/** Measures the sqlite store in a temporary folder, alone in this process. */
export async function benchStorage(options: StorageBenchOptions = {}): Promise<StorageFigures> {
  const { accepts = 20_000, concurrency = 64, backlogs = [10_000, 100_000] } = options;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-storage-'));
  try {
    const rate = async (fsync: boolean) => {
      const storage = await openStorage(`sqlite:${join(folder, `rate-${fsync}.db`)}`, { fsync, ...ROOMY });
      await acceptMany(storage, accepts / 4, concurrency);
      const perSecond = await acceptMany(storage, accepts, concurrency);
      await storage.close();
      return perSecond;
    };
    const acceptsPerSecond = { fsync: await rate(true), noFsync: await rate(false) };
    const measured: BacklogFigures[] = [];
    for (const queued of backlogs) {
      measured.push(await measureBacklog(join(folder, `backlog-${queued}.db`), queued, concurrency));
    }
    const slowestAcceptWhilePruningMs = await measurePrune(join(folder, 'prune.db'));
    return { acceptsPerSecond, backlogs: measured, slowestAcceptWhilePruningMs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ROOMY = { maxBacklogRuns: 10_000_000, maxBacklogBytes: 1e12, maxPendingEvents: 10_000_000 };

function typical(parts: Partial<Omit<AgentAction, 'prompt'>> = {}): AgentAction {
  const id = deriveActionId({ id: randomUUID(), receivedAt: Date.now() }, 0);
  return agent({ id, sessionKey: `hook:${id}`, prompt: PROMPT, message: MESSAGE, ...parts });
}

async function acceptMany(storage: Storage, count: number, concurrency: number): Promise<number> {
  let left = count;
  const started = performance.now();
  const lane = async () => {
    while (left-- > 0) await storage.accept(work([typical()]));
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return Math.round((count / (performance.now() - started)) * 1000);
}

/** Half of the backlog under one session key, some heads waiting for a retry, the rest one key each. */
async function measureBacklog(file: string, queued: number, concurrency: number): Promise<BacklogFigures> {
  const filling = await openStorage(`sqlite:${file}`, { ...ROOMY, fsync: false });
  for (let index = 0; index < queued; index += 500) {
    const actions = Array.from({ length: 500 }, (_, at) =>
      typical(
        at % 2 === 0
          ? { sessionKey: 'one-key' }
          : { origin: { ...typical().origin, mappingId: `m${at % 20}` } },
      ),
    );
    await filling.accept(work(actions));
  }
  for (const { id } of await filling.claimRuns({ nowMs: NOW, limit: 200 })) {
    await filling.requeueRun(id, failure(NOW + DAY_MS));
  }
  await filling.close();

  const before = process.memoryUsage().rss;
  const started = performance.now();
  const storage = await openStorage(`sqlite:${file}`, ROOMY);
  const openMs = performance.now() - started;
  const claimMs = await medianTime(51, () => storage.claimRuns({ nowMs: NOW, limit: 4 }));
  const claimUnderLimitsMs = await medianTime(51, () =>
    storage.claimRuns({
      nowMs: NOW,
      limit: 4,
      limits: { default: { maxRuns: { runs: 1000, isKeyed: false } }, byMapping: new Map() },
      maxPerRunner: new Map([['', 1000]]),
    }),
  );
  const turnMs = await medianTime(51, async () => {
    const [run] = await storage.claimRuns({ nowMs: NOW, limit: 1 });
    await storage.completeRun(completion(run?.id ?? ''));
  });
  const backlogMs = await medianTime(51, () => storage.backlog());
  const residentMb = (process.memoryUsage().rss - before) / 1e6;
  const empty = await openStorage(`sqlite:${file}-empty`, ROOMY);
  const rates = { full: [] as number[], empty: [] as number[] };
  for (let round = 0; round < 6; round += 1) {
    const [full, other] = [
      await acceptMany(storage, 5_000, concurrency),
      await acceptMany(empty, 5_000, concurrency),
    ];
    // The first round of both warms up.
    if (round > 0) {
      rates.full.push(full);
      rates.empty.push(other);
    }
  }
  await Promise.all([storage.close(), empty.close()]);
  const fileMb = statSync(file).size / 1e6;
  return {
    queued,
    openMs,
    claimMs,
    claimUnderLimitsMs,
    turnMs,
    backlogMs,
    acceptsPerSecond: median(rates.full),
    emptyPerSecond: median(rates.empty),
    residentMb,
    fileMb,
  };
}

async function medianTime(times: number, measure: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < times; round += 1) {
    const started = performance.now();
    await measure();
    taken.push(performance.now() - started);
  }
  return median(taken);
}

async function measurePrune(file: string): Promise<number> {
  const storage = await openStorage(`sqlite:${file}`, ROOMY);
  for (let index = 0; index < 20_000; index += 500) {
    const runs = Array.from({ length: 500 }, () => typical());
    await storage.accept(work(runs));
    await storage.claimRuns({ nowMs: NOW, limit: 500 });
    await Promise.all(runs.map(({ id }) => storage.completeRun(completion(id))));
  }
  const state = { isPruning: true, slowestMs: 0 };
  const probe = async () => {
    while (state.isPruning) {
      const started = performance.now();
      await storage.accept(work([wake()]));
      state.slowestMs = Math.max(state.slowestMs, performance.now() - started);
    }
  };
  const prune = async () => {
    await storage.prune({ maxAgeMs: 1, maxRows: 0 }, NOW + DAY_MS);
    state.isPruning = false;
  };
  await Promise.all([prune(), probe()]);
  await storage.close();
  return state.slowestMs;
}

/** The store without a service round it: accepts with and without fsync, and what a backlog costs. */
export const storagePart: Part = {
  name: 'storage',
  run: async (progress) => {
    progress('accepts, then a backlog of 10,000 and of 100,000 runs');
    const { acceptsPerSecond, backlogs, slowestAcceptWhilePruningMs } = await benchStorage();
    const { fsync, noFsync } = acceptsPerSecond;
    return [
      {
        what: 'accepts with fsync against without',
        figure: `${fsync}/s of ${noFsync}/s, ${percent(fsync / noFsync)}`,
      },
      ...backlogs.flatMap(({ queued, openMs, claimMs, turnMs, residentMb, fileMb, ...figures }) => {
        const share = figures.acceptsPerSecond / figures.emptyPerSecond;
        return [
          {
            what: `${queued} queued: accepts against an empty store`,
            figure: `${figures.acceptsPerSecond}/s, ${percent(share)}`,
            aim: { text: '95%', met: share >= 0.95 },
            ratio: { value: share, better: 'higher' as const },
          },
          {
            what: `${queued} queued: open; claim; claim and complete one`,
            figure: `${openMs.toFixed(0)} ms; ${claimMs.toFixed(2)} ms; ${turnMs.toFixed(2)} ms`,
          },
          {
            what: `${queued} queued: memory; file`,
            figure: `${residentMb.toFixed(0)} MB more than before opening; ${fileMb.toFixed(0)} MB`,
          },
        ];
      }),
      {
        what: 'slowest accept while 20,000 runs are pruned',
        figure: `${slowestAcceptWhilePruningMs.toFixed(0)} ms`,
      },
    ];
  },
};
