/** What became of runs and events, and what somebody has to look at. */
import { isoTime, isSkipped } from '../../engine/storage/facts.ts';
import { type Backlog, DROPPED, type RunRecord, type Storage } from '../../engine/storage/storage.ts';
import type { GatewaySettings } from '../../engine/config/config.ts';
import {
  findObstacles,
  findWaits,
  obstacleTexts,
  pausedThing,
  reasonsToWait,
  type Pausable,
} from './waits.ts';

/** Most runs and events of one question. */
const MAX_IDS = 200;
/** How much work of each kind is listed as needing attention. */
const MAX_NEED = 10_000;

export interface End {
  readonly id: string;
  /** `skipped`: its conversation had ended, or it found none; `dead`: given up; `unsent`: it ended well, and its reply or callback did not go out. */
  readonly end:
    'done' | 'running' | 'queued' | 'sending' | 'dropped' | 'skipped' | 'unsent' | 'failed' | 'dead';
  /** The code of the error, or what the run waits for. */
  readonly why?: string;
}

export const hasFailed = ({ outcome }: Pick<RunRecord, 'outcome'>): boolean =>
  outcome === 'error' || outcome === 'timeout';

export function endOf(run: Pick<RunRecord, 'state' | 'outcome' | 'lastError'>): End['end'] {
  if (run.state !== 'completed') return run.state === 'active' ? 'running' : run.state;
  if (run.lastError?.code === DROPPED.code) return 'dropped';
  if (isSkipped(run.lastError)) return 'skipped';
  return hasFailed(run) ? 'failed' : 'done';
}

/** What queued runs wait for, in two words or as an ISO time; absent where a place becomes free by itself. */
export async function whyQueued(
  storage: Storage,
  gateway: GatewaySettings,
  runs: readonly RunRecord[],
): Promise<ReadonlyMap<string, string>> {
  const queued = runs.filter(({ state }) => state === 'queued');
  if (queued.length === 0) return new Map();
  const waits = await findWaits(storage, gateway);
  const now = Date.now();
  return new Map(
    queued.flatMap((run) => {
      const [reason] = reasonsToWait(run, waits, now);
      const why = reason?.short ?? (run.dueAt > now ? isoTime(run.dueAt) : undefined);
      return why === undefined ? [] : [[run.id, why] as const];
    }),
  );
}

export async function endsOf(
  storage: Storage,
  gateway: GatewaySettings,
  ids: readonly string[],
): Promise<readonly End[]> {
  const asked = ids.slice(0, MAX_IDS);
  const found = await Promise.all(asked.map((id) => storage.findRun(id)));
  const runs = found.flatMap((run) => run ?? []);
  const reasons = await whyQueued(storage, gateway, runs);
  const done = runs.filter((run) => endOf(run) === 'done').map(({ id }) => id);
  const unsent = new Map((await storage.findUnsent(done)).map(({ runId, end }) => [runId, end]));
  const events = await Promise.all(
    asked.filter((_, index) => found[index] === undefined).map((id) => eventEnd(storage, id)),
  );
  const ends = runs.map((run): End => {
    const { id, lastError } = run;
    const end = unsent.get(id) ?? endOf(run);
    const why = end === 'failed' || end === 'dead' || end === 'skipped' ? lastError?.code : reasons.get(id);
    return { id, end, ...(why === undefined ? {} : { why }) };
  });
  return [...ends, ...events.flat()];
}

const EVENT_ENDS = { pending: 'queued', claimed: 'running', consumed: 'done', dead: 'dead' } as const;

async function eventEnd(storage: Storage, id: string): Promise<readonly End[]> {
  const [event] = await storage.listEvents({ limit: 1, id });
  return event === undefined ? [] : [{ id, end: EVENT_ENDS[event.state] }];
}

/** The runs and events that somebody has to look at. */
export interface Need {
  readonly ends: readonly End[];
  /** False where there is more than is listed. */
  readonly isWhole: boolean;
}

/** All that needs attention, by the ids of runs and events. */
export async function inNeed(storage: Storage): Promise<Need> {
  const ends = await storage.workInNeed(MAX_NEED);
  return { ends, isWhole: ends.length < MAX_NEED };
}

/** How much work waits, and why. */
export interface Overview {
  readonly backlog: Backlog;
  readonly obstacles: readonly { readonly text: string; readonly paused?: Pausable }[];
}

export async function overview(storage: Storage, gateway: GatewaySettings): Promise<Overview> {
  const [backlog, { pauses, ...others }] = await Promise.all([
    storage.backlog(),
    findObstacles(storage, gateway),
  ]);
  const now = Date.now();
  const paused = pauses.map((pause) => ({
    text: obstacleTexts({ pauses: [pause] }, now).join(),
    paused: pausedThing(pause),
  }));
  return { backlog, obstacles: [...paused, ...obstacleTexts(others, now).map((text) => ({ text }))] };
}
