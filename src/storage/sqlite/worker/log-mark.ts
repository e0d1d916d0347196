import { fstatSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/*
 * The newest work of a store is in its log alone (`-wal`). Whoever cuts the log short takes it away, and SQLite says
 * nothing: it reads a log up to the first frame that does not fit. So once a second the numbers of the last rows, and
 * size and salt of the log, are written to a file beside it. SQLite gives the log another salt when it begins it anew,
 * which it does only where all of it is in the store (sqlite.org/fileformat.html, "The Write-Ahead Log").
 */

const SALT_AT = 16;
const SALT_BYTES = 8;
/** Of one write, so that it is there wholly or not at all. */
const MARK_BYTES = 512;
const COUNTED = ['runs', 'outbox', 'events'] as const;

type Counts = Readonly<Record<(typeof COUNTED)[number], number>>;

interface Log {
  /** Empty where the log has no header. */
  readonly salt: string;
  readonly bytes: number;
}

/** What was seen at one time; `lost` was missing at a start, and until when it had been stored. */
interface Mark extends Log {
  readonly at: number;
  readonly last: Counts;
  readonly lost?: Counts & { readonly at: number };
}

/** Keeps the mark of an open store, and sees whether its log was cut. */
export class LogMark {
  readonly #database: DatabaseSync;
  /** Never closed before the store is: see decision 024. */
  readonly #log: number;
  readonly #mark: number;
  readonly #lost: Mark['lost'];
  #seen: Log = { salt: '', bytes: 0 };
  #written = '';
  #isCut = false;

  constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#lost = findLost(database, file);
    this.#log = openSync(`${file}-wal`, 'r');
    this.#mark = openSync(`${file}.mark`, 'w', 0o600);
    this.note();
  }

  /** What the start found missing. */
  get notice(): string | undefined {
    return this.#lost && wordsOf(this.#lost);
  }

  /**
   * Whether the log lacks what was in it; it stays so until the store is opened again. To be asked before every commit,
   * which would make it as long as it was. A sender waits for it: a log that is as long as it was is not read.
   */
  isCut(): boolean {
    return this.#isCut || (fstatSync(this.#log).size < this.#seen.bytes && this.#look());
  }

  /** To be told of every commit. A log that was begun anew is marked at once: rows may have been pruned before that. */
  follow(): void {
    const { salt } = this.#seen;
    if (!this.#look() && salt !== this.#seen.salt) this.note();
  }

  /** Answers the same, and sees how far the log is. */
  #look(): boolean {
    const log = readLog(this.#log);
    if (log === undefined || this.#isCut) return this.#isCut;
    this.#isCut = (log.salt === '' || log.salt === this.#seen.salt) && log.bytes < this.#seen.bytes;
    if (!this.#isCut) this.#seen = log;
    return this.#isCut;
  }

  /** Writes down how far the store is, where that has changed. */
  note(): void {
    if (this.#look()) return;
    const lost = this.#lost && { lost: this.#lost };
    const found = JSON.stringify({ ...this.#seen, last: lastOf(this.#database), ...lost });
    if (found === this.#written) return;
    this.#written = found;
    writeSync(this.#mark, `{"at":${Date.now()},${found.slice(1)}`.padEnd(MARK_BYTES), 0);
  }
}

/** Rows that a store had and has no more, in words; empty where none are missing. */
export function findCutOff(database: DatabaseSync, file: string): readonly string[] {
  const lost = findLost(database, file);
  return lost === undefined ? [] : [wordsOf(lost)];
}

function findLost(database: DatabaseSync, file: string): Mark['lost'] {
  const mark = readMark(file);
  if (mark === undefined || isWhole(mark, file)) return mark?.lost;
  const now = lastOf(database);
  const counts = COUNTED.map((table) => [table, Math.max(0, mark.last[table] - now[table])] as const);
  if (counts.every(([, count]) => count === 0)) return mark.lost;
  return { ...(Object.fromEntries(counts) as Counts), at: mark.at };
}

function wordsOf({ at, ...counts }: NonNullable<Mark['lost']>): string {
  const lost = COUNTED.filter((table) => counts[table] > 0).map((table) => `${counts[table]} ${table}`);
  return `${lost.join(', ')} that were stored before ${new Date(at).toISOString()} are missing: the log of the store was cut short or taken away, or an older copy stands in its place; bring back what was in it, or remove the file that ends in .mark while the service is stopped, so that they are missed no more`;
}

/** The log has at least what it had, so nothing was taken away: rows may have been pruned since. */
function isWhole(mark: Mark, file: string): boolean {
  if (statSync(`${file}-wal`, { throwIfNoEntry: false }) === undefined) return false;
  // SQLite locks nothing in the log, so nothing is lost where this is closed with its thread.
  const log = readLog(openSync(`${file}-wal`, 'r'));
  return log?.salt === mark.salt && log.bytes >= mark.bytes;
}

/** Undefined where the log was begun anew meanwhile. */
function readLog(descriptor: number): Log | undefined {
  const salt = readSalt(descriptor);
  const bytes = fstatSync(descriptor).size;
  return readSalt(descriptor) === salt ? { salt, bytes } : undefined;
}

function readSalt(descriptor: number): string {
  const salt = Buffer.allocUnsafe(SALT_BYTES);
  const isWhole = readSync(descriptor, salt, 0, SALT_BYTES, SALT_AT) === SALT_BYTES;
  return isWhole && salt.some((byte) => byte !== 0) ? salt.toString('hex') : '';
}

function readMark(file: string): Mark | undefined {
  try {
    return JSON.parse(readFileSync(`${file}.mark`, 'utf8')) as Mark;
  } catch {
    // From before there were marks, or taken away.
    return undefined;
  }
}

function lastOf(database: DatabaseSync): Counts {
  const columns = COUNTED.map((table) => `(SELECT coalesce(max(seq), 0) FROM ${table}) AS ${table}`);
  return database.prepare(`SELECT ${columns.join(', ')}`).get() as unknown as Counts;
}
