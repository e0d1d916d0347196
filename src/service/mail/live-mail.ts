import type { MailBlock } from '../../engine/config/config.ts';
import type { MailboxFigures } from '../../base/telemetry/telemetry.ts';
import { MailProcess } from './mail-process.ts';
import type { MailService, MailServiceOptions } from './mail-service.ts';

/** The mailbox of the live configuration, read in a process of its own: another block after a reload is read in place of the one before. */
export class LiveMail {
  readonly #options: Omit<MailServiceOptions, 'mail'>;
  #written = '';
  #service: MailService | undefined;
  #changing: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: Omit<MailServiceOptions, 'mail'>) {
    this.#options = options;
  }

  /** For the metrics. */
  get figures(): readonly MailboxFigures[] {
    return (this.#service?.statuses ?? []).map(({ account, folder, health, figures }) => ({
      mailbox: `${account}/${folder}`,
      state: health.state,
      delivered: figures.delivered,
      setAside: figures.setAside,
      filtered: figures.filtered,
    }));
  }

  /** Looks at the mailbox at once, where it is read here. */
  wake(): void {
    this.#service?.wake();
  }

  /** Looks at once whether a retry was asked for. */
  lookAtStore(): void {
    this.#service?.lookAtStore();
  }

  /** Reads this mailbox from now on; none where the block is absent or says `run: false`. */
  apply(mail: MailBlock | undefined): void {
    const wanted = mail?.run === true ? mail : undefined;
    const written = JSON.stringify(wanted ?? '');
    if (written === this.#written || this.#isStopped) return;
    this.#written = written;
    this.#changing = this.#changing.then(async () => {
      await this.#service?.stop();
      this.#service = undefined;
      if (wanted !== undefined && !this.#isStopped) {
        this.#service = new MailProcess({ ...this.#options, mail: wanted });
      }
    });
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#changing;
    await this.#service?.stop();
  }
}
