import { hash } from 'node:crypto';
import type { MailBlock } from '../../engine/config/config.ts';
import { pause } from '../../base/timers/timers.ts';
import { type HookEndpoint, judge, type Verdict } from './hook-endpoint.ts';
import { LostMailbox } from './leased-mailbox.ts';
import type { MailMessage, MailPayload } from './message-payload.ts';
import { growingDelay, type ReaderTimes } from './reader-times.ts';

/** Failures of one message inside the service, all the same, until it is set aside. */
const FAILURES_UNTIL_SET_ASIDE = 5;
/** Messages set aside at most; beyond, the mailbox waits for the operator. */
const MAX_SET_ASIDE = 10_000;

/** What the service said of one message. */
export type FinalVerdict = Extract<Verdict, { kind: 'delivered' | 'refused' }>;

export interface DeliveryOptions {
  readonly mail: Pick<MailBlock, 'kind' | 'account' | 'path'>;
  readonly folder: string;
  readonly mailbox: string;
  readonly endpoint: HookEndpoint;
  readonly times: Pick<ReaderTimes, 'firstRetryMs' | 'maxRetryMs'>;
  readonly held: { readonly isLost: boolean; readonly setAside: number };
  /** The service takes no mail, and why. */
  readonly onHeld: (code: string, reason: string) => void;
  /** The service said yes or no to a message. */
  readonly onAnswered: () => void;
}

/**
 * Offers one message until the service has said yes or no to it.
 * @throws LostMailbox where the reader is stopped before that, or the mailbox is lost
 */
export async function deliverMessage(
  options: DeliveryOptions,
  { message, identity }: { readonly message: MailMessage; readonly identity: string },
  signal: AbortSignal,
): Promise<FinalVerdict> {
  const { mail, folder, endpoint, mailbox, held } = options;
  const payload: MailPayload = { source: mail.kind, account: mail.account, folder, messages: [message] };
  const key = `mail-${hash('sha256', `${mailbox}\n${identity}`).slice(0, 40)}`;
  const failures = new Map<string, number>();
  for (let attempt = 1; ; attempt += 1) {
    const verdict = judge(await endpoint({ path: mail.path, payload, key }, signal));
    const final = finalOf(verdict, failures);
    if (final !== undefined && hasRoom(options, final)) {
      options.onAnswered();
      return final;
    }
    if (verdict.kind === 'held') options.onHeld(verdict.code, verdict.reason);
    await pause(delayOf(options, verdict, attempt), signal);
    if (signal.aborted || held.isLost) throw new LostMailbox();
  }
}

/** The answer that ends the matter, also the same failure for the last time; undefined where it is tried again. */
function finalOf(verdict: Verdict, failures: Map<string, number>): FinalVerdict | undefined {
  switch (verdict.kind) {
    case 'delivered':
    case 'refused':
      return verdict;
    case 'held':
      return undefined;
    case 'failed': {
      const count = (failures.get(verdict.code) ?? 0) + 1;
      failures.set(verdict.code, count);
      return count >= FAILURES_UNTIL_SET_ASIDE ? { ...verdict, kind: 'refused' } : undefined;
    }
  }
}

/** A message that is refused needs a place among those set aside; where there is none, the mailbox waits. */
function hasRoom({ held, onHeld }: DeliveryOptions, { kind }: FinalVerdict): boolean {
  if (kind === 'delivered' || held.setAside < MAX_SET_ASIDE) return true;
  onHeld(
    'too_many_set_aside',
    `${String(MAX_SET_ASIDE)} messages are set aside; look at them with "sluice webhooks mail list"`,
  );
  return false;
}

function delayOf({ times }: DeliveryOptions, verdict: Verdict, attempt: number): number {
  const asked = verdict.kind === 'held' ? (verdict.retryAfterMs ?? 0) : 0;
  const { firstRetryMs: firstMs, maxRetryMs } = times;
  return Math.max(asked, growingDelay(attempt, { firstMs, maxMs: maxRetryMs / 5 }));
}
