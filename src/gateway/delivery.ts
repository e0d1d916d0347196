import type { OutboxRecord } from '../storage/storage.ts';
import type { ChannelAdapter, SendResult } from './channel.ts';
import { chunkText } from './channels/chunk.ts';
import { deriveSignal, within } from './timer.ts';

/** One chunk at most, whatever an adapter allows itself. */
const SEND_TIMEOUT_MS = 60_000;
/** An adapter that does not even heed the abort. */
const SEND_OVERTIME_MS = 5_000;

/** What became of one attempt at a delivery. */
export type DeliveryResult =
  | { readonly kind: 'sent'; readonly plain: boolean }
  | Exclude<SendResult, { readonly kind: 'sent' | 'refused-format' }>;

export interface SendOptions {
  readonly to: string;
  readonly signal: AbortSignal;
  /** Called after each chunk but the last, which is recorded with the delivery's end. */
  onProgress(chunksSent: number): Promise<void>;
}

/**
 * Sends the chunks of a delivery in order, from the first that has not gone out. Once the platform refuses the
 * formatting, this chunk and the rest go as plain text.
 */
export async function sendChunks(
  adapter: ChannelAdapter,
  entry: OutboxRecord,
  { to, signal, onProgress }: SendOptions,
): Promise<DeliveryResult> {
  const chunks = chunkText(entry.delivery?.text ?? '', adapter.maxChars);
  let plain = false;
  for (let index = entry.chunksSent; index < chunks.length; index += 1) {
    const message = { to, text: chunks[index] ?? '', key: `${entry.id}:${index}` };
    let result = await sendOne(adapter, { ...message, plain }, signal);
    if (result.kind === 'refused-format' && !plain) {
      plain = true;
      result = await sendOne(adapter, { ...message, plain }, signal);
    }
    if (result.kind === 'refused-format') {
      return { kind: 'failed', code: 'refused_format', message: result.message };
    }
    if (result.kind !== 'sent') return result;
    if (index + 1 < chunks.length) await onProgress(index + 1);
  }
  return { kind: 'sent', plain };
}

/** An adapter that throws or never answers may have sent the message: that is ambiguous, not a failure. */
async function sendOne(
  adapter: ChannelAdapter,
  message: Parameters<ChannelAdapter['send']>[0],
  signal: AbortSignal,
): Promise<SendResult> {
  const bounded = deriveSignal(signal, SEND_TIMEOUT_MS);
  try {
    const result = await within(adapter.send(message, bounded.signal), SEND_TIMEOUT_MS + SEND_OVERTIME_MS);
    return result ?? { kind: 'ambiguous', code: 'timeout', message: 'the channel did not answer in time' };
  } catch {
    return { kind: 'ambiguous', code: 'adapter_failed', message: 'the channel failed while it was sending' };
  } finally {
    bounded.release();
  }
}
