import type { DeliveryTarget } from '../../../action.ts';
import { HookError } from '../../../errors.ts';
import type { Storage } from '../../port.ts';
import type {
  AcceptedWork,
  AcceptResult,
  AttemptFailure,
  Backlog,
  ClaimEventsOptions,
  ClaimRunsOptions,
  DecisionRecord,
  DropEnding,
  EventClaim,
  EventRecord,
  HeartbeatResult,
  IdempotentRecord,
  KeptRequest,
  ListQuery,
  OutboxBurial,
  OutboxRecord,
  OutboxResult,
  ProcessMark,
  PruneResult,
  QueueSelection,
  RetentionLimits,
  RunBurial,
  RunCompletion,
  RunRecord,
  SessionRecord,
  SessionTurn,
} from '../../records.ts';
import { findSoleRun, freshResult, headerKey, toAcceptWire, wireBytes } from '../worker/sqlite-accept.ts';
import { SqliteClient } from './sqlite-client.ts';
import { unavailable } from '../sqlite-errors.ts';
import { inspect } from './sqlite-inspector.ts';
import { toEvent, toOutbox, toRun } from '../worker/sqlite-rows.ts';
import { openJournalBuffer, type JournalBuffer } from './sqlite-journal-buffer.ts';
import { StorageError } from '../../storage-error.ts';

/** Requests and bytes that wait for a commit at most; beyond them a sender is told at once. */
const MAX_WAITING_ACCEPTS = 1000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

export interface SqliteOptions {
  readonly mode: 'performer' | 'beside';
  readonly maxBacklogRuns: number;
  readonly maxBacklogBytes: number;
  readonly maxPendingEvents: number;
  readonly fsync: boolean;
  readonly dropEnding: (run: RunRecord) => DropEnding;
}

/** Opens the store in one SQLite file. */
export async function openSqliteStorage(file: string, options: SqliteOptions): Promise<Storage> {
  const { mode, fsync, maxBacklogRuns, maxBacklogBytes, maxPendingEvents, dropEnding } = options;
  const limits = { maxBacklogRuns, maxBacklogBytes, maxPendingEvents };
  const client = await SqliteClient.open({ file, mode, fsync, limits });
  return new SqliteStorage(client, file, dropEnding);
}

class SqliteStorage implements Storage {
  readonly #client: SqliteClient;
  readonly #file: string;
  readonly #dropEnding: (run: RunRecord) => DropEnding;
  readonly #journal: JournalBuffer;
  #waitingAccepts = 0;
  #waitingBytes = 0;

  constructor(client: SqliteClient, file: string, dropEnding: (run: RunRecord) => DropEnding) {
    this.#client = client;
    this.#file = file;
    this.#dropEnding = dropEnding;
    this.#journal = openJournalBuffer(client);
  }

  accept(work: AcceptedWork): Promise<AcceptResult> {
    const result = freshResult(work);
    const wire = toAcceptWire(work, result);
    const bytes = wireBytes(wire);
    const isFull = this.#waitingAccepts > 0 && this.#waitingBytes + bytes > MAX_WAITING_BYTES;
    if (isFull || this.#waitingAccepts >= MAX_WAITING_ACCEPTS) {
      return Promise.reject(
        new HookError('storage_unavailable', 'too many requests wait for the store', {
          retryAfterSeconds: 1,
        }),
      );
    }
    this.#waitingAccepts += 1;
    this.#waitingBytes += bytes;
    const leave = () => {
      this.#waitingAccepts -= 1;
      this.#waitingBytes -= bytes;
    };
    const soleRun = findSoleRun(wire);
    return new Promise((resolve, reject) => {
      const settle = {
        resolve: (repeated: string | null) => {
          leave();
          resolve(repeated === null ? result : (JSON.parse(repeated) as AcceptResult));
        },
        reject: (error: Error) => {
          leave();
          reject(error instanceof StorageError ? unavailable(error) : error);
        },
      };
      if (soleRun === undefined) this.#client.send('accept', wire, settle);
      else this.#client.send('acceptSoleRun', soleRun, settle);
    });
  }

  async findIdempotent(scope: string, key: string, nowMs: number): Promise<IdempotentRecord | undefined> {
    const found = await this.#client.call('findIdempotent', { ...headerKey(scope, key), nowMs });
    if (found === undefined) return undefined;
    return { bodySha256: found.bodySha256, result: JSON.parse(found.result) as AcceptResult };
  }

  async claimRuns(options: ClaimRunsOptions): Promise<readonly RunRecord[]> {
    return (await this.#client.call('claimRuns', options)).map(toRun);
  }

  recordProcess(runId: string, mark: ProcessMark): Promise<void> {
    return this.#client.call('recordProcess', { runId, mark });
  }

  completeRun(completion: RunCompletion): Promise<boolean> {
    return this.#client.call('completeRun', completion);
  }

  requeueRun(runId: string, failure: AttemptFailure): Promise<boolean> {
    return this.#client.call('requeueRun', { runId, failure });
  }

  buryRun(runId: string, burial: RunBurial): Promise<boolean> {
    return this.#client.call('buryRun', { runId, burial });
  }

  async findInterruptedRuns(): Promise<readonly RunRecord[]> {
    return (await this.#client.call('findInterruptedRuns', undefined)).map(toRun);
  }

  async claimOutbox(options: {
    readonly nowMs: number;
    readonly limit: number;
  }): Promise<readonly OutboxRecord[]> {
    return (await this.#client.call('claimOutbox', options)).map(toOutbox);
  }

  recordProgress(outboxId: string, chunksSent: number): Promise<void> {
    return this.#client.call('recordProgress', { id: outboxId, chunksSent });
  }

  completeOutbox(outboxId: string, result: OutboxResult): Promise<boolean> {
    return this.#client.call('completeOutbox', { id: outboxId, result });
  }

  requeueOutbox(outboxId: string, failure: AttemptFailure): Promise<boolean> {
    return this.#client.call('requeueOutbox', { id: outboxId, failure });
  }

  buryOutbox(outboxId: string, burial: OutboxBurial): Promise<boolean> {
    return this.#client.call('buryOutbox', { id: outboxId, burial });
  }

  async claimEvents(options: ClaimEventsOptions): Promise<EventClaim | undefined> {
    const claim = await this.#client.call('claimEvents', options);
    return claim && { turnId: claim.turnId, events: claim.events.map(toEvent) };
  }

  consumeEvents(turnId: string, result: HeartbeatResult): Promise<boolean> {
    return this.#client.call('consumeEvents', { turnId, result });
  }

  freeEvents(turnId: string, failure: AttemptFailure): Promise<boolean> {
    return this.#client.call('freeEvents', { turnId, failure });
  }

  nextDueAt(): Promise<number | undefined> {
    return this.#client.call('nextDueAt', undefined);
  }

  async heartbeatRequested(nowMs?: number): Promise<boolean> {
    const at = await this.#client.call('heartbeatAt', undefined);
    return at !== null && at <= (nowMs ?? Infinity);
  }

  requestHeartbeat(atMs: number): Promise<void> {
    return this.#client.call('requestHeartbeat', atMs);
  }

  findHistory(sessionKey: string): Promise<readonly SessionTurn[]> {
    return this.#client.call('findHistory', sessionKey);
  }

  listSessions(query: ListQuery): Promise<readonly SessionRecord[]> {
    return this.#client.call('listSessions', query);
  }

  clearSession(sessionKey: string): Promise<boolean> {
    return this.#client.call('clearSession', sessionKey);
  }

  async findLastTarget(): Promise<DeliveryTarget | undefined> {
    const text = await this.#client.call('findLastTarget', undefined);
    return text === undefined ? undefined : (JSON.parse(text) as DeliveryTarget);
  }

  saveLastTarget(target: DeliveryTarget, nowMs: number): Promise<void> {
    return this.#client.call('saveLastTarget', { target, nowMs });
  }

  async listRuns(query: ListQuery): Promise<readonly RunRecord[]> {
    return (await this.#client.call('listRuns', query)).map(toRun);
  }

  async findRun(runId: string): Promise<RunRecord | undefined> {
    const row = await this.#client.call('findRun', runId);
    return row && toRun(row);
  }

  async listEvents(query: ListQuery): Promise<readonly EventRecord[]> {
    return (await this.#client.call('listEvents', query)).map(toEvent);
  }

  async listOutbox(query: ListQuery): Promise<readonly OutboxRecord[]> {
    return (await this.#client.call('listOutbox', query)).map(toOutbox);
  }

  /** In steps of some hundred rows, each a transaction, so that accepts pass between them. */
  async retry(selection: QueueSelection, nowMs: number): Promise<number> {
    let total = 0;
    for (;;) {
      const rows = await this.#client.call('selectRetry', { selection, nowMs });
      const changed = await this.#client.call('retryRows', { ...rows, nowMs });
      if (changed === 0) return total;
      total += changed;
    }
  }

  async drop(selection: QueueSelection, nowMs: number): Promise<number> {
    let total = 0;
    for (;;) {
      const { runs, outbox, events } = await this.#client.call('selectDrop', selection);
      const endings = runs.map((row) => [row.id, this.#dropEnding(toRun(row))] as const);
      const changed = await this.#client.call('dropRows', { endings, outbox, events, nowMs });
      if (changed === 0) return total;
      total += changed;
    }
  }

  backlog(): Promise<Backlog> {
    return this.#client.call('backlog', undefined);
  }

  async prune(limits: RetentionLimits, nowMs: number): Promise<PruneResult> {
    const total = { runs: 0, events: 0, outbox: 0, keys: 0, sessions: 0 };
    for (;;) {
      const { removed, more } = await this.#client.call('prune', { limits, nowMs });
      for (const table of Object.keys(total) as (keyof PruneResult)[]) total[table] += removed[table];
      if (!more) return total;
    }
  }

  recordDecision(decision: DecisionRecord): void {
    this.#journal.recordDecision(decision);
  }

  async listDecisions(query: ListQuery): Promise<readonly DecisionRecord[]> {
    this.#journal.write();
    const rows = await this.#client.call('listDecisions', query);
    return rows.map((text) => JSON.parse(text) as DecisionRecord);
  }

  async findDecision(requestId: string): Promise<DecisionRecord | undefined> {
    this.#journal.write();
    const text = await this.#client.call('findDecision', requestId);
    return text === undefined ? undefined : (JSON.parse(text) as DecisionRecord);
  }

  keepRequest(request: KeptRequest): void {
    this.#journal.keepRequest(request);
  }

  findKeptRequest(requestId: string): Promise<KeptRequest | undefined> {
    this.#journal.write();
    return this.#client.call('findKeptRequest', requestId);
  }

  onOutsideChange(listener: () => void): void {
    this.#client.onOutsideChange(listener);
  }

  onFailure(listener: (error: StorageError) => void): void {
    this.#client.onFailure(listener);
  }

  flush(): Promise<void> {
    this.#journal.write();
    return this.#client.call('flush', undefined);
  }

  async backup(file: string): Promise<void> {
    await inspect({ task: 'backup', file: this.#file, target: file });
  }

  verify(): Promise<readonly string[]> {
    return inspect({ task: 'verify', file: this.#file });
  }

  close(): Promise<void> {
    this.#journal.stop();
    return this.#client.close();
  }
}
