/*
 * Messages to the operator (`gateway.alerts`): one when a runner, a channel or a mapping keeps failing, and one when it
 * is well again. They go straight to the channel, past the outbox, which may be what fails. What has failed so far is
 * known to this process only: after a restart it is counted anew.
 */
import type { WakeAction } from '../../base/action.ts';
import { defined } from '../../base/json.ts';
import { sendChunks } from './outbox/delivery.ts';
import type { GatewayBase } from './gateway-base.ts';
import { codeOf } from '../../base/telemetry/telemetry.ts';

/** A thing that can fail; the operator chose its name. */
export interface AlertSubject {
  readonly kind: 'runner' | 'channel' | 'mapping' | 'delivery of mapping' | 'delivery' | 'webhook' | 'sender';
  readonly name: string;
}

/** The channel that a delivery led to, and its mapping: the channel may be well while one mapping delivers to nobody. */
export function subjectsOfDelivery(
  { mappingId }: { readonly mappingId: string },
  channel: string | undefined,
): readonly AlertSubject[] {
  return [
    ...(channel === undefined ? [] : [{ kind: 'channel', name: channel } as const]),
    mappingId === ''
      ? { kind: 'delivery', name: 'without a mapping' }
      : { kind: 'delivery of mapping', name: mappingId },
  ];
}

/** Puts a line about the service itself into the main session, which reads it in its next turn. */
export async function tellMainSession(
  { storage, now, nonce }: Pick<GatewayBase, 'storage' | 'now' | 'nonce'>,
  text: string,
  { dedupe, ...about }: Pick<WakeAction, 'dedupe'> & Partial<WakeAction['origin']>,
): Promise<void> {
  const id = nonce();
  const origin = { requestId: id, path: 'gateway', trusted: false, ...about };
  const action: WakeAction = {
    kind: 'wake',
    id,
    text,
    mode: 'next-heartbeat',
    origin,
    ...defined({ dedupe }),
  };
  await storage.accept({ requestId: id, receivedAt: now(), actions: [action], warnings: [] });
}

/** How many subjects are watched; further ones are not. */
const MAX_SUBJECTS = 1_000;
const SEND_TIMEOUT_MS = 60_000;

interface Failures {
  readonly subject: string;
  count: number;
  reason: string;
  /** The reason that was reported to the operator; undefined where none was. */
  reported?: string;
}

export class Alerts {
  readonly #context: Pick<GatewayBase, 'configuration' | 'log' | 'nonce'>;
  readonly #failing = new Map<string, Failures>();
  /** Alerts go one after the other, so that "well again" never overtakes. */
  #sending: Promise<void> = Promise.resolve();

  constructor(context: Pick<GatewayBase, 'configuration' | 'log' | 'nonce'>) {
    this.#context = context;
  }

  /**
   * Notes a failure with its reason, in words that may leave the service. One cause is one message: it names
   * the first subject that is due (the runner, or the mapping whose run it was). `isAtOnce`: however often it failed.
   */
  failed(
    subjects: readonly AlertSubject[],
    reason: string,
    { isAtOnce = false }: { readonly isAtOnce?: boolean } = {},
  ): void {
    const failing = subjects.flatMap((subject) => this.#count(subject, reason) ?? []);
    const { alerts } = this.#context.configuration().settings.gateway;
    if (alerts === undefined || failing.some(({ reported }) => reported === reason)) return;
    const due = failing.find(
      ({ reported, count }) => reported === undefined && (isAtOnce || count >= alerts.after),
    );
    if (due === undefined) return;
    due.reported = reason;
    const times = due.count === 1 ? 'once' : `${due.count} times in a row`;
    this.#send(`Sluice: ${due.subject} has failed ${times}: ${reason}`);
  }

  #count({ kind, name }: AlertSubject, reason: string): Failures | undefined {
    const subject = `${kind} ${name}`;
    const known = this.#failing.get(subject) ?? { subject, count: 0, reason };
    if (!this.#failing.has(subject) && this.#failing.size >= MAX_SUBJECTS) return undefined;
    known.count += 1;
    known.reason = reason;
    this.#failing.set(subject, known);
    return known;
  }

  /** Whether the last failure of a subject had this reason. */
  hasFailed({ kind, name }: AlertSubject, reason: string): boolean {
    return this.#failing.get(`${kind} ${name}`)?.reason === reason;
  }

  worked({ kind, name }: AlertSubject): void {
    const key = `${kind} ${name}`;
    const known = this.#failing.get(key);
    if (known === undefined) return;
    this.#failing.delete(key);
    if (known.reported !== undefined) this.#send(`Sluice: ${key} works again.`);
  }

  /** Resolves when all messages so far have gone out, or failed. */
  settled(): Promise<void> {
    return this.#sending;
  }

  #send(text: string): void {
    this.#sending = this.#sending.then(() => this.#deliver(text));
  }

  async #deliver(text: string): Promise<void> {
    const { settings, channels } = this.#context.configuration();
    const { alerts } = settings.gateway;
    if (alerts === undefined) return;
    try {
      const adapter = await channels.find(alerts.channel);
      if (adapter === undefined) throw new Error('not_configured');
      const delivery = { channel: alerts.channel, text, fromMain: false };
      const entry = { id: this.#context.nonce(), chunksSent: 0, delivery };
      const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
      const result = await sendChunks(adapter, entry, { to: alerts.to, signal, onProgress: async () => {} });
      if (result.kind !== 'sent')
        this.#context.log.error({ channel: alerts.channel, code: result.code }, 'an alert was not delivered');
    } catch (error) {
      this.#context.log.error({ channel: alerts.channel, code: codeOf(error) }, 'an alert was not delivered');
    }
  }
}
