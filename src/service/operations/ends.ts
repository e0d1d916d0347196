/** What became of runs, of what they send, and of events. */
import { defined } from '../../base/json.ts';
import { formatSpan } from '../../base/telemetry/telemetry.ts';
import { isoTime, isSkipped } from '../../engine/storage/facts.ts';
import { DROPPED, type RunRecord, type Storage } from '../../engine/storage/storage.ts';
import type { GatewaySettings } from '../../engine/config/config.ts';
import { findWaits, reasonsToWait, runnerOf } from './waits.ts';

/** Most ids of one question. */
const MAX_IDS = 200;

export interface End {
  readonly id: string;
  /**
   * `skipped`: its conversation had ended, or it found none or no recipient; `dead`: given up; `unsent`: it ended well, and
   * its reply or callback did not go out.
   */
  readonly end:
    'done' | 'running' | 'queued' | 'sending' | 'dropped' | 'skipped' | 'unsent' | 'failed' | 'dead';
  /** The code of the error, what the run waits for, or which worker has it. */
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

/**
 * What queued runs wait for, in two words or as an ISO time; absent where a place becomes free by itself. Of runs under way,
 * which worker has them.
 */
export async function whyQueued(
  storage: Storage,
  gateway: GatewaySettings,
  runs: readonly RunRecord[],
): Promise<ReadonlyMap<string, string>> {
  const queued = runs.filter(({ state }) => state === 'queued');
  const waits = queued.length === 0 ? undefined : await findWaits(storage, gateway);
  const carried = runs.filter(({ state, carried: { until = 0 } = {} }) => state === 'active' && until > 0);
  const workers = carried.length === 0 ? [] : await storage.listWorkers(gateway.runner);
  const now = Date.now();
  const seen = (run: RunRecord): string => {
    const { carried: { worker = '' } = {} } = run;
    // One machine may have workers of several runners, each under its name.
    const runner = runnerOf(run, gateway);
    const found = workers.find((each) => each.name === worker && each.runner === runner);
    return `on ${worker}${found === undefined ? '' : `, last seen ${formatSpan(now - found.seenAt)} ago`}`;
  };
  return new Map([
    ...queued.flatMap((run) => {
      const [reason] = waits === undefined ? [] : reasonsToWait(run, waits, now);
      const why = reason?.short ?? (run.dueAt > now ? isoTime(run.dueAt) : undefined);
      return why === undefined ? [] : [[run.id, why] as const];
    }),
    ...carried.map((run) => [run.id, seen(run)] as const),
  ]);
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
  const others = await Promise.all(
    asked.filter((_, index) => found[index] === undefined).map((id) => otherEnd(storage, id)),
  );
  const ends = runs.map((run): End => {
    const { id, lastError } = run;
    const end = unsent.get(id) ?? endOf(run);
    const why = end === 'failed' || end === 'dead' || end === 'skipped' ? lastError?.code : reasons.get(id);
    return { id, end, ...defined({ why }) };
  });
  return [...ends, ...others.flat()];
}

const OTHER_ENDS = {
  pending: 'queued',
  claimed: 'running',
  consumed: 'done',
  queued: 'queued',
  active: 'sending',
  completed: 'done',
  skipped: 'skipped',
  dead: 'dead',
} as const;

/** The end of an event, a delivery or a callback. */
async function otherEnd(storage: Storage, id: string): Promise<readonly End[]> {
  const [found] = [
    ...(await storage.listEvents({ limit: 1, id })),
    ...(await storage.listOutbox({ limit: 1, id })),
  ];
  if (found === undefined) return [];
  // A turn reads what it consumes.
  if (found.lastError?.code === DROPPED.code || (found.state === 'consumed' && found.turnId === undefined))
    return [{ id, end: 'dropped' }];
  const why = found.state === 'dead' || found.state === 'skipped' ? found.lastError?.code : undefined;
  return [{ id, end: OTHER_ENDS[found.state], ...defined({ why }) }];
}
