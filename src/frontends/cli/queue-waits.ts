import type { GatewaySettings } from '../../engine/config/config.ts';
import type { LimitedMapping, QueuePause, RunRecord, Storage } from '../../engine/storage/storage.ts';
import { ALL_MAPPINGS, isoTime } from '../../engine/storage/facts.ts';
import { clearLine } from '../../base/telemetry/telemetry.ts';
import { formatSpan } from './terminal.ts';

/** A service at work writes down every ten seconds which mappings are at their limits. */
const FRESH_MS = 30_000;

/** Why runs wait. */
export interface QueueWaits {
  readonly pauses: readonly QueuePause[];
  readonly limited: readonly LimitedMapping[];
  /** Runs that are under way. */
  readonly active: readonly RunRecord[];
}

/** Runs under way that are looked at: as many as there can be. */
const MAX_ACTIVE = 1_000;

export async function findWaits(storage: Storage, nowMs: number): Promise<QueueWaits> {
  const [pauses, limited, active] = await Promise.all([
    storage.listPauses(),
    storage.listMarked(nowMs - FRESH_MS),
    storage.listRuns({ state: 'active', limit: MAX_ACTIVE }),
  ]);
  return { pauses, limited, active };
}

/** What a due run waits for behind others: in two words, and whole. */
export interface Behind {
  readonly short: string;
  readonly text: string;
}

/** Why a due run waits for runs that are under way; undefined where it may begin beside them. */
export function waitsBehind(
  { action }: RunRecord,
  active: readonly RunRecord[],
  gateway: Pick<GatewaySettings, 'maxRuns' | 'maxRunsPerMapping' | 'runner' | 'runners'>,
): Behind | undefined {
  if (action.kind !== 'agent') return undefined;
  const others = active.flatMap(({ id, action: other }) => (other.kind === 'agent' ? [{ id, other }] : []));
  const { sessionKey, owner, origin, maxRuns } = action;
  const same = others.find(({ other }) => other.sessionKey === sessionKey && other.owner === owner);
  if (same !== undefined)
    return {
      short: 'conversation busy',
      text: `run ${same.id} of the same conversation (sessionKey ${sessionKey}) is under way, and runs of one conversation follow each other; with another sessionKey they go on side by side`,
    };
  const name = action.runner ?? gateway.runner;
  const ofMapping = others.filter(({ other }) => other.origin.mappingId === origin.mappingId);
  const counted = ofMapping.filter(
    ({ other }) => maxRuns?.key === undefined || maxRuns.key === other.maxRuns?.key,
  );
  const whose = maxRuns?.key === undefined ? '' : ` for the key ${maxRuns.key}`;
  const limits: readonly (readonly [string, number | undefined, number])[] = [
    ['gateway.maxRuns', gateway.maxRuns, others.length],
    maxRuns === undefined
      ? ['gateway.maxRunsPerMapping', gateway.maxRunsPerMapping, ofMapping.length]
      : [`maxRuns of the mapping${whose}`, maxRuns.runs, counted.length],
    [
      `maxRuns of the runner ${name}`,
      gateway.runners[name]?.maxRuns,
      others.filter(({ other }) => (other.runner ?? gateway.runner) === name).length,
    ],
  ];
  const full = limits.find(([, limit, count]) => limit !== undefined && count >= limit);
  // The service goes by the file as it is now, the run tells what it was when its event came.
  if (full === undefined && maxRuns !== undefined && counted.length > 0)
    return {
      short: 'agents busy',
      text: `${runsAre(counted.length)} under way in its mapping${whose}: maxRuns may be less now than ${maxRuns.runs}, as it was when this one came`,
    };
  if (full === undefined) return undefined;
  const [key, limit, count] = full;
  return {
    short: 'agents busy',
    text: `${runsAre(count)} under way, and ${key} lets ${limit} run at a time: raise it for more side by side`,
  };
}

const runsAre = (count: number): string => (count === 1 ? '1 run is' : `${count} runs are`);

/** Until when a run waits for an approval; undefined where it waits for none. */
export function awaitedUntil({ approval, state, attempts }: RunRecord): number | undefined {
  const isOpen = approval?.decision === undefined && state === 'queued' && attempts === 0;
  return isOpen ? approval?.expiresAt : undefined;
}

/** In two words why a due run of the mapping waits; undefined where it waits for none of these. */
export function waitReason(waits: QueueWaits, run: WaitingRun): string | undefined {
  const { pauses, limited } = waitsOf(waits, run);
  if (pauses.length > 0) return 'paused';
  return limited.length > 0 ? 'at its limit' : undefined;
}

/** By what a run may be held. */
interface WaitingRun {
  readonly mappingId: string | undefined;
  readonly runner: string;
}

/** Those that hold such runs. */
export function waitsOf(
  { pauses, limited }: Pick<QueueWaits, 'pauses' | 'limited'>,
  { mappingId = '', runner }: WaitingRun,
): Pick<QueueWaits, 'pauses' | 'limited'> {
  return {
    pauses: pauses.filter(
      (pause) => pause.runner === runner || [ALL_MAPPINGS, mappingId].includes(pause.mappingId),
    ),
    limited: limited.filter((one) => one.mappingId === mappingId),
  };
}

/** What is paused, and what follows the command that ends it. */
function pausedThing({
  mappingId,
  runner,
}: Omit<QueuePause, 'since'>): readonly [what: string, again: string] {
  if (runner !== undefined) return [`runner ${runner}`, ` --runner ${runner}`];
  return mappingId === ALL_MAPPINGS ? ['the queue', ''] : [`mapping ${mappingId}`, ` ${mappingId}`];
}

/** Where the count of one conversation may have been meant. */
const ALL_ARE_COUNTED =
  '; runsPerHour counts all runs of the mapping, runsPerHourAndSession those of one conversation (sessionKey) for itself';

/** What waits, for people, each with what to do: of one run with its id. */
export function waitLines(
  { pauses, limited }: Pick<QueueWaits, 'pauses' | 'limited'>,
  nowMs: number,
  runId = 'ID',
): readonly string[] {
  return [
    ...pauses.map(({ since, ...pause }) => {
      const [what, again] = pausedThing(pause);
      return `${what} has been paused since ${isoTime(since)}: no run begins; "sluice queue resume${again}" ends that`;
    }),
    ...limited.map(({ mappingId, reason, waiting, until }) => {
      const runs = waiting === 1 ? '1 run waits' : `${waiting} runs wait`;
      const next =
        until === undefined || until <= nowMs ? '' : `, the next may begin in ${formatSpan(until - nowMs)}`;
      return `mapping ${mappingId} is at its limit (limits.${reason}): ${runs}${next}; "sluice queue retry ${runId}" lets one begin now${reason === 'runsPerHour' ? ALL_ARE_COUNTED : ''}`;
    }),
  ].map((line) => clearLine(line));
}
