import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pause } from '../timers/timers.ts';
import { mailboxName } from './identity.ts';
import { logHealth, type MailboxStatus, type MailHealth, reportHealth } from './mailbox-health.ts';
import type { MailService, MailServiceOptions } from './mail-service.ts';
import { readerFolders } from './open-source.ts';
import { type FromReader, type StoreCall, TOO_LARGE, type ToReader } from './reader-messages.ts';
import { growingDelay, READER_TIMES } from './reader-times.ts';

const ENTRY = fileURLToPath(new URL(`reader-program${extname(import.meta.url)}`, import.meta.url));
/** Of the reader's heap, in MB: it holds eight messages of 1 MB at most, and answers of 8 MB. */
const HEAP_MB = 256;
const PING_MS = 1_000;
/** Pings without an answer until a reader is taken for stuck; one that starts on a busy machine needs some seconds. */
const PINGS_UNTIL_STUCK = 20;
/** A delivery that was sent is waited for this long when the service stops. */
const STOP_MS = 15_000;
/** Messages remembered because a reader ended while it had them. */
const MAX_DEADLY = 1_000;

/**
 * The reader of a mailbox in a process of its own: what a stranger wrote is parsed there, and whatever that costs, the
 * service goes on. Store, door, log and health are the service's: the reader asks for them over a channel, and ends
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
  #child: ChildProcess | undefined;
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
    const child = fork(ENTRY, {
      execArgv: [`--max-old-space-size=${String(HEAP_MB)}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child = child;
    this.#fetching.clear();
    this.#hasPassed = false;
    let reason: string | undefined;
    let unanswered = 0;
    const end = (why: string): void => {
      reason ??= why;
      child.kill('SIGKILL');
    };
    child.on('message', (message: FromReader) => {
      unanswered = 0;
      this.#receive(child, message);
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
      const how = await endOf(child);
      return reason ?? how;
    } finally {
      this.#child = undefined;
      ended.abort();
      clearInterval(pinging);
      signal.removeEventListener('abort', stop);
    }
  }

  #send(message: ToReader, child = this.#child): void {
    // A channel that breaks ends the reader, and that is heard of.
    if (child?.connected === true) child.send(message, () => undefined);
  }

  #receive(child: ChildProcess, message: FromReader): void {
    const { log, health } = this.#options;
    switch (message.kind) {
      case 'call':
        if (message.ask === 'passMail') this.#hasPassed = true;
        void this.#answer(message).then((answer) => this.#send(answer, child));
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
    const { door, store } = this.#options;
    try {
      const value =
        ask === 'door'
          ? await door(args[0], this.#stopping.signal)
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
    const figures = { delivered: 0, setAside: 0, filtered: 0 };
    return readerFolders(mail).map((folder) => ({ account: mail.account, folder, health, figures }));
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      const isLarge = code === TOO_LARGE || signal === 'SIGABRT';
      resolve(isLarge ? 'it took more memory than it may' : (signal ?? `exit code ${String(code)}`));
    });
  });
}
