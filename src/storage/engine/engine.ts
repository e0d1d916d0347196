import { serializeError, type SerializedError } from './serialized-error.ts';
import { acceptTogether } from './accept-together.ts';
import { CounterRow } from './counters.ts';
import type { HealthMonitor } from './health-monitor.ts';
import { type AnyOperation, type Call, type OperationName, READS, WRITES } from './operations.ts';
import type { AcceptLimits, Statements } from './statements.ts';
import type { Store } from './store.ts';
import type { StorageError } from '../storage-error.ts';

/** Flat triples `id, failed (0 or 1), result or SerializedError`: one array for a whole batch. */
export type Replies = unknown[];

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
  'acceptSoleRun',
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
    this.#store = { sql, counters: this.#row.counters, limits: options.limits, holder: options.holder };
  }

  onHealthChange(listener: (trouble: StorageError | undefined) => void): void {
    this.#health?.onChange(listener);
  }

  run(batch: readonly Call[]): Replies {
    const toWrite = batch.filter(([, name]) => Object.hasOwn(this.#writes, name));
    const replies = toWrite.length === 0 ? [] : this.#writeWhereFound(toWrite);
    if (toWrite.length === batch.length) return replies;
    for (const call of batch) if (!Object.hasOwn(this.#writes, call[1])) replies.push(...this.#read(call));
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
    if (replaced === undefined) return this.#write(calls);
    const refusal = this.#serialize(replaced);
    const refused = calls.filter(([, name]) => BEGINNING.has(name));
    const rest = calls.filter(([, name]) => !BEGINNING.has(name));
    const replies = rest.length === 0 ? [] : this.#write(rest);
    for (const [id] of refused) replies.push(id, 1, refusal);
    return replies;
  }

  #write(calls: readonly Call[]): Replies {
    const replies: Replies = [];
    const stored = this.#writeAtOnce(calls);
    for (const id of stored) replies.push(id, 0, null);
    const rest = stored.size === 0 ? calls : calls.filter(([id]) => !stored.has(id));
    if (rest.length > 0) replies.push(...this.#writeInTransaction(rest));
    return replies;
  }

  /** The ids of the calls that one statement has done; what is wrong with it shows when they go the usual way. */
  #writeAtOnce(calls: readonly Call[]): ReadonlySet<number> {
    try {
      const stored = acceptTogether(this.#store, calls);
      if (stored.size > 0) this.#noteWell();
      return stored;
    } catch {
      return new Set();
    }
  }

  #noteWell(): void {
    if (this.#health?.trouble?.code !== 'replaced') this.#health?.note(undefined);
  }

  #writeInTransaction(calls: readonly Call[]): Replies {
    try {
      this.#begin();
      const replies = this.#writeTogether(calls) ?? calls.flatMap((call) => this.#writeAlone(call));
      this.#row.commit();
      this.#noteWell();
      return replies;
    } catch (error) {
      if (this.#sql.isTransaction) this.#sql.run('ROLLBACK');
      const trouble = this.#options.explain(error);
      this.#health?.note(trouble);
      const failure = this.#serialize(trouble);
      return calls.flatMap(([id]) => [id, 1, failure]);
    }
  }

  #begin(): void {
    this.#row.begin();
  }

  /**
   * Nearly always all of them succeed, and a savepoint for each would copy every page it changes. Undefined where one
   * failed; then the transaction begins again.
   */
  #writeTogether(calls: readonly Call[]): Replies | undefined {
    const replies: Replies = [];
    try {
      for (const [id, name, args] of calls) replies.push(id, 0, this.#writes[name]?.(this.#store, ...args));
      return replies;
    } catch (error) {
      // A full disk may have ended the transaction; then there is nothing to begin again.
      if (!this.#sql.isTransaction) throw error;
      this.#sql.run('ROLLBACK');
      this.#begin();
      return undefined;
    }
  }

  #writeAlone([id, name, args]: Call): Replies {
    const before = this.#row.copy();
    this.#sql.run('SAVEPOINT one');
    try {
      const result = this.#writes[name]?.(this.#store, ...args);
      this.#sql.run('RELEASE one');
      return [id, 0, result];
    } catch (error) {
      if (!this.#sql.isTransaction) throw error;
      this.#sql.run('ROLLBACK TO one');
      this.#sql.run('RELEASE one');
      this.#row.restore(before);
      return [id, 1, this.#serialize(error)];
    }
  }
}
