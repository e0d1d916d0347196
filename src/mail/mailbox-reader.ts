import { hash } from 'node:crypto';
import type { MailBlock } from '../config/config.ts';
import type { MailboxHold, MailPass, MailStorage, PassedMail, SetAsideMail } from '../storage/storage.ts';
import type { Log } from '../telemetry/telemetry.ts';
import { pause } from '../timers/timers.ts';
import { type Door, judge, type Verdict } from './door.ts';
import { filterReason } from './filter.ts';
import type { MailFigures, MailHealth, MailboxStatus } from './mailbox-health.ts';
import { isGone } from './holder.ts';
import { type MailFailure, toMailFailure } from './mail-failure.ts';
import { type MailMessage, type MailPayload, toMessage } from './message-payload.ts';
import { readState, type StoredState } from './stored-status.ts';
import type { Candidate, FetchedMail, KnownMail, MailSource } from './source.ts';

/** Delays; tests have shorter ones. */
export interface ReaderTimes {
  readonly leaseMs: number;
  readonly renewMs: number;
  /** The longest wait without a look at the folder: it also tells whether the connection is alive. */
  readonly keepAliveMs: number;
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** Between tries of a login that was refused for good. */
  readonly deadRetryMs: number;
  /** Between looks whether another reader has let go of the mailbox. */
  readonly standbyMs: number;
  /** A connection that lived this long starts the delays again. */
  readonly settledMs: number;
}

const READER_TIMES: ReaderTimes = {
  leaseMs: 30_000,
  renewMs: 8_000,
  keepAliveMs: 120_000,
  firstRetryMs: 1_000,
  maxRetryMs: 300_000,
  deadRetryMs: 1_800_000,
  standbyMs: 5_000,
  settledMs: 30_000,
};

/** Refused logins in a row that are taken for good: servers refuse some for a moment. */
const LOGINS_UNTIL_DEAD = 3;
/** Failures of one message inside the service, all the same, until it is set aside. */
const FAILURES_UNTIL_SET_ASIDE = 5;
/** Fetches of one message that end with the connection: so many in a row are no accident of the line. */
const FETCHES_UNTIL_SET_ASIDE = 20;
/** Messages set aside at most; beyond, the mailbox waits for the operator. */
const MAX_SET_ASIDE = 10_000;
/** How long messages that were dealt with are kept for recognition. */
const KEEP_PASSED_MS = 30 * 24 * 3_600_000;

export interface ReaderOptions {
  readonly mail: MailBlock;
  readonly folder: string;
  readonly holder: string;
  readonly open: (signal: AbortSignal) => Promise<MailSource>;
  readonly store: MailStorage;
  readonly door: Door;
  readonly log: Pick<Log, 'debug' | 'info' | 'warn' | 'error'>;
  readonly onHealth: (status: MailboxStatus) => void;
  /** Overrides `since` of the block. */
  readonly sinceMs?: number | undefined;
  readonly times?: Partial<ReaderTimes>;
  readonly clock?: () => number;
}

/** The mailbox is read by someone else now. */
class LostMailbox extends Error {}

/**
 * Reads one folder and delivers what arrives, one message a request, in order. What has been read is written down
 * only after the service has said 2xx, and with a key made of the message's identity a repeat after a crash in
 * between is answered as the first was: each message becomes one run, whatever is cut or killed.
 */
export class MailboxReader {
  readonly #options: ReaderOptions;
  readonly #times: ReaderTimes;
  readonly #clock: () => number;
  readonly #mailbox: string;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #health: MailHealth;
  #figures: MailFigures = { delivered: 0, setAside: 0, filtered: 0 };
  #position = '';
  #floorAt = 0;
  /** Messages whose retry was asked for. */
  #retries = 0;
  #setAside = 0;
  /** Ends the wait for mail early. */
  #wakeUp: AbortController | undefined;
  #isLost = false;
  #loginDeadSince: number | undefined;
  #fetching: { readonly identity: string; attempts: number } | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#times = { ...READER_TIMES, ...options.times };
    this.#clock = options.clock ?? Date.now;
    this.#mailbox = mailboxName(options.mail, options.folder);
    this.#health = { state: 'connecting', since: this.#clock() };
  }

  get status(): MailboxStatus {
    const { mail, folder } = this.#options;
    return { account: mail.account, folder, health: this.#health, figures: this.#figures };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Idempotent: ends what is under way; a delivery that was sent is waited for. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        if (await this.#claim()) await this.#hold(signal);
        else await pause(this.#times.standbyMs, signal);
      } catch (error) {
        if (signal.aborted) break;
        this.#options.log.error(
          { mailbox: this.#mailbox, reason: toMailFailure(error).message },
          'the position of a mailbox cannot be kept; trying again',
        );
        await pause(this.#times.standbyMs, signal);
      }
    }
    this.#become({ state: 'stopped', since: this.#clock() });
    await this.#options.store
      .releaseMailbox({ ...this.#mine(), state: this.#stateJson() })
      .catch(() => undefined);
  }

  async #claim(): Promise<boolean> {
    const { store } = this.#options;
    const claim = { ...this.#mine(), leaseMs: this.#times.leaseMs };
    let claimed = await store.claimMailbox(claim);
    const { holder } = claimed.record;
    if (!claimed.isHeld && holder !== undefined && isGone(holder)) {
      claimed = await store.claimMailbox({ ...claim, goneHolder: holder });
    }
    if (!claimed.isHeld) {
      if (this.#health.state !== 'standby') {
        const other = claimed.record.holder ?? 'another process';
        this.#become({ state: 'standby', since: this.#clock(), holder: other });
      }
      return false;
    }
    this.#isLost = false;
    const deadSince = readState(claimed.record.state)?.loginDeadSince;
    if (deadSince !== undefined) this.#recallDeadLogin(deadSince);
    this.#position = claimed.record.position ?? '';
    this.#floorAt = claimed.record.floorAt;
    return true;
  }

  /** A login that was dead under the reader before is so until it works again, and nobody is told again. */
  #recallDeadLogin(since: number): void {
    this.#loginDeadSince = since;
    this.#health = {
      state: 'authentication-dead',
      since,
      reason: 'the login was refused before the restart',
    };
  }

  /** Connects again and again for as long as the mailbox is ours. */
  async #hold(signal: AbortSignal): Promise<void> {
    const stopRenewing = this.#keepRenewing();
    let attempts = 0;
    let refusals = 0;
    try {
      while (!signal.aborted && !this.#isLost) {
        const startedAt = performance.now();
        const deliveredBefore = this.#figures.delivered;
        let isOpen = false;
        try {
          if (this.#loginDeadSince === undefined) {
            this.#become({ state: 'connecting', since: this.#clock() });
          }
          await this.#connect(signal, () => {
            isOpen = true;
          });
          return;
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof LostMailbox) return;
          const failure = toMailFailure(error);
          const isSettled =
            isOpen &&
            (performance.now() - startedAt > this.#times.settledMs ||
              this.#figures.delivered > deliveredBefore);
          attempts = isSettled ? 1 : attempts + 1;
          refusals = failure.kind === 'authentication' ? refusals + 1 : 0;
          await pause(this.#fail(failure, { attempts, refusals }), signal);
        }
      }
    } finally {
      stopRenewing();
    }
  }

  /** Takes note of a failure and says how long to wait. */
  #fail(failure: MailFailure, counts: { readonly attempts: number; readonly refusals: number }): number {
    const now = this.#clock();
    const { kind, message: reason } = failure;
    const { firstRetryMs, maxRetryMs, deadRetryMs } = this.#times;
    const isDead = this.#loginDeadSince !== undefined || counts.refusals >= LOGINS_UNTIL_DEAD;
    if (kind === 'authentication' && isDead) {
      this.#loginDeadSince ??= now;
      this.#become({ state: 'authentication-dead', since: this.#loginDeadSince, reason });
      return deadRetryMs;
    }
    if (kind === 'settings') {
      this.#become({ state: 'misconfigured', since: now, reason });
      return maxRetryMs;
    }
    const delay = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(counts.attempts - 1, 20));
    // Readers that lost the same server do not come back all at once.
    const delayMs = Math.round(delay * (0.8 + Math.random() * 0.4));
    this.#become({
      state: 'backing-off',
      since: now,
      reason,
      attempts: counts.attempts,
      retryAt: now + delayMs,
    });
    return delayMs;
  }

  async #connect(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const source = await this.#options.open(signal);
    const close = (): void => source.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      if (this.#position === '') await this.#begin(source);
      onOpen();
      this.#loginDeadSince = undefined;
      this.#become({ state: 'connected', since: this.#clock() });
      while (!signal.aborted && !this.#isLost) {
        const hasMore = await this.#step(source);
        if (!hasMore) await this.#waitForMail(source, signal);
      }
      if (this.#isLost) throw new LostMailbox();
    } finally {
      signal.removeEventListener('abort', close);
      source.close();
    }
  }

  async #begin(source: MailSource): Promise<void> {
    const { mail, sinceMs } = this.#options;
    const nowMs = this.#clock();
    const since = sinceMs ?? (mail.since === undefined ? undefined : Date.parse(mail.since));
    const { position, floorAt, known } = await source.begin({ sinceMs: since, nowMs });
    this.#floorAt = floorAt;
    await this.#pass({ position, passed: known });
  }

  async #waitForMail(source: MailSource, signal: AbortSignal): Promise<void> {
    const wakeUp = new AbortController();
    const onStop = (): void => wakeUp.abort();
    signal.addEventListener('abort', onStop, { once: true });
    this.#wakeUp = wakeUp;
    try {
      await source.wait(this.#times.keepAliveMs, wakeUp.signal);
    } finally {
      this.#wakeUp = undefined;
      signal.removeEventListener('abort', onStop);
    }
  }

  /** One batch. Whether there may be more at once. */
  async #step(source: MailSource): Promise<boolean> {
    if (this.#retries > 0) await this.#retrySetAside(source);
    const before = this.#position;
    const batch = await source.next(before, this.#known());
    for (const candidate of batch.candidates) {
      if (this.#stopping.signal.aborted) return false;
      await this.#take(source, candidate);
    }
    if (batch.position !== this.#position) await this.#pass({ position: batch.position, passed: [] });
    return this.#position !== before;
  }

  async #take(source: MailSource, candidate: Candidate): Promise<void> {
    const { identity, position, recognised, tooOld } = candidate;
    if (recognised !== undefined) {
      const { before, ...passed } = recognised;
      await this.#pass({ position, passed: [passed], forgotten: [before] });
      return;
    }
    const isDone = tooOld === true || (await this.#options.store.isMailPassed(this.#mailbox, identity));
    const mail = isDone ? undefined : await this.#fetch(source, identity);
    // It is gone, or was never ours to deliver.
    if (mail === undefined) return this.#pass({ position, passed: [] });
    if (mail === 'unreadable')
      return this.#pass({ position, passed: [], setAside: this.#unreadable(identity) });
    const passed = passedRow(mail);
    const message = await toMessage(mail, this.#options.mail);
    if (mail.leftOut !== undefined || filterReason(message, this.#options.mail) !== undefined) {
      this.#figures = { ...this.#figures, filtered: this.#figures.filtered + 1 };
      return this.#pass({ position, passed: [passed] });
    }
    const verdict = await this.#deliver(message, identity);
    await this.#conclude({ mail, message, verdict, position });
  }

  /** A message whose fetch ends the connection again and again must not keep those behind it. */
  async #fetch(source: MailSource, identity: string): Promise<FetchedMail | 'unreadable' | undefined> {
    if (this.#fetching?.identity === identity) this.#fetching.attempts += 1;
    else this.#fetching = { identity, attempts: 1 };
    if (this.#fetching.attempts > FETCHES_UNTIL_SET_ASIDE) return 'unreadable';
    const mail = await source.fetch(identity);
    this.#fetching = undefined;
    return mail;
  }

  #unreadable(identity: string): SetAsideMail {
    this.#fetching = undefined;
    return {
      id: this.#setAsideId(identity),
      mailbox: this.#mailbox,
      identity,
      state: 'set-aside',
      status: 0,
      code: 'unreadable',
      reason: `the server failed to hand the message out ${String(FETCHES_UNTIL_SET_ASIDE)} times`,
      from: '',
      subject: '',
      sizeBytes: 0,
      receivedAt: this.#clock(),
      setAsideAt: this.#clock(),
      attempts: 1,
    };
  }

  #setAsideId(identity: string): string {
    return hash('sha256', `${this.#mailbox}\n${identity}`).slice(0, 16);
  }

  async #conclude(done: {
    readonly mail: FetchedMail;
    readonly message: MailMessage;
    readonly verdict: FinalVerdict;
    readonly position?: string;
    readonly before?: SetAsideMail;
  }): Promise<void> {
    const { mail, message, verdict, position, before } = done;
    const rest = {
      passed: [passedRow(mail)],
      ...(position === undefined ? {} : { position }),
    };
    if (verdict.kind === 'delivered') {
      await this.#pass({ ...rest, ...(before === undefined ? {} : { settled: before.id }) });
      this.#figures = { ...this.#figures, delivered: this.#figures.delivered + 1, lastMailAt: this.#clock() };
      return;
    }
    const { status, code, reason } = verdict;
    const setAside: SetAsideMail = {
      id: this.#setAsideId(mail.identity),
      mailbox: this.#mailbox,
      identity: mail.identity,
      state: 'set-aside',
      status,
      code,
      reason: reason.slice(0, 500),
      from: message.from.slice(0, 200),
      subject: message.subject.slice(0, 200),
      sizeBytes: mail.sizeBytes,
      receivedAt: mail.receivedAt,
      setAsideAt: this.#clock(),
      attempts: (before?.attempts ?? 0) + 1,
    };
    await this.#pass({ ...rest, setAside });
    this.#setAside += before === undefined ? 1 : 0;
    this.#figures = { ...this.#figures, setAside: this.#figures.setAside + 1 };
    this.#options.log.warn(
      { mailbox: this.#mailbox, id: setAside.id, status, code },
      'a message was refused and set aside; "sluice webhooks mail list" shows it',
    );
  }

  /** Offers one message until the service has said yes or no to it. */
  async #deliver(message: MailMessage, identity: string): Promise<FinalVerdict> {
    const { mail, folder, door } = this.#options;
    const payload: MailPayload = {
      source: mail.kind,
      account: mail.account,
      folder,
      messages: [message],
    };
    const key = `mail-${hash('sha256', `${this.#mailbox}\n${identity}`).slice(0, 40)}`;
    const failures = new Map<string, number>();
    for (let attempt = 1; ; attempt += 1) {
      const verdict = judge(await door({ path: mail.path, payload, key }, this.#stopping.signal));
      if (verdict.kind === 'delivered' || verdict.kind === 'refused') {
        const final = this.#checkRoom(verdict);
        if (final !== undefined) return final;
      }
      if (verdict.kind === 'failed') {
        const count = (failures.get(verdict.code) ?? 0) + 1;
        failures.set(verdict.code, count);
        if (count >= FAILURES_UNTIL_SET_ASIDE) {
          const final = this.#checkRoom({ ...verdict, kind: 'refused' });
          if (final !== undefined) return final;
        }
      }
      if (verdict.kind === 'held') this.#beHeld(verdict.code, verdict.reason);
      const asked = verdict.kind === 'held' ? verdict.retryAfterMs : undefined;
      const delayMs = Math.max(asked ?? 0, this.#deliveryDelay(attempt));
      await pause(delayMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted || this.#isLost) throw new LostMailbox();
    }
  }

  /** A message that is refused needs a place among those set aside; where there is none, the mailbox waits. */
  #checkRoom(verdict: FinalVerdict): FinalVerdict | undefined {
    if (verdict.kind === 'refused' && this.#setAside >= MAX_SET_ASIDE) {
      this.#beHeld(
        'too_many_set_aside',
        `${String(MAX_SET_ASIDE)} messages are set aside; look at them with "sluice webhooks mail list"`,
      );
      return undefined;
    }
    if (this.#health.state === 'held') this.#become({ state: 'connected', since: this.#clock() });
    return verdict;
  }

  #beHeld(code: string, reason: string): void {
    const { health } = this.status;
    if (health.state === 'held' && health.code === code) return;
    this.#become({ state: 'held', since: this.#clock(), code, reason });
  }

  #deliveryDelay(attempt: number): number {
    const { firstRetryMs, maxRetryMs } = this.#times;
    return Math.min(maxRetryMs / 5, firstRetryMs * 2 ** Math.min(attempt - 1, 20));
  }

  async #retrySetAside(source: MailSource): Promise<void> {
    const { store } = this.#options;
    const asked = await store.listSetAsideMail({ limit: 100, mailbox: this.#mailbox, state: 'retry' });
    for (const before of asked) {
      if (this.#stopping.signal.aborted) return;
      const mail = await source.fetch(before.identity);
      if (mail === undefined) {
        const setAside: SetAsideMail = {
          ...before,
          state: 'set-aside',
          status: 0,
          code: 'gone',
          reason: 'the message is no longer in its folder',
          setAsideAt: this.#clock(),
        };
        await this.#pass({ passed: [], setAside });
        continue;
      }
      const message = await toMessage(mail, this.#options.mail);
      const verdict = await this.#deliver(message, mail.identity);
      await this.#conclude({ mail, message, verdict, before });
    }
    this.#retries = 0;
  }

  #known(): KnownMail {
    const { store } = this.#options;
    return {
      floorAt: this.#floorAt,
      identitiesOf: (fingerprint) => store.findPassedMail(this.#mailbox, fingerprint),
    };
  }

  /** Writes down what has been dealt with; throws where the mailbox is no longer ours. */
  async #pass(pass: Omit<MailPass, keyof MailboxHold | 'floorAt'>): Promise<void> {
    const mine = this.#mine();
    this.#floorAt = Math.max(this.#floorAt, mine.nowMs - KEEP_PASSED_MS);
    const isDone = await this.#options.store.passMail({ ...mine, ...pass, floorAt: this.#floorAt });
    if (!isDone) {
      this.#isLost = true;
      throw new LostMailbox();
    }
    this.#position = pass.position ?? this.#position;
  }

  #mine(): MailboxHold {
    return { mailbox: this.#mailbox, holder: this.#options.holder, nowMs: this.#clock() };
  }

  #stateJson(): string {
    const state: StoredState = {
      ...this.status,
      ...(this.#loginDeadSince === undefined ? {} : { loginDeadSince: this.#loginDeadSince }),
    };
    return JSON.stringify(state);
  }

  #become(health: MailHealth): void {
    const before = this.#health;
    this.#health = health;
    if (before.state !== health.state) logHealth(this.#options.log, this.#mailbox, health);
    this.#options.onHealth(this.status);
    if (health.state !== 'standby' && health.state !== 'stopped') void this.#report();
  }

  /** Renews the lease and shows how things are. */
  async #report(): Promise<void> {
    try {
      const report = { ...this.#mine(), leaseMs: this.#times.leaseMs, state: this.#stateJson() };
      const { isHeld, retries, setAside } = await this.#options.store.reportMailbox(report);
      this.#setAside = setAside;
      this.#retries = retries;
      if (!isHeld) this.#isLost = true;
      if (!isHeld || retries > 0) this.#wakeUp?.abort();
    } catch {
      // The next report or the next message tells; the lease outlives a few failures.
    }
  }

  #keepRenewing(): () => void {
    const timer = setInterval(() => void this.#report(), this.#times.renewMs);
    return () => clearInterval(timer);
  }
}

type FinalVerdict = Extract<Verdict, { kind: 'delivered' }> | Extract<Verdict, { kind: 'refused' }>;

/** Account and folder: one position each. */
export function mailboxName(mail: Pick<MailBlock, 'account' | 'kind'>, folder: string): string {
  return `${mail.kind}:${mail.account}/${folder}`;
}

function passedRow(mail: FetchedMail): PassedMail {
  const { identity, fingerprint, receivedAt } = mail;
  return { identity, receivedAt, ...(fingerprint === undefined ? {} : { fingerprint }) };
}

function logHealth(log: ReaderOptions['log'], mailbox: string, health: MailHealth): void {
  const fields = { mailbox, ...health, state: health.state };
  switch (health.state) {
    case 'connecting':
    case 'stopped':
      log.debug(fields, 'mailbox');
      return;
    case 'connected':
    case 'standby':
      log.info(fields, 'mailbox');
      return;
    case 'backing-off':
      log.warn(fields, 'mailbox');
      return;
    case 'authentication-dead':
    case 'misconfigured':
    case 'held':
      log.error(fields, 'mailbox');
  }
}
