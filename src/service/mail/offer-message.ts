import { hash } from 'node:crypto';
import { explainMissingPackages, type MailBlock } from '../../engine/config/config.ts';
import { SENDER_NOT_PROVED, type SetAsideMail } from '../../engine/storage/storage.ts';
import { pause } from '../../base/timers/timers.ts';
import { type HookEndpoint, judge, type DeliveryVerdict } from './hook-endpoint.ts';
import { LostMailbox } from './leased-mailbox.ts';
import { addressOf } from './mail-header.ts';
import { canCheckSignatures, type MailProof } from './mail-proof.ts';
import type { MailMessage, MailPayload } from './message-payload.ts';
import type { FetchedMail } from './source.ts';
import { growingDelay, type ReaderTimes } from './reconnection.ts';

/** How many equal failures in the service set one message aside. */
const FAILURES_UNTIL_SET_ASIDE = 5;
/** Messages set aside at most; beyond, the mailbox waits for the operator. */
const MAX_SET_ASIDE = 10_000;

export type FinalVerdict = Extract<DeliveryVerdict, { kind: 'delivered' | 'refused' }>;

export interface DeliveryOptions {
  readonly mail: Pick<MailBlock, 'kind' | 'account' | 'path' | 'accept'>;
  readonly folder: string;
  readonly mailbox: string;
  readonly endpoint: HookEndpoint;
  readonly times: Pick<ReaderTimes, 'firstRetryMs' | 'maxRetryMs'>;
  readonly lease: { readonly isLost: boolean; readonly setAside: number };
  /** Called where the service takes no mail, with the reason. */
  readonly onDelayed: (code: string, reason: string) => void;
  /** Called when the service has said yes or no to a message. */
  readonly onAnswered: () => void;
}

/**
 * Offers one message until the service has said yes or no to it. It is not asked where too little is proved, unless
 * the operator takes the message.
 * @throws LostMailbox where the reader is stopped before that, or the mailbox is lost
 */
export async function deliverMessage(
  options: DeliveryOptions,
  { message, identity, isTaken }: { message: MailMessage; identity: string; isTaken: boolean },
  signal: AbortSignal,
): Promise<FinalVerdict> {
  const { mail, folder, endpoint, mailbox, lease } = options;
  const payload: MailPayload = { source: mail.kind, account: mail.account, folder, messages: [message] };
  const key = `mail-${hash('sha256', `${mailbox}\n${identity}`).slice(0, 40)}`;
  const failures = new Map<string, number>();
  const unproved = isTaken ? undefined : unprovedVerdict(message.proof, mail.accept);
  for (let attempt = 1; ; attempt += 1) {
    const verdict = unproved ?? judge(await endpoint({ path: mail.path, payload, key }, signal));
    const final = finalOf(verdict, failures);
    if (final !== undefined && hasPlace(options, final)) {
      options.onAnswered();
      return final;
    }
    if (verdict.kind === 'delayed') options.onDelayed(verdict.code, verdict.reason);
    await pause(delayOf(options, verdict, attempt), signal);
    if (signal.aborted || lease.isLost) throw new LostMailbox();
  }
}

/** The refusal of a mail of which less is proved than the configuration asks for. */
function unprovedVerdict(proof: MailProof, accept: MailBlock['accept']): FinalVerdict | undefined {
  if (accept === 'any' || proof.level === 'verified' || proof.level === accept) return undefined;
  const { level, by, domain, dmarc, dkim } = proof;
  const remedy = canCheckSignatures()
    ? ''
    : `; ${explainMissingPackages('checking signatures here', ['mailauth'])}`;
  const checked =
    by === undefined ? `its server says nothing of it${remedy}` : `${by} says dmarc=${dmarc}, dkim=${dkim}`;
  const why = domain === undefined ? 'From is not one address, or another field is there twice' : checked;
  const reason = `hooks.mail.accept is ${accept}, and this mail is ${level}: ${why}; "sluice webhooks mail retry ID" takes it`;
  return { kind: 'refused', status: 0, code: SENDER_NOT_PROVED, reason };
}

/** The final verdict on a message, also after the same failure several times; undefined where it is tried again. */
function finalOf(verdict: DeliveryVerdict, failures: Map<string, number>): FinalVerdict | undefined {
  switch (verdict.kind) {
    case 'delivered':
    case 'refused':
      return verdict;
    case 'delayed':
      return undefined;
    case 'failed': {
      const count = (failures.get(verdict.code) ?? 0) + 1;
      failures.set(verdict.code, count);
      return count >= FAILURES_UNTIL_SET_ASIDE ? { ...verdict, kind: 'refused' } : undefined;
    }
  }
}

/** Whether a refused message can be set aside; where too many are, the mailbox waits. */
function hasPlace({ lease, onDelayed }: DeliveryOptions, { kind }: FinalVerdict): boolean {
  if (kind === 'delivered' || lease.setAside < MAX_SET_ASIDE) return true;
  onDelayed(
    'too_many_set_aside',
    `${String(MAX_SET_ASIDE)} messages are set aside; look at them with "sluice webhooks mail list"`,
  );
  return false;
}

function delayOf({ times }: DeliveryOptions, verdict: DeliveryVerdict, attempt: number): number {
  const asked = verdict.kind === 'delayed' ? (verdict.retryAfterMs ?? 0) : 0;
  const { firstRetryMs: firstMs, maxRetryMs } = times;
  return Math.max(asked, growingDelay(attempt, { firstMs, maxMs: maxRetryMs / 5 }));
}

interface MailRefusal {
  readonly mailbox: string;
  readonly nowMs: number;
  readonly verdict: Pick<SetAsideMail, 'status' | 'code' | 'reason'>;
  readonly before?: SetAsideMail | undefined;
}

/** A message that the service refused, with what is known of it. */
export function setAsideMail(
  identity: string,
  { mailbox, nowMs, verdict, before }: MailRefusal,
  known?: { readonly mail: FetchedMail; readonly message: MailMessage },
): SetAsideMail {
  const { status, code, reason } = verdict;
  return {
    id: hash('sha256', `${mailbox}\n${identity}`).slice(0, 16),
    mailbox,
    identity,
    state: 'set-aside',
    setAsideAt: nowMs,
    status,
    code,
    reason: reason.slice(0, 500),
    from: known?.message.from.slice(0, 200) ?? '',
    subject: known?.message.subject.slice(0, 200) ?? '',
    sizeBytes: known?.mail.sizeBytes ?? 0,
    receivedAt: known?.mail.receivedAt ?? nowMs,
    attempts: (before?.attempts ?? 0) + 1,
  };
}

/** The reason of a message that the server has and never hands out. */
export const UNREADABLE = {
  status: 0,
  code: 'unreadable',
  reason: 'the message could not be fetched, however often it was tried',
} as const;

export function goneMail(before: SetAsideMail, nowMs: number): SetAsideMail {
  const reason = 'the message is no longer in its folder';
  return { ...before, state: 'set-aside', status: 0, code: 'gone', reason, setAsideAt: nowMs };
}

/**
 * Why a message is not wanted, or undefined. `From` is what the sender wrote: a filter saves runs, and keeps nobody
 * out who wants in.
 */
export function filterReason(
  message: Pick<MailMessage, 'from' | 'subject'>,
  { from, subject }: Pick<MailBlock, 'from' | 'subject'>,
): 'from' | 'subject' | undefined {
  if (from.length > 0 && !from.some((wanted) => isFrom(message.from, wanted))) return 'from';
  const title = message.subject.toLowerCase();
  if (subject.length > 0 && !subject.some((wanted) => title.includes(wanted.toLowerCase()))) {
    return 'subject';
  }
  return undefined;
}

/** `me@example.com` is one address, `@example.com` all of a domain; case does not count. */
function isFrom(from: string, wanted: string): boolean {
  const address = addressOf(from).toLowerCase();
  const pattern = wanted.trim().toLowerCase();
  return pattern.startsWith('@') ? address.endsWith(pattern) : address === pattern;
}
