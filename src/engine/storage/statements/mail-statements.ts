import {
  SENDER_NOT_PROVED,
  type MailboxHold,
  type MailboxRecord,
  type MailPass,
  type SetAsideMail,
  type SetAsideSelection,
} from '../mail-port.ts';
import { MAILBOXES, type MailboxRow, toRecord } from './rows.ts';
import type { Store } from './store.ts';

const INSERT_MAILBOX = `INSERT INTO mailboxes (mailbox, held_until, floor_at, state, updated_at)
  VALUES (?, 0, 0, '{}', ?) ON CONFLICT DO NOTHING`;
const CLAIM = `UPDATE mailboxes SET holder = ?1, held_until = ?2
  WHERE mailbox = ?3 AND (holder IS NULL OR holder = ?1 OR holder = ?4 OR held_until < ?5)`;
const REPORT = `UPDATE mailboxes SET held_until = ?, state = ?, updated_at = ? WHERE mailbox = ? AND holder = ?`;
const WAITING = `SELECT count(*) AS "setAside", count(*) FILTER (WHERE state = 'retry') AS retries
  FROM mail_set_aside WHERE mailbox = ?`;
const RELEASE = `UPDATE mailboxes SET holder = NULL, held_until = 0, state = ?, updated_at = ?
  WHERE mailbox = ? AND holder = ?`;
const MOVE = `UPDATE mailboxes SET position = coalesce(?, position), floor_at = ?, state = ?, updated_at = ?
  WHERE mailbox = ? AND holder = ?`;
const PASS = `INSERT INTO mail_passed (mailbox, identity, fingerprint, received_at) VALUES (?, ?, ?, ?)
  ON CONFLICT (mailbox, identity) DO UPDATE SET fingerprint = excluded.fingerprint, received_at = excluded.received_at`;
const SET_ASIDE = `INSERT INTO mail_set_aside
  (id, mailbox, identity, state, status, code, reason, sender, subject, size_bytes, received_at, set_aside_at, attempts)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state, status = excluded.status, code = excluded.code,
    reason = excluded.reason, set_aside_at = excluded.set_aside_at, attempts = excluded.attempts`;
/** Strangers decide how much mail is not proved: it must not fill the list, beyond which the mailbox waits. */
const FORGET_UNPROVED = `DELETE FROM mail_set_aside WHERE seq = (SELECT seq FROM mail_set_aside
  WHERE mailbox = ? AND state = 'set-aside' AND code = '${SENDER_NOT_PROVED}' ORDER BY seq DESC LIMIT 1 OFFSET 1000)`;

function getMailbox({ sql }: Store, mailbox: string): MailboxRecord {
  return toRecord(sql.find<MailboxRow>(`${MAILBOXES} WHERE mailbox = ?`, mailbox) as MailboxRow);
}

/**
 * Takes a mailbox, or renews the hold of the same holder. Refused while another one's hold lasts, unless that is
 * `goneHolder`, who is known to be no more: of several that ask at once, one gets it.
 */
export function claimMailbox(
  store: Store,
  claim: MailboxHold & { readonly leaseMs: number; readonly goneHolder?: string },
): { readonly isHeld: boolean; readonly record: MailboxRecord } {
  const { sql } = store;
  const { mailbox, holder, nowMs, leaseMs, goneHolder = null } = claim;
  sql.post(INSERT_MAILBOX, mailbox, Math.round(nowMs));
  const changed = sql.run(CLAIM, holder, Math.round(nowMs + leaseMs), mailbox, goneHolder, Math.round(nowMs));
  return { isHeld: changed > 0, record: getMailbox(store, mailbox) };
}

/**
 * Renews the hold and notes how reading goes; says whether the mailbox is still the holder's, how many messages are set
 * aside, and of how many of them a retry was asked for.
 */
export function reportMailbox(
  { sql }: Store,
  report: MailboxHold & { readonly leaseMs: number; readonly state: string },
): { readonly isHeld: boolean; readonly retries: number; readonly setAside: number } {
  const { mailbox, holder, nowMs, leaseMs, state } = report;
  const changed = sql.run(REPORT, Math.round(nowMs + leaseMs), state, Math.round(nowMs), mailbox, holder);
  const waiting = sql.find<{ retries: number; setAside: number }>(WAITING, mailbox);
  return { isHeld: changed > 0, retries: waiting?.retries ?? 0, setAside: waiting?.setAside ?? 0 };
}

/** Lets go; nothing where someone else holds it. */
export function releaseMailbox(
  { sql }: Store,
  { mailbox, holder, nowMs, state }: MailboxHold & { readonly state: string },
): void {
  sql.post(RELEASE, state, Math.round(nowMs), mailbox, holder);
}

/** Moves the position with everything that belongs to the step; false, and nothing is changed, where it is not held. */
export function passMail({ sql }: Store, pass: MailPass): boolean {
  const { mailbox, holder, position = null, floorAt, state, nowMs, setAside, settled } = pass;
  if (sql.run(MOVE, position, Math.round(floorAt), state, Math.round(nowMs), mailbox, holder) === 0)
    return false;
  for (const { identity, fingerprint = null, receivedAt } of pass.passed) {
    if (receivedAt >= floorAt) sql.post(PASS, mailbox, identity, fingerprint, Math.round(receivedAt));
  }
  sql.post('DELETE FROM mail_passed WHERE mailbox = ? AND received_at < ?', mailbox, Math.round(floorAt));
  if (setAside !== undefined) insertSetAside({ sql }, setAside);
  if (setAside?.code === SENDER_NOT_PROVED) sql.post(FORGET_UNPROVED, mailbox);
  if (settled !== undefined) sql.post('DELETE FROM mail_set_aside WHERE id = ?', settled);
  return true;
}

function insertSetAside({ sql }: Pick<Store, 'sql'>, mail: SetAsideMail): void {
  sql.post(
    SET_ASIDE,
    mail.id,
    mail.mailbox,
    mail.identity,
    mail.state,
    mail.status,
    mail.code,
    mail.reason,
    mail.from,
    mail.subject,
    mail.sizeBytes,
    Math.round(mail.receivedAt),
    Math.round(mail.setAsideAt),
    mail.attempts,
  );
}

/** Asks for another try; returns how many messages that concerns. */
export function retrySetAsideMail({ sql }: Store, selection: SetAsideSelection): number {
  if (selection.kind === 'all')
    return sql.run(`UPDATE mail_set_aside SET state = 'retry' WHERE code <> '${SENDER_NOT_PROVED}'`);
  return sum(selection.ids, (id) => sql.run(`UPDATE mail_set_aside SET state = 'retry' WHERE id = ?`, id));
}

export function dropSetAsideMail({ sql }: Store, selection: SetAsideSelection): number {
  if (selection.kind === 'all') return sql.run('DELETE FROM mail_set_aside');
  return sum(selection.ids, (id) => sql.run('DELETE FROM mail_set_aside WHERE id = ?', id));
}

function sum(ids: readonly string[], change: (id: string) => number): number {
  return ids.reduce((total, id) => total + change(id), 0);
}
