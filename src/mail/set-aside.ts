import { hash } from 'node:crypto';
import type { SetAsideMail } from '../storage/storage.ts';
import type { Log } from '../telemetry/telemetry.ts';
import type { MailMessage } from './message-payload.ts';
import type { FetchedMail } from './source.ts';

interface SetAside {
  readonly mailbox: string;
  readonly nowMs: number;
}

/** A message that the service refused. */
export function refusedMail(
  {
    mail,
    message,
    verdict,
    before,
  }: {
    readonly mail: FetchedMail;
    readonly message: MailMessage;
    readonly verdict: Pick<SetAsideMail, 'status' | 'code' | 'reason'>;
    /** How it was set aside the time before. */
    readonly before: SetAsideMail | undefined;
  },
  { mailbox, nowMs }: SetAside,
): SetAsideMail {
  const { identity, sizeBytes, receivedAt } = mail;
  const { status, code, reason } = verdict;
  return {
    id: setAsideId(mailbox, identity),
    mailbox,
    identity,
    state: 'set-aside',
    status,
    code,
    reason: reason.slice(0, 500),
    from: message.from.slice(0, 200),
    subject: message.subject.slice(0, 200),
    sizeBytes,
    receivedAt,
    setAsideAt: nowMs,
    attempts: (before?.attempts ?? 0) + 1,
  };
}

export function logRefused(log: Pick<Log, 'warn'>, { mailbox, id, status, code }: SetAsideMail): void {
  log.warn(
    { mailbox, id, status, code },
    'a message was refused and set aside; "sluice webhooks mail list" shows it',
  );
}

/** A message that the server has and never hands out. */
export function unreadableMail(
  { identity, fetches }: { readonly identity: string; readonly fetches: number },
  { mailbox, nowMs }: SetAside,
): SetAsideMail {
  return {
    id: setAsideId(mailbox, identity),
    mailbox,
    identity,
    state: 'set-aside',
    status: 0,
    code: 'unreadable',
    reason: `the server failed to hand the message out ${String(fetches)} times`,
    from: '',
    subject: '',
    sizeBytes: 0,
    receivedAt: nowMs,
    setAsideAt: nowMs,
    attempts: 1,
  };
}

/** A message that was to be tried again and is no longer there. */
export function goneMail(before: SetAsideMail, nowMs: number): SetAsideMail {
  const reason = 'the message is no longer in its folder';
  return { ...before, state: 'set-aside', status: 0, code: 'gone', reason, setAsideAt: nowMs };
}

function setAsideId(mailbox: string, identity: string): string {
  return hash('sha256', `${mailbox}\n${identity}`).slice(0, 16);
}
