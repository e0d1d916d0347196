import type { DatabaseSync } from 'node:sqlite';
import {
  DROPPED,
  type AttemptFailure,
  type ClaimRunsOptions,
  type DropEnding,
  type ProcessMark,
  type RunBurial,
  type RunCompletion,
  type RunRecord,
  type SummaryEvent,
} from '../../records.ts';
import type { Counters } from './sqlite-counters.ts';
import type { EventTable } from './sqlite-events.ts';
import { hasOwnKey, openLine, type RunHead } from './sqlite-line.ts';
import type { OutboxTable } from './sqlite-outbox.ts';
import { RUN_COLUMNS, type RunRow } from './sqlite-rows.ts';
import { RUN } from './sqlite-schema.ts';
import type { SessionTable } from './sqlite-sessions.ts';

/** Waiting runs made due by one claim; the rest follow with the next. */
const PROMOTED_PER_CLAIM = 1000;

/** A run as `accept` hands it to the engine; its prompt stays text. */
export interface NewRun {
  readonly id: string;
  readonly sessionKey: string;
  readonly mappingId: string;
  readonly runner: string;
  readonly action: string;
  readonly bytes: number;
  readonly acceptedAt: number;
}

export interface RunTable {
  insert(run: NewRun): void;
  insertHeartbeat(run: RunRecord): boolean;
  claim(options: ClaimRunsOptions): RunRow[];
  recordProcess(runId: string, mark: ProcessMark): void;
  complete(completion: RunCompletion): boolean;
  requeue(runId: string, failure: AttemptFailure): boolean;
  bury(runId: string, burial: RunBurial): boolean;
  retry(runId: string, nowMs: number): boolean;
  drop(runId: string, ending: DropEnding, nowMs: number): boolean;
}

export interface RunTableParts {
  readonly counters: Counters;
  readonly events: EventTable;
  readonly outbox: OutboxTable;
  readonly sessions: SessionTable;
}

/** The queue of runs; `sqlite-schema.ts` explains its states. Every method is called inside a transaction. */
export function openRuns(database: DatabaseSync, parts: RunTableParts): RunTable {
  const { counters, events, outbox, sessions } = parts;
  const line = openLine(database, counters);
  const sql = {
    insert: database.prepare(
      `INSERT INTO runs (id, kind, state, session_key, line, mapping_id, runner, bytes, accepted_at, due_at)
       VALUES (?, 'hook', ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertAction: database.prepare('INSERT INTO run_actions (seq, action) VALUES (?, ?)'),
    insertHeartbeat: database.prepare(
      `INSERT INTO runs (id, kind, state, session_key, mapping_id, runner, bytes, attempts, accepted_at, due_at,
         started_at, ended_at, outcome, reply, error_code, error_message, usage)
       VALUES (?, 'heartbeat', 4, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    ),
    head: database.prepare(
      `SELECT seq, state, session_key AS sessionKey, line, mapping_id AS mappingId, bytes FROM runs WHERE id = ?`,
    ),
    activate: database.prepare(
      `UPDATE runs SET state = 3, attempts = attempts + 1, started_at = ?, pgid = NULL, start_ticks = NULL
       WHERE seq = ?`,
    ),
    record: database.prepare(`SELECT ${RUN_COLUMNS} WHERE runs.seq = ?`),
    process: database.prepare(`UPDATE runs SET pgid = ?, start_ticks = ? WHERE id = ? AND state = 3`),
    end: database.prepare(
      `UPDATE runs SET state = ?, outcome = ?, reply = ?, error_code = ?, error_message = ?, usage = ?, ended_at = ?,
         pgid = NULL, start_ticks = NULL WHERE seq = ?`,
    ),
    wait: database.prepare(
      `UPDATE runs SET state = 2, due_at = ?, error_code = ?, error_message = ?, pgid = NULL, start_ticks = NULL
       WHERE seq = ?`,
    ),
    hurry: database.prepare('UPDATE runs SET due_at = ? WHERE seq = ?'),
    revive: database.prepare(
      'UPDATE runs SET state = 2, due_at = ?, attempts = 0, outcome = NULL, ended_at = NULL WHERE seq = ?',
    ),
  };

  const head = (runId: string): RunHead | undefined => sql.head.get(runId) as RunHead | undefined;

  /** The one place where a run ends: its key goes on, its summary is posted, both with the end itself. */
  function end(
    run: RunHead,
    to: { readonly state: number; readonly outcome: string | null; readonly reply?: string },
    rest: Pick<RunCompletion, 'error' | 'usage'> & { readonly summary: SummaryEvent; readonly nowMs: number },
    runId: string,
  ): void {
    const { error, usage } = rest;
    sql.end.run(
      to.state,
      to.outcome,
      to.reply ?? null,
      error?.code ?? null,
      error?.message ?? null,
      usage === undefined ? null : JSON.stringify(usage),
      Math.round(rest.nowMs),
      run.seq,
    );
    line.count(run, to.state);
    line.advance(run.line);
    events.insertSummary(rest.summary, runId, rest.nowMs);
  }

  return {
    insert(run) {
      const own = hasOwnKey(run.id, run.sessionKey) ? null : run.sessionKey;
      const state = line.join(own);
      const { id, sessionKey, mappingId, runner, bytes, acceptedAt } = run;
      const { lastInsertRowid } = sql.insert.run(
        id,
        state,
        sessionKey,
        own,
        mappingId,
        runner,
        bytes,
        acceptedAt,
        acceptedAt,
      );
      sql.insertAction.run(lastInsertRowid, run.action);
      counters.queuedRuns += 1;
      counters.runBytes += bytes;
    },

    insertHeartbeat(run) {
      const { changes, lastInsertRowid } = sql.insertHeartbeat.run(
        run.id,
        run.action.sessionKey,
        run.action.origin.mappingId ?? '',
        run.action.runner ?? '',
        run.attempts,
        Math.round(run.acceptedAt),
        Math.round(run.dueAt),
        run.startedAt === undefined ? null : Math.round(run.startedAt),
        Math.round(run.endedAt ?? run.acceptedAt),
        run.outcome ?? 'ok',
        run.reply ?? null,
        run.lastError?.code ?? null,
        run.lastError?.message ?? null,
        run.usage === undefined ? null : JSON.stringify(run.usage),
      );
      if (changes === 0) return false;
      sql.insertAction.run(lastInsertRowid, JSON.stringify(run.action));
      counters.endedRuns += 1;
      return true;
    },

    claim(options) {
      line.promote(options.nowMs, PROMOTED_PER_CLAIM);
      return line.pick(options).map((seq) => {
        sql.activate.run(Math.round(options.nowMs), seq);
        counters.queuedRuns -= 1;
        counters.activeRuns += 1;
        return sql.record.get(seq) as unknown as RunRow;
      });
    },

    recordProcess(runId, mark) {
      sql.process.run(mark.pgid, mark.startTicks, runId);
    },

    complete(completion) {
      const { runId, outcome, reply, history, delivery, callback, nowMs } = completion;
      const run = head(runId);
      if (run?.state !== RUN.active) return false;
      end(run, { state: RUN.completed, outcome, reply }, completion, runId);
      if (history !== undefined) sessions.append(history, nowMs);
      const parent = { runId, mappingId: run.mappingId, sessionKey: run.sessionKey };
      if (delivery !== undefined) outbox.insert({ kind: 'delivery', body: delivery, parent, nowMs });
      if (callback !== undefined) outbox.insert({ kind: 'callback', body: callback, parent, nowMs });
      return true;
    },

    requeue(runId, failure) {
      const run = head(runId);
      if (run?.state !== RUN.active) return false;
      sql.wait.run(Math.round(failure.retryAt), failure.code, failure.message, run.seq);
      line.count(run, RUN.waiting);
      line.advance(run.line);
      if (failure.retryAt <= failure.nowMs) line.makeDue(run.seq, run.line);
      return true;
    },

    bury(runId, burial) {
      const run = head(runId);
      if (run === undefined || run.state > RUN.active) return false;
      end(run, { state: RUN.dead, outcome: null }, burial, runId);
      const parent = { runId, mappingId: run.mappingId, sessionKey: run.sessionKey };
      if (burial.callback !== undefined) {
        outbox.insert({ kind: 'callback', body: burial.callback, parent, nowMs: burial.nowMs });
      }
      return true;
    },

    retry(runId, nowMs) {
      const run = head(runId);
      if (run?.state === RUN.waiting) {
        sql.hurry.run(Math.round(nowMs), run.seq);
      } else if (run?.state === RUN.dead) {
        sql.revive.run(Math.round(nowMs), run.seq);
        line.count(run, RUN.waiting);
        // Its next end posts a summary of its own, so one that nobody has read yet would be a second.
        events.withdrawSummary(runId);
      } else {
        return false;
      }
      line.makeDue(run.seq, run.line);
      return true;
    },

    drop(runId, ending, nowMs) {
      const run = head(runId);
      if (run === undefined || run.state === RUN.active || run.state === RUN.completed) return false;
      if (run.state === RUN.dead) events.withdrawSummary(runId);
      end(
        run,
        { state: RUN.completed, outcome: 'error' },
        { error: DROPPED, summary: ending.summary, nowMs },
        runId,
      );
      const parent = { runId, mappingId: run.mappingId, sessionKey: run.sessionKey };
      if (ending.callback !== undefined) {
        outbox.insert({ kind: 'callback', body: ending.callback, parent, nowMs });
      }
      return true;
    },
  };
}
