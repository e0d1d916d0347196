import { hostname } from 'node:os';
import type { Client } from 'pg';
import { within } from '../../../base/timers/timers.ts';
import type { Lease } from '../port.ts';
import type { LapsedReplica } from '../records.ts';
import { connectClient, giveUp } from './connection.ts';
import { checkStore, type ExpectedStore, IDENTITY_COLUMNS, type KnownStore } from './known-store.ts';

/*
 * The lease of this process: one row in `replicas`, renewed on a connection of its own, so that neither a long
 * transaction nor a lock on the store holds it up. Everything this process holds hangs on that row. Times in it are the
 * database's. What is measured here is only how long ago the last renewal was sent, so a wrong clock does no harm:
 * the lease cannot end there before it has ended here.
 *
 * A process counts as gone where its lease has ended by the database's clock, and where its row has not changed
 * for as long as a lease lasts, as seen from here. So neither a jump of that clock nor an outage that nobody could
 * renew in makes it look so.
 */

/** What processes listen to, within one database. */
export const CHANNEL = 'sluice_changed';
/** Parts of a lease after which it is renewed, and after which it is given up here without a renewal. */
const RENEWED_EVERY = 0.2;
const USED = 0.75;
/** Between two messages to the others: what changes meanwhile shares one. */
const TELL_EVERY_MS = 100;
const LEFT = 'left';
/** The commit of this statement waits for no disk, as it writes nothing else. */
const TELL = 'SELECT pg_notify($1, $2)';

/** Tells a copy of the store that it was in use since. Who holds the row for long is told of, as by every write. */
const TELL_COPY = `SET LOCAL lock_timeout = '5s'; UPDATE counters SET opened = opened + 1`;

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
const RENEW = `INSERT INTO replicas (id, role, host, version, place, started_at, lease_until)
  VALUES ($1, $2, $3, $4, $6, ${NOW}, ${NOW} + $5)
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until RETURNING (xmax = 0) AS "isNew", ${IDENTITY_COLUMNS}`;
const LEAVE = `DELETE FROM replicas WHERE id = $1 RETURNING false AS "isNew", ${IDENTITY_COLUMNS}`;
const OTHERS = `SELECT id, lease_until AS "leaseUntil", lease_until < ${NOW} AS "hasEnded" FROM replicas WHERE id <> $1`;

export interface ReplicaOptions {
  readonly url: string;
  readonly first: Client;
  readonly id: string;
  readonly role: string;
  readonly version: string;
  readonly leaseMs: number;
  readonly place?: string | undefined;
  readonly known: KnownStore;
  readonly expected: ExpectedStore;
  /** False behind a pooler, which does not pass messages on. */
  readonly mayListen: boolean;
}

interface LeaseRenewal {
  readonly isNew: boolean;
  readonly store: string;
  readonly epoch: number;
  readonly position: number;
}

interface OtherReplica extends LapsedReplica {
  readonly hasEnded: boolean;
}

interface ReplicaSighting extends Omit<OtherReplica, 'id'> {
  /** When this state of the row was seen first; monotonic. */
  readonly since: number;
}

export class ReplicaLease implements Lease {
  readonly id: string;
  readonly lookEveryMs: number;
  readonly #options: ReplicaOptions;
  readonly #changeListeners: ((isHeld: boolean) => void)[] = [];
  readonly #leftListeners: (() => void)[] = [];
  readonly #outsideListeners: (() => void)[] = [];
  #client: Client | undefined;
  /** Counts the connections that were given up. */
  #attempt = 0;
  #others = new Map<string, ReplicaSighting>();
  #isHeld = false;
  #isStopped = false;
  #renewing: Promise<void> = Promise.resolve();
  #renewTimer: NodeJS.Timeout | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #tellTimer: NodeJS.Timeout | undefined;
  #hasToTell = false;

  private constructor(options: ReplicaOptions) {
    this.#options = options;
    this.id = options.id;
    this.lookEveryMs = options.leaseMs * RENEWED_EVERY;
  }

  /** Enters this process among those that share the store. Rejects where the database does not answer. */
  static async open(options: ReplicaOptions): Promise<ReplicaLease> {
    const lease = new ReplicaLease(options);
    try {
      await lease.#adopt(options.first);
      await options.first.query(TELL_COPY);
      await lease.#renew();
    } catch (error) {
      lease.#drop();
      throw error;
    }
    lease.#schedule();
    return lease;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  onChange(listener: (isHeld: boolean) => void): void {
    this.#changeListeners.push(listener);
  }

  onOtherLeft(listener: () => void): void {
    this.#leftListeners.push(listener);
  }

  onOutsideChange(listener: () => void): void {
    this.#outsideListeners.push(listener);
  }

  /** Others whose lease has ended for sure. */
  lapsed(): readonly LapsedReplica[] {
    if (!this.#isHeld) return [];
    const before = performance.now() - this.#options.leaseMs;
    return [...this.#others].flatMap(([id, { leaseUntil, hasEnded, since }]) =>
      hasEnded && since <= before ? [{ id, leaseUntil }] : [],
    );
  }

  /** Tells the others soon that the store has changed. Cheap: any number of calls is one message. */
  tell(): void {
    this.#hasToTell = true;
    if (this.#tellTimer !== undefined || this.#isStopped) return;
    this.#send(this.id);
    this.#hasToTell = false;
    this.#tellTimer = setTimeout(() => {
      this.#tellTimer = undefined;
      if (this.#hasToTell) this.tell();
    }, TELL_EVERY_MS).unref();
  }

  /** Leaves: what this process still holds is everybody's at once. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const timer of [this.#renewTimer, this.#endTimer, this.#tellTimer]) clearTimeout(timer);
    await this.#renewing;
    const client = this.#client;
    if (client === undefined) return this.#drop();
    await this.#bounded(
      client
        .query<LeaseRenewal>(LEAVE, [this.id])
        .then(({ rows }) => this.#note(rows))
        .then(() => client.query(TELL, [CHANNEL, LEFT]))
        .then(() => client.end()),
    ).catch(() => undefined);
    this.#drop();
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#renewTimer = setTimeout(() => {
      // What fails is tried again; where it fails for long the lease is given up.
      this.#renewing = this.#renew()
        .catch(() => this.#drop())
        .then(() => this.#schedule());
    }, this.lookEveryMs);
  }

  async #renew(): Promise<void> {
    const { id, role, version, leaseMs, place } = this.#options;
    const sentAt = performance.now();
    const client = this.#client ?? (await this.#bounded(this.#connect()));
    const values = [id, role, hostname(), version, Math.round(leaseMs), place];
    const { rows } = await this.#bounded(client.query<LeaseRenewal>(RENEW, values));
    this.#note(rows);
    // The row was gone: others have taken over the work of this process.
    if (rows[0]?.isNew === true) this.#change(false);
    clearTimeout(this.#endTimer);
    const leftMs = sentAt + leaseMs * USED - performance.now();
    this.#endTimer = setTimeout(() => this.#change(false), Math.max(leftMs, 0)).unref();
    this.#change(leftMs > 0);
    const others = client.query<OtherReplica>(OTHERS, [id]);
    this.#see((await this.#bounded(others)).rows);
  }

  /** What was committed before this answer is on the disk of the database. */
  #note([found]: readonly LeaseRenewal[]): void {
    if (found !== undefined)
      this.#options.known.note({ id: found.store, epoch: found.epoch, position: found.position });
  }

  #see(rows: readonly OtherReplica[]): void {
    const now = performance.now();
    this.#others = new Map(
      rows.map(({ id, leaseUntil, hasEnded }) => {
        const known = this.#others.get(id);
        const since = known?.leaseUntil === leaseUntil ? known.since : now;
        return [id, { leaseUntil, hasEnded, since }];
      }),
    );
  }

  #change(isHeld: boolean): void {
    if (this.#isHeld === isHeld) return;
    this.#isHeld = isHeld;
    // Nobody could renew either, perhaps: everybody gets the time to.
    if (isHeld) this.#others.clear();
    for (const listener of this.#changeListeners) listener(isHeld);
  }

  async #connect(): Promise<Client> {
    const attempt = this.#attempt;
    const { url, expected } = this.#options;
    const client = await connectClient(url, () => undefined);
    try {
      await checkStore(client, expected);
    } catch (error) {
      giveUp(client);
      throw error;
    }
    return this.#adopt(client, attempt);
  }

  /** Rejects, and ends the connection, where it was given up before it was ready. */
  async #adopt(client: Client, attempt = this.#attempt): Promise<Client> {
    const forget = () => {
      if (this.#client === client) this.#client = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    client.on('notification', ({ payload }) => {
      if (payload === this.id) return;
      if (payload === LEFT) for (const listener of this.#leftListeners) listener();
      for (const listener of this.#outsideListeners) listener();
    });
    if (this.#options.mayListen && attempt === this.#attempt) await client.query(`LISTEN ${CHANNEL}`);
    if (attempt !== this.#attempt) {
      client.end().catch(() => undefined);
      throw new Error('the database did not answer in time');
    }
    this.#client = client;
    return client;
  }

  #send(payload: string): void {
    // Whoever misses it looks by itself within a second.
    this.#client?.query(TELL, [CHANNEL, payload]).catch(() => undefined);
  }

  /** An answer that takes as long as a renewal may does not come any more. */
  async #bounded<Result>(question: Promise<Result>): Promise<Result> {
    const answering = question.then((result) => ({ result }));
    const answer = await within(answering, this.#options.leaseMs * (USED - 2 * RENEWED_EVERY));
    if (answer === undefined) throw new Error('the database did not answer in time');
    return answer.result;
  }

  /** Gives up a connection that does not answer, be it one that is not made yet. */
  #drop(): void {
    this.#attempt += 1;
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) giveUp(client);
  }
}
