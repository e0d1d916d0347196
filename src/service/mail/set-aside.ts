import { hash } from 'node:crypto';
import type { SetAsideMail } from '../../engine/storage/storage.ts';
import type { Log } from '../../base/telemetry/telemetry.ts';
import type { MailMessage } from './message-payload.ts';
import type { FetchedMail } from './source.ts';

interface SetAside {
  readonly mailbox: string;
  readonly nowMs: number;
}

interface RefusedMail {
  readonly mail: FetchedMail;
  readonly message: MailMessage;
  readonly verdict: Pick<SetAsideMail, 'status' | 'code' | 'reason'>;
  /** How it was set aside the time before. */
  readonly before: SetAsideMail | undefined;
}

/** A message that the service refused. */
export function refusedMail(
  { mail, message, verdict, before }: RefusedMail,
  setAside: SetAside,
): SetAsideMail {
  const { identity, sizeBytes, receivedAt } = mail;
  const { status, code, reason } = verdict;
  return {
    ...newSetAside(identity, setAside),
    status,
    code,
    reason: reason.slice(0, 500),
    from: message.from.slice(0, 200),
    subject: message.subject.slice(0, 200),
    sizeBytes,
    receivedAt,
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
export function unreadableMail(identity: string, setAside: SetAside): SetAsideMail {
  return {
    ...newSetAside(identity, setAside),
    status: 0,
    code: 'unreadable',
    reason: 'the message could not be fetched, however often it was tried',
    from: '',
    subject: '',
    sizeBytes: 0,
    receivedAt: setAside.nowMs,
    attempts: 1,
  };
}

/** A message that was to be tried again and is no longer there. */
export function goneMail(before: SetAsideMail, nowMs: number): SetAsideMail {
  const reason = 'the message is no longer in its folder';
  return { ...before, state: 'set-aside', status: 0, code: 'gone', reason, setAsideAt: nowMs };
}

function newSetAside(
  identity: string,
  { mailbox, nowMs }: SetAside,
): Pick<SetAsideMail, 'id' | 'mailbox' | 'identity' | 'state' | 'setAsideAt'> {
  const id = hash('sha256', `${mailbox}\n${identity}`).slice(0, 16);
  return { id, mailbox, identity, state: 'set-aside', setAsideAt: nowMs };
}
