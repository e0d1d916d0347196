import { type DeliveryTarget, LAST_CHANNEL } from '../../../base/action.ts';
import { subjectsOfDelivery } from '../alerts.ts';
import { defined } from '../../../base/json.ts';
import {
  type NewDelivery,
  type OutboxRecord,
  recipientOf,
  type Storage,
} from '../../../engine/storage/storage.ts';
import { type CallbackResult, postCallback } from './callback.ts';
import {
  ANSWERED,
  type AttemptError,
  type DeliveryResult,
  isOfSenders,
  OF_A_FAILURE,
  type ApprovalQuestion,
  questionOf,
  sendChunks,
  TO_A_MACHINE,
} from './delivery.ts';
import { UnderWay } from '../cut-off.ts';
import { makeFailureSummary } from '../summary.ts';
import type { GatewayConfiguration } from '../gateway-base.ts';
import type { GatewayContext } from '../gateway-context.ts';
import { delayOfRepeat, MAX_RETRY_AFTER_MS, persist } from '../retry.ts';
import { resolveTarget } from '../delivery-target.ts';

const MAX_SENDING = 16;
/** How soon a delivery is due again whose recipient gets another one at present. */
const BUSY_MS = 200;

interface ResolvedDelivery {
  readonly target: { readonly channel: string; readonly to: string };
  readonly delivery: NewDelivery;
  readonly channels: GatewayConfiguration['channels'];
  readonly signal: AbortSignal;
}

/** Where the main session stands; absent where only callbacks are called. */
type LastTarget = ReturnType<Storage['findLastTarget']> | undefined;
type OutboxEnd = Parameters<Storage['completeOutbox']>[1];

const INTERRUPTED: AttemptError = { code: 'interrupted', message: 'the service ended while it was sending' };
/**
 * Brings deliveries and callbacks to their end, each with attempts of its own. Deliveries to one recipient go one
 * after the other, in their order, also where one has to be tried again: the store gives the first one alone. So a
 * claim begins what it takes, and an attempt is one that may have sent something.
 */
export class Outbox extends UnderWay<{ readonly done: Promise<void> }> {
  readonly #context: GatewayContext;
  readonly #sending = new Set<string>();
  /** Until when a platform asked for a pause; monotonic. */
  readonly #pausedUntil = new Map<string, number>();
  #isStopping = false;

  constructor(context: GatewayContext) {
    super();
    this.#context = context;
  }

  /**
   * Claims what is due. What a process that died was sending is due again too: the chunk that was under way may arrive
   * twice, the ones on record do not. Only who leads sends deliveries: so those to one recipient keep their order.
   */
  async claim(isLeader: boolean): Promise<void> {
    const limit = MAX_SENDING - this.active;
    if (limit <= 0) return;
    const { signal } = this;
    const entries = await this.#context.storage.claimOutbox({
      nowMs: this.#context.now(),
      limit,
      ...(isLeader ? {} : { kind: 'callback' as const }),
    });
    // The lease was lost meanwhile: they are taken over like any others.
    if (signal.aborted) return;
    const first = entries.find(({ kind }) => kind !== 'callback');
    // One question for all keeps their order.
    const last = first && this.#persist(first, () => this.#context.storage.findLastTarget());
    for (const entry of entries) this.#begin(entry, signal, last);
  }

  override async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    await super.stop(graceMs);
  }

  #begin(entry: OutboxRecord, signal: AbortSignal, last: LastTarget): void {
    const attempt =
      entry.kind === 'callback' ? this.#call(entry, signal) : this.#deliver(entry, signal, last);
    const { id } = entry;
    const done = this.follow(attempt, this.#context, {
      id,
      what: 'a delivery or callback',
      fields: { outboxId: id },
    });
    this.tasks.set(id, { done });
  }

  // --- deliveries ---------------------------------------------------------------------------------------------------

  async #deliver(entry: OutboxRecord, signal: AbortSignal, lastTarget: LastTarget): Promise<void> {
    const { delivery } = entry;
    if (delivery === undefined) return;
    const { settings, channels } = this.#context.configuration();
    // A delivery that has begun in one place ends there, wherever `last` leads meanwhile.
    const wanted = entry.chunksSent > 0 ? (entry.target ?? delivery) : delivery;
    const last = await lastTarget;
    const target = resolveTarget(wanted, last, settings);
    switch (target.kind) {
      case 'no-channel':
        return this.#skip(entry, delivery.channel, {
          code: 'no_channel',
          message: 'no channel is configured',
        });
      case 'problem':
        // What the main session says stays in it while no place for it is known: nobody asked to deliver it.
        if (delivery.fromMain && last === undefined) return this.#skip(entry, delivery.channel, target);
        return this.#giveUp(entry, target, { channel: target.channel, fallback: delivery.fallback });
      case 'target':
        if (target.channel === 'email' && delivery.isAutomatic === true)
          return this.#skip(entry, target.channel, TO_A_MACHINE);
        if (delivery.isOfFailure === true && isOfSenders(target, last, this.#context.configuration())) {
          // What the main session says of a failure stays with the operator.
          await this.#skip(entry, target.channel, OF_A_FAILURE);
          const fields = { outboxId: entry.id, runId: entry.runId, channel: target.channel };
          return this.#context.log.warn(fields, `a reply of the main session was ${OF_A_FAILURE.message}`);
        }
        return this.#sendInTurn(entry, { target, delivery, channels, signal });
    }
  }

  /** Sends a delivery where nothing else is being sent to its recipient, and nothing earlier waits. */
  async #sendInTurn(entry: OutboxRecord, sending: ResolvedDelivery): Promise<void> {
    const recipient = recipientOf({ ...sending.delivery, ...sending.target });
    const waitMs = this.#sending.has(recipient) ? BUSY_MS : this.#pauseOf(recipient);
    if (waitMs > 0 || this.#isStopping || sending.signal.aborted) return this.#putBack(entry, waitMs);
    this.#sending.add(recipient);
    try {
      // True where no last recipient was known, or another one is the last now.
      const isFirst =
        entry.recipient === recipient ||
        (await this.#persist(entry, () => this.#context.storage.addressOutbox(entry.id, recipient)));
      if (isFirst) await this.#send(entry, sending);
    } finally {
      this.#sending.delete(recipient);
    }
  }

  #pauseOf(recipient: string): number {
    const nowMs = performance.now();
    for (const [paused, untilMs] of this.#pausedUntil) if (untilMs <= nowMs) this.#pausedUntil.delete(paused);
    return (this.#pausedUntil.get(recipient) ?? nowMs) - nowMs;
  }

  async #skip(entry: OutboxRecord, channel: string, { code, message }: AttemptError): Promise<void> {
    await this.#complete(entry, { state: 'skipped', note: { code, message } });
    this.#count(channel, 'skipped');
  }

  async #send(entry: OutboxRecord, sending: ResolvedDelivery): Promise<void> {
    const { target, signal } = sending;
    const { asks } = sending.delivery;
    const runs = asks && (await this.#persist(entry, () => this.#context.storage.findAsked(asks)));
    if (runs?.length === 0) return this.#skip(entry, target.channel, ANSWERED);
    const { approvalLink } = this.#context.configuration();
    const result = await this.#trySend(entry, sending, runs && questionOf(runs, asks, approvalLink));
    // What is given up at once is logged there.
    if (result.kind !== 'failed') this.#logAttempt(entry, result, target.channel);
    // We ended the attempt ourselves: the next start takes it up, as it does after a kill.
    if (signal.aborted && result.kind === 'retry') return this.#putBack(entry, 0);
    if (signal.aborted && result.kind === 'ambiguous') return this.#requeue(entry, INTERRUPTED, 0);
    return this.#conclude(entry, sending, result);
  }

  async #conclude(entry: OutboxRecord, sending: ResolvedDelivery, result: DeliveryResult): Promise<void> {
    const { target, delivery } = sending;
    switch (result.kind) {
      case 'sent':
        return this.#recordSent(entry, sending, result.refusedFormat);
      case 'retry':
        if (result.retryAfterMs !== undefined) {
          const pauseMs = Math.min(result.retryAfterMs, MAX_RETRY_AFTER_MS);
          this.#pausedUntil.set(recipientOf({ ...delivery, ...target }), performance.now() + pauseMs);
        }
        return this.#repeat(entry, result, target.channel);
      case 'failed':
        return this.#giveUp(entry, result, { channel: target.channel, fallback: delivery.fallback });
      case 'ambiguous': {
        // An emoji that stands there already changes nothing.
        if (entry.kind === 'reaction') return this.#repeat(entry, result, target.channel);
        // Sending it again, here or on the fallback, could double it.
        const message = `it may or may not have arrived (${result.code}: ${result.message})`;
        return this.#giveUp(entry, { code: 'ambiguous', message }, { channel: target.channel });
      }
    }
  }

  async #recordSent(
    entry: OutboxRecord,
    { target: { channel, to }, delivery }: ResolvedDelivery,
    refusedFormat: boolean,
  ): Promise<void> {
    const note = { code: 'plain_text', message: 'the channel refused the formatting' };
    await this.#complete(entry, {
      state: 'completed',
      target: { channel, to },
      ...(refusedFormat && { note }),
      ...(delivery.fromMain && { lastTarget: { channel, to } }),
    });
    this.#count(channel, 'sent');
    if (entry.kind === 'reaction') return;
    for (const subject of subjectsOfDelivery(entry, channel)) this.#context.alerts.worked(subject);
  }

  async #trySend(
    entry: OutboxRecord,
    { target, channels, signal }: ResolvedDelivery,
    question: ApprovalQuestion | undefined,
  ): Promise<DeliveryResult> {
    const { channel, to } = target;
    let adapter;
    try {
      adapter = await channels.find(channel);
    } catch (error) {
      // Nothing was sent, and the next attempt opens it anew.
      const message = error instanceof Error ? error.message : 'it could not be opened';
      return { kind: 'retry', code: 'not_opened', message };
    }
    if (adapter === undefined) {
      const message = `channel ${channel} has no settings: add channels.${channel}`;
      return { kind: 'failed', code: 'not_configured', message };
    }
    const onProgress = async (chunksSent: number): Promise<void> => {
      await this.#persist(entry, () =>
        this.#context.storage.recordProgress(entry.id, { chunksSent, target: { channel, to } }),
      );
    };
    const traced = this.#trace(entry, channel);
    const result = await sendChunks(adapter, entry, { to, question, signal, onProgress });
    traced?.end({ result: result.kind, ...('code' in result && { failure: result.code }) });
    return result;
  }

  // --- callbacks ----------------------------------------------------------------------------------------------------

  async #call(entry: OutboxRecord, signal: AbortSignal): Promise<void> {
    if (entry.callback === undefined) return;
    if (signal.aborted) return this.#putBack(entry, 0);
    const { settings, readReference } = this.#context.configuration();
    const traced = this.#trace(entry);
    const callback = { ...entry.callback, ...defined({ traceparent: traced?.traceparent }) };
    const result = await postCallback(callback, {
      id: entry.id,
      secret: settings.gateway.callbackSecret,
      readReference,
      // Receivers compare it with their own clock; that of the schedule may be ahead.
      nowMs: Date.now(),
      signal,
    });
    traced?.end({ result: result.kind, ...('code' in result && { failure: result.code }) });
    this.#logAttempt(entry, result);
    if (result.kind === 'failed') {
      if (signal.aborted && !result.final) return this.#requeue(entry, INTERRUPTED, 0);
      return this.#repeat(entry, result, 'callback');
    }
    await this.#complete(entry, { state: 'completed' });
    this.#count('callback', 'sent');
  }

  #trace({ runId, attempts: attempt, delivery, callback }: OutboxRecord, channel?: string) {
    const traceparent = (delivery ?? callback)?.traceparent;
    return this.#context.tracing?.send({ runId, attempt, ...defined({ channel, traceparent }) });
  }

  // --- ends ---------------------------------------------------------------------------------------------------------

  #logAttempt(entry: OutboxRecord, result: DeliveryResult | CallbackResult, channel?: string): void {
    const { id: outboxId, runId, attempts: attempt } = entry;
    const fields = { outboxId, runId, channel, attempt, result: result.kind };
    if (!('code' in result)) return this.#context.log.info(fields, `${entry.kind} attempted`);
    const { code, message } = result;
    const reason = message.split('\n', 1)[0];
    this.#context.log.warn({ ...fields, code, reason }, `${entry.kind} failed`);
  }

  #count(channel: string, result: 'sent' | 'skipped' | 'dead' | 'repeated'): void {
    this.#context.metrics?.observeDelivery({ channel, result });
  }

  async #complete(entry: OutboxRecord, end: Omit<OutboxEnd, 'nowMs'>): Promise<void> {
    await this.#persist(entry, (nowMs) => this.#context.storage.completeOutbox(entry.id, { ...end, nowMs }));
  }

  async #repeat(
    entry: OutboxRecord,
    error: AttemptError & { readonly final?: boolean; readonly retryAfterMs?: number },
    channel: string,
  ): Promise<void> {
    const { final, retryAfterMs } = error;
    const delayMs = delayOfRepeat(this.#context.retry.outbox, entry.attempts, {
      random: this.#context.random(),
      ...defined({ final, retryAfterMs }),
    });
    if (delayMs === undefined)
      return this.#giveUp(entry, error, { channel, fallback: entry.delivery?.fallback });
    await this.#requeue(entry, error, delayMs);
    this.#count(channel, 'repeated');
  }

  async #requeue(entry: OutboxRecord, { code, message }: AttemptError, delayMs: number): Promise<void> {
    await this.#persist(entry, (nowMs) =>
      this.#context.storage.requeueOutbox(entry.id, { code, message, retryAt: nowMs + delayMs, nowMs }),
    );
  }

  /** Puts back a delivery of which nothing was sent: that is no attempt. */
  async #putBack(entry: OutboxRecord, delayMs: number): Promise<void> {
    await this.#persist(entry, (nowMs) => this.#context.storage.putBackOutbox(entry.id, nowMs + delayMs));
  }

  /** `channel` is the one that was tried; undefined where `last` led to none. */
  async #giveUp(
    entry: OutboxRecord,
    { code, message }: AttemptError,
    {
      channel: tried,
      fallback,
    }: { readonly channel: string | undefined; readonly fallback?: DeliveryTarget | undefined },
  ): Promise<void> {
    const channel = tried ?? LAST_CHANNEL;
    const reason = message.split('\n', 1)[0] ?? '';
    const fields = { outboxId: entry.id, runId: entry.runId, channel, code, reason };
    const error = { code, message };
    if (entry.kind === 'reaction') {
      // Nobody waits for an emoji: the run goes on without it.
      this.#context.log.warn(fields, 'reaction left out');
      return this.#skip(entry, channel, error);
    }
    const run = await this.#persist(entry, () => this.#context.storage.findRun(entry.runId));
    const summary = makeFailureSummary(entry, run, { error, fallback });
    const end = { error, ...summary, ...fallbackPart(entry, fallback) };
    await this.#persist(entry, (nowMs) =>
      this.#context.storage.deadLetterOutbox(entry.id, { ...end, nowMs }),
    );
    this.#count(channel, 'dead');
    this.#context.log.error(fields, `${entry.kind} given up`);
    if (entry.kind === 'delivery')
      this.#context.alerts.failed(subjectsOfDelivery(entry, tried), `${code}: ${reason}`);
  }

  async #persist<T>(entry: OutboxRecord, write: (nowMs: number) => Promise<T>): Promise<T> {
    return persist(this.#context, { what: `${entry.kind} ${entry.id}`, signal: this.ended }, () =>
      write(this.#context.now()),
    );
  }
}

/** The same text for the fallback, where there is one. */
function fallbackPart(
  { delivery }: OutboxRecord,
  target: DeliveryTarget | undefined,
): { readonly fallback?: NewDelivery } {
  if (target === undefined || delivery === undefined) return {};
  const { text, plain, isAutomatic, traceparent } = delivery;
  return { fallback: { ...target, text, fromMain: false, ...defined({ plain, isAutomatic, traceparent }) } };
}
