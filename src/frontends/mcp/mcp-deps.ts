import type { LoadedConfig } from '../../engine/config/config.ts';
import type { Workbench } from '../../authoring/workbench/workbench.ts';
import { findCases } from '../../authoring/golden/golden.ts';
import { readKeptRequest } from '../../engine/hook/hook.ts';
import type { HookRequest } from '../../base/request.ts';
import { findStoredRequest } from '../../engine/storage/facts.ts';
import { type KeptRequest, openStorage } from '../../engine/storage/storage.ts';

/** What a command printed, and how it ended. */
export interface Printed {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number;
}

/** What a tool answers. */
export interface Answer {
  /** Sluice's own words, and those of the operator's files. */
  readonly words: string;
  /** What holds values of requests. */
  readonly external?: string;
  /** The request that it is about. */
  readonly id?: string;
  readonly isError?: boolean;
}

/** What the tools work with: commands that only read, and what loads files that are not written. */
export interface McpDeps {
  readonly version: string;
  /** Names of fields whose values no answer shows, beside those that are usual. */
  readonly privateFields: readonly string[];
  readonly goldenDir: string;
  /** Rejects where the configuration has errors. */
  loadConfig(): Promise<LoadedConfig>;
  openBench(): Workbench;
  /** Runs a command of the command line that writes nothing. */
  run(command: 'requests' | 'explain' | 'check' | 'test', ...words: readonly string[]): Promise<Printed>;
  untilInterrupted(): Promise<void>;
}

/** Kept requests that are looked at, the newest first. */
const MAX_KEPT = 200;

/** None where there is no store, or where it cannot be read; `id` is that of one that may be older. */
export async function readKept(deps: McpDeps, id?: string): Promise<readonly KeptRequest[]> {
  const { settings } = await deps.loadConfig();
  const storage = await openStorage(settings.storage.url, { mode: 'attached' }).catch(() => undefined);
  try {
    if (storage === undefined) return [];
    const { kept } = (id === undefined ? undefined : await findStoredRequest(storage, id)) ?? {};
    return [...(kept === undefined ? [] : [kept]), ...(await storage.listKeptRequests(MAX_KEPT))];
  } finally {
    await storage?.close();
  }
}

/** All requests that an answer may show values of: those that the service kept, and golden cases. */
export async function readRequests(deps: McpDeps, id?: string): Promise<readonly HookRequest[]> {
  const { cases } = await findCases(deps.goldenDir).catch(() => ({ cases: [] }));
  const kept = await readKept(deps, id).catch(() => []);
  return [
    ...cases.flatMap(({ deliveries }) => deliveries.map(({ request }) => request)),
    ...kept.map((each) => readKeptRequest(each).request),
  ];
}
