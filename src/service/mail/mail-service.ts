import { hash } from 'node:crypto';
import type { Log, LogLevel } from '../../base/telemetry/telemetry.ts';
import { pause } from '../../base/timers/timers.ts';
import { judge } from './hook-endpoint.ts';
import type { MailboxStatus, MailHealth } from './mailbox-health.ts';
import { newHolder } from './leased-mailbox.ts';
import { mailboxName } from './identity.ts';
import { ownServers, type ProofOptions } from './mail-proof.ts';
import { MailboxReader, type ReaderOptions } from './mailbox-reader.ts';
import { bodiless, type MailMessage, toMessage } from './message-payload.ts';
import { folderOpener, readerFolders, type MailSourceOptions } from './open-source.ts';
import type { FetchedMail } from './source.ts';

/** How often a dead login is reported again while the main session does not take the report. */
const TELL_EVERY_MS = 30_000;

export interface MailServiceOptions extends Pick<
  ReaderOptions,
  'mail' | 'store' | 'endpoint' | 'sinceMs' | 'times' | 'watch'
> {
  readonly log: Pick<Log, LogLevel | 'protect'>;
  readonly open?: MailSourceOptions;
  /** In place of the resolver of the system. */
  readonly lookUp?: ProofOptions['lookUp'];
  readonly onChange?: () => void;
}

export function startMail(options: MailServiceOptions): MailService {
  return new MailService(options);
}

/** Reads all folders of the mailbox until it is stopped. */
export class MailService {
  readonly #options: MailServiceOptions;
  readonly #stopping = new AbortController();
  readonly #readers: readonly MailboxReader[];
  /** One message is read at a time, so that its processor time can be measured. */
  #reading: Promise<unknown> = Promise.resolve();
  #telling: Promise<void> = Promise.resolve();

  constructor(options: MailServiceOptions) {
    this.#options = options;
    this.#readers = this.#makeReaders();
    for (const reader of this.#readers) reader.start();
  }

  get statuses(): readonly MailboxStatus[] {
    return this.#readers.map(({ status }) => status);
  }

  wake(): void {
    for (const reader of this.#readers) reader.wake();
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#readers.map((reader) => reader.stop()));
    await this.#telling;
  }

  #makeReaders(): readonly MailboxReader[] {
    const { mail, log } = this.#options;
    const open = folderOpener(mail, { protect: (secret) => log.protect(secret), ...this.#options.open });
    const holder = newHolder();
    return readerFolders(mail).map(
      (folder) =>
        new MailboxReader({
          ...this.#options,
          folder,
          holder,
          open: () => open(folder),
          onHealth: ({ health }, before) => this.#see(health, before),
          read: (message) => this.#read(mailboxName(mail, folder), message),
        }),
    );
  }

  #read(mailbox: string, message: FetchedMail): Promise<MailMessage> {
    const { mail, watch, lookUp } = this.#options;
    const proofs = { own: ownServers(mail), lookUp };
    if (message.headerOnly === true) return bodiless(message, proofs);
    const reading = this.#reading.then(async () => {
      await watch?.onReading(mailbox, message.identity);
      const read = await toMessage(message, { ...mail, ...proofs });
      watch?.onRead();
      return read;
    });
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /** Tells the main session once when a login is dead, however many folders find it and however often. */
  #see(health: MailHealth, before: MailHealth): void {
    this.#options.onChange?.();
    if (health.state !== 'authentication-dead' || before.state === health.state) return;
    const dead = this.statuses.filter((status) => status.health.state === health.state);
    if (dead.length === 1) this.#telling = this.#tell(health.since);
  }

  async #tell(since: number): Promise<void> {
    const { mail, endpoint, log } = this.#options;
    const { account } = mail;
    const text = `The mailbox ${account} can no longer be read: its server refuses the login. New mail waits there until "sluice webhooks mail setup" has been run again.`;
    const key = `mail-login-${hash('sha256', `${account}\n${String(since)}`).slice(0, 40)}`;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const answer = await endpoint({ path: 'wake', payload: { text }, key }, signal).catch(() => undefined);
      if (answer !== undefined && judge(answer).kind !== 'delayed') return;
      log.warn({ account }, 'the main session could not be informed that a mailbox refuses the login');
      await pause(TELL_EVERY_MS, signal);
    }
  }
}
