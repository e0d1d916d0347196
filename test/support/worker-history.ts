/**
 * What workers and receivers wrote while workers, services, database and network were ended at random, and a judge of it. It
 * asks neither the service nor its store.
 */
export interface WorkerHistory {
  /** What a sender was answered, in the order of its conversation. */
  readonly accepted: readonly { readonly message: string; readonly runId: string; readonly lane: string }[];
  /** Written by the command of a turn; times in milliseconds of one clock. */
  readonly turns: readonly TurnLine[];
  /** What the receiver of callbacks got; one that was not answered in time comes again with the same id. */
  readonly ends: readonly {
    readonly id: string;
    readonly runId: string;
    readonly type: 'run.completed' | 'run.dead';
    readonly outcome: string;
  }[];
  /** When a worker was killed, or stood still for longer than its lease. */
  readonly blows: readonly { readonly worker: string; readonly at: number }[];
  /** Conversations whose mapping says `retry: {afterCrash: never}`. */
  readonly never: ReadonlySet<string>;
}

export interface TurnLine {
  readonly kind: 'begin' | 'end';
  readonly runId: string;
  readonly worker: string;
  /** Of the process that took the turn. */
  readonly pid: string;
  readonly at: number;
}

/** One attempt, as its command wrote it. */
interface Attempt extends TurnLine {
  readonly endedAt: number | undefined;
  /** Whether its worker met a blow before the next attempt began: nobody may know how it ended. */
  readonly isCutOff: boolean;
}

/** Most attempts at a run that begins again after a crash. */
const MOST = 3;

/** Faults in words, each beginning with its kind: lost, doubled, repeated, not repeated, out of order, side by side. */
export function judgeWorkers(history: WorkerHistory): readonly string[] {
  const attempts = attemptsOf(history);
  return [
    ...history.accepted.flatMap((accepted) =>
      judgeRun(history, accepted, attempts.get(accepted.runId) ?? []),
    ),
    ...doubledRequests(history),
    ...judgeOrder(history, attempts),
  ];
}

export function attemptsOf({ turns, blows }: WorkerHistory): ReadonlyMap<string, readonly Attempt[]> {
  const begun = turns.filter(({ kind }) => kind === 'begin').toSorted((a, b) => a.at - b.at);
  const ended = new Map(
    turns.filter(({ kind }) => kind === 'end').map((line) => [line.pid + line.runId, line.at]),
  );
  const all = begun.map((line) => {
    const endedAt = ended.get(line.pid + line.runId);
    const next = begun.find(({ runId, at }) => runId === line.runId && at > line.at)?.at ?? Infinity;
    const until = Math.min(next, (endedAt ?? line.at) + HANDED_OVER_MS);
    const own = blows.filter(({ worker }) => worker === line.worker);
    const isCutOff = own.some(({ at }) => at >= line.at - SLACK_MS && at < until);
    return { ...line, endedAt, isCutOff };
  });
  return Map.groupBy(all, ({ runId }) => runId);
}

/** A worker that has just taken a run may be killed before its command writes the first line. */
const SLACK_MS = 2_000;
/** By then an end has been handed over, whatever happens to the network and the services. */
const HANDED_OVER_MS = 30_000;

function judgeRun(
  { ends, never }: WorkerHistory,
  { runId, lane }: WorkerHistory['accepted'][number],
  attempts: readonly Attempt[],
): readonly string[] {
  const faults: string[] = [];
  const own = ends.filter((end) => end.runId === runId);
  const idsOf = (type: string): number =>
    new Set(own.filter((end) => end.type === type).map(({ id }) => id)).size;
  const [completed, dead] = [idsOf('run.completed'), idsOf('run.dead')];
  if (completed + dead === 0) faults.push(`lost: ${runId} was accepted and has no end`);
  if (completed > 1 || dead > 1) faults.push(`doubled: ${runId} ended ${completed + dead} times`);
  if (completed === 1 && attempts.length === 0) faults.push(`lost: ${runId} ended without a turn`);
  if (own.some(({ type, outcome }) => type === 'run.completed' && outcome !== 'ok'))
    faults.push(`lost: ${runId} failed, and its command does not`);
  const most = never.has(lane) ? 1 : MOST;
  if (attempts.length > most) faults.push(`repeated: ${runId} began ${attempts.length} times`);
  for (const { isCutOff, worker } of attempts.slice(0, -1))
    if (!isCutOff) faults.push(`repeated: ${runId}, though nothing happened to ${worker}`);
  if (dead === 0) return faults;
  if (!never.has(lane) && attempts.length < MOST)
    faults.push(`not repeated: ${runId} was given up after ${attempts.length}`);
  if (attempts.some(({ isCutOff }) => !isCutOff))
    faults.push(`lost: ${runId} was given up, though nothing happened to its worker`);
  return faults;
}

/** A sender that repeats a request under its key gets the id of the run of the first. */
function doubledRequests({ accepted, ends, turns }: WorkerHistory): readonly string[] {
  const known = new Set(accepted.map(({ runId }) => runId));
  const others = new Set([...ends, ...turns].map(({ runId }) => runId).filter((runId) => !known.has(runId)));
  return [...others].map((runId) => `doubled: ${runId} was performed, and no sender knows of it`);
}

/** Runs of a conversation begin in the order in which they were accepted, and none while an earlier one goes on. */
function judgeOrder(
  { accepted }: WorkerHistory,
  attempts: ReadonlyMap<string, readonly Attempt[]>,
): readonly string[] {
  return [...Map.groupBy(accepted, ({ lane }) => lane).values()].flatMap((lane) =>
    lane.slice(1).flatMap(({ runId }, index) => {
      const [before, own] = [attempts.get(lane[index]?.runId ?? '') ?? [], attempts.get(runId) ?? []];
      const [first, last] = [own[0], before.at(-1)];
      if (first === undefined || last === undefined) return [];
      // What a killed worker has left running goes on until its next start; one that slept goes on with its turn.
      if (before.some(({ isCutOff }) => isCutOff)) return [];
      if (first.at < last.at) return [`out of order: ${runId} before ${last.runId}`];
      const isOver = last.endedAt !== undefined && last.endedAt <= first.at;
      return isOver ? [] : [`side by side: ${runId} and ${last.runId}`];
    }),
  );
}
