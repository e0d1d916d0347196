import { type ChildProcess, fork } from 'node:child_process';
import { getPriority, setPriority } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../base/errors.ts';
import { defined } from '../../base/json.ts';
import { processorMsOf, stateOf } from '../../base/process-use.ts';
import { DEATHS_UNTIL_HEADER_ONLY } from './fetch-attempts.ts';
import type { MailBlock } from '../../engine/config/config.ts';
import type { HealthReporter } from '../../base/telemetry/telemetry.ts';
import { pause } from '../../base/timers/timers.ts';
import { mailboxName } from './identity.ts';
import { NOTHING_READ, type MailboxStatus, type MailHealth, reportHealth } from './mailbox-health.ts';
import type { MailServiceOptions } from './mail-service.ts';
import { readerFolders } from './open-source.ts';
import type { FromReader, ReaderCall, ReaderStart, ToReader } from './reader-messages.ts';
import { growingDelay, READER_TIMES } from './reconnection.ts';

export interface MessageLimits {
  /** Processor time, so that no message looks hostile on a busy machine. */
  readonly cpuMs: number;
  readonly memoryMb: number;
}

/** A message of 1 MB takes 0.2 s and 30 MB; one that takes so much more was made to do so. */
export const MESSAGE_LIMITS: MessageLimits = { cpuMs: 3_000, memoryMb: 128 };

const ENTRY = fileURLToPath(new URL(`reader-program${extname(import.meta.url)}`, import.meta.url));
/** The reader's heap has eight messages of 1 MB at most, and answers of 8 MB. */
const HEAP_MB = 256;
/** The memory of the whole reader. */
const MAX_RESIDENT_BYTES = 512 * 1024 * 1024;
const LOOK_MS = 250;
/** A reader says something every second, but needs longer to start on a busy machine. */
const LOOKS_UNTIL_STUCK = 80;
/** A delivery that was sent is waited for this long when the service stops. */
const STOP_MS = 15_000;
/** Added to the niceness of the service: a tenth of the processor where both want it. */
const BEHIND = 10;

export interface MailProcessOptions extends Omit<
  MailServiceOptions,
  'mail' | 'open' | 'lookUp' | 'watch' | 'onChange'
> {
  readonly mail?: MailBlock;
  /** Where mailboxes in trouble are reported. */
  readonly health: HealthReporter;
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

  get figures() {
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
      // A reader that passed some messages and ends over one must not delay the others for minutes.
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
    this.statuses = statuses;
    for (const { folder, health } of statuses)
      reportHealth(this.#options.health, mailboxName(mail, folder), health);
  }

  /** Gives all folders of the mailbox this state, as no reader is there to report it. */
  #become(mail: MailBlock, health: MailHealth): void {
    const about = { account: mail.account, health, figures: NOTHING_READ };
    const statuses = readerFolders(mail).map((folder) => ({ ...about, folder }));
    this.#take(mail, statuses);
  }
}

interface ReaderProcessOptions extends Pick<MailServiceOptions, 'store' | 'endpoint' | 'log'> {
  readonly start: ReaderStart;
  readonly messageLimits?: MessageLimits | undefined;
  readonly onStatuses: (statuses: readonly MailboxStatus[]) => void;
}

type StoreCall = (...args: readonly unknown[]) => Promise<unknown>;

/** One process that reads a mailbox, from its start to its end. */
class ReaderProcess {
  /** Why it ended; rejects where the system starts no process. */
  readonly ended: Promise<string>;
  /** Whether it has come as far as to offer a message, or to have done with one. */
  hasPassed = false;
  /** Whether it was ended because of a message, of which the next one reads the header only. */
  isOverMessage = false;
  readonly #options: ReaderProcessOptions;
  readonly #signal: AbortSignal;
  #child: ChildProcess | undefined;
  readonly #fetching = new Map<string, string>();
  /** The message that is being read, with what the process had taken before. */
  #reading: (ProcessUse & { readonly mailbox: string; readonly identity: string }) | undefined;
  #looksSinceHeard = 0;
  #reason: string | undefined;

  constructor(options: ReaderProcessOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.ended = this.#run();
  }

  send(message: ToReader): void {
    // A channel that breaks ends the reader, whose end is noticed.
    this.#child?.send(message, () => undefined);
  }

  async #run(): Promise<string> {
    const child = fork(ENTRY, {
      execArgv: [`--max-old-space-size=${String(HEAP_MB)}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const how = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${String(code)}`));
    });
    // A process without a pid was not started, and has no channel.
    if (child.pid === undefined) return how;
    this.#child = child;
    putBehind(child.pid);
    child.on('message', (message: FromReader) => this.#receive(message));
    this.send({ kind: 'start', start: this.#options.start });
    return this.#untilEnd(how);
  }

  async #untilEnd(ending: Promise<string>): Promise<string> {
    const ended = new AbortController();
    const stop = (): void => {
      this.send({ kind: 'stop' });
      void pause(STOP_MS, ended.signal).then(() => this.#end('it did not stop'));
    };
    this.#signal.addEventListener('abort', stop, { once: true });
    const looks = setInterval(() => this.#look(), LOOK_MS);
    const how = await ending;
    clearInterval(looks);
    this.#signal.removeEventListener('abort', stop);
    ended.abort();
    if (!this.#signal.aborted) this.#blame();
    return this.#reason ?? how;
  }

  #end(reason: string): void {
    this.#reason ??= reason;
    this.#child?.kill('SIGKILL');
  }

  #look(): void {
    this.#looksSinceHeard += 1;
    if (this.#looksSinceHeard > LOOKS_UNTIL_STUCK) this.#end('it did not answer');
    const { messageLimits: limits = MESSAGE_LIMITS, log } = this.#options;
    const before = this.#reading;
    if (before === undefined || this.isOverMessage) return;
    // Where the system does not say it, a message takes too much when the reader does not answer any more.
    const now = useOf(this.#child?.pid);
    const growthMb = (now.rssBytes - before.rssBytes) / 1024 / 1024;
    if (now.cpuMs - before.cpuMs <= limits.cpuMs && growthMb <= limits.memoryMb) return;
    this.isOverMessage = true;
    log.warn(
      { mailbox: before.mailbox, identity: before.identity },
      `a message took more than ${String(limits.cpuMs / 1000)} s or ${String(limits.memoryMb)} MB to read; it is delivered without its body`,
    );
    this.#end('a message took more than it may');
  }

  #receive(message: FromReader): void {
    const { log, onStatuses } = this.#options;
    this.#looksSinceHeard = 0;
    switch (message.kind) {
      case 'call':
        return void this.#answer(message);
      case 'statuses':
        if (message.rssBytes > MAX_RESIDENT_BYTES) return this.#end('it took more memory than it may');
        return onStatuses(message.statuses);
      case 'log':
        return log[message.level](message.fields, message.text);
      case 'protect':
        return log.protect(message.secret);
      case 'fetching':
        return void this.#fetching.set(message.mailbox, message.identity);
      case 'reading':
        this.#reading = { ...message, ...useOf(this.#child?.pid) };
        return;
      case 'read':
        this.#reading = undefined;
    }
  }

  async #answer({ id, ask, args }: { readonly id: number } & ReaderCall): Promise<void> {
    const { endpoint, store } = this.#options;
    if (ask === 'endpoint' || ask === 'passMail') this.hasPassed = true;
    try {
      const value =
        ask === 'endpoint' ? await endpoint(args[0], this.#signal) : await (store[ask] as StoreCall)(...args);
      this.send({ kind: 'answer', id, value });
    } catch (error) {
      this.send({ kind: 'answer', id, error: messageOf(error) });
    }
  }

  /** Notes with which message the reader ended: the one that it was reading, else those that it was fetching. */
  #blame(): void {
    const { deaths } = this.#options.start;
    const reading = this.#reading;
    const blamed = reading === undefined ? this.#fetching : new Map([[reading.mailbox, reading.identity]]);
    for (const [mailbox, identity] of blamed) {
      const before = deaths.get(mailbox);
      const count = before?.identity === identity ? before.count : 0;
      deaths.set(mailbox, { identity, count: count + (this.isOverMessage ? DEATHS_UNTIL_HEADER_ONLY : 1) });
    }
  }
}

interface ProcessUse {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

function useOf(pid: number | undefined): ProcessUse {
  return { cpuMs: processorMsOf(pid) ?? 0, rssBytes: stateOf(pid)?.rssBytes ?? 0 };
}

/** Gives the reader a lower priority than the service. */
function putBehind(pid: number): void {
  try {
    setPriority(pid, Math.min(19, getPriority() + BEHIND));
  } catch {
    // The process has ended, or a container forbids the call.
  }
}
