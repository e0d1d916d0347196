import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { MailboxHold, MailPass, MailStorage, SetAsideMail } from '../../engine/storage/storage.ts';
import type { ReaderTimes } from './reconnection.ts';
import type { KnownMail } from './source.ts';
import { readState, type StoredState } from './mailbox-health.ts';

/** How long messages that were dealt with are kept for recognition. */
const KEEP_PASSED_MS = 30 * 24 * 3_600_000;

/** Thrown where another reader has the mailbox now. */
export class LostMailbox extends Error {}

export interface LeasedMailboxOptions {
  readonly mailbox: string;
  readonly holder: string;
  readonly store: MailStorage;
  readonly times: Pick<ReaderTimes, 'leaseMs' | 'renewMs'>;
  readonly clock: () => number;
  /** How reading goes, as JSON for the store. */
  readonly stateJson: () => string;
  /** Called where a retry was asked for or the mailbox is lost: the reader should not wait for mail any longer. */
  readonly onNews: () => void;
}

export type Claim =
  | { readonly kind: 'claimed'; readonly stored: StoredState | undefined }
  | { readonly kind: 'refused'; readonly holder: string };

/** Which messages have been dealt with, and the position behind them. */
export type MailProgress = Omit<MailPass, keyof MailboxHold | 'floorAt' | 'state'>;

/** A mailbox in the store: who holds it, how far it was read, and what waits. Only its holder can move it. */
export class LeasedMailbox {
  readonly #options: LeasedMailboxOptions;
  #position = '';
  #floorAt = 0;
  #retries = 0;
  #setAside = 0;
  #isLost = false;

  constructor(options: LeasedMailboxOptions) {
    this.#options = options;
  }

  /** Empty before the first run. */
  get position(): string {
    return this.#position;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Messages set aside, as far as is known. */
  get setAside(): number {
    return this.#setAside;
  }

  /** Takes the mailbox, also from a process that is known to be gone. */
  async claim(): Promise<Claim> {
    const { store, times } = this.#options;
    const claim = { ...this.#mine(), leaseMs: times.leaseMs };
    let claimed = await store.claimMailbox(claim);
    const { holder } = claimed.record;
    if (!claimed.isHeld && holder !== undefined && isGone(holder)) {
      claimed = await store.claimMailbox({ ...claim, goneHolder: holder });
    }
    const { record, isHeld } = claimed;
    if (!isHeld) return { kind: 'refused', holder: record.holder ?? 'another process' };
    this.#isLost = false;
    this.#position = record.position ?? '';
    this.#floorAt = record.floorAt;
    return { kind: 'claimed', stored: readState(record.state) };
  }

  async release(): Promise<void> {
    const { store, stateJson } = this.#options;
    await store.releaseMailbox({ ...this.#mine(), state: stateJson() }).catch(() => undefined);
  }

  begin(first: { readonly floorAt: number } & Pick<MailPass, 'position' | 'passed'>): Promise<void> {
    const { floorAt, ...pass } = first;
    this.#floorAt = floorAt;
    return this.pass(pass);
  }

  /**
   * Writes down what has been dealt with.
   * @throws LostMailbox
   */
  async pass(pass: MailProgress): Promise<void> {
    const mine = this.#mine();
    this.#floorAt = Math.max(this.#floorAt, mine.nowMs - KEEP_PASSED_MS);
    const { store, stateJson } = this.#options;
    const isDone = await store.passMail({ ...mine, ...pass, floorAt: this.#floorAt, state: stateJson() });
    if (!isDone) {
      this.#isLost = true;
      throw new LostMailbox();
    }
    this.#position = pass.position ?? this.#position;
    // A message that was tried again leaves the position where it is, and was counted before.
    if (pass.setAside !== undefined && pass.position !== undefined) this.#setAside += 1;
  }

  isPassed(identity: string): Promise<boolean> {
    const { store, mailbox } = this.#options;
    return store.isMailPassed(mailbox, identity);
  }

  known(): KnownMail {
    const { store, mailbox } = this.#options;
    return {
      floorAt: this.#floorAt,
      isPassed: (fingerprint) => store.isMailPassed(mailbox, fingerprint),
    };
  }

  /** Messages whose retry was asked for; asked of the store only where some are known to wait. */
  async takeRetries(): Promise<readonly SetAsideMail[]> {
    if (this.#retries === 0) return [];
    this.#retries = 0;
    const { store, mailbox } = this.#options;
    return store.listSetAsideMail({ limit: 100, mailbox, state: 'retry' });
  }

  /** Renews the lease and shows how things are. */
  async report(): Promise<void> {
    const { store, times, stateJson, onNews } = this.#options;
    try {
      const report = { ...this.#mine(), leaseMs: times.leaseMs, state: stateJson() };
      const { isHeld, retries, setAside } = await store.reportMailbox(report);
      this.#setAside = setAside;
      this.#retries = retries;
      if (!isHeld) this.#isLost = true;
      if (!isHeld || retries > 0) onNews();
    } catch {
      // The next report or the next message shows it; the lease outlives a few failures.
    }
  }

  /** Reports again and again; returns a function that ends this. */
  keepRenewing(): () => void {
    const timer = setInterval(() => void this.report(), this.#options.times.renewMs);
    return () => clearInterval(timer);
  }

  #mine(): MailboxHold {
    const { mailbox, holder, clock } = this.#options;
    return { mailbox, holder, nowMs: clock() };
  }
}

/** Who holds a mailbox: machine, process space, process, and a random part, as process numbers are used again. */
export function newHolder(): string {
  return [hostname(), processSpace(), String(process.pid), randomBytes(6).toString('hex')].join('/');
}

/** Whether a holder is known to be gone: it was a process of this machine that runs no more. */
export function isGone(holder: string): boolean {
  const [host, space, pid = ''] = holder.split('/');
  if (host !== hostname() || space !== processSpace()) return false;
  if (Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Two containers may have the same name of host and the same numbers of processes, and not the same namespace. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
  } catch {
    return '-';
  }
}
