import type { MailboxRecord, MailStorage, SetAsideMail } from '../mail-port.ts';
import { type MailboxRow, MAILBOXES, toRecord } from './mail-rows.ts';
import type { Store } from './store.ts';

const SET_ASIDE = `SELECT id, mailbox, identity, state, status, code, reason, sender AS "from", subject,
  size_bytes AS "sizeBytes", received_at AS "receivedAt", set_aside_at AS "setAsideAt", attempts FROM mail_set_aside
  WHERE (CAST(?1 AS TEXT) IS NULL OR mailbox = ?1) AND (CAST(?2 AS TEXT) IS NULL OR state = ?2) ORDER BY seq LIMIT ?3`;

export function listMailboxes({ sql }: Store): MailboxRecord[] {
  return sql.all<MailboxRow>(`${MAILBOXES} ORDER BY mailbox`).map(toRecord);
}

export function isMailPassed({ sql }: Store, mailbox: string, identity: string): boolean {
  return (
    sql.find('SELECT 1 FROM mail_passed WHERE mailbox = ? AND identity = ?', mailbox, identity) !== undefined
  );
}

export function findPassedMail({ sql }: Store, mailbox: string, fingerprint: string): string[] {
  return sql
    .all<{ identity: string }>(
      'SELECT identity FROM mail_passed WHERE mailbox = ? AND fingerprint = ? ORDER BY identity',
      mailbox,
      fingerprint,
    )
    .map(({ identity }) => identity);
}

export function listSetAsideMail(
  { sql }: Store,
  { mailbox = null, state = null, limit }: LooseQuery,
): SetAsideMail[] {
  return sql.all(SET_ASIDE, mailbox, state, limit);
}

type Query = Parameters<MailStorage['listSetAsideMail']>[0];
type LooseQuery = { readonly [Key in keyof Query]: Query[Key] | null } & { readonly limit: number };
