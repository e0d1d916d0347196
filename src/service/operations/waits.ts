/** Why runs wait, for every front end: for an approval, their agent, a pause, a limit, or for runs that are under way. */
import { clearLine, formatSpan } from '../../base/telemetry/telemetry.ts';
import type { GatewaySettings } from '../../engine/config/config.ts';
import { ALL_MAPPINGS, isoTime } from '../../engine/storage/facts.ts';
import {
  type AwayRunner,
  type LimitedMapping,
  NO_CONVERSATION,
  type QueuePause,
  type RunRecord,
  type Storage,
} from '../../engine/storage/storage.ts';

/** A running service writes every ten seconds which mappings are at their limits. */
const FRESH_MS = 30_000;

export interface Obstacles {
  readonly pauses: readonly QueuePause[];
  readonly limited: readonly LimitedMapping[];
  readonly holds: readonly AwayRunner[];
}

export async function findObstacles(
  storage: Storage,
  { runner }: Pick<GatewaySettings, 'runner'>,
): Promise<Obstacles> {
  const [pauses, limited, holds] = await Promise.all([
    storage.listPauses(),
    storage.listMarked(Date.now() - FRESH_MS),
    storage.listHolds(runner),
  ]);
  return { pauses, limited, holds };
}

export interface Waits extends Obstacles {
  readonly active: readonly RunRecord[];
  readonly gateway: Pick<GatewaySettings, 'maxRuns' | 'maxRunsPerMapping' | 'runner' | 'runners'>;
}

/** Most runs under way, all of which are read. */
const MAX_ACTIVE = 1_000;

export async function findWaits(storage: Storage, gateway: GatewaySettings): Promise<Waits> {
  const [obstacles, active] = await Promise.all([
    findObstacles(storage, gateway),
    storage.listRuns({ state: 'active', limit: MAX_ACTIVE }),
  ]);
  return { ...obstacles, active, gateway };
}

/** Why a run waits: in two words, and in a sentence with what to do. */
export interface Reason {
  readonly short: string;
  readonly text: string;
}

/** Why a queued run waits, but for its time and for a place that becomes free by itself; the first reason is the one to name. */
export function reasonsToWait(run: RunRecord, waits: Waits, nowMs: number): readonly Reason[] {
  if (run.state !== 'queued') return [];
  const awaited = awaitedUntil(run);
  if (awaited !== undefined) {
    const text = `for an approval until ${isoTime(awaited)}: sluice approve ${run.id}, or with --deny`;
    return [{ short: 'approval', text }];
  }
  const { action, lastError } = run;
  if (lastError !== undefined && lastError.code === NO_CONVERSATION) {
    const text = clearLine(`for a conversation until ${isoTime(run.dueAt)}: ${lastError.message}`);
    return [{ short: 'no conversation', text }];
  }
  const asked = action.startedBy?.question?.sender;
  if (asked !== undefined) {
    const why = lastError === undefined ? '' : `, which cannot be asked: ${lastError.message}`;
    const text = `for what ${asked} says of the account that caused it${why}; "sluice queue retry ${run.id}" lets it begin now`;
    return [{ short: 'who may start it', text: clearLine(text) }];
  }
  const { mappingId = '' } = action.origin;
  const runner = runnerOf(run, waits.gateway);
  const hold = waits.holds.find((each) => each.model === undefined && each.runner === runner);
  if (action.kind === 'agent' && hold !== undefined)
    return [{ short: 'agent away', text: obstacleTexts({ holds: [hold] }, nowMs)[0] ?? '' }];
  if (run.dueAt > nowMs) return [];
  const pauses = waits.pauses.filter(
    (pause) => pause.runner === runner || [ALL_MAPPINGS, mappingId].includes(pause.mappingId),
  );
  const limited = waits.limited.filter((one) => one.mappingId === mappingId);
  const delays = [
    ...obstacleTexts({ pauses }, nowMs).map((text) => ({ short: 'paused', text })),
    ...obstacleTexts({ limited }, nowMs, run.id).map((text) => ({ short: 'at its limit', text })),
  ];
  return delays.length > 0 ? delays : waitsBehind(run, waits);
}

export const runnerOf = ({ action }: RunRecord, { runner }: Pick<GatewaySettings, 'runner'>): string =>
  (action.kind === 'agent' ? action.runner : undefined) ?? runner;

/** Until when a run waits for an approval; undefined where it waits for none. */
export function awaitedUntil({ approval, state, attempts }: RunRecord): number | undefined {
  const isOpen = approval?.decision === undefined && state === 'queued' && attempts === 0;
  return isOpen ? approval?.expiresAt : undefined;
}

/** Why a due run waits for runs that are under way; empty where it may begin beside them. */
function waitsBehind(
  { action }: RunRecord,
  { active, gateway }: Pick<Waits, 'active' | 'gateway'>,
): readonly Reason[] {
  if (action.kind !== 'agent') return [];
  const others = active.flatMap(({ id, action: other }) => (other.kind === 'agent' ? [{ id, other }] : []));
  const { sessionKey, owner, origin, maxRuns } = action;
  const same = others.find(({ other }) => other.sessionKey === sessionKey && other.owner === owner);
  if (same !== undefined) {
    const text = `run ${same.id} of the same conversation (sessionKey ${sessionKey}) is under way, and runs of one conversation follow each other; with another sessionKey they go on side by side`;
    return [{ short: 'conversation busy', text: clearLine(text) }];
  }
  const name = action.runner ?? gateway.runner;
  const ofMapping = others.filter(({ other }) => other.origin.mappingId === origin.mappingId);
  const counted = ofMapping.filter(
    ({ other }) => maxRuns?.key === undefined || maxRuns.key === other.maxRuns?.key,
  );
  const whose = maxRuns?.key === undefined ? '' : ` for the key ${maxRuns.key}`;
  // What workers carry is not counted, nor held.
  const here = active.filter(({ carried }) => carried === undefined).length;
  const limits: readonly (readonly [string, number | undefined, number])[] = [
    ['gateway.maxRuns', gateway.runners[name]?.kind === 'worker' ? undefined : gateway.maxRuns, here],
    maxRuns === undefined
      ? ['gateway.maxRunsPerMapping', gateway.maxRunsPerMapping, ofMapping.length]
      : [`maxRuns of the mapping${whose}`, maxRuns.runs, counted.length],
    [
      `maxRuns of the runner ${name}`,
      gateway.runners[name]?.maxRuns,
      others.filter(({ other }) => (other.runner ?? gateway.runner) === name).length,
    ],
  ];
  const busy = (text: string): readonly Reason[] => [{ short: 'agents busy', text: clearLine(text) }];
  const full = limits.find(([, limit, count]) => limit !== undefined && count >= limit);
  if (full !== undefined) {
    const [key, limit, count] = full;
    return busy(
      `${runsAre(count)} under way, and ${key} lets ${limit} run at a time: raise it for more side by side`,
    );
  }
  if (maxRuns === undefined || counted.length === 0) return [];
  // The service follows the file as it is now, while the run has the setting from when its event came.
  return busy(
    `${runsAre(counted.length)} under way in its mapping${whose}: maxRuns may be less now than ${maxRuns.runs}, as it was when this one came`,
  );
}

const runsAre = (count: number): string => (count === 1 ? '1 run is' : `${count} runs are`);
const runsWait = (count: number): string => (count === 1 ? '1 run waits' : `${count} runs wait`);

/** Which runs a pause covers: those of a mapping, of a runner, or with neither all. */
export interface Pausable {
  readonly mapping?: string;
  readonly runner?: string;
}

function pausedThing({ mappingId, runner }: QueuePause): Pausable {
  if (runner !== undefined) return { runner };
  return mappingId === ALL_MAPPINGS ? {} : { mapping: mappingId };
}

export function pausableName({ mapping, runner }: Pausable): string {
  if (runner !== undefined) return `runner ${runner}`;
  return mapping === undefined ? 'the queue' : `mapping ${mapping}`;
}

/** Runs that wait for one thing, or do not begin for a pause. */
interface Waiting {
  readonly key: readonly (string | undefined)[];
  readonly says: string;
  readonly count: number;
  readonly since: number;
  readonly mappingId?: string;
  readonly paused?: Pausable;
}

/** What keeps runs from beginning, each with as many as it keeps; with `text` also what an agent said that is away. */
export function waitsOf({ holds, pauses, limited }: Obstacles, text: boolean): readonly Waiting[] {
  return [
    ...holds.map(({ runner, model, waiting: count, code, message, since }): Waiting => {
      const who =
        model === undefined ? `agent ${runner} is away` : `model ${model} of agent ${runner} takes none`;
      const says = clearLine(`${runsWait(count)}: ${who} (${code}${text ? `: ${message}` : ''})`);
      return { key: [runner, model], says, count, since };
    }),
    ...pauses.map((pause): Waiting => {
      const paused = pausedThing(pause);
      const says = `${pausableName(paused)} is paused: no run begins`;
      return { key: [pause.mappingId], says, count: 1, since: pause.since, paused };
    }),
    ...limited.map(({ mappingId, reason, waiting: count }): Waiting => {
      const says = `${runsWait(count)}: mapping ${mappingId} is at its limit (limits.${reason})`;
      return { key: [mappingId, reason], says, count, since: Date.now(), mappingId };
    }),
  ];
}

/** The hint where the count of one conversation may have been meant. */
const ALL_ARE_COUNTED =
  '; runsPerHour counts all runs of the mapping, runsPerHourAndSession those of one conversation (sessionKey) for itself';

/** What keeps runs from beginning, in sentences with what to do; for one run they have its id. */
export function obstacleTexts(
  { holds = [], pauses = [], limited = [] }: Partial<Obstacles>,
  nowMs: number,
  runId = 'ID',
): readonly string[] {
  return [
    ...holds.map(({ runner, model, waiting, code, message, since }) => {
      const who =
        model === undefined
          ? `agent ${runner} is away`
          : `model ${model} of agent ${runner} cannot take runs`;
      return `${who} since ${isoTime(since)} (${code}: ${message}), ${runsWait(waiting)}`;
    }),
    ...pauses.map((pause) => {
      const paused = pausedThing(pause);
      const { mapping, runner } = paused;
      const again = runner !== undefined ? ` --runner ${runner}` : mapping === undefined ? '' : ` ${mapping}`;
      return `${pausableName(paused)} has been paused since ${isoTime(pause.since)}: no run begins; "sluice queue resume${again}" ends that`;
    }),
    ...limited.map(({ mappingId, reason, waiting, until = 0 }) => {
      const next = until <= nowMs ? '' : `, the next may begin in ${formatSpan(until - nowMs)}`;
      return `mapping ${mappingId} is at its limit (limits.${reason}): ${runsWait(waiting)}${next}; "sluice queue retry ${runId}" lets one begin now${reason === 'runsPerHour' ? ALL_ARE_COUNTED : ''}`;
    }),
  ].map((line) => clearLine(line));
}
