/*
 * What people change of stored work, whoever asks. A change of several is a job on a selection: its plan says how much
 * would be changed, and what is left out and why. What somebody denied, and what waits for a limit, is begun one by one
 * and by its id only. Each change is one line of the audit, written here.
 */
import type { DeliveryTarget } from '../../base/action.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';
import { ALL_MAPPINGS, isSkipped, pauseOfRunner } from '../../engine/storage/facts.ts';
import {
  DROPPED,
  SENDER_NOT_PROVED,
  type Conversation,
  type KeyResult,
  type ApprovalResult,
  type LeftOutWork,
  type QueueSelection,
  type SetAsideSelection,
  type Storage,
  type WorkChange,
  type WorkPlan,
} from '../../engine/storage/storage.ts';
import { dropEnding, type Gateway } from '../gateway/gateway.ts';
import { hasFailed } from './ends.ts';
import { awaitedUntil, type Pausable } from './waits.ts';

/** Who changes something, as the audit names them, and what they need for it. */
export interface Operator {
  readonly storage: Storage;
  readonly who: string;
  /** The machine or address from which the change comes. */
  readonly source: string;
  readonly by: 'command' | 'console';
  /** The runner of runs that name none. */
  readonly defaultRunner: string;
  /** Where a change is logged, too. */
  readonly log?: Pick<Log, 'info'>;
  /** The gateway of the service that changes its own work: it wakes, and ends turns that are under way. */
  readonly gateway?: Pick<Gateway, 'notify' | 'cancel'>;
}

/** Makes a change and writes its one line of the audit, also where it failed. */
export async function audited<Result>(
  { storage, who, source, log, gateway }: Operator,
  { what, about }: { readonly what: string; readonly about: string },
  make: () => Promise<Result>,
  countOf: (result: Result) => number = Number,
): Promise<Result> {
  const note = async (changed: number): Promise<void> => {
    log?.info({ audit: what, who, from: source, about, changed }, 'somebody changed stored work');
    await storage.recordAudit({ at: Date.now(), who, source, what, about, changed });
  };
  const result = await make().catch(async (error: unknown) => {
    await note(0).catch(() => undefined);
    throw error;
  });
  gateway?.notify();
  await note(countOf(result));
  return result;
}

export type ChangeJob =
  | { readonly change: WorkChange; readonly selection: QueueSelection }
  /** A pause begins no further run, and `resume` ends every pause that this covers; what is under way goes on. */
  | { readonly change: 'pause' | 'resume'; readonly of: Pausable }
  /** Says that a cause is meant to be so; it comes back once as many have come again. */
  | {
      readonly change: 'put aside';
      readonly cause: { readonly id: string; readonly count: number; readonly reason: string };
    }
  /** Offers mail again that the service refused, or forgets it. */
  | { readonly change: 'retry mail' | 'drop mail'; readonly selection: SetAsideSelection };

export interface ChangePlan extends WorkPlan {
  readonly messages?: number;
  readonly pauses?: number;
}

/** Most refused messages that a plan covers. */
const MAX_MESSAGES = 1_000_000;

export async function planChange(
  { storage, defaultRunner }: Pick<Operator, 'storage' | 'defaultRunner'>,
  job: ChangeJob,
): Promise<ChangePlan> {
  if ('cause' in job) return planOf({}, 0);
  if ('of' in job) {
    const key = pauseKey(job.of);
    const there = (await storage.listPauses()).filter(
      ({ mappingId }) => mappingId === key || (job.change === 'resume' && key === ALL_MAPPINGS),
    );
    if (job.change === 'pause') return planOf({ pauses: 1 - there.length }, there.length);
    return planOf({ pauses: there.length }, there.length === 0 ? 1 : 0);
  }
  if (job.change === 'retry mail' || job.change === 'drop mail') {
    const { selection } = job;
    const all = await storage.listSetAsideMail({ limit: MAX_MESSAGES });
    const byIdOnly =
      job.change === 'retry mail' ? all.filter(({ code }) => code === SENDER_NOT_PROVED).length : 0;
    if (selection.kind === 'all') return planOf({ messages: all.length - byIdOnly }, byIdOnly);
    const messages = all.filter(({ id }) => selection.ids.includes(id)).length;
    return planOf({ messages }, new Set(selection.ids).size - messages);
  }
  const { change, selection } = job;
  return storage.planWork(change, { selection, nowMs: timeOf(selection), defaultRunner });
}

function planOf(counts: Pick<ChangePlan, 'messages' | 'pauses'>, others: number): ChangePlan {
  const leftOut = others === 0 ? [] : [{ reason: 'other', count: others } as const];
  return { runs: 0, outbox: 0, events: 0, ids: [], leftOut, ...counts };
}

/** Does a job, the oldest first; resolves to how much it changed. */
export function changeWork(operator: Operator, job: ChangeJob): Promise<number> {
  const about =
    'cause' in job
      ? `${job.cause.id} ${job.cause.reason}`
      : 'of' in job
        ? pauseKey(job.of)
        : describeSelection(job.selection);
  return audited(operator, { what: job.change, about }, async () => perform(operator, job));
}

/** The time of the plan: later work is not in the selection. */
const timeOf = (selection: QueueSelection): number =>
  (selection.kind === 'ids' ? undefined : selection.until) ?? Date.now();

/** The name of a pause in the store. */
const pauseKey = ({ mapping, runner }: Pausable): string =>
  runner === undefined ? (mapping ?? ALL_MAPPINGS) : pauseOfRunner(runner);

async function perform(operator: Operator, job: ChangeJob): Promise<number> {
  const { storage, defaultRunner } = operator;
  switch (job.change) {
    case 'put aside':
      return job.cause.count;
    case 'pause':
      return Number(await storage.pauseRuns(pauseKey(job.of), Date.now()));
    case 'resume':
      return storage.resumeRuns(pauseKey(job.of));
    case 'retry mail':
      return storage.retrySetAsideMail(job.selection);
    case 'drop mail':
      return storage.dropSetAsideMail(job.selection);
    case 'retry':
      return storage.retry(job.selection, timeOf(job.selection), defaultRunner);
    case 'drop':
      return storage.drop(job.selection, Date.now(), (run) => dropEnding(run, Date.now()));
    case 'cancel':
      return (await operator.gateway?.cancel((await planChange(operator, job)).ids)) ?? 0;
    case 'approve':
    case 'deny':
      return decideAll(operator, { change: job.change, selection: job.selection });
  }
}

/** Answers for runs that wait for an approval; resolves to how many nobody had decided before. */
async function decideAll(
  operator: Operator,
  job: { readonly change: 'approve' | 'deny'; readonly selection: QueueSelection },
): Promise<number> {
  let changed = 0;
  for (const id of (await planChange(operator, job)).ids) {
    changed += (await decide(operator, id, job.change))?.runs ?? 0;
  }
  return changed;
}

const decide = (
  { storage, by }: Operator,
  id: string,
  change: 'approve' | 'deny',
): Promise<ApprovalResult | null> =>
  storage.decideApproval(id, {
    decision: change === 'approve' ? 'approved' : 'denied',
    by,
    nowMs: Date.now(),
  });

/** Answers whether a run begins; resolves to the answer that counts, which is the first one. */
export function answerApproval(
  operator: Operator,
  id: string,
  change: 'approve' | 'deny',
): Promise<ApprovalResult | null> {
  const make = (): Promise<ApprovalResult | null> => decide(operator, id, change);
  return audited(operator, { what: change, about: id }, make, (decided) => decided?.runs ?? 0);
}

/** How long a key is known that nobody names any more, where somebody adds it by hand. */
const KEY_MS = 30 * 86_400_000;

/** Changes of one conversation. Its keys may hold what was sent, so that its owner alone is noted. */
export const conversationChanges = {
  /** Forgets it. */
  clear: (operator: Operator, conversation: Conversation): Promise<boolean> =>
    audited(operator, { what: 'clear session', about: conversation.owner }, () =>
      operator.storage.clearSession(conversation),
    ),
  /** Makes it known by one more key; an event that waits for the key comes to it. */
  addKey: (operator: Operator, { owner, key: conversation }: Conversation, key: string): Promise<KeyResult> =>
    audited(
      operator,
      { what: 'add key', about: owner },
      () => {
        const nowMs = Date.now();
        const added = { addedBy: 'operator', runId: '', nowMs, until: nowMs + KEY_MS };
        return operator.storage.addConversationKey({ owner, conversation, key, ...added });
      },
      (result) => (result === 'added' ? 1 : 0),
    ),
};

export const useLastChannel = (operator: Operator, target: DeliveryTarget): Promise<void> =>
  audited(
    operator,
    { what: 'use channel', about: target.channel },
    () => operator.storage.saveLastTarget(target, Date.now()),
    () => 1,
  );

const KINDS = { runs: 'runs', outbox: 'deliveries and callbacks', events: 'system events' } as const;

/** A selection as people read it, such as in the audit. */
function describeSelection(selection: QueueSelection): string {
  if (selection.kind === 'ids') return selection.ids.join(' ');
  const { of, state, errorCode } = selection;
  const all = selection.kind === 'mapping' ? selection.mappingId : '*';
  const kind = of === undefined ? '' : ` ${KINDS[of]}`;
  return `${all}${kind}${state === undefined ? '' : `, ${state}`}${errorCode === undefined ? '' : `, ${errorCode}`}`;
}

/** How much a plan would change, in words, and lines that say what it leaves out and why. */
export function planTexts({ runs, outbox, events, messages = 0, pauses = 0, leftOut }: ChangePlan): {
  readonly says: string;
  readonly leftOut: readonly string[];
} {
  const parts = [
    [runs, 'run', 'runs'],
    [outbox, 'delivery or callback', KINDS.outbox],
    [events, 'system event', KINDS.events],
    [messages, 'message', 'messages'],
    [pauses, 'pause', 'pauses'],
  ] as const;
  const said = parts.flatMap(([count, one, many]) =>
    count === 0 ? [] : `${count} ${count === 1 ? one : many}`,
  );
  return {
    says: said.length === 0 ? 'nothing' : said.join(', '),
    leftOut: leftOut.map(({ reason, count }) => `${count} left out: ${REASONS[reason]}`),
  };
}

const REASONS: Readonly<Record<LeftOutWork['reason'], string>> = {
  refused:
    'denied, or not approved in time: each is begun alone, by its own id ("sluice queue retry ID", or its page)',
  limited:
    'delayed by a limit of their mapping or a pause: each is let past its limit alone, by its own id ("sluice queue retry ID", or its page)',
  asking: 'not begun before somebody approves them',
  due: 'due already: they begin as pauses, limits and free agents allow',
  active: 'under way',
  other: 'ended well, dropped, as it is wanted already, or not there',
};

/** Why one run cannot be begun again, and what can be done instead. */
export async function whyNotAgain(storage: Storage, id: string): Promise<string | undefined> {
  const run = await storage.findRun(id);
  if (run === undefined) return undefined;
  if (run.state === 'active') return `run ${id} is under way`;
  if (awaitedUntil(run) !== undefined)
    return `run ${id} waits for an approval; "sluice approve ${id}" begins it`;
  if (run.lastError?.code === DROPPED.code) return `run ${id} was dropped`;
  if (run.lastError && isSkipped(run.lastError))
    return `run ${id} is not begun again: ${run.lastError.message}`;
  if (run.state !== 'completed' || hasFailed(run)) return undefined;
  const kept = await storage.findKeptRequest(run.action.origin.requestId);
  const instead =
    kept === undefined ? '' : `; "sluice replay ${kept.requestId}" judges its request once more`;
  return `run ${id} has ended well, and only what failed is tried again${instead}`;
}
