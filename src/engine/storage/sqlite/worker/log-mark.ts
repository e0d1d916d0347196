import { fstatSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { GO_BACK } from '../sqlite-errors.ts';

/** The version of SQLite that can tell how far checkpoints are without making one. */
const COUNTS_SINCE = [3, 51] as const;

/** Pages in the log, and how many of them are copied into the store. */
export interface LogPages {
  readonly log: number;
  readonly checkpointed: number;
}

/** Undefined where the store cannot be asked: this SQLite would make a checkpoint, or the store is being replaced. */
export type CountPages = () => LogPages | undefined;

/**
 * Makes what counts the pages in the log; takes some microseconds. SQLite is asked: to read its files would break them,
 * as closing a file ends all locks that this process has on it (sqlite.org/howtocorrupt.html, "Posix advisory locks
 * canceled by a separate thread doing close()").
 */
export function createPageCounter(database: DatabaseSync): CountPages {
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < COUNTS_SINCE[0] || (major === COUNTS_SINCE[0] && minor < COUNTS_SINCE[1]))
    return () => undefined;
  const statement = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  return () => {
    try {
      return statement.get() as object as LogPages;
    } catch {
      return undefined;
    }
  };
}

/*
 * The newest work of a store is in its log alone (`-wal`). Whoever cuts the log short takes it away, and SQLite says
 * nothing: it reads a log up to the first frame that does not fit. So once a second the numbers of the last rows, and size
 * and salt of the log, are written to a file beside it. SQLite gives the log another salt when it begins it anew, which it
 * does only where all of it is in the store, and counts the first half of it up (sqlite.org/fileformat.html, "The
 * Write-Ahead Log").
 */

const SALT_AT = 16;
const SALT_BYTES = 8;
/** How often a log may have been begun anew between two looks. */
const MAX_BEGUN = 10_000;
/** The mark is one write, so that it is there wholly or not at all. */
const MARK_BYTES = 512;
const COUNTED = ['runs', 'outbox', 'events'] as const;

type Counts = Readonly<Record<(typeof COUNTED)[number], number>>;

interface LogHeader {
  /** Empty where the log has no header. */
  readonly salt: string;
  readonly bytes: number;
}

/**
 * What was seen at one time; `lost` was missing at a start, and until when it had been stored. `file` has size and time of
 * the store, and `spoilt` is when something else had written into it.
 */
interface Mark extends LogHeader {
  readonly at: number;
  readonly last: Counts;
  readonly file?: string | undefined;
  /** Frames of the log, as SQLite counts them. */
  readonly frames?: number | undefined;
  readonly lost?: (Counts & { readonly at: number }) | undefined;
  readonly spoilt?: number | undefined;
}

/** Keeps the mark of an open store, and sees whether its log was cut. */
export class LogMark {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #countPages: CountPages;
  /** Never closed before the store is: see decision 024. */
  readonly #log: number;
  readonly #mark: number;
  readonly #lost: Mark['lost'];
  readonly #spoiltBefore: number | undefined;
  #seen: LogHeader = { salt: '', bytes: 0 };
  #written: Omit<Mark, 'at'> | undefined;
  #isCut = false;

  constructor(database: DatabaseSync, file: string, countPages: CountPages) {
    this.#database = database;
    this.#file = file;
    this.#countPages = countPages;
    this.#lost = findLost(database, file);
    this.#spoiltBefore = readMark(file)?.spoilt;
    this.#log = openSync(`${file}-wal`, 'r');
    this.#mark = openSync(`${file}.mark`, 'w', 0o600);
    this.note();
  }

  /** What the start found. */
  get notices(): readonly string[] {
    return noticesOf({ lost: this.#lost, spoilt: this.#spoiltBefore });
  }

  /**
   * Whether the log lacks what was in it; it stays so until the store is opened again. To be asked before every commit,
   * which would make it as long as it was.
   */
  isCut(): boolean {
    return this.#isCut || (fstatSync(this.#log).size < this.#seen.bytes && this.#look());
  }

  /** Must be called after every commit. A log that was begun anew is marked at once: rows may have been pruned before that. */
  follow(): void {
    const { salt } = this.#seen;
    if (!this.#look() && salt !== this.#seen.salt) this.note();
  }

  /** Answers the same, and sees how far the log is. */
  #look(): boolean {
    const log = readLog(this.#log);
    if (log === undefined || this.#isCut) return this.#isCut;
    // SQLite knows of no frame where another program emptied the log by a checkpoint: all of it is in the store.
    const isEmptied = log.bytes === 0 && this.#countPages()?.log === 0;
    if (!isSuccessor(this.#seen.salt, log.salt) && !isEmptied)
      this.#isCut = log.salt !== this.#seen.salt || log.bytes < this.#seen.bytes;
    if (!this.#isCut) this.#seen = log;
    return this.#isCut;
  }

  /** Writes down how far the store is, where that has changed. */
  note(): void {
    if (this.#look()) return;
    const frames = this.#countPages()?.log;
    const found = { ...this.#seen, last: lastOf(this.#database), file: stampOf(this.#file), frames };
    if (JSON.stringify(found) !== JSON.stringify(this.#written)) this.#write(found);
  }

  /** Writes down that something else wrote into the store, so that the next start says so. */
  noteSpoilt(): void {
    if (this.#written !== undefined && this.#written.spoilt === undefined)
      this.#write({ ...this.#written, spoilt: Date.now() });
  }

  #write(found: Omit<Mark, 'at'>): void {
    this.#written = found;
    const before = { lost: this.#lost, spoilt: found.spoilt ?? this.#spoiltBefore };
    const text = JSON.stringify({ at: Date.now(), ...found, ...before }).padEnd(MARK_BYTES);
    try {
      writeSync(this.#mark, text, 0);
    } catch {
      // A disk that takes no mark is told by who stores something; the next look tries again.
      this.#written = undefined;
    }
  }
}

/** Whether SQLite has begun the log anew in between. */
function isSuccessor(salt: string, next: string): boolean {
  if (salt === '') return true;
  const begun = (Number.parseInt(next.slice(0, 8), 16) - Number.parseInt(salt.slice(0, 8), 16)) >>> 0;
  return next !== '' && begun > 0 && begun < MAX_BEGUN;
}

/** What a store had and has no more, and what was done to it, in words; empty where all is well. */
export function findCutOff(database: DatabaseSync, file: string): readonly string[] {
  return noticesOf({ lost: findLost(database, file), spoilt: readMark(file)?.spoilt });
}

function noticesOf({ lost, spoilt }: Pick<Mark, 'lost' | 'spoilt'>): readonly string[] {
  return [
    ...(lost === undefined ? [] : [wordsOf(lost)]),
    ...(spoilt === undefined
      ? []
      : [
          `something else wrote into the store or its log at ${new Date(spoilt).toISOString()} while a service was using it: ${GO_BACK}, or ${KEEP_IT}`,
        ]),
  ];
}

const KEEP_IT =
  'remove the file that ends in .mark while the service is stopped, so that it is not said any more';

function findLost(database: DatabaseSync, file: string): Mark['lost'] {
  const mark = readMark(file);
  if (mark === undefined || isWhole(mark, database, file)) return mark?.lost;
  const now = lastOf(database);
  const counts = COUNTED.map((table) => [table, Math.max(0, mark.last[table] - now[table])] as const);
  if (counts.every(([, count]) => count === 0)) return mark.lost;
  return { ...(Object.fromEntries(counts) as Counts), at: mark.at };
}

function wordsOf({ at, ...counts }: NonNullable<Mark['lost']>): string {
  const lost = COUNTED.filter((table) => counts[table] > 0).map((table) => `${counts[table]} ${table}`);
  return `${lost.join(', ')} that were stored before ${new Date(at).toISOString()} are missing: the log of the store was cut short or taken away, or an older copy stands in its place; bring back what was in it, or ${KEEP_IT}`;
}

/** Store and log have at least what they had, so nothing was taken away: rows may have been pruned since. */
function isWhole(mark: Mark, database: DatabaseSync, file: string): boolean {
  if (statSync(`${file}-wal`, { throwIfNoEntry: false }) === undefined) return false;
  // SQLite locks nothing in the log, so nothing is lost where this is closed with its thread.
  const log = readLog(openSync(`${file}-wal`, 'r'));
  if (log?.salt !== mark.salt || log.bytes < mark.bytes) return false;
  const count = createPageCounter(database)()?.log;
  if (count === undefined || mark.frames === undefined) return true;
  // What is behind a frame that does not fit was not found. Where nothing else was written, the store is as it was.
  const since = count - mark.frames;
  return since > STARTED_FRAMES || (since >= 0 && mark.file === stampOf(file));
}

/** What a start writes. */
const STARTED_FRAMES = 4;

/** Undefined where the file cannot be reached, which `StoreFiles` tells. */
function stampOf(file: string): string | undefined {
  try {
    const { size, mtimeNs } = statSync(file, { bigint: true });
    return `${size} ${mtimeNs}`;
  } catch {
    return undefined;
  }
}

/** Undefined where the log was begun anew meanwhile. */
function readLog(descriptor: number): LogHeader | undefined {
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
