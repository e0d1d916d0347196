import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  openStorage,
  type EventRecord,
  type OutboxRecord,
  type RunRecord,
  type Storage,
} from '../../src/engine/storage/storage.ts';
import type { ReceivedRequest } from './platform-server.ts';
import { type History, judge } from './run-history.ts';
import {
  accountForConversations,
  type ConversationAccount,
  ordered,
  type ToldConversation,
} from './torture-conversations.ts';
import { type ApprovalAnswered, laneOf, type Sent } from './torture-senders.ts';

/** What became of everything that was sent. Each list names requests by message id, and has to be empty. */
export interface Account extends ConversationAccount {
  /** Answered 2xx, and no run or event is there. */
  readonly lost: readonly string[];
  /** More than one run or event for one action, more than one summary for one run, or none for one that ended. */
  readonly doubled: readonly string[];
  /** Batches without an answer of which some elements are there and some are not. */
  readonly halved: readonly string[];
  /** Runs that ended otherwise than ok, or as dead after three interruptions. */
  readonly failed: readonly string[];
  /** Answers, the first or that to a repeat, which name another run than the one that is there; refusals of what is. */
  readonly strayed: readonly string[];
  /** Runs of the command runner that were executed more often than the attempts the store shows and the orderly stops. */
  readonly unseen: readonly string[];
  /** Runs that began while another one of their session key, or an earlier attempt, was still going on. */
  readonly overlapped: readonly string[];
  /** Chunks and callbacks that never arrived, or arrived more often than the attempts the store shows. */
  readonly misdelivered: readonly string[];
  /** Answers to questions that say otherwise than the store, and runs of these that did what nobody approved. */
  readonly misapproved: readonly string[];
  /** What the history of the commands shows: out of order, doubled, side by side (`run-history.ts`). */
  readonly faults: readonly string[];
  /** What the store holds of everything named above. */
  readonly details: readonly string[];
  readonly runs: number;
  /** Runs that were interrupted and repeated, and those given up after three interruptions. */
  readonly interruptedRuns: number;
  readonly deadRuns: number;
  /** How many were approved, denied, and given up as nobody answered; of these those whose time ended without a service. */
  readonly approvals: {
    readonly approved: number;
    readonly denied: number;
    readonly unanswered: number;
    readonly overWhileAway: number;
    /** Answers that came second, and were told what the first one was. */
    readonly second: number;
  };
  readonly deliveries: number;
  readonly callbacks: number;
  /** Chunks and callbacks that arrived a second time, each a visible attempt. */
  readonly repeatedSends: number;
}

export interface Witnesses {
  /** Where the log of executions is. */
  readonly folder: string;
  readonly url: string;
  readonly sent: readonly Sent[];
  readonly received: readonly ReceivedRequest[];
  /** What people said to the links that they got, and heard. */
  readonly answered: readonly ApprovalAnswered[];
  /** Default: none. */
  readonly told?: readonly ToldConversation[];
  /** When no service was there: milliseconds since the epoch. */
  readonly away?: readonly { readonly from: number; readonly until: number }[];
  /** Orderly stops, which interrupt a run without counting an attempt. Default: 0. */
  readonly stops?: number;
}

/** Compares what senders and receivers saw with what the store holds. */
export async function account(witnesses: Witnesses): Promise<Account> {
  const { folder, url, sent, received, told = [], stops = 0 } = witnesses;
  const storage = await openStorage(url, { mode: 'attached' });
  try {
    const books = await readBooks(storage);
    const found = accountForRequests(books, sent);
    const sends = accountForSends(books, received);
    const unseen = findUnseen(folder, books, stops);
    const approvals = accountForApprovals(books, witnesses);
    const overlapped = readLines(join(folder, 'overlaps.log'));
    const steps = readSteps(folder);
    const sessions = await storage.listSessions({ owner: 'owner:talks', limit: ALL });
    const begun = new Map(
      steps.toReversed().flatMap(({ what, runId, at }) => (what === 'start' ? [[runId, at] as const] : [])),
    );
    const conversations = accountForConversations(told, { runs: books.runs, sessions, begun });
    const wrong = conversations.conversationFaults.flatMap((fault) => /\bc\d+-[a-z]+/.exec(fault)?.[0] ?? []);
    const { lost, doubled, halved, failed, strayed } = found;
    const named = [...lost, ...doubled, ...halved, ...failed, ...strayed, ...wrong];
    const runs = [...new Set([...books.runs.values()].flat())];
    return {
      ...found,
      ...sends,
      ...approvals,
      ...conversations,
      unseen,
      overlapped,
      faults: judge(historyOf(books, { steps, sent, told })),
      details: [...named, ...unseen, ...sends.misdelivered, ...approvals.misapproved].map((id) =>
        describe(books, id.split(' ', 1)[0] ?? id),
      ),
      runs: runs.length,
      interruptedRuns: runs.filter((run) => run.attempts > 1).length,
      deadRuns: runs.filter((run) => run.state === 'dead').length,
    };
  } finally {
    await storage.close();
  }
}

interface Books {
  /** By message id. */
  readonly runs: ReadonlyMap<string, readonly RunRecord[]>;
  readonly wakes: ReadonlyMap<string, readonly EventRecord[]>;
  /** By run id. */
  readonly summaries: ReadonlyMap<string, readonly EventRecord[]>;
  readonly outbox: ReadonlyMap<string, readonly OutboxRecord[]>;
}

const ALL = 1_000_000;

async function readBooks(storage: Storage): Promise<Books> {
  const runs = await storage.listRuns({ limit: ALL });
  const events = await storage.listEvents({ limit: ALL });
  const outbox = await storage.listOutbox({ limit: ALL });
  const named: (readonly [string, RunRecord])[] = [];
  for (const run of runs.filter(({ kind }) => kind === 'hook')) {
    named.push([messageId(run.action.message), run]);
    const { events = [] } = run.eventCount === undefined ? {} : ((await storage.findRun(run.id)) ?? {});
    for (const { message } of events) named.push([messageId(message), run]);
  }
  return {
    runs: new Map(
      [...Map.groupBy(named, ([id]) => id)].map(([id, all]) => [id, all.map(([, run]) => run)] as const),
    ),
    wakes: Map.groupBy(
      events.filter((event) => event.kind === 'wake'),
      (event) => event.text,
    ),
    // By run and not by text: the summary of a dead run does not quote its message.
    summaries: Map.groupBy(
      events.filter((event) => event.kind === 'summary'),
      (event) => event.runId ?? '',
    ),
    outbox: Map.groupBy(outbox, (entry) => entry.runId),
  };
}

function messageId(message: string): string {
  return /^m\d+-[abc]?/.exec(message)?.[0] ?? message;
}

function accountForRequests(
  books: Books,
  sent: readonly Sent[],
): Pick<Account, 'lost' | 'doubled' | 'halved' | 'failed' | 'strayed'> {
  const [lost, doubled, halved, failed, strayed] = [[], [], [], [], []] as string[][] as [
    string[],
    string[],
    string[],
    string[],
    string[],
  ];
  for (const { ids, kind, status, answers } of sent) {
    const stored = ids.map((id) => (kind === 'wake' ? books.wakes : books.runs).get(id) ?? []);
    for (const [index, id] of ids.entries()) {
      const copies = stored[index] ?? [];
      if (copies.length === 0 && answers.length > 0) lost.push(id);
      if (copies.length > 1) doubled.push(id);
      const isRefused = answers.length === 0 && status !== undefined;
      if (answers.some((answer) => answer[index] !== copies[0]?.id)) strayed.push(id);
      if (isRefused && copies.length > 0) strayed.push(id);
    }
    if (new Set(stored.map((copies) => copies.length)).size > 1) halved.push(...ids);
    if (kind === 'wake') continue;
    for (const [index, id] of ids.entries()) {
      for (const run of (stored[index] ?? []) as readonly RunRecord[]) {
        if ((books.summaries.get(run.id)?.length ?? 0) !== 1) doubled.push(id);
        if (!endedAsItShould(run)) failed.push(id);
      }
    }
  }
  return { lost, doubled, halved, failed, strayed };
}

/** A run that was interrupted three times is dead, visibly, which is an end too. */
function endedAsItShould({ state, outcome, attempts, lastError, approval }: RunRecord): boolean {
  if (state === 'dead' && attempts === 3 && lastError?.code === 'interrupted') return true;
  if (approval === undefined || approval.decision === 'approved')
    return state === 'completed' && outcome === 'ok';
  return state === 'dead' && lastError?.code === (approval.decision ?? 'not_approved');
}

/** One answer counts, everybody hears of the same one, and only what was approved is performed. */
function accountForApprovals(
  books: Books,
  { folder, answered, away = [] }: Witnesses,
): Pick<Account, 'misapproved' | 'approvals'> {
  const executed = new Set(readLines(join(folder, 'executions.log')));
  const heard = Map.groupBy(answered, ({ runId }) => runId);
  const asked = [...books.runs].flatMap(([id, copies]) =>
    copies.flatMap(({ id: runId, approval }) => (approval === undefined ? [] : [{ id, runId, approval }])),
  );
  const misapproved = asked.flatMap(({ id, runId, approval: { decision } }) => {
    const answers = heard.get(runId) ?? [];
    const holds = decision ?? 'not answered in time';
    const isRight =
      answers.every(({ said }) => said === holds) &&
      (answers.length > 0 || decision === undefined) &&
      (decision === 'approved' || !executed.has(runId));
    return isRight ? [] : [`${id} (${holds}; said ${answers.map(({ said }) => said).join(' ')})`];
  });
  const count = (wanted?: string): number =>
    asked.filter(({ approval: { decision } }) => decision === wanted).length;
  const over = asked.filter(
    ({ approval: { decision, expiresAt } }) =>
      decision === undefined && away.some(({ from, until }) => from < expiresAt && expiresAt < until),
  );
  return {
    misapproved,
    approvals: {
      approved: count('approved'),
      denied: count('denied'),
      unanswered: count(),
      overWhileAway: over.length,
      second: answered.filter(
        ({ asked: wanted, said }) => !said.startsWith(wanted === 'deny' ? 'den' : 'app'),
      ).length,
    },
  };
}

/** Every chunk and callback has to arrive, and no more often than there were attempts. */
function accountForSends(
  books: Books,
  received: readonly ReceivedRequest[],
): Pick<Account, 'misdelivered' | 'deliveries' | 'callbacks' | 'repeatedSends'> {
  const arrivals = new Map<string, number>();
  for (const { headers, body } of received) {
    const webhookId = headers['webhook-id'];
    const marks =
      typeof webhookId === 'string'
        ? [webhookId]
        : (String(body?.['text']).match(/m\d+-(?:first|last)|approve [\w-]{36}/g) ?? []);
    for (const mark of marks) arrivals.set(mark, (arrivals.get(mark) ?? 0) + 1);
  }
  const entries = [...books.outbox.values()].flat();
  const runs = new Map([...books.runs.values()].flat().map((run) => [run.id, run]));
  const misdelivered = entries.flatMap((entry) => {
    const id = messageId(runs.get(entry.runId)?.action.message ?? '');
    const isQuestion = entry.delivery?.asks !== undefined;
    const marks =
      entry.kind === 'callback'
        ? [entry.id]
        : isQuestion
          ? [`approve ${entry.runId}`]
          : [`${id}first`, `${id}last`];
    const counts = marks.map((mark) => arrivals.get(mark) ?? 0);
    // Nobody is asked for what was answered, or whose time was over, before the question could be sent.
    const isOver = isQuestion && entry.state === 'skipped' && entry.lastError?.code === 'answered';
    const least = isOver ? 0 : 1;
    const isRight =
      (isOver || entry.state === 'completed') &&
      counts.every((count) => count >= least && count <= entry.attempts);
    return isRight ? [] : [id];
  });
  for (const [id, copies] of books.runs) {
    for (const { id: runId, action, state, approval } of copies) {
      if (action.kind === 'notify') continue;
      const owed =
        Number(action.deliver && state === 'completed') +
        Number(action.callbackUrl !== undefined) +
        Number(approval !== undefined);
      if ((books.outbox.get(runId)?.length ?? 0) !== owed) misdelivered.push(id);
    }
  }
  return {
    misdelivered,
    deliveries: entries.filter((entry) => entry.kind === 'delivery').length,
    callbacks: entries.filter((entry) => entry.kind === 'callback').length,
    repeatedSends: [...arrivals.values()].reduce((sum, count) => sum + count - 1, 0),
  };
}

/** Every execution has to be an attempt the store shows, or one that an orderly stop ended: nothing runs twice unseen. */
function findUnseen(folder: string, books: Books, stops: number): readonly string[] {
  const executions = new Map<string, number>();
  for (const id of readLines(join(folder, 'executions.log'))) {
    executions.set(id, (executions.get(id) ?? 0) + 1);
  }
  return [...books.runs].flatMap(([id, runs]) =>
    runs.some((run) => (executions.get(run.id) ?? 0) > run.attempts + stops) ? [id] : [],
  );
}

/** When commands were asked for and answered, and when each attempt began and ended, by the clock of this machine. */
function historyOf(
  books: Books,
  {
    steps: times,
    sent,
    told,
  }: {
    readonly steps: readonly CommandStep[];
    readonly sent: readonly Sent[];
    readonly told: readonly ToldConversation[];
  },
): History {
  const steps = times.map(({ at, ...step }) => ({ ...step, asked: at, answered: at }));
  const claims = steps
    .filter(({ what }) => what === 'start')
    .map((step, attempt) => ({ ...step, holder: `${attempt}` }));
  const ends = claims.flatMap(({ runId, holder, asked: from }, index) => {
    const until = claims.slice(index + 1).find((next) => next.runId === runId)?.asked ?? Infinity;
    const isLast = until === Infinity;
    return (
      steps
        // The command of an attempt before may have ended after its service was killed: that is not the end of this one.
        .filter(
          (step) => step.what === 'end' && step.runId === runId && step.asked >= from && step.asked < until,
        )
        .slice(isLast ? -1 : Infinity)
        .map((step) => ({ ...step, holder, done: isLast }))
    );
  });
  const commands = sent
    .filter(({ kind }) => kind === 'command')
    .map(({ ids: [id = ''], number, ...times }) => ({ id, line: `${laneOf(number)}`, ...times }));
  const ofConversations = told.flatMap((one) =>
    ordered(one).map(({ message: id, ...times }) => ({ id, line: one.name, ...times })),
  );
  const accepts = [...commands, ...ofConversations].flatMap(({ id, line, askedAt: asked, answeredAt }) => {
    const run = books.runs.get(id)?.[0];
    const runId = run?.id ?? `of ${id}`;
    // Each of its attempts was killed before the command could say that it had begun.
    const isUnseen = (run?.attempts ?? 0) > 0 && !claims.some((claim) => claim.runId === runId);
    return isUnseen ? [] : [{ runId, line, asked, ...(answeredAt && { answered: answeredAt }) }];
  });
  const stored = new Set([...books.runs.values()].flat().map(({ id }) => id));
  return { accepts, claims, ends, stored };
}

/** What the commands say, in the order in which they said it. */
interface CommandStep {
  readonly what: string;
  readonly runId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

function readSteps(folder: string): readonly CommandStep[] {
  const lines = readLines(join(folder, 'times.log')).map((line) => line.split(' '));
  return lines.map(([what = '', at, runId = '']) => ({ what, runId, at: Number(at) }));
}

function readLines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

function describe(books: Books, id: string): string {
  const runs = (books.runs.get(id) ?? []).map((run) => {
    const sends = (books.outbox.get(run.id) ?? []).map(
      ({ kind, state, attempts, chunksSent, lastError }) =>
        `${kind} ${state} attempts ${attempts} chunks ${chunksSent} ${lastError?.code ?? ''}`,
    );
    const error = run.lastError === undefined ? '' : `${run.lastError.code}: ${run.lastError.message}`;
    const summaries = books.summaries.get(run.id)?.length ?? 0;
    return `${run.id} ${run.state}/${run.outcome ?? '-'} attempts ${run.attempts} ${error} summaries ${summaries} [${sends.join('; ')}]`;
  });
  return `${id}: ${runs.join(', ')} wakes ${books.wakes.get(id)?.length ?? 0}`;
}
