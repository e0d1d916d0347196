import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryTarget } from '../../../action.ts';
import type {
  AttemptFailure,
  Backlog,
  ClaimEventsOptions,
  ClaimRunsOptions,
  DropEnding,
  HeartbeatResult,
  ListQuery,
  OutboxBurial,
  OutboxResult,
  ProcessMark,
  QueueSelection,
  RetentionLimits,
  RunBurial,
  RunCompletion,
} from '../../records.ts';
import { type AcceptLimits, openAccept } from './sqlite-accept.ts';
import { openCounters } from './sqlite-counters.ts';
import { type ErrorWire, toErrorWire } from '../sqlite-errors.ts';
import { openEvents } from './sqlite-events.ts';
import { type DecisionWire, type KeptWire, openJournal } from './sqlite-journal.ts';
import { openListings } from './sqlite-listings.ts';
import { openOutbox } from './sqlite-outbox.ts';
import { openPrune } from './sqlite-prune.ts';
import { openRuns } from './sqlite-runs.ts';
import { openSessions } from './sqlite-sessions.ts';

/** `[id, operation, argument]` as the host sends it. */
export type RequestWire = readonly [id: number, name: OperationName, argument: unknown];
/** Flat triples `id, failed (0 or 1), value or ErrorWire`: one array for a whole batch. */
export type ReplyWire = unknown[];

export interface EngineOptions {
  readonly file: string;
  readonly limits: AcceptLimits;
}

type Operations = ReturnType<typeof openWrites> & ReturnType<typeof openReads>;
export type OperationName = keyof Operations;
export type Argument<Name extends OperationName> = Parameters<Operations[Name]>[0];
export type Result<Name extends OperationName> = ReturnType<Operations[Name]>;

/**
 * Executes batches: everything that writes shares one transaction. Where one fails, all are done again, each in its own
 * savepoint, so that it fails alone; a failed commit fails them all. What reads comes after the commit, so it never answers with something
 * that might still be taken back.
 */
export function openEngine(database: DatabaseSync, options: EngineOptions) {
  const row = openCounters(database);
  const writes = openWrites(database, row.counters, options.limits);
  const reads = openReads(database);
  const sql = {
    begin: database.prepare('BEGIN IMMEDIATE'),
    savepoint: database.prepare('SAVEPOINT one'),
    release: database.prepare('RELEASE one'),
    undo: database.prepare('ROLLBACK TO one'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
  };
  type AnyOperation = (argument: unknown) => unknown;
  const writing = writes as unknown as Readonly<Record<string, AnyOperation>>;
  const reading = reads as unknown as Readonly<Record<string, AnyOperation>>;
  const isWrite = ([, name]: RequestWire) => Object.hasOwn(writing, name);

  function begin(): void {
    sql.begin.run();
    row.load();
  }

  /**
   * Nearly always all of them succeed, and a savepoint for each would copy every page it changes. Undefined where one
   * failed; then the transaction begins anew.
   */
  function writeTogether(requests: readonly RequestWire[]): ReplyWire | undefined {
    const replies: ReplyWire = [];
    try {
      for (const [id, name, argument] of requests) replies.push(id, 0, writing[name]?.(argument));
      return replies;
    } catch (error) {
      // A full disk may have ended the transaction; then there is nothing to begin anew.
      if (!database.isTransaction) throw error;
      sql.rollback.run();
      begin();
      return undefined;
    }
  }

  function writeOne([id, name, argument]: RequestWire): ReplyWire {
    const before = row.copy();
    sql.savepoint.run();
    try {
      const value = writing[name]?.(argument);
      sql.release.run();
      return [id, 0, value];
    } catch (error) {
      if (!database.isTransaction) throw error;
      sql.undo.run();
      sql.release.run();
      row.restore(before);
      return [id, 1, toErrorWire(error, options.file)];
    }
  }

  function write(requests: readonly RequestWire[]): ReplyWire {
    try {
      begin();
      const replies = writeTogether(requests) ?? requests.flatMap(writeOne);
      row.save();
      sql.commit.run();
      return replies;
    } catch (error) {
      if (database.isTransaction) sql.rollback.run();
      const failure: ErrorWire = toErrorWire(error, options.file);
      return requests.flatMap(([id]) => [id, 1, failure]);
    }
  }

  function read([id, name, argument]: RequestWire): ReplyWire {
    try {
      return [id, 0, reading[name]?.(argument)];
    } catch (error) {
      return [id, 1, toErrorWire(error, options.file)];
    }
  }

  return {
    run(batch: readonly RequestWire[]): ReplyWire {
      const toWrite = batch.filter(isWrite);
      const replies = toWrite.length === 0 ? [] : write(toWrite);
      for (const request of batch) if (!isWrite(request)) replies.push(...read(request));
      return replies;
    },
  };
}

type OpenCounters = ReturnType<typeof openCounters>['counters'];

function openWrites(database: DatabaseSync, counters: OpenCounters, limits: AcceptLimits) {
  const events = openEvents(database, counters);
  const outbox = openOutbox(database, counters, events);
  const sessions = openSessions(database, counters);
  const runs = openRuns(database, { counters, events, outbox, sessions });
  const journal = openJournal(database);
  const prune = openPrune(database, counters, sessions);
  const saveLast = database.prepare(
    `INSERT INTO last_target (one, target, saved_at) VALUES (1, ?, ?)
     ON CONFLICT (one) DO UPDATE SET target = excluded.target, saved_at = excluded.saved_at`,
  );
  const { accept, acceptSoleRun } = openAccept(database, { counters, limits, events, runs });

  return {
    accept,
    acceptSoleRun,
    claimRuns: (options: ClaimRunsOptions) => runs.claim(options),
    recordProcess: ({ runId, mark }: { runId: string; mark: ProcessMark }) => runs.recordProcess(runId, mark),
    completeRun: (completion: RunCompletion) => runs.complete(completion),
    requeueRun: ({ runId, failure }: { runId: string; failure: AttemptFailure }) =>
      runs.requeue(runId, failure),
    buryRun: ({ runId, burial }: { runId: string; burial: RunBurial }) => runs.bury(runId, burial),
    claimOutbox: (options: { nowMs: number; limit: number }) => outbox.claim(options),
    recordProgress: ({ id, chunksSent }: { id: string; chunksSent: number }) =>
      outbox.recordProgress(id, chunksSent),
    completeOutbox: ({ id, result }: { id: string; result: OutboxResult }) => outbox.complete(id, result),
    requeueOutbox: ({ id, failure }: { id: string; failure: AttemptFailure }) => outbox.requeue(id, failure),
    buryOutbox: ({ id, burial }: { id: string; burial: OutboxBurial }) => outbox.bury(id, burial),
    claimEvents: (options: ClaimEventsOptions) => events.claim(options),
    consumeEvents: ({ turnId, result }: { turnId: string; result: HeartbeatResult }) => {
      const { run, history, delivery, nowMs } = result;
      if (events.consume(turnId, nowMs) === 0) return false;
      runs.insertHeartbeat(run);
      if (history !== undefined) sessions.append(history, nowMs);
      if (delivery !== undefined) {
        const parent = { runId: run.id, mappingId: '', sessionKey: run.action.sessionKey };
        outbox.insert({ kind: 'delivery', body: delivery, parent, nowMs });
      }
      return true;
    },
    freeEvents: ({ turnId, failure }: { turnId: string; failure: AttemptFailure }) =>
      events.free(turnId, failure),
    requestHeartbeat: (atMs: number) => events.requestHeartbeat(atMs),
    clearSession: (sessionKey: string) => sessions.clear(sessionKey),
    saveLastTarget: ({ target, nowMs }: { target: DeliveryTarget; nowMs: number }) => {
      saveLast.run(JSON.stringify(target), Math.round(nowMs));
    },
    retryRows: ({ runs: runIds, outbox: entries, events: eventIds, nowMs }: SelectedRows) =>
      count(runIds, (id) => runs.retry(id, nowMs)) +
      count(entries, (id) => outbox.retry(id, nowMs)) +
      count(eventIds, (id) => events.retry(id, nowMs)),
    dropRows: ({ endings, outbox: entries, events: eventIds, nowMs }: DroppedRows) =>
      count(endings, ([id, ending]) => runs.drop(id, ending, nowMs)) +
      count(entries, (id) => outbox.drop(id, nowMs)) +
      count(eventIds, (id) => events.drop(id, nowMs)),
    prune: ({ limits: keep, nowMs }: { limits: RetentionLimits; nowMs: number }) => prune(keep, nowMs),
    recordDecisions: (decisions: readonly DecisionWire[]) => journal.recordDecisions(decisions),
    keepRequests: (requests: readonly KeptWire[]) => journal.keepRequests(requests),
    flush: () => undefined,
  };
}

interface SelectedRows {
  readonly runs: readonly string[];
  readonly outbox: readonly string[];
  readonly events: readonly string[];
  readonly nowMs: number;
}

interface DroppedRows {
  readonly endings: readonly (readonly [runId: string, ending: DropEnding])[];
  readonly outbox: readonly string[];
  readonly events: readonly string[];
  readonly nowMs: number;
}

function count<Item>(items: readonly Item[], change: (item: Item) => boolean): number {
  let changed = 0;
  for (const item of items) if (change(item)) changed += 1;
  return changed;
}

function openReads(database: DatabaseSync) {
  const listings = openListings(database);
  const row = openCounters(database);
  return {
    ...listings,
    listRuns: (query: ListQuery) => listings.listRuns(query),
    selectDrop: (selection: QueueSelection) => listings.selectDrop(selection),
    heartbeatAt: () => {
      row.load();
      return row.counters.heartbeatAt;
    },
    backlog: (): Backlog => {
      row.load();
      const { queuedRuns, activeRuns, deadRuns, queuedOutbox, deadOutbox } = row.counters;
      const { pendingEvents, deadEvents, runBytes } = row.counters;
      const oldestQueuedAt = listings.oldestQueuedAt();
      return {
        queuedRuns,
        activeRuns,
        deadRuns,
        queuedOutbox,
        deadOutbox,
        pendingEvents,
        deadEvents,
        bytes: runBytes,
        ...(oldestQueuedAt !== undefined && { oldestQueuedAt }),
      };
    },
  };
}
