import { findBroken } from '../statements/invariants.ts';
import type { SqlValue, Statements } from '../statements/statements.ts';
import { StorageError } from '../storage-error.ts';

/**
 * Every table with what makes a row of it unique, in the order they are copied: the copy goes on behind the last row
 * that it wrote. What says who uses a store is not copied.
 */
export const COPIED_TABLES: Readonly<Record<string, readonly string[]>> = {
  counters: ['one'],
  store_identity: ['one'],
  last_target: ['one'],
  runs: ['seq'],
  run_actions: ['seq'],
  run_events: ['run_seq', 'position'],
  outbox: ['seq'],
  events: ['seq'],
  idempotency: ['scope', 'key'],
  sessions: ['owner', 'key'],
  session_turns: ['seq'],
  conversation_keys: ['owner', 'key'],
  waiting_events: ['seq'],
  waited_keys: ['owner', 'key', 'run_id'],
  decisions: ['seq'],
  kept_requests: ['seq'],
  generations: ['id'],
  generation_files: ['hash'],
  runner_holds: ['runner', 'model'],
  workers: ['runner', 'name'],
  run_starts: ['run_seq', 'started_at'],
  queue_pauses: ['mapping_id'],
  limited_mappings: ['mapping_id'],
  costs: ['day', 'mapping_id', 'runner'],
  recent_costs: ['minute', 'mapping_id'],
  audit: ['seq'],
  recoveries: ['path'],
  mailboxes: ['mailbox'],
  mail_passed: ['mailbox', 'identity'],
  mail_set_aside: ['seq'],
};

export type CopiedRow = Readonly<Record<string, SqlValue>>;

/** How far a copy has come. */
export interface CopyPosition {
  /** The source as it was when the copy began; another one is copied from the beginning. */
  readonly source: string;
  readonly table: string;
  /** The key of the last row that was written; absent before the first. */
  readonly after?: readonly SqlValue[];
}

/** Nobody holds what was under way: whoever starts on the copy takes it over, as after a crash. */
function withoutHolder({ claim: _claim, ...row }: CopiedRow): CopiedRow {
  return 'holder' in row ? { ...row, holder: null } : row;
}

export interface SideParts {
  readonly place: string;
  readonly sql: Statements;
  /** What else is emptied before a copy. */
  readonly others?: readonly string[];
  /** Makes the numbers of a table go on behind those that were copied; for a database that counts them elsewhere. */
  readonly goOn?: (table: string) => string;
  explain(error: unknown): StorageError;
  close(): void;
}

/** One of the two stores, locked for as long as it is open. Every method throws a StorageError where the store fails. */
export class CopySide {
  readonly place: string;
  readonly #parts: SideParts;

  constructor(parts: SideParts) {
    this.place = parts.place;
    this.#parts = parts;
  }

  /** Rows of a table behind one, in the order of their keys. */
  read(table: string, after: readonly SqlValue[] | undefined, limit: number): readonly CopiedRow[] {
    const keys = (COPIED_TABLES[table] ?? []).join(', ');
    const behind = after === undefined ? '' : `WHERE (${keys}) > (${after.map(() => '?').join(', ')})`;
    return this.#explained((sql) => {
      // What is counted in several places comes as one.
      const from = table === 'counters' ? sql.totals : table;
      const text = `SELECT * FROM ${from} ${behind} ORDER BY ${keys} LIMIT ?`;
      return sql.all<CopiedRow>(text, ...(after ?? []), limit);
    });
  }

  count(table: string): number {
    const text = `SELECT count(*) AS count FROM ${table}`;
    return this.#explained((sql) => sql.find<{ count: number }>(text)?.count ?? 0);
  }

  /** The copy into this store that has not ended. */
  findCopy(): { readonly source: string; readonly position: CopyPosition } | undefined {
    const text = 'SELECT source, position FROM store_copy';
    const row = this.#explained((sql) => sql.find<{ source: string; position: string }>(text));
    return row && { source: row.source, position: JSON.parse(row.position) as CopyPosition };
  }

  /** Empties the store and begins a copy. */
  begin(source: string, position: CopyPosition): void {
    const insert = 'INSERT INTO store_copy (one, source, position) VALUES (1, ?, ?)';
    const emptied = [...Object.keys(COPIED_TABLES), ...(this.#parts.others ?? []), 'store_copy'];
    this.#inTransaction((sql) => {
      for (const table of emptied) sql.post(`DELETE FROM ${table}`);
      sql.post(insert, source, JSON.stringify(position));
    });
  }

  /** Writes rows, of the same columns, and how far the copy has come, in one transaction. */
  write(table: string, rows: readonly CopiedRow[], position: CopyPosition): void {
    const columns = Object.keys(rows[0] ?? {});
    const insert = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
    this.#inTransaction((sql) => {
      sql.postRows(
        insert,
        rows.map((row) => columns.map((column) => row[column] ?? null)),
      );
      sql.post('UPDATE store_copy SET position = ?', JSON.stringify(position));
    });
  }

  /** What does not fit together; empty where all is well. */
  verify(): readonly string[] {
    return this.#explained(findBroken);
  }

  /** Takes the mark away: a service may start on the store. */
  finish(): void {
    const { goOn } = this.#parts;
    this.#inTransaction((sql) => {
      for (const [table, [key]] of Object.entries(COPIED_TABLES))
        if (goOn !== undefined && key === 'seq' && table !== 'run_actions') sql.all(goOn(table));
      // Numbers of rows begin anew.
      sql.post('UPDATE store_identity SET epoch = epoch + 1');
      sql.post('DELETE FROM store_copy');
    });
  }

  [Symbol.dispose](): void {
    this.#parts.close();
  }

  #explained<Result>(act: (sql: Statements) => Result): Result {
    try {
      return act(this.#parts.sql);
    } catch (error) {
      throw this.#parts.explain(error);
    }
  }

  #inTransaction(change: (sql: Statements) => void): void {
    this.#explained((sql) => {
      sql.begin('SELECT one FROM counters');
      try {
        change(sql);
        sql.commit([]);
      } catch (error) {
        if (sql.isTransaction) sql.run('ROLLBACK');
        throw error;
      }
    });
  }
}

/*
 * Copies a store into another one, table by table, while nobody uses either. Each step writes some rows and how far it
 * came in one transaction, so a copy that was interrupted goes on where it stopped. Until it has ended and was
 * verified, the target carries a mark, and no service starts on it.
 */

const STEP_ROWS = 500;

export interface CopyReport {
  readonly from: string;
  readonly to: string;
  readonly rows: Readonly<Record<string, number>>;
  /** Whether it went on with a copy that was interrupted. */
  readonly wasResumed: boolean;
}

export interface CopyOptions {
  /** Hears how many rows of a table have been copied. */
  onProgress?(table: string, rows: number): void;
}

/** @throws StorageError that says what is wrong; the source is never changed */
export function copyBetween(from: CopySide, to: CopySide, options: CopyOptions): CopyReport {
  const source = fingerprint(from);
  const begun = to.findCopy();
  if (begun !== undefined && begun.source !== from.place) {
    throw new StorageError(
      'unfinished_copy',
      `${to.place}: a copy of ${begun.source} into it has not ended; end that one, or give an empty store`,
    );
  }
  const isSame = begun?.position.source === source;
  if (begun === undefined) refuseUsed(to);
  const position = isSame ? begun.position : { source, table: Object.keys(COPIED_TABLES)[0] ?? '' };
  if (!isSame) to.begin(from.place, position);
  copyRows(from, to, { position, options });
  const rows = compare(from, to);
  to.finish();
  return { from: from.place, to: to.place, rows, wasResumed: isSame };
}

function copyRows(
  from: CopySide,
  to: CopySide,
  { position: begin, options }: { readonly position: CopyPosition; readonly options: CopyOptions },
): void {
  const tables = Object.keys(COPIED_TABLES);
  for (const table of tables.slice(tables.indexOf(begin.table))) {
    let copied = 0;
    let position = table === begin.table ? begin : { source: begin.source, table };
    for (let step = copyStep(from, to, position); step !== undefined; step = copyStep(from, to, position)) {
      copied += step.rows;
      options.onProgress?.(table, copied);
      ({ position } = step);
    }
  }
}

/** Copies the rows behind a position; undefined where there are none. */
function copyStep(
  from: CopySide,
  to: CopySide,
  { source, table, after }: CopyPosition,
): { readonly position: CopyPosition; readonly rows: number } | undefined {
  const rows = from.read(table, after, STEP_ROWS);
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const keys = (COPIED_TABLES[table] ?? []).map((column) => last[column] ?? null);
  const position = { source, table, after: keys };
  to.write(table, rows.map(withoutHolder), position);
  return { position, rows: rows.length };
}

/** What changes with every start of a service, and with nearly everything else. */
function fingerprint(side: CopySide): string {
  const counters = side.read('counters', undefined, 1);
  const ends = ['runs', 'outbox', 'events', 'session_turns'].map((table) => side.count(table));
  return JSON.stringify([counters[0], ends]);
}

function refuseUsed(to: CopySide): void {
  for (const table of Object.keys(COPIED_TABLES)) {
    if (table === 'counters' || table === 'store_identity' || to.count(table) === 0) continue;
    throw new StorageError(
      'exists',
      `${to.place}: it holds work already (table ${table}); give an empty store, nothing was copied`,
    );
  }
}

function compare(from: CopySide, to: CopySide): Readonly<Record<string, number>> {
  const counted: Record<string, number> = {};
  const findings = [...to.verify()];
  for (const table of Object.keys(COPIED_TABLES)) {
    const [wanted, found] = [from.count(table), to.count(table)];
    counted[table] = found;
    if (wanted !== found) findings.push(`${table}: ${wanted} rows in the source, ${found} in the copy`);
  }
  if (findings.length === 0) return counted;
  throw new StorageError(
    'corrupt',
    `${to.place}: the copy is not what was copied (${findings.slice(0, 3).join('; ')}); verify the source with "sluice storage verify", then empty the target and copy again`,
  );
}
