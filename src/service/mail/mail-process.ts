import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { pause } from '../../base/timers/timers.ts';
import { mailboxName } from './identity.ts';
import {
  logHealth,
  NOTHING_READ,
  type MailboxStatus,
  type MailHealth,
  reportHealth,
} from './mailbox-health.ts';
import type { MailService, MailServiceOptions } from './mail-service.ts';
import { readerFolders } from './open-source.ts';
import type { FromReader, FromThread, StoreCall, ToReader, ToThread } from './reader-messages.ts';
import { growingDelay, READER_TIMES } from './reader-times.ts';

const ENTRY = new URL(`reader-thread${extname(import.meta.url)}`, import.meta.url);
const PING_MS = 1_000;
/** Pings without an answer until a reader is taken for stuck; one that starts on a busy machine needs some seconds. */
const PINGS_UNTIL_STUCK = 20;
/** A delivery that was sent is waited for this long when the service stops. */
const STOP_MS = 15_000;
/** Messages remembered because a reader ended while it had them. */
const MAX_DEADLY = 1_000;

/**
 * The reader of a mailbox in a process of its own: what a stranger wrote is parsed there, and whatever that costs, the
 * service goes on. Store, endpoint, log and health are the service's: the reader asks for them over a channel, and ends
 * with it. Where it ends, is stuck or takes too much memory, it is started again.
 */
export class MailProcess implements MailService {
  readonly #options: MailServiceOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  /** What each mailbox was fetching last, and how many readers ended with a message. */
  readonly #fetching = new Map<string, string>();
  readonly #deaths = new Map<string, number>();
  statuses: readonly MailboxStatus[];
  #reader: Worker | undefined;
  /** Whether this reader has done with a message. */
  #hasPassed = false;

  constructor(options: MailServiceOptions) {
    this.#options = options;
    this.statuses = this.#allIn({ state: 'connecting', since: Date.now() });
    this.#running = this.#run();
  }

  wake(): void {
    this.#send({ kind: 'wake' });
  }

  lookAtStore(): void {
    this.#send({ kind: 'look' });
  }

  async stop(): Promise<void> {
    if (!this.#stopping.signal.aborted) this.#send({ kind: 'stop' });
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { firstRetryMs: firstMs, maxRetryMs: maxMs, settledMs } = READER_TIMES;
    for (let attempts = 1; !signal.aborted; attempts += 1) {
      const startedAt = performance.now();
      const reason = await this.#runOnce(signal);
      if (signal.aborted) break;
      // One that ends over a message and has done with others before must not keep those behind it for minutes.
      if (this.#hasPassed || performance.now() - startedAt > settledMs) attempts = 1;
      const delayMs = growingDelay(attempts, { firstMs, maxMs });
      this.#noteDeath();
      const since = Date.now();
      this.#report({
        state: 'backing-off',
        since,
        reason: `the process that reads the mailbox ended: ${reason}`,
        attempts,
        retryAt: since + delayMs,
      });
      await pause(delayMs, signal);
    }
    this.#report({ state: 'stopped', since: Date.now() });
  }

  /** One reader from its start to its end; why it ended. */
  async #runOnce(signal: AbortSignal): Promise<string> {
    const reader = new Worker(ENTRY, { name: 'mailbox' });
    this.#reader = reader;
    this.#fetching.clear();
    this.#hasPassed = false;
    let reason: string | undefined;
    let unanswered = 0;
    const end = (why: string): void => {
      reason ??= why;
      this.#send({ kind: 'kill' }, reader);
    };
    const how = new Promise<string>((resolve) => {
      reader.on('message', (message: FromThread) => {
        unanswered = 0;
        if (message.kind === 'ended') resolve(message.reason);
        else this.#receive(reader, message);
      });
      reader.once('error', (error: Error) => resolve(error.message));
      reader.once('exit', () => resolve('its thread ended'));
    });
    const { mail, sinceMs, times, open, messageLimits } = this.#options;
    const { clock: _clock, protect: _protect, ...sent } = open ?? {};
    const start = { mail, sinceMs, times, open: sent, messageLimits, deaths: this.#deaths };
    this.#send({ kind: 'start', start });
    const pinging = setInterval(() => {
      unanswered += 1;
      if (unanswered > PINGS_UNTIL_STUCK) end('it did not answer');
      this.#send({ kind: 'ping' });
    }, PING_MS);
    const stop = (): void => void pause(STOP_MS, ended.signal).then(() => end('it did not stop'));
    const ended = new AbortController();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const ending = await how;
      return reason ?? ending;
    } finally {
      this.#reader = undefined;
      ended.abort();
      clearInterval(pinging);
      signal.removeEventListener('abort', stop);
    }
  }

  #send(message: ToThread, reader = this.#reader): void {
    reader?.postMessage(message);
  }

  #receive(reader: Worker, message: FromReader): void {
    const { log, health } = this.#options;
    switch (message.kind) {
      case 'call':
        if (message.ask === 'passMail') this.#hasPassed = true;
        void this.#answer(message).then((answer) => this.#send(answer, reader));
        return;
      case 'statuses':
        this.statuses = message.statuses;
        return;
      case 'log':
        log[message.level](message.fields, message.text);
        return;
      case 'protect':
        log.protect(message.secret);
        return;
      case 'raise':
        health?.raise(message.trouble);
        return;
      case 'clear':
        health?.clear(message.which);
        return;
      case 'fetching':
        this.#fetching.set(message.mailbox, message.identity);
    }
  }

  async #answer({ id, ask, args }: Extract<FromReader, { kind: 'call' }>): Promise<ToReader> {
    const { endpoint, store } = this.#options;
    try {
      const value =
        ask === 'endpoint'
          ? await endpoint(args[0], this.#stopping.signal)
          : await (store[ask] as StoreCall)(...args);
      return { kind: 'answer', id, value };
    } catch (error) {
      return { kind: 'answer', id, error: error instanceof Error ? error.message : String(error) };
    }
  }

  #noteDeath(): void {
    for (const [mailbox, identity] of this.#fetching) {
      const key = `${mailbox}\n${identity}`;
      if (this.#deaths.size >= MAX_DEADLY) this.#deaths.clear();
      this.#deaths.set(key, (this.#deaths.get(key) ?? 0) + 1);
    }
  }

  #report(state: MailHealth): void {
    const { health, log, mail } = this.#options;
    this.statuses = this.#allIn(state);
    for (const { folder } of this.statuses) {
      const name = mailboxName(mail, folder);
      logHealth(log, name, state);
      if (health !== undefined) reportHealth(health, name, state);
    }
  }

  #allIn(health: MailHealth): readonly MailboxStatus[] {
    const { mail } = this.#options;
    const { account } = mail;
    return readerFolders(mail).map((folder) => ({ account, folder, health, figures: NOTHING_READ }));
  }
}
