import { serializeError, type SerializedError } from './serialized-error.ts';
import { writeAtOnce } from './at-once.ts';
import { argumentsOf, ENDS, questionsAhead, requestsOf } from './batch-plan.ts';
import { CounterRow } from './counters.ts';
import type { HealthMonitor } from './health-monitor.ts';
import {
  type AnyOperation,
  type Call,
  type OperationName,
  READS,
  type Replies,
  WRITES,
} from './statement-table.ts';
import { lookUpReservations } from './reservations.ts';
import { type AcceptLimits, BrokenOff, PostFailed, type Question, type Statements } from './statements.ts';
import type { Store } from './store.ts';
import type { StorageError } from '../storage-error.ts';

export interface EngineOptions {
  readonly limits: AcceptLimits;
  /** The name under which this process claims work. */
  readonly holder: string;
  /** Says what to do about an error of the database. */
  explain(error: unknown): StorageError;
  /** Whether the store can be written just now, without waiting for others. */
  probe?(sql: Statements): void;
  /** Of a performer. */
  readonly health?: HealthMonitor;
}

/** What takes up work. It is refused where the file was moved away; what is under way still ends in that file. */
const BEGINNING: ReadonlySet<OperationName> = new Set<OperationName>([
  'acceptRequest',
  'claimRuns',
  'claimOutbox',
  'claimEvents',
]);

/**
 * Executes batches: everything that writes shares one transaction. Where one fails, all are done again, each in its own
 * savepoint, so that it fails alone; a failed commit fails them all. What reads comes after the commit, so it never
 * answers with something that might still be taken back.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #sql: Statements;
  readonly #row: CounterRow;
  readonly #store: Store;
  readonly #health: HealthMonitor | undefined;
  readonly #writes: Readonly<Record<string, AnyOperation>> = WRITES as object as Record<string, AnyOperation>;
  readonly #reads: Readonly<Record<string, AnyOperation>> = READS as object as Record<string, AnyOperation>;

  constructor(sql: Statements, options: EngineOptions) {
    this.#options = options;
    this.#health = options.health;
    this.#sql = sql;
    this.#row = new CounterRow(sql);
    const { limits, holder } = options;
    this.#store = {
      sql,
      counters: this.#row.counters,
      limits,
      holder,
      reserved: new Map(),
      known: new Map(),
      unanswered: new Set(),
      explain: (error) => this.#serialize(error),
    };
  }

  onHealthChange(listener: (trouble: StorageError | undefined) => void): void {
    this.#health?.onChange(listener);
  }

  run(batch: readonly Call[]): Replies {
    const toWrite = batch.filter(([, name]) => this.#writes[name] !== undefined);
    const replies = toWrite.length === 0 ? [] : this.#writeWhereFound(toWrite);
    if (toWrite.length === batch.length) return replies;
    for (const call of batch) if (this.#writes[call[1]] === undefined) replies.push(...this.#read(call));
    return replies;
  }

  #read([id, name, args]: Call): Replies {
    try {
      return [id, 0, this.#reads[name]?.(this.#store, ...args)];
    } catch (error) {
      return [id, 1, this.#serialize(error)];
    }
  }

  /** Sees whether a store that could not be written, or was not found any more, is well again. */
  checkHealth(): void {
    const { trouble } = this.#health ?? {};
    if (this.#health?.findReplaced() === undefined && trouble !== undefined)
      this.#health?.note(this.#probe());
  }

  #probe(): StorageError | undefined {
    try {
      this.#options.probe?.(this.#sql);
      return undefined;
    } catch (error) {
      return this.#options.explain(error);
    }
  }

  #serialize(error: unknown): SerializedError {
    return serializeError(error, this.#options.explain);
  }

  #writeWhereFound(calls: readonly Call[]): Replies {
    const replaced = this.#health?.findReplaced();
    if (replaced === undefined) return this.#writeAll(calls);
    const refusal = this.#serialize(replaced);
    // A store that has lost a part of itself takes nothing more.
    const isRefused = ([, name]: Call): boolean => replaced.code === 'corrupt' || BEGINNING.has(name);
    const refused = calls.filter(isRefused);
    const rest = calls.filter((call) => !isRefused(call));
    const replies = rest.length === 0 ? [] : this.#writeInTransaction(rest);
    for (const [id] of refused) replies.push(id, 1, refusal);
    return replies;
  }

  #writeAll(calls: readonly Call[]): Replies {
    const replies = writeAtOnce(this.#store, this.#row, calls);
    if (replies.length === 0) return this.#writeInTransaction(calls);
    const rest = without(calls, replies);
    if (rest.length === 0) this.#noteWell();
    else replies.push(...this.#writeInTransaction(rest));
    return replies;
  }

  /** A full disk has room for a small write now and then: only the probe, which asks for more, says that it is well. */
  #noteWell(): void {
    const code = this.#health?.trouble?.code;
    if (code !== 'replaced' && code !== 'disk_full') this.#health?.note(undefined);
  }

  #writeInTransaction(calls: readonly Call[], isAgain = false): Replies {
    try {
      const replies = this.#writeTogether(calls) ?? this.#writeEach(calls);
      this.#noteWell();
      return replies;
    } catch (error) {
      if (this.#sql.isTransaction) this.#sql.run('ROLLBACK');
      if (error instanceof BrokenOff && !isAgain) return this.#writeInTransaction(calls, true);
      const trouble = this.#options.explain(error);
      this.#health?.note(trouble);
      const failure = this.#serialize(trouble);
      return calls.flatMap(([id]) => [id, 1, failure]);
    }
  }

  #begin(ahead?: () => readonly Question[]): void {
    this.#store.reserved.clear();
    this.#row.begin(ahead);
  }

  /**
   * Nearly always all of them succeed, and a savepoint for each would copy every page it changes. Undefined where one
   * failed; then nothing is stored.
   */
  #writeTogether(calls: readonly Call[]): Replies | undefined {
    this.#begin(() => questionsAhead(this.#store, calls));
    try {
      lookUpReservations(this.#store, requestsOf(calls));
      const replies = this.#writeEnds(calls);
      const rest = replies.length === 0 ? calls : without(calls, replies);
      for (const [id, name, args] of rest) replies.push(id, 0, this.#writes[name]?.(this.#store, ...args));
      return this.#commit() ? replies : undefined;
    } catch (error) {
      // A full disk may have ended the transaction; then there is nothing to begin again.
      if (!this.#sql.isTransaction) throw error;
      this.#sql.run('ROLLBACK');
      return undefined;
    }
  }

  /** False where something that was posted failed; then nothing is stored. */
  #commit(): boolean {
    try {
      this.#row.commit();
      return true;
    } catch (error) {
      if (error instanceof PostFailed) return false;
      throw error;
    }
  }

  /** What ends goes together, before all else: what it makes room for may be used by the rest. */
  #writeEnds(calls: readonly Call[]): Replies {
    const replies: Replies = [];
    for (const { name, end } of ENDS) {
      const ends = calls.filter((call) => call[1] === name);
      if (ends.length === 0) continue;
      const results = end(this.#store, ends.map(argumentsOf));
      for (const [index, [id]] of ends.entries()) replies.push(id, 0, results[index]);
    }
    return replies;
  }

  #writeEach(calls: readonly Call[]): Replies {
    this.#begin();
    const replies = calls.flatMap((call) => this.#writeAlone(call));
    this.#row.commit();
    return replies;
  }

  #writeAlone([id, name, args]: Call): Replies {
    const before = this.#row.copy();
    this.#sql.post('SAVEPOINT one');
    try {
      const result = this.#writes[name]?.(this.#store, ...args);
      this.#sql.run('RELEASE one');
      return [id, 0, result];
    } catch (error) {
      if (!this.#sql.isTransaction) throw error;
      this.#sql.run('ROLLBACK TO one');
      this.#sql.post('RELEASE one');
      this.#row.restore(before);
      this.#store.reserved.clear();
      return [id, 1, this.#serialize(error)];
    }
  }
}

/** The calls that have no answer yet. */
function without(calls: readonly Call[], replies: Replies): readonly Call[] {
  const answered = new Set(replies.filter((_, index) => index % 3 === 0));
  return calls.filter(([id]) => !answered.has(id));
}
