import { hash } from 'node:crypto';
import type { HealthReporter, Log } from '../../base/telemetry/telemetry.ts';
import { pause } from '../../base/timers/timers.ts';
import { judge } from './hook-endpoint.ts';
import { type MailboxStatus, reportHealth } from './mailbox-health.ts';
import { newHolder } from './holder.ts';
import { mailboxName } from './identity.ts';
import { MailboxReader, type ReaderOptions } from './mailbox-reader.ts';
import type { MailMessage } from './message-payload.ts';
import { type MessageLimits, MessageReader } from './message-reader.ts';
import { folderOpener, readerFolders, type OpenOptions } from './open-source.ts';
import type { FetchedMail } from './source.ts';
import { readState } from './stored-status.ts';

type SharedOptions = 'mail' | 'store' | 'endpoint' | 'sinceMs' | 'times' | 'fetchWatch';

export interface MailServiceOptions extends Pick<ReaderOptions, SharedOptions> {
  readonly log: Pick<Log, 'debug' | 'info' | 'warn' | 'error' | 'protect'>;
  readonly open?: OpenOptions;
  readonly messageLimits?: MessageLimits | undefined;
  /** Hears of mailboxes in trouble. */
  readonly health?: HealthReporter;
}

/** Reads all folders of the mailbox until it is stopped. */
export interface MailService {
  readonly statuses: readonly MailboxStatus[];
  /** Looks at the mailbox at once. */
  wake(): void;
  /** Looks at once whether a retry was asked for. */
  lookAtStore(): void;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** How long the main session is tried to be told of a dead login. */
const TELL_EVERY_MS = 30_000;

export function startMail(options: MailServiceOptions): MailService {
  return new FolderReaders(options);
}

class FolderReaders implements MailService {
  readonly #stopping = new AbortController();
  readonly #alarm: LoginAlarm;
  readonly #messages: MessageReader;
  readonly #readers: readonly MailboxReader[];
  readonly #started: Promise<void>;

  constructor(options: MailServiceOptions) {
    const alarm = new LoginAlarm(options, this.#stopping.signal);
    this.#alarm = alarm;
    this.#messages = new MessageReader(options.log, options.messageLimits);
    this.#readers = makeReaders(options, this.#messages, (status) => alarm.see(status));
    this.#started = this.#start();
  }

  get statuses(): readonly MailboxStatus[] {
    return this.#readers.map(({ status }) => status);
  }

  wake(): void {
    for (const reader of this.#readers) reader.wake();
  }

  lookAtStore(): void {
    for (const reader of this.#readers) reader.lookAtStore();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#started;
    await Promise.all(this.#readers.map((reader) => reader.stop()));
    await this.#messages.stop();
    await this.#alarm.told;
  }

  async #start(): Promise<void> {
    await this.#alarm.recall();
    if (!this.#stopping.signal.aborted) for (const reader of this.#readers) reader.start();
  }
}

function makeReaders(
  options: MailServiceOptions,
  messages: MessageReader,
  see: (status: MailboxStatus) => void,
): readonly MailboxReader[] {
  const { mail, log, health } = options;
  const open = folderOpener(mail, { protect: (secret) => log.protect(secret), ...options.open });
  const holder = newHolder();
  const onHealth = (status: MailboxStatus): void => {
    see(status);
    if (health !== undefined) reportHealth(health, mailboxName(mail, status.folder), status.health);
  };
  const read = (message: FetchedMail): Promise<MailMessage> => messages.read(message, mail.maxBodyChars);
  return readerFolders(mail).map(
    (folder) =>
      new MailboxReader({
        ...options,
        folder,
        holder,
        open: (signal) => open(folder, signal),
        onHealth,
        read,
      }),
  );
}

/** Tells the main session once when a login is dead, however many folders find it and however often. */
class LoginAlarm {
  readonly #options: MailServiceOptions;
  readonly #signal: AbortSignal;
  #isRaised = false;
  told: Promise<void> = Promise.resolve();

  constructor(options: MailServiceOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** A login that was dead before the restart has been told of. */
  async recall(): Promise<void> {
    const { mail, store } = this.#options;
    const names = readerFolders(mail).map((folder) => mailboxName(mail, folder));
    const records = await store.listMailboxes().catch(() => []);
    this.#isRaised = records.some(
      ({ mailbox, state }) => names.includes(mailbox) && readState(state)?.loginDeadSince !== undefined,
    );
  }

  see({ health }: MailboxStatus): void {
    if (health.state === 'connected') this.#isRaised = false;
    if (health.state !== 'authentication-dead' || this.#isRaised) return;
    this.#isRaised = true;
    this.told = this.#tell(health.since);
  }

  async #tell(since: number): Promise<void> {
    const { mail, endpoint, log } = this.#options;
    const text = `The mailbox ${mail.account} can no longer be read: its server refuses the login. New mail waits there until "sluice webhooks mail setup" has been run again.`;
    const key = `mail-login-${hash('sha256', `${mail.account}\n${String(since)}`).slice(0, 40)}`;
    while (!this.#signal.aborted) {
      try {
        const answer = await endpoint({ path: 'wake', payload: { text }, key }, this.#signal);
        if (judge(answer).kind !== 'held') return;
      } catch {
        // Asked again below.
      }
      log.warn(
        { account: mail.account },
        'the main session could not be told that a mailbox refuses the login',
      );
      await pause(TELL_EVERY_MS, this.#signal);
    }
  }
}
