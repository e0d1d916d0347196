import { hash } from 'node:crypto';
import type { SetAsideMail } from '../../engine/storage/storage.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';
import type { MailMessage } from './message-payload.ts';
import type { FetchedMail } from './source.ts';

interface Refusal {
  readonly mailbox: string;
  readonly nowMs: number;
  readonly verdict: Pick<SetAsideMail, 'status' | 'code' | 'reason'>;
  /** How it was set aside the time before. */
  readonly before?: SetAsideMail | undefined;
}

/** A message that the service refused, with what is known of it. */
export function setAsideMail(
  identity: string,
  { mailbox, nowMs, verdict, before }: Refusal,
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

/** Of a message that the server has and never hands out. */
export const UNREADABLE = {
  status: 0,
  code: 'unreadable',
  reason: 'the message could not be fetched, however often it was tried',
} as const;

/** A message that was to be tried again and is no longer there. */
export function goneMail(before: SetAsideMail, nowMs: number): SetAsideMail {
  const reason = 'the message is no longer in its folder';
  return { ...before, state: 'set-aside', status: 0, code: 'gone', reason, setAsideAt: nowMs };
}

export function logRefused(log: Pick<Log, 'warn'>, { mailbox, id, status, code }: SetAsideMail): void {
  log.warn(
    { mailbox, id, status, code },
    'a message was refused and set aside; "sluice webhooks mail list" shows it',
  );
}
