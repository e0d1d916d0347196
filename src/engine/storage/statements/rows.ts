import assert from 'node:assert/strict';
import type {
  ActionOrigin,
  AgentAction,
  ConversationOwner,
  DeliveryTarget,
  RunAction,
} from '../../../base/action.ts';
import type { MailboxRecord } from '../mail-port.ts';
import type {
  AgentRun,
  Approval,
  EarlierEnding,
  EventRecord,
  EventState,
  NewCallback,
  NewDelivery,
  OutboxRecord,
  OutboxState,
  RunOutcome,
  RunRecord,
  RunState,
  TokenUsage,
} from '../records.ts';

/** States of a run in the order of its life; a range of them is one comparison in an index. */
export const RUN = { blocked: 0, ready: 1, waiting: 2, active: 3, completed: 4, dead: 5 } as const;
/** In the words of the index `runs_failed`. */
export const ENDED_BADLY = `state = ${RUN.completed} AND kind = 'hook' AND outcome IN ('error', 'timeout')
  AND error_code NOT IN ('dropped', 'superseded', 'no_conversation')`;
/** A run that ended badly, and not because it was not to begin. */
export const FAILED_RUN = `${ENDED_BADLY} AND error_code <> 'not_allowed'`;
/** The `gather_key` of a waiting run that somebody is asked about: keys of events begin with `=` or `#`. */
export const ASKING = 'approval';
/**
 * The same of one that waits for its conversation, or whose conversation has ended, as its error says. Of an active run
 * it says that its turn is to be ended.
 */
export const UNBEGUN = 'conversation';
/** The `gather_key` of an event whose sender is asked whether the account may start it (`startedBy`). */
export const CHECKING = 'permission';
export const IS_CLAIMED_WHEN_DUE = `(gather_key IS NULL OR gather_key NOT IN ('${ASKING}', '${UNBEGUN}', '${CHECKING}'))`;
export const OUTBOX = { queued: 0, active: 1, completed: 2, skipped: 3, dead: 4 } as const;
export const EVENT = { pending: 0, claimed: 1, consumed: 2, dead: 3 } as const;

/** Rows as the engine sends them: JSON stays text until the host reads it. */
export interface RunRow {
  readonly seq: number;
  readonly id: string;
  readonly kind: 'hook' | 'heartbeat';
  readonly state: number;
  readonly action: string;
  readonly owner: ConversationOwner;
  readonly attempts: number;
  readonly outcome: RunOutcome | null;
  readonly reply: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly usage: string | null;
  readonly earlier: string | null;
  readonly approval: string | null;
  readonly pgid: number | null;
  readonly startTicks: string | null;
  readonly worker: string | null;
  readonly workerAttempt: string | null;
  readonly workerUntil: number | null;
  readonly workerEnd: string | null;
  readonly workerAccess: string | null;
  readonly acceptedAt: number;
  readonly dueAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Events that joined it after its first, and where they were asked for, their actions. */
  readonly gathered: number;
  readonly events?: readonly string[];
}

/** What operations need to know of a run they change. */
export interface RunHead {
  readonly seq: number;
  readonly id: string;
  readonly state: number;
  readonly sessionKey: string;
  /** As `Queue` of `session-queue.ts`. */
  readonly queue: string | null;
  readonly mappingId: string;
  readonly bytes: number;
  /** Who claimed it last. */
  readonly holder: string | null;
  /** As `migrations.ts` explains them. */
  readonly workerAttempt: string | null;
  readonly workerUntil: number | null;
}

export const RUN_FIELDS = `runs.seq, id, kind, state, action, owner, attempts, outcome, reply, error_code AS "errorCode",
  error_message AS "errorMessage", usage, earlier, approval, pgid, start_ticks AS "startTicks", worker, worker_attempt AS "workerAttempt",
  worker_until AS "workerUntil", worker_end AS "workerEnd", worker_access AS "workerAccess", accepted_at AS "acceptedAt",
  due_at AS "dueAt", started_at AS "startedAt", ended_at AS "endedAt", gathered`;
export const RUN_COLUMNS = `${RUN_FIELDS} FROM runs JOIN run_actions ON run_actions.seq = runs.seq`;
export const RUN_BY_ID = `SELECT ${RUN_COLUMNS} WHERE id = ?`;

export interface OutboxRow {
  readonly seq: number;
  readonly id: string;
  readonly kind: 'delivery' | 'callback';
  readonly runId: string;
  readonly mappingId: string;
  readonly state: number;
  readonly attempts: number;
  readonly chunksSent: number;
  readonly createdAt: number;
  readonly dueAt: number;
  readonly endedAt: number | null;
  readonly target: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly body: string;
  readonly recipient: string | null;
  readonly behind: number;
}

export const OUTBOX_COLUMNS = `seq, id, kind, run_id AS "runId", mapping_id AS "mappingId", state, attempts, chunks_sent AS "chunksSent",
  created_at AS "createdAt", due_at AS "dueAt", ended_at AS "endedAt", target, error_code AS "errorCode",
  error_message AS "errorMessage", body, recipient, behind FROM outbox`;

export interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly kind: 'wake' | 'summary';
  readonly state: number;
  readonly mode: 'now' | 'next-heartbeat';
  readonly turnId: string | null;
  readonly runId: string | null;
  readonly attempts: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly origin: string;
  readonly text: string;
}

export const EVENT_COLUMNS = `seq, id, kind, state, mode, turn_id AS "turnId", run_id AS "runId", attempts,
  created_at AS "createdAt", ended_at AS "endedAt", error_code AS "errorCode", error_message AS "errorMessage", origin, text
  FROM events`;

const RUN_STATES: readonly RunState[] = ['queued', 'queued', 'queued', 'active', 'completed', 'dead'];
const OUTBOX_STATES: readonly OutboxState[] = ['queued', 'active', 'completed', 'skipped', 'dead'];
const EVENT_STATES: readonly EventState[] = ['pending', 'claimed', 'consumed', 'dead'];

export type Table = 'runs' | 'outbox' | 'events';

/** Number of the first and the last state of a name, for a range in a query; undefined where there is none. */
export function stateRange(table: Table, name: string): readonly [first: number, last: number] | undefined {
  const states: readonly string[] = { runs: RUN_STATES, outbox: OUTBOX_STATES, events: EVENT_STATES }[table];
  const first = states.indexOf(name);
  return first === -1 ? undefined : [first, states.lastIndexOf(name)];
}

function named<Name extends string>(states: readonly Name[], state: number): Name {
  const name = states[state];
  if (name === undefined) throw new Error(`the store holds an unknown state ${state}`);
  return name;
}

function lastError(row: { readonly errorCode: string | null; readonly errorMessage: string | null }) {
  return row.errorCode === null
    ? {}
    : { lastError: { code: row.errorCode, message: row.errorMessage ?? '' } };
}

export function toRun(row: RunRow): RunRecord {
  return {
    id: row.id,
    kind: row.kind,
    // The row knows the owner of runs that were stored before actions had one.
    action: { ...(JSON.parse(row.action) as RunAction), owner: row.owner },
    state: named(RUN_STATES, row.state),
    attempts: row.attempts,
    acceptedAt: row.acceptedAt,
    // A row that has just arrived has no due time yet.
    dueAt: row.dueAt === 0 ? row.acceptedAt : row.dueAt,
    ...(row.outcome !== null && { outcome: row.outcome }),
    ...(row.reply !== null && { reply: row.reply }),
    ...lastError(row),
    ...(row.pgid !== null && { process: { pgid: row.pgid, startTicks: row.startTicks ?? '' } }),
    ...carriedOf(row),
    ...(row.usage !== null && { usage: JSON.parse(row.usage) as TokenUsage }),
    ...(row.earlier !== null && { earlier: JSON.parse(row.earlier) as readonly EarlierEnding[] }),
    ...(row.approval !== null && { approval: JSON.parse(row.approval) as Approval }),
    ...(row.startedAt !== null && { startedAt: row.startedAt }),
    ...(row.endedAt !== null && { endedAt: row.endedAt }),
    ...(row.gathered > 0 && { eventCount: row.gathered + 1 }),
    ...(row.events && { events: row.events.map((event) => JSON.parse(event) as AgentAction) }),
  };
}

function carriedOf(row: RunRow): Pick<RunRecord, 'carried'> {
  const { worker, workerAttempt: attempt, workerUntil: until, workerEnd: end, workerAccess: access } = row;
  if (worker === null || attempt === null) return {};
  return {
    carried: {
      worker,
      attempt,
      ...(until !== null && { until }),
      ...(end !== null && { end }),
      ...(access !== null && { access }),
    },
  };
}

/** A run that waits, is active, or was given up: none of these is a notification. */
export function toAgentRun(row: RunRow): AgentRun {
  const run = toRun(row);
  assert(run.action.kind === 'agent', 'a notification has ended when it is stored');
  return run as AgentRun;
}

export function toOutbox(row: OutboxRow): OutboxRecord {
  const body = JSON.parse(row.body) as NewDelivery & NewCallback;
  return {
    id: row.id,
    kind: body.reaction === undefined ? row.kind : 'reaction',
    runId: row.runId,
    mappingId: row.mappingId,
    state: named(OUTBOX_STATES, row.state),
    attempts: row.attempts,
    chunksSent: row.chunksSent,
    createdAt: row.createdAt,
    dueAt: row.dueAt,
    ...(row.kind === 'delivery' ? { delivery: body } : { callback: body }),
    ...(row.target !== null && { target: JSON.parse(row.target) as DeliveryTarget }),
    ...(row.recipient !== null && { recipient: row.recipient }),
    ...(row.behind === 1 && row.state === OUTBOX.queued && { isBehind: true as const }),
    ...lastError(row),
    ...(row.endedAt !== null && { endedAt: row.endedAt }),
  };
}

export function toEvent(row: EventRow): EventRecord {
  return {
    id: row.id,
    kind: row.kind,
    text: row.text,
    origin: JSON.parse(row.origin) as ActionOrigin,
    mode: row.mode,
    state: named(EVENT_STATES, row.state),
    attempts: row.attempts,
    createdAt: row.createdAt,
    ...(row.turnId !== null && { turnId: row.turnId }),
    ...(row.runId !== null && { runId: row.runId }),
    ...lastError(row),
    ...(row.endedAt !== null && { consumedAt: row.endedAt }),
  };
}

export interface MailboxRow extends Omit<MailboxRecord, 'holder' | 'position'> {
  readonly holder: string | null;
  readonly position: string | null;
}

export const MAILBOXES = `SELECT mailbox, holder, held_until AS "heldUntil", position, floor_at AS "floorAt", state,
  updated_at AS "updatedAt" FROM mailboxes`;

export function toRecord({ holder, position, ...rest }: MailboxRow): MailboxRecord {
  return {
    ...rest,
    ...(holder === null ? {} : { holder }),
    ...(position === null ? {} : { position }),
  };
}
