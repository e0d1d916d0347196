import {
  KEPT_DECISIONS,
  KEPT_LIMITS,
  type DecisionRecord,
  type KeptLimits,
  type KeptRequest,
} from '../records.ts';
import { type DecisionRow, type KeptRow, MAX_DECISIONS_PER_WRITE, MAX_STRANGERS } from '../engine/journal.ts';
import type { RemoteOperations } from '../engine/operations.ts';

/** Decisions gather this long, then join the next commit: a burst of them costs no commit of its own. */
const GATHER_MS = 100;
/** Least time between two writes: under load most decisions would be written only to be forgotten at once. */
const PAUSE_MS = 500;
/** The same for requests of strangers, who choose how many there are. */
const STRANGERS_PAUSE_MS = 1_000;
/** A longer decision is kept without its lists. */
const MAX_DECISION_LENGTH = 32 * 1024;

export interface JournalBuffer {
  recordDecision(decision: DecisionRecord, keep?: number): void;
  /** A request that proved nothing: gathered in memory, written at most once a second. */
  recordStranger(decision: DecisionRecord): void;
  keepRequest(request: KeptRequest, limits?: KeptLimits): void;
  /** Hands over what has gathered. */
  write(): void;
  /** The last write. */
  stop(): void;
}

/** Gathers decisions and failed requests; what a ring would forget at once is never sent. */
export function openJournalBuffer(
  operations: Pick<RemoteOperations, 'recordDecisions' | 'recordStrangers' | 'keepRequests'>,
): JournalBuffer {
  let decisions: DecisionRecord[] = [];
  let kept: KeptRow[] = [];
  let keptBytes = 0;
  let keptLimits = KEPT_LIMITS;
  let keepDecisions = KEPT_DECISIONS;
  let timer: NodeJS.Timeout | undefined;
  let writtenAt = -Infinity;
  let strangers: DecisionRecord[] = [];
  let strangersTimer: NodeJS.Timeout | undefined;
  // Losing these is allowed; a store that fails says so to those who wait for it.
  const ignore = () => undefined;

  function writeStrangers(): void {
    clearTimeout(strangersTimer);
    strangersTimer = undefined;
    if (strangers.length > 0)
      operations.recordStrangers(strangers.slice(-MAX_STRANGERS).map(toDecisionRow)).catch(ignore);
    strangers = [];
  }

  function writeDecisions(most: number): void {
    const rows = decisions.splice(0, most).map(toDecisionRow);
    if (rows.length > 0) operations.recordDecisions(rows, keepDecisions).catch(ignore);
  }

  /** Hands over what has gathered: all of it, or, from the timer, what one write may hold. */
  function write(mostDecisions = Infinity): void {
    clearTimeout(timer);
    timer = undefined;
    writtenAt = performance.now();
    writeDecisions(mostDecisions);
    if (kept.length > 0) operations.keepRequests(kept, keptLimits).catch(ignore);
    kept = [];
    keptBytes = 0;
    if (decisions.length > 0) schedule();
  }

  function schedule(): void {
    timer ??= setTimeout(
      () => write(MAX_DECISIONS_PER_WRITE),
      Math.max(GATHER_MS, writtenAt + PAUSE_MS - performance.now()),
    );
  }

  function writeAll(): void {
    write();
    writeStrangers();
  }

  return {
    recordStranger(decision) {
      strangers.push(decision);
      if (strangers.length >= 2 * MAX_STRANGERS) strangers = strangers.slice(-MAX_STRANGERS);
      strangersTimer ??= setTimeout(writeStrangers, STRANGERS_PAUSE_MS);
    },
    recordDecision(decision, keep = KEPT_DECISIONS) {
      keepDecisions = keep;
      decisions.push(decision);
      if (decisions.length >= keep + MAX_DECISIONS_PER_WRITE) decisions = decisions.slice(-keep);
      schedule();
    },
    keepRequest({ requestId, receivedAt, json }, limits = KEPT_LIMITS) {
      const bytes = Buffer.byteLength(json);
      if (bytes > limits.bytes) return;
      keptLimits = limits;
      kept.push({ requestId, receivedAt, bytes, json });
      keptBytes += bytes;
      while (kept.length > limits.count || keptBytes > limits.bytes) {
        keptBytes -= kept.shift()?.bytes ?? 0;
      }
      schedule();
    },
    write: writeAll,
    stop: writeAll,
  };
}

function toDecisionRow(decision: DecisionRecord): DecisionRow {
  const { requestId, outcome } = decision;
  const json = JSON.stringify(decision);
  return {
    requestId,
    outcome,
    mappingId: decision.mappingId ?? null,
    json: json.length <= MAX_DECISION_LENGTH ? json : JSON.stringify(withoutLists(decision)),
  };
}

function withoutLists(decision: DecisionRecord): DecisionRecord {
  const { missed: _missed, empty: _empty, transformNotes: _transformNotes, ...rest } = decision;
  return { ...rest, actionIds: decision.actionIds.slice(0, 200) };
}
