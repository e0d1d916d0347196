import assert from 'node:assert/strict';
import { defined } from '../../../base/json.ts';
import { buildQuestion } from '../../../base/boundary/boundary.ts';
import type { AgentRun, NewDelivery, OutboxRecord } from '../../../engine/storage/storage.ts';
import { type ChannelAdapter, type SendResult, chunkText } from '../../channels/channels.ts';
import { deriveSignal, within } from '../../../base/timers/timers.ts';
import type { DeliveryTarget } from '../../../base/action.ts';
import { resolveTarget } from '../delivery-target.ts';
import type { GatewayConfiguration } from '../gateway-base.ts';

/** The longest time for one chunk, whatever an adapter allows itself. */
const SEND_TIMEOUT_MS = 60_000;
/** How long an adapter that ignores the abort is waited for. */
const SEND_OVERTIME_MS = 5_000;

export type DeliveryResult =
  /** `messageId` is the platform's id of the last message, where it gave one. */
  | { readonly kind: 'sent'; readonly refusedFormat: boolean; readonly messageId?: string }
  | Exclude<SendResult, { readonly kind: 'sent' | 'refused-format' }>;

export interface SendOptions {
  readonly to: string;
  readonly question?: ApprovalQuestion | undefined;
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
  entry: Pick<OutboxRecord, 'id' | 'chunksSent' | 'delivery'> & { readonly runId?: string },
  { to, question, signal, onProgress }: SendOptions,
): Promise<DeliveryResult> {
  const isPlain = entry.delivery?.plain === true;
  // Escaped for the platform, each character may become two.
  const maxChars = isPlain ? Math.max(2, Math.floor(adapter.maxChars / 2)) : adapter.maxChars;
  const chunks = chunkText(question?.(maxChars) ?? entry.delivery?.text ?? '', maxChars);
  let plain = isPlain;
  let messageId: string | undefined;
  for (let index = entry.chunksSent; index < chunks.length; index += 1) {
    const { id, runId, delivery } = entry;
    const origin = defined({ runId, thread: delivery?.thread, reaction: delivery?.reaction });
    const message = { to, text: chunks[index] ?? '', key: `${id}:${index}`, ...origin };
    let result = await sendOne(adapter, { ...message, plain }, signal);
    if (result.kind === 'refused-format' && !plain) {
      plain = true;
      result = await sendOne(adapter, { ...message, plain }, signal);
    }
    if (result.kind === 'refused-format') {
      return { kind: 'failed', code: 'refused_format', message: result.message };
    }
    if (result.kind !== 'sent') return result;
    ({ messageId } = result);
    if (index + 1 < chunks.length) await onProgress(index + 1);
  }
  return { kind: 'sent', refusedFormat: plain && !isPlain, ...defined({ messageId }) };
}

/** An adapter that throws or never answers may have sent the message: that is ambiguous, not a failure. */
async function sendOne(
  adapter: ChannelAdapter,
  message: Parameters<ChannelAdapter['send']>[0],
  signal: AbortSignal,
): Promise<SendResult> {
  using bounded = deriveSignal(signal, SEND_TIMEOUT_MS);
  try {
    const sending = adapter.send(message, bounded.signal).then(readResult);
    const result = await within(sending, SEND_TIMEOUT_MS + SEND_OVERTIME_MS);
    return result ?? { kind: 'ambiguous', code: 'timeout', message: 'the channel did not answer in time' };
  } catch {
    return { kind: 'ambiguous', code: 'adapter_failed', message: 'the channel failed while it was sending' };
  }
}

const MAX_CODE_CHARS = 64;
const MAX_MESSAGE_CHARS = 500;

/** What an adapter answered, checked against its type, which a plugin may break: an answer that is none says nothing. */
function readResult(given: unknown): SendResult {
  const { kind, code, message, messageId, retryAfterMs } = (given ?? {}) as Record<string, unknown>;
  const why = {
    code: typeof code === 'string' && code !== '' ? code.slice(0, MAX_CODE_CHARS) : 'unknown',
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_CHARS) : 'the channel gave no reason',
  };
  switch (kind) {
    case 'sent':
      return typeof messageId === 'string' ? { kind, messageId } : { kind };
    case 'retry':
      return typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs)
        ? { kind, ...why, retryAfterMs }
        : { kind, ...why };
    case 'refused-format':
      return { kind, message: why.message };
    case 'failed':
    case 'ambiguous':
      return { kind, ...why };
    default:
      return { kind: 'ambiguous', code: 'adapter_failed', message: 'the channel gave no result' };
  }
}

/** Most letters of the request that a message shows: more would hide how to answer. */
const MAX_ASKED_LETTERS = 1_500;
const MIN_ASKED_LETTERS = 50;

/** Makes a message of at most this length. It is never stored, as it has the link. */
export type ApprovalQuestion = (maxChars: number) => string;

/**
 * The message that asks whether runs of a request begin: what they read, the link, where the service has a public
 * address, and the command. It is one message wherever the platform allows it: a second one would have no markers, and
 * could look like ours.
 */
export function questionOf(
  runs: readonly AgentRun[],
  asked: NonNullable<NewDelivery['asks']>,
  linkOf: GatewayConfiguration['approvalLink'],
): ApprovalQuestion {
  const [first, ...others] = runs.map(({ action }) => action);
  assert(first !== undefined, 'somebody is asked about runs that wait');
  const until = new Date(asked.expiresAt).toISOString().replace(/\.\d+/, '');
  const link = linkOf?.(asked);
  const all = link === undefined ? `sluice explain ${first.id}` : 'the page behind the link';
  const answer = [`Answer until ${until}:`, link, `sluice approve ${first.id}, or with --deny`];
  const textOf = (maxLetters: number): string => {
    const { text, isWhole } = buildQuestion([first, ...others], { secret: asked.nonce, maxLetters });
    return [
      text,
      ...(isWhole ? [] : [`Read the rest before you answer: ${all} shows it.`]),
      answer.filter((line) => line !== undefined).join('\n'),
    ].join('\n\n');
  };
  return (maxChars) => {
    let letters = MAX_ASKED_LETTERS;
    let text = textOf(letters);
    // A sign that cannot be seen is shown by several letters.
    while (text.length > maxChars && letters > MIN_ASKED_LETTERS) {
      letters = Math.max(MIN_ASKED_LETTERS, Math.min(letters - 50, letters - (text.length - maxChars)));
      text = textOf(letters);
    }
    return text;
  };
}

/** Why something was not sent, or is not to be. */
export interface AttemptError {
  readonly code: string;
  readonly message: string;
}

export const TO_A_MACHINE: AttemptError = {
  code: 'auto_submitted',
  message: 'not sent: what it answers is mail that no machine is to answer (autoSubmitted)',
};
export const ANSWERED: AttemptError = {
  code: 'answered',
  message: 'not sent: nobody has to answer it any more',
};

export const OF_A_FAILURE: AttemptError = {
  code: 'of_a_failure',
  message:
    'not sent: it answers what failed, and mappings deliver to the only channel there is; the console and sluice queue show it, and gateway.alerts.replies: true sends such replies to the operator',
};

/**
 * Whether a message of the main session would go to the only channel, which mappings deliver to, and nobody has said by
 * `gateway.main` or `channels use` that its place is another one than everybody's.
 */
export function isOfSenders(
  { channel, to }: { readonly channel: string; readonly to: string },
  last: DeliveryTarget | undefined,
  { settings, sharedChannel }: GatewayConfiguration,
): boolean {
  if (channel !== sharedChannel) return false;
  const usual = resolveTarget({ channel, fromMain: true }, undefined, settings);
  return last?.to === undefined || (usual.kind === 'target' && usual.to === to);
}
