import { defined } from '../../base/json.ts';
import type { MailBlock } from '../../engine/config/config.ts';
import type { HealthReporter, MailboxFigures } from '../../base/telemetry/telemetry.ts';
import { pause } from '../../base/timers/timers.ts';
import { mailboxName } from './identity.ts';
import {
  logHealth,
  NOTHING_READ,
  type MailboxStatus,
  type MailHealth,
  reportHealth,
} from './mailbox-health.ts';
import type { MailServiceOptions } from './mail-service.ts';
import { readerFolders } from './open-source.ts';
import type { ReaderStart } from './reader-messages.ts';
import { type MessageLimits, ReaderProcess } from './reader-process.ts';
import { growingDelay, READER_TIMES } from './reader-times.ts';

export interface MailProcessOptions extends Omit<MailServiceOptions, 'mail' | 'open' | 'watch' | 'onChange'> {
  /** What is read at first. */
  readonly mail?: MailBlock;
  /** Hears of mailboxes in trouble. */
  readonly health?: HealthReporter;
  readonly messageLimits?: MessageLimits | undefined;
}

/**
 * Has a mailbox read in a process of its own: what a stranger wrote is parsed there, and whatever that costs, this
 * process goes on. Store, endpoint, log and health are here: the reader asks for them over a channel, and ends with it.
 * Where it ends, is stuck or takes too much, it is started again.
 */
export class MailProcess {
  readonly #options: MailProcessOptions;
  #mail: MailBlock | undefined;
  #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  #reader: ReaderProcess | undefined;
  statuses: readonly MailboxStatus[] = [];

  constructor(options: MailProcessOptions) {
    this.#options = options;
    this.read(options.mail);
  }

  /** For the metrics. */
  get figures(): readonly MailboxFigures[] {
    return this.statuses.map(({ account, folder, health, figures }) => {
      const { delivered, setAside, filtered } = figures;
      return { mailbox: `${account}/${folder}`, state: health.state, delivered, setAside, filtered };
    });
  }

  /** Reads this mailbox from now on, in place of the one before; none where it is absent. */
  read(mail: MailBlock | undefined): void {
    if (this.#isStopped || JSON.stringify(mail) === JSON.stringify(this.#mail)) return;
    this.#mail = mail;
    this.#stopping.abort();
    const { signal } = (this.#stopping = new AbortController());
    this.#running = this.#running.then(() => {
      this.statuses = [];
      return mail && this.#run(mail, signal);
    });
  }

  /** Looks at the mailbox at once. */
  wake(): void {
    this.#reader?.send({ kind: 'wake' });
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopping.abort();
    await this.#running;
  }

  async #run(mail: MailBlock, signal: AbortSignal): Promise<void> {
    const { sinceMs, times } = this.#options;
    const { firstRetryMs: firstMs, maxRetryMs: maxMs, settledMs } = READER_TIMES;
    const start: ReaderStart = { mail, ...defined({ sinceMs, times }), deaths: new Map() };
    for (let attempts = 1; !signal.aborted; attempts += 1) {
      const startedAt = performance.now();
      const onStatuses = (statuses: readonly MailboxStatus[]): void => this.#take(mail, statuses);
      const reader = new ReaderProcess({ ...this.#options, start, onStatuses }, signal);
      this.#reader = reader;
      const reason = await reader.ended.catch((error: Error) => error.message);
      this.#reader = undefined;
      if (signal.aborted) break;
      // One that ends over a message and has done with others before must not keep those behind it for minutes.
      if (reader.hasPassed || performance.now() - startedAt > settledMs) attempts = 1;
      if (reader.isOverMessage) continue;
      const delayMs = growingDelay(attempts, { firstMs, maxMs });
      const since = Date.now();
      this.#become(mail, {
        state: 'backing-off',
        since,
        reason: `the process that reads the mailbox ended: ${reason}`,
        attempts,
        retryAt: since + delayMs,
      });
      await pause(delayMs, signal);
    }
    this.#become(mail, { state: 'stopped', since: Date.now() });
  }

  #take(mail: MailBlock, statuses: readonly MailboxStatus[]): void {
    const { health: reporter } = this.#options;
    this.statuses = statuses;
    for (const { folder, health } of statuses)
      if (reporter !== undefined) reportHealth(reporter, mailboxName(mail, folder), health);
  }

  /** All of its folders are in this state: there is no reader that could say so. */
  #become(mail: MailBlock, health: MailHealth): void {
    const folders = readerFolders(mail);
    for (const folder of folders) logHealth(this.#options.log, mailboxName(mail, folder), health);
    const { account } = mail;
    this.#take(
      mail,
      folders.map((folder) => ({ account, folder, health, figures: NOTHING_READ })),
    );
  }
}
