import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Storage } from '../../src/engine/storage/storage.ts';

const BUILT_THREADS = new URL('./built-threads.ts', import.meta.url).href;

/** Lets a process work on the store until it has said so many lines, kills it, and returns what it said. */
export async function runAndKill(
  url: string,
  prefix: string,
  lines: number,
  program = 'storage-writer.ts',
): Promise<readonly string[]> {
  const writer = fileURLToPath(new URL(`../fixtures/${program}`, import.meta.url));
  // Its thread is started as it is built, which takes half the processor time.
  const args = ['--import', BUILT_THREADS, writer, url, prefix];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    // Lines already on their way are read to the end: what was answered before the kill counts.
    if (said.length === lines) child.kill('SIGKILL');
  }
  const [, signal] = (await exited) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
  return said;
}

/** Everything answered is there, nothing is there by half, every run that ended has one summary and one callback. */
export async function accountFor(storage: Storage, said: readonly string[]): Promise<void> {
  const limit = 1_000_000;
  const runs = new Map((await storage.listRuns({ limit })).map((run) => [run.id, run]));
  const events = await storage.listEvents({ limit });
  const wakes = new Set(events.filter(({ kind }) => kind === 'wake').map(({ id }) => id));
  const stored = new Set([...runs.keys(), ...wakes].map((id) => id.slice(0, -2)));
  const answered = said.filter((line) => line.startsWith('accepted ')).map((line) => line.slice(9));
  expect(answered.filter((id) => !stored.has(id))).toEqual([]);
  const half = [...stored].filter(
    (id) => !runs.has(`${id}-a`) || !runs.has(`${id}-b`) || !wakes.has(`${id}-w`),
  );
  expect(half).toEqual([]);

  await accountForGathered(storage, { stored, said });

  const completed = said.filter((line) => line.startsWith('completed ')).map((line) => line.slice(10));
  expect(completed.filter((id) => runs.get(id)?.state !== 'completed')).toEqual([]);
  expect(new Set(completed).size).toBe(completed.length);
  const ended = [...runs.values()].filter(({ state }) => state === 'completed').map(({ id }) => id);
  const summarised = events.flatMap(({ kind, runId }) => (kind === 'summary' ? [runId ?? ''] : []));
  expect(summarised.sort()).toEqual(ended.sort());
  const callbacks = (await storage.listOutbox({ limit })).map(({ runId }) => runId);
  expect(callbacks.sort()).toEqual(ended);
  const [cost] = await storage.listCosts({ limit: 2 });
  expect(cost).toMatchObject({ turns: ended.length, usd: ended.length / 1000 });
  expect(await storage.verify()).toEqual([]);
}

/** Every event is in exactly one run, and none came to a run that was already being read. */
async function accountForGathered(
  storage: Storage,
  { stored, said }: { readonly stored: ReadonlySet<string>; readonly said: readonly string[] },
): Promise<void> {
  const all = await storage.listRuns({ limit: 1_000_000 });
  const gathering = all.filter(({ id }) => id.endsWith('-g')).map(({ id }) => id);
  const runs = await Promise.all(gathering.map((id) => storage.findRun(id)));
  const events = runs.flatMap((run) => [run?.id ?? '', ...(run?.events ?? []).map(({ id }) => id)]);
  expect(new Set(events)).toEqual(new Set([...stored].map((id) => `${id}-g`)));
  expect(events).toHaveLength(stored.size);
  const counts = new Map(runs.map((run) => [run?.id, run?.eventCount ?? 1]));
  const read = said.filter((line) => line.startsWith('gathered ')).map((line) => line.split(' '));
  expect(read.filter(([, id, count]) => counts.get(id) !== Number(count))).toEqual([]);
}
