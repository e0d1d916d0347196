import type { MailboxRecord } from '../mail-port.ts';
import type { Store } from './store.ts';

export interface MailboxRow extends Omit<MailboxRecord, 'holder' | 'position'> {
  readonly holder: string | null;
  readonly position: string | null;
}

export const MAILBOXES = `SELECT mailbox, holder, held_until AS "heldUntil", position, floor_at AS "floorAt", state,
  updated_at AS "updatedAt" FROM mailboxes`;

/** One that is there. */
export function getMailbox({ sql }: Store, mailbox: string): MailboxRecord {
  return toRecord(sql.find<MailboxRow>(`${MAILBOXES} WHERE mailbox = ?`, mailbox) as MailboxRow);
}

export function toRecord({ holder, position, ...rest }: MailboxRow): MailboxRecord {
  return {
    ...rest,
    ...(holder === null ? {} : { holder }),
    ...(position === null ? {} : { position }),
  };
}
