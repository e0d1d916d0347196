import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentAction } from '../../../src/base/action.ts';
import { deriveActionId } from '../../../src/engine/hook/ids.ts';
import { openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import type { Part, Row } from '../../support/parts.ts';
import { agent, completion, work } from '../../support/storage-builders.ts';
import { percentile } from './figures.ts';

/** Each side in turns: the disk's own stops then hit both. */
const TURNS = 6;
const TURN_SECONDS = 10;
/** Requests that arrive together and share a commit. */
const TOGETHER = 16;
const ROW_BYTES = 2_000;
const PROMPT = 'p'.repeat(1500);

/**
 * How long a request waits for its commit while the store works as hard as it can, with checkpoints, completions and
 * pruning, against a plain loop that writes as many bytes to a file on the same disk and syncs it.
 */
export const commitPart: Part = {
  name: 'commit',
  run: async (progress) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-commit-'));
    const storage = await openStorage(`sqlite:${join(folder, 'store.db')}`);
    let plain: readonly number[] = [];
    let commits: readonly number[] = [];
    try {
      await commitFor(storage, 2);
      for (let turn = 0; turn < TURNS; turn += 1) {
        plain = plain.concat(writeFor(join(folder, `plain-${turn}`), TURN_SECONDS));
        commits = commits.concat(await commitFor(storage, TURN_SECONDS));
        progress(`turn ${turn + 1}/${TURNS}  p99 ${percentile(commits, 0.99).toFixed(1)} ms`);
      }
    } finally {
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    }
    return [
      timesRow('plain loop of writes and syncs', plain),
      timesRow('durable accept, completions and pruning beside it', commits),
      ...[0.99, 0.999].map((share) => comparisonRow(share, commits, plain)),
    ];
  },
};

/** Milliseconds of each write and sync; as many bytes as the rows of a commit. */
function writeFor(file: string, seconds: number): number[] {
  const bytes = Buffer.alloc(TOGETHER * ROW_BYTES, 'x');
  const times: number[] = [];
  const descriptor = openSync(file, 'w');
  try {
    const end = performance.now() + seconds * 1000;
    for (let begun = performance.now(); begun < end; begun = performance.now()) {
      writeSync(descriptor, bytes);
      fdatasyncSync(descriptor);
      times.push(performance.now() - begun);
    }
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
  return times;
}

/** Milliseconds of each accept, sixteen at a time. Every run is claimed and completed, and pruned a second later. */
async function commitFor(storage: Storage, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  const accept = async (): Promise<void> => {
    while (performance.now() < end) {
      const request = work([typical()], { receivedAt: Date.now() });
      const begun = performance.now();
      await storage.accept(request);
      times.push(performance.now() - begun);
    }
  };
  await Promise.all([...Array.from({ length: TOGETHER }, accept), performUntil(storage, end)]);
  return times;
}

function typical(): AgentAction {
  const id = deriveActionId({ id: crypto.randomUUID(), receivedAt: Date.now() }, 0);
  return agent({ id, sessionKey: `hook:${id}`, prompt: PROMPT, message: 'm'.repeat(300) });
}

async function performUntil(storage: Storage, end: number): Promise<void> {
  let prunedAt = performance.now();
  while (performance.now() < end) {
    const runs = await storage.claimRuns({ nowMs: Date.now(), limit: 64 });
    await Promise.all(runs.map(({ id }) => storage.completeRun(completion(id, { nowMs: Date.now() }))));
    if (performance.now() - prunedAt < 1000) continue;
    prunedAt = performance.now();
    await storage.prune({ maxAgeMs: 1000, maxRows: 10_000 }, Date.now());
  }
}

function timesRow(what: string, times: readonly number[]): Row {
  const at = (share: number): string => percentile(times, share).toFixed(1);
  return {
    what,
    figure: `p50 ${at(0.5)}, p99 ${at(0.99)}, p99.9 ${at(0.999)}, longest ${at(1)} ms (${times.length} times)`,
  };
}

function comparisonRow(share: number, commits: readonly number[], plain: readonly number[]): Row {
  const value = percentile(commits, share) / percentile(plain, share);
  return {
    what: `p${share * 100} of an accept against the plain loop`,
    figure: `${value.toFixed(1)} times`,
    aim: { text: '2 times', met: value <= 2 },
    ratio: { value, better: 'lower' },
  };
}
