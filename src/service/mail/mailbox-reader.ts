import type { MailBlock } from '../../engine/config/config.ts';
import type { MailStorage, SetAsideMail } from '../../engine/storage/storage.ts';
import type { Log, LogLevel } from '../../base/telemetry/telemetry.ts';
import { defined } from '../../base/json.ts';
import { pause } from '../../base/timers/timers.ts';
import {
  deliverMessage,
  type DeliveryOptions,
  filterReason,
  goneMail,
  setAsideMail,
  UNREADABLE,
} from './offer-message.ts';
import type { HookEndpoint } from './hook-endpoint.ts';
import { FetchAttempts, type MessageWatch } from './fetch-attempts.ts';
import {
  NOTHING_READ,
  type MailFigures,
  type MailHealth,
  type MailboxStatus,
  type StoredState,
} from './mailbox-health.ts';
import { mailboxName } from './identity.ts';
import { LeasedMailbox, LostMailbox, type MailProgress } from './leased-mailbox.ts';
import { toMailFailure } from './mail-failure.ts';
import type { MailMessage } from './message-payload.ts';
import { READER_TIMES, type ReaderTimes, Reconnection } from './reconnection.ts';
import { passedRow, type MailCandidate, type FetchedMail, type MailSource } from './source.ts';

const REFUSED_LOG_MS = 3_600_000;

export interface ReaderOptions {
  readonly mail: MailBlock;
  readonly folder: string;
  readonly holder: string;
  readonly open: () => Promise<MailSource>;
  readonly store: MailStorage;
  readonly endpoint: HookEndpoint;
  readonly log: Pick<Log, LogLevel>;
  readonly onHealth: (status: MailboxStatus, before: MailHealth) => void;
  readonly read: (mail: FetchedMail) => Promise<MailMessage>;
  readonly watch?: MessageWatch | undefined;
  /** Where the first run begins, in place of what the block says. */
  readonly sinceMs?: number | undefined;
  readonly times?: Partial<ReaderTimes>;
  readonly clock?: () => number;
}

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
  readonly #leased: LeasedMailbox;
  readonly #reconnection: Reconnection;
  readonly #delivery: DeliveryOptions;
  readonly #fetches: FetchAttempts;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #health: MailHealth;
  #figures = NOTHING_READ;
  /** When a reason for a refusal was told, and how many messages had it since. */
  readonly #refused = new Map<string, { readonly at: number; readonly count: number }>();
  #isWoken = false;
  /** Ends the wait for mail early. */
  #wakeUp: AbortController | undefined;

  constructor(options: ReaderOptions) {
    const { mail, folder, clock = Date.now } = options;
    this.#options = options;
    this.#times = { ...READER_TIMES, ...options.times };
    this.#clock = clock;
    this.#mailbox = mailboxName(mail, folder);
    this.#health = { state: 'connecting', since: clock() };
    this.#reconnection = new Reconnection(this.#times, clock);
    this.#fetches = new FetchAttempts(this.#mailbox, options.watch);
    const own = { ...options, mailbox: this.#mailbox, times: this.#times, clock };
    this.#leased = new LeasedMailbox({
      ...own,
      stateJson: () => this.#stateJson(),
      onNews: () => this.wake(),
    });
    this.#delivery = {
      ...own,
      lease: this.#leased,
      onDelayed: (code, reason) => this.#reportDelay(code, reason),
      onAnswered: () => {
        if (this.#health.state === 'held') this.#become({ state: 'connected', since: clock() });
      },
    };
  }

  get status(): MailboxStatus {
    const { mail, folder } = this.#options;
    return { account: mail.account, folder, health: this.#health, figures: this.#figures };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Makes it look for mail and retries as soon as nothing else is under way. */
  wake(): void {
    this.#isWoken = true;
    this.#wakeUp?.abort();
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
          'the store could not be asked for a mailbox; trying again',
        );
        await pause(this.#times.standbyMs, signal);
      }
    }
    this.#become({ state: 'stopped', since: this.#clock() });
    await this.#leased.release();
  }

  async #claim(): Promise<boolean> {
    const claim = await this.#leased.claim();
    if (claim.kind === 'refused') {
      const { holder } = claim;
      if (this.#health.state !== 'standby') this.#become({ state: 'standby', since: this.#clock(), holder });
      return false;
    }
    const { figures, loginDeadSince } = claim.stored ?? {};
    this.#figures = figures ?? NOTHING_READ;
    if (loginDeadSince !== undefined) this.#health = this.#reconnection.recall(loginDeadSince);
    return true;
  }

  /** Connects again and again for as long as the mailbox is ours. */
  async #hold(signal: AbortSignal): Promise<void> {
    const stopRenewing = this.#leased.keepRenewing();
    this.#reconnection.restart();
    try {
      while (!signal.aborted && !this.#leased.isLost) {
        const delayMs = await this.#connectOnce(signal);
        if (delayMs === undefined) return;
        await pause(delayMs, signal);
      }
    } finally {
      stopRenewing();
    }
  }

  /** Reads over one connection to its end; resolves to how long to wait for the next one, if there is to be one. */
  async #connectOnce(signal: AbortSignal): Promise<number | undefined> {
    const startedAt = performance.now();
    const deliveredBefore = this.#figures.delivered;
    let isOpen = false;
    try {
      if (this.#reconnection.loginDeadSince === undefined) {
        this.#become({ state: 'connecting', since: this.#clock() });
      }
      await this.#connect(signal, () => {
        isOpen = true;
      });
      return undefined;
    } catch (error) {
      if (signal.aborted || error instanceof LostMailbox) return undefined;
      const isOld = performance.now() - startedAt > this.#times.settledMs;
      const isSettled = isOpen && (isOld || this.#figures.delivered > deliveredBefore);
      const { health, delayMs } = this.#reconnection.failed(toMailFailure(error), isSettled);
      this.#become(health);
      return delayMs;
    }
  }

  async #connect(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const source = await this.#options.open();
    const close = (): void => source.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      if (this.#leased.position === '') await this.#begin(source);
      onOpen();
      this.#reconnection.succeeded();
      this.#become({ state: 'connected', since: this.#clock() });
      await this.#readOn(source, signal);
    } finally {
      signal.removeEventListener('abort', close);
      source.close();
    }
  }

  async #readOn(source: MailSource, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#leased.isLost) {
      if (await this.#step(source)) continue;
      await this.#waitForMail(source, signal);
    }
    if (this.#leased.isLost) throw new LostMailbox();
  }

  async #begin(source: MailSource): Promise<void> {
    const { mail, sinceMs } = this.#options;
    const since = sinceMs ?? (mail.since === undefined ? undefined : Date.parse(mail.since));
    const { position, floorAt, known } = await source.begin({ sinceMs: since, nowMs: this.#clock() });
    await this.#leased.begin({ position, floorAt, passed: known });
  }

  async #waitForMail(source: MailSource, signal: AbortSignal): Promise<void> {
    const wakeUp = new AbortController();
    if (this.#isWoken) wakeUp.abort();
    const onStop = (): void => wakeUp.abort();
    signal.addEventListener('abort', onStop, { once: true });
    this.#wakeUp = wakeUp;
    try {
      await source.wait(this.#times.keepAliveMs, wakeUp.signal);
    } finally {
      this.#wakeUp = undefined;
      this.#isWoken = false;
      signal.removeEventListener('abort', onStop);
    }
  }

  /** Delivers one batch; resolves to whether more may be there at once. */
  async #step(source: MailSource): Promise<boolean> {
    for (const before of await this.#leased.takeRetries()) {
      if (this.#stopping.signal.aborted) return false;
      await this.#retry(source, before);
    }
    const { position } = this.#leased;
    const batch = await source.next(position, this.#leased.known());
    for (const candidate of batch.candidates) {
      if (this.#stopping.signal.aborted) return false;
      await this.#take(source, candidate);
    }
    if (batch.position !== this.#leased.position) {
      await this.#leased.pass({ position: batch.position, passed: [] });
    }
    return this.#leased.position !== position;
  }

  async #take(source: MailSource, candidate: MailCandidate): Promise<void> {
    const { identity, position, recognised, tooOld } = candidate;
    if (recognised !== undefined) return this.#leased.pass({ position, passed: [recognised] });
    const isDone = tooOld === true || (await this.#leased.isPassed(identity));
    const mail = isDone ? undefined : await this.#fetches.fetch(source, identity);
    // The message is gone, or was never ours to deliver.
    if (mail === undefined) return this.#leased.pass({ position, passed: [] });
    if (mail === 'unreadable') {
      return this.#leased.pass({ position, passed: [], setAside: this.#unreadable(identity) });
    }
    await this.#offer(mail, position);
  }

  async #offer(mail: FetchedMail, position: string): Promise<void> {
    const settings = this.#options.mail;
    const message = await this.#options.read(mail);
    if (mail.leftOut !== undefined || filterReason(message, settings) !== undefined) {
      const { filtered } = this.#figures;
      return this.#count({ filtered: filtered + 1 }, { position, passed: [passedRow(mail)] });
    }
    await this.#deliver(mail, message, { position });
  }

  #unreadable(identity: string, before?: SetAsideMail): SetAsideMail {
    const refusal = { mailbox: this.#mailbox, nowMs: this.#clock(), verdict: UNREADABLE, before };
    return setAsideMail(identity, refusal);
  }

  /** Tries a message again that was set aside. */
  async #retry(source: MailSource, before: SetAsideMail): Promise<void> {
    const mail = await this.#fetches.fetch(source, before.identity);
    if (mail === undefined) {
      return this.#leased.pass({ passed: [], setAside: goneMail(before, this.#clock()) });
    }
    if (mail === 'unreadable') {
      return this.#leased.pass({ passed: [], setAside: this.#unreadable(before.identity, before) });
    }
    await this.#deliver(mail, await this.#options.read(mail), { before });
  }

  async #deliver(
    mail: FetchedMail,
    message: MailMessage,
    { position, before }: { readonly position?: string; readonly before?: SetAsideMail },
  ): Promise<void> {
    const offer = { message, identity: mail.identity, isTaken: before !== undefined };
    const verdict = await deliverMessage(this.#delivery, offer, this.#stopping.signal);
    const rest = { passed: [passedRow(mail)], ...(position === undefined ? {} : { position }) };
    if (verdict.kind === 'delivered') {
      const counted = { delivered: this.#figures.delivered + 1, lastMailAt: this.#clock() };
      return this.#count(counted, { ...rest, ...(before === undefined ? {} : { settled: before.id }) });
    }
    const refusal = { mailbox: this.#mailbox, nowMs: this.#clock(), verdict, before };
    const setAside = setAsideMail(mail.identity, refusal, { mail, message });
    await this.#count({ setAside: this.#figures.setAside + 1 }, { ...rest, setAside });
    this.#tellRefused(setAside);
  }

  /** Strangers decide how many messages are refused: of one reason, a line an hour says how many there were. */
  #tellRefused({ mailbox, id, status, code }: SetAsideMail): void {
    const nowMs = this.#clock();
    const { at = -Infinity, count = 0 } = this.#refused.get(code) ?? {};
    const isTold = nowMs - at >= REFUSED_LOG_MS;
    this.#refused.set(code, isTold ? { at: nowMs, count: 0 } : { at, count: count + 1 });
    if (isTold)
      this.#options.log.warn(
        { mailbox, id, status, code, messages: count + 1 },
        'a message was refused and set aside, with as many for the same reason since the last such line; "sluice webhooks mail list" shows them',
      );
  }

  /** Counts a message where it is written down, so that both outlive the reader, or neither. */
  async #count(counted: Partial<MailFigures>, pass: MailProgress): Promise<void> {
    const before = this.#figures;
    this.#figures = { ...before, ...counted };
    try {
      await this.#leased.pass(pass);
    } catch (error) {
      this.#figures = before;
      throw error;
    }
  }

  #reportDelay(code: string, reason: string): void {
    const health = this.#health;
    if (health.state === 'held' && health.code === code) return;
    this.#become({ state: 'held', since: this.#clock(), code, reason });
  }

  #stateJson(): string {
    const { loginDeadSince } = this.#reconnection;
    const state: StoredState = { ...this.status, ...defined({ loginDeadSince }) };
    return JSON.stringify(state);
  }

  #become(health: MailHealth): void {
    const before = this.#health;
    this.#health = health;
    // What is wrong is told by who hears of it (`onHealth`).
    const level = health.state === 'connected' || health.state === 'standby' ? 'info' : 'debug';
    if (before.state !== health.state)
      this.#options.log[level]({ mailbox: this.#mailbox, ...health }, 'mailbox');
    this.#options.onHealth(this.status, before);
    if (health.state !== 'standby' && health.state !== 'stopped') void this.#leased.report();
  }
}
