import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Client } from 'pg';

/*
 * A store has an id and a position that only grows, so a service tells an empty, another or an older database from the
 * one that it worked with, at its start and at each new connection: work that was answered stands in that one alone. What
 * is known last stands in a file of the service and, for the threads that connect, in memory that they share. The
 * position is the sum of the numbers of rows, which each accept moves anyway. A copy of a store is the same store in a
 * later epoch, as its numbers begin anew.
 */

interface StoreIdentity {
  readonly id: string;
  readonly epoch: number;
  readonly position: number;
}

/** Where a service keeps what it knows of its store, and the command by which an operator accepts another one. */
export interface KnownStoreOptions {
  readonly file: string;
  readonly acceptCommand: string;
}

/** What connections compare with; threads share it. */
export interface ExpectedStore {
  readonly acceptCommand: string;
  readonly id: string;
  readonly epoch: number;
  /** Numbers of eight bytes, by `CELLS`. */
  readonly cells: SharedArrayBuffer;
}

/** `isRefused` is 1 where the store that was found is refused. */
const CELLS = { position: 0, isRefused: 1 } as const;

const POSITION = ['runs', 'outbox', 'events']
  .map((table) => `(SELECT last_value FROM ${table}_seq_seq)`)
  .join(' + ');
/** What a statement can answer besides. */
export const IDENTITY_COLUMNS = `(SELECT id FROM store_identity) AS store, (SELECT epoch FROM store_identity) AS epoch,
  ${POSITION} AS position`;
const IS_THERE = `SELECT to_regclass(quote_ident(current_schema()) || '.store_identity')::text AS found`;

/** The code of every error that says so, also between threads. */
export const OTHER_STORE = 'SLUICE_STORE';

/** Undefined where there is no store, or one of before stores had an identity. */
async function readIdentity(client: Client): Promise<StoreIdentity | undefined> {
  const { rows } = await client.query<{ found: string | null }>(IS_THERE);
  if (typeof rows[0]?.found !== 'string') return undefined;
  const found = await client.query<StoreIdentity & { store: string }>(`SELECT ${IDENTITY_COLUMNS}`);
  const { store: id, epoch, position } = found.rows[0]!;
  return { id, epoch, position };
}

/** @throws an error where a new connection leads elsewhere */
export async function checkStore(client: Client, expected: ExpectedStore | undefined): Promise<void> {
  if (expected === undefined) return;
  const position = new Float64Array(expected.cells)[CELLS.position] ?? 0;
  refuseOther(expected, { ...expected, position }, await readIdentity(client));
}

/** @throws an error where another store was found over a connection that goes on, as through a pooler */
export function checkNotRefused(expected: ExpectedStore | undefined): void {
  if (expected === undefined || new Float64Array(expected.cells)[CELLS.isRefused] !== 1) return;
  throw refusal(expected, 'another or an older store was found than this service worked with');
}

function refuseOther(
  service: Pick<ExpectedStore, 'acceptCommand'>,
  known: StoreIdentity,
  found: StoreIdentity | undefined,
): void {
  const what = differenceOf(known, found);
  if (what !== undefined) throw refusal(service, what);
}

function differenceOf(known: StoreIdentity, found: StoreIdentity | undefined): string | undefined {
  if (found === undefined)
    return 'the database holds no store, or one of an older version, and this service worked with one';
  if (found.id !== known.id)
    return `the database holds the store ${found.id}, and this service worked with ${known.id}`;
  const isSameEpoch = found.epoch === known.epoch;
  if (found.epoch > known.epoch || (isSameEpoch && found.position >= known.position)) return undefined;
  const missing = `: ${known.position - found.position} numbers of runs, deliveries and events are missing`;
  return `the database holds an older state of the store than this service worked with${isSameEpoch ? missing : ''}`;
}

function refusal({ acceptCommand }: Pick<ExpectedStore, 'acceptCommand'>, what: string): Error {
  const message = `${what}; bring the right database back, or check storage.url; to accept what is there now, run "${acceptCommand}", then start the service again`;
  return Object.assign(new Error(message), { code: OTHER_STORE });
}

export class KnownStore {
  readonly #options: KnownStoreOptions | undefined;
  readonly #cells = new SharedArrayBuffer(16);
  readonly #numbers = new Float64Array(this.#cells);
  readonly #onNote: (message: string) => void;
  #known: StoreIdentity | undefined;
  #hasNoted = false;
  /** The file cannot be written, which was said. */
  #isSilent = false;

  constructor(options: KnownStoreOptions | undefined, onNote: (message: string) => void) {
    this.#options = options;
    this.#onNote = onNote;
    this.#known = options && readKnown(options.file);
  }

  /** @throws an error where the database is not that of the file; to be asked before anything is made in it */
  async checkBefore(client: Client): Promise<void> {
    if (this.#known !== undefined) refuseOther(this.#service, this.#known, await readIdentity(client));
  }

  /** Takes the store that was opened as the one that is meant. */
  async adopt(client: Client): Promise<ExpectedStore> {
    const found = await readIdentity(client);
    if (found === undefined) throw new Error('the store has no identity');
    this.note(found);
    return { ...this.#service, id: found.id, epoch: found.epoch, cells: this.#cells };
  }

  /** Takes down how far the store is; what was committed before the answer is on the disk of the database. @throws an error where it is another one */
  note(found: StoreIdentity): void {
    const what = this.#known && differenceOf(this.#known, found);
    this.#numbers[CELLS.isRefused] = what === undefined ? 0 : 1;
    if (what !== undefined) throw refusal(this.#service, what);
    const { id, epoch, position } = this.#known ?? {};
    const isKnown = id === found.id && epoch === found.epoch && position === found.position;
    if (isKnown && this.#hasNoted) return;
    this.#known = found;
    this.#numbers[CELLS.position] = found.position;
    this.#hasNoted = true;
    this.#write(found);
  }

  get #service(): Pick<ExpectedStore, 'acceptCommand'> {
    return { acceptCommand: this.#options?.acceptCommand ?? 'sluice storage migrate --accept' };
  }

  #write(found: StoreIdentity): void {
    if (this.#options === undefined || this.#isSilent) return;
    try {
      writeKnown(this.#options.file, found);
    } catch (error) {
      const { code = 'failed' } = error as NodeJS.ErrnoException;
      this.#onNote(
        `${this.#options.file}: cannot be written (${code}), so another or an older database is noticed while this service runs, and not at its next start; give it a folder that stays, with XDG_STATE_HOME`,
      );
      this.#isSilent = true;
    }
  }
}

/** Whole or not at all; several services of one configuration may write it. */
function writeKnown(file: string, found: StoreIdentity): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const written = `${file}.${randomUUID()}`;
  try {
    writeFileSync(written, `${JSON.stringify(found)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(written, file);
  } catch (error) {
    rmSync(written, { force: true });
    throw error;
  }
}

function readKnown(file: string): StoreIdentity | undefined {
  try {
    const known = JSON.parse(readFileSync(file, 'utf8')) as Partial<StoreIdentity>;
    const { id, epoch, position } = known;
    if (typeof id !== 'string' || typeof epoch !== 'number' || typeof position !== 'number') return undefined;
    return { id, epoch, position };
  } catch {
    // The first start, or one whose file was taken away.
    return undefined;
  }
}

/** Takes what the database holds now as the store that is meant; undefined where it holds none. */
export async function acceptFound(client: Client, file: string): Promise<string | undefined> {
  const found = await readIdentity(client);
  if (found === undefined) rmSync(file, { force: true });
  else writeKnown(file, found);
  return found?.id;
}
