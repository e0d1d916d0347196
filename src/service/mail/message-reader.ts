import { extname } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { Log } from '../../base/telemetry/telemetry.ts';
import { askThread, startThread } from '../../base/timers/timers.ts';
import { MailFailure } from './mail-failure.ts';
import { bodiless, type MailMessage } from './message-payload.ts';
import type { ReadRequest } from './message-thread.ts';
import type { FetchedMail } from './source.ts';

/** What reading one message may take. */
export interface MessageLimits {
  /** Processor time, so that a busy machine takes no message for a hostile one. */
  readonly cpuMs: number;
  readonly memoryMb: number;
}

/** A message of 1 MB takes 0.2 s and 30 MB; what takes so much more was made to. */
export const MESSAGE_LIMITS: MessageLimits = { cpuMs: 3_000, memoryMb: 128 };

const ENTRY = new URL(`message-thread${extname(import.meta.url)}`, import.meta.url);

/** Reads messages in a thread of its own, which is ended where one takes more than it may: only its header is read then. */
export class MessageReader {
  readonly #log: Pick<Log, 'warn'>;
  readonly #limits: MessageLimits;
  #thread: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(log: Pick<Log, 'warn'>, limits: MessageLimits = MESSAGE_LIMITS) {
    this.#log = log;
    this.#limits = limits;
  }

  /** One message at a time. @throws MailFailure where no thread can be started */
  read(mail: FetchedMail, maxBodyChars: number): Promise<MailMessage> {
    const reading = this.#last.then(() => this.#read({ mail, maxBodyChars }));
    this.#last = reading.catch(() => undefined);
    return reading;
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  async #read(request: ReadRequest): Promise<MailMessage> {
    if (request.mail.headerOnly === true) return bodiless(request.mail);
    const thread = (this.#thread ??= await this.#start());
    const { cpuMs, memoryMb } = this.#limits;
    const message = await askThread<MailMessage>(thread, request, { cpuMs, growthMb: memoryMb });
    if (message !== undefined) return message;
    await this.stop();
    const { id, identity, sizeBytes } = request.mail;
    this.#log.warn(
      { id, identity, sizeBytes },
      `a message took more than ${String(cpuMs / 1000)} s or ${String(memoryMb)} MB to read; it is delivered without its body`,
    );
    return bodiless(request.mail);
  }

  async #start(): Promise<Worker> {
    const thread = await startThread(ENTRY, { name: 'mail', memoryMb: this.#limits.memoryMb });
    if (thread === undefined) {
      throw new MailFailure('connection', 'no thread can be started to read messages in');
    }
    return thread;
  }
}
