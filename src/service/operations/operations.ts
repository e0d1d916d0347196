/*
 * What an operator does to stored work, once for all front ends. A change of several is a job on a selection: its plan
 * says how much would be changed, and what is left out and why. What somebody denied, and what waits for a limit, is
 * begun one by one and by its id only. Each change is one line of the audit, written here.
 */
import { dropEnding } from '../gateway/gateway.ts';
import type { LeftOut, QueueSelection, Storage, WorkChange, WorkPlan } from '../../engine/storage/storage.ts';
import { audited, type Actor } from './audit.ts';

export { audited, auditedStorage, type Actor } from './audit.ts';
export {
  type End,
  endOf,
  endsOf,
  hasFailed,
  inNeed,
  type Need,
  overview,
  type Overview,
  whyQueued,
} from './ends.ts';
export {
  awaitedUntil,
  findObstacles,
  findWaits,
  obstacleTexts,
  type Pausable,
  reasonsToWait,
  type Waits,
} from './waits.ts';

/** Who changes something, and what changes it. */
export interface Operator extends Actor {
  readonly storage: Storage;
  readonly by: 'command' | 'console';
  /** The runner of runs that name none. */
  readonly defaultRunner: string;
  /** Ends the turns of these runs that are under way in this process; how many these were. */
  readonly cancel?: (ids: readonly string[]) => number;
  /** Wakes who performs work. */
  readonly notify?: () => void;
}

/** One change of what a selection has. */
interface Job {
  readonly change: WorkChange;
  readonly selection: QueueSelection;
}

/** What a change would do now. */
export function planChange(
  { storage, defaultRunner }: Pick<Operator, 'storage' | 'defaultRunner'>,
  { change, selection }: Job,
): Promise<WorkPlan> {
  return storage.planWork(change, { selection, nowMs: timeOf(selection), defaultRunner });
}

/** Changes what a selection has, the oldest first; how much that was. */
export async function changeWork(operator: Operator, job: Job): Promise<number> {
  const change = { what: job.change, about: describeSelection(job.selection) };
  const changed = await audited(operator, change, () => perform(operator, job));
  operator.notify?.();
  return changed;
}

/** What came or ended after the plan was made is not in it. */
const timeOf = (selection: QueueSelection): number =>
  (selection.kind === 'ids' ? undefined : selection.until) ?? Date.now();

async function perform(operator: Operator, { change, selection }: Job): Promise<number> {
  const { storage, defaultRunner } = operator;
  const nowMs = timeOf(selection);
  switch (change) {
    case 'retry':
      return storage.retry(selection, nowMs, defaultRunner);
    case 'drop':
      return storage.drop(selection, Date.now(), (run) => dropEnding(run, Date.now()));
    case 'approve':
    case 'deny':
      return decide(operator, { change, selection });
    case 'cancel': {
      const { runIds } = await planChange(operator, { change, selection });
      return operator.cancel?.(runIds) ?? 0;
    }
  }
}

/** Answers for all runs that wait for it; how many nobody had decided before. */
async function decide(operator: Operator, job: Job): Promise<number> {
  const decision = job.change === 'approve' ? 'approved' : 'denied';
  let total = 0;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- step by step, so that accepts pass between
    const { runIds } = await planChange(operator, job);
    let changed = 0;
    for (const id of runIds) {
      const answer = { decision, by: operator.by, nowMs: Date.now() } as const;
      // oxlint-disable-next-line no-await-in-loop -- the oldest first
      changed += (await operator.storage.decideApproval(id, answer))?.runs ?? 0;
    }
    total += changed;
    if (changed === 0) return total;
  }
}

const KINDS = { runs: 'runs', outbox: 'deliveries and callbacks', events: 'system events' } as const;

/** A selection as people read it, such as in the audit. */
function describeSelection(selection: QueueSelection): string {
  if (selection.kind === 'ids') return selection.ids.join(' ');
  const { of, state, errorCode } = selection;
  const all = selection.kind === 'mapping' ? selection.mappingId : '*';
  const kind = of === undefined ? '' : ` ${KINDS[of]}`;
  return `${all}${kind}${state === undefined ? '' : `, ${state}`}${errorCode === undefined ? '' : `, ${errorCode}`}`;
}

/** How much a plan would change, in words. */
export function plannedText({ runs, outbox, events }: WorkPlan): string {
  const parts = [
    [runs, 'run', 'runs'],
    [outbox, 'delivery or callback', KINDS.outbox],
    [events, 'system event', KINDS.events],
  ] as const;
  const said = parts.flatMap(([count, one, many]) =>
    count === 0 ? [] : `${count} ${count === 1 ? one : many}`,
  );
  return said.length === 0 ? 'nothing' : said.join(', ');
}

const REASONS: Readonly<Record<LeftOut['reason'], string>> = {
  refused:
    'denied, or not approved in time: each is begun alone, by its own id ("sluice queue retry ID", or its page)',
  limited:
    'held by a limit of their mapping or a pause: each is let past its limit alone, by its own id ("sluice queue retry ID", or its page)',
  asking: 'not begun before somebody approves them',
  due: 'due already: they begin as pauses, limits and free agents allow',
  active: 'under way',
  other: 'ended well, dropped, or not there',
};

/** What a plan leaves out, and why, in lines. */
export function leftOutLines({ leftOut }: Pick<WorkPlan, 'leftOut'>): readonly string[] {
  return leftOut.map(({ reason, count }) => `${count} left out: ${REASONS[reason]}`);
}
