import { hash } from 'node:crypto';
import type { MailBlock } from '../../engine/config/config.ts';

/**
 * What makes two messages the same: the place the server keeps a message at, never a header, which its sender chose.
 * For IMAP that is account, folder, UIDVALIDITY and UID (RFC 3501, section 2.3.1.1); for Gmail its own message id.
 */
export interface ImapMessagePlace {
  readonly account: string;
  readonly folder: string;
  readonly uidValidity: string;
  readonly uid: number;
}

/** The identity of a message within its mailbox, as it is stored: `<UIDVALIDITY>:<UID>`. */
export function imapIdentity({ uidValidity, uid }: Pick<ImapMessagePlace, 'uidValidity' | 'uid'>): string {
  return `${uidValidity}:${String(uid)}`;
}

export function parseImapIdentity(identity: string): { readonly uidValidity: string; readonly uid: number } {
  const [uidValidity = '', uid = ''] = identity.split(':');
  return { uidValidity, uid: Number(uid) };
}

/** The id of an IMAP message in its payload, 24 hexadecimal digits: fit for session keys, the same at every repeat. */
export function imapMessageId({ account, folder, uidValidity, uid }: ImapMessagePlace): string {
  return hash('sha256', [account, folder, uidValidity, String(uid)].join('\n')).slice(0, 24);
}

/**
 * By what a message is known again when the server has given all messages new UIDs: the time it arrived, its size,
 * and a hash of its raw header.
 */
export function fingerprintOf(message: {
  readonly internalAt: number;
  readonly sizeBytes: number;
  readonly header: Buffer;
}): string {
  const header = hash('sha256', trimEnd(message.header), 'buffer').toString('base64url');
  return `${String(message.internalAt)}:${String(message.sizeBytes)}:${header.slice(0, 22)}`;
}

/** The header of a raw message: up to the first empty line, or all that there is. */
export function headerOf(source: Buffer): Buffer {
  const crlf = source.indexOf('\r\n\r\n');
  const lf = source.indexOf('\n\n');
  const ends = [crlf, lf].filter((end) => end >= 0);
  return ends.length === 0 ? source : source.subarray(0, Math.min(...ends));
}

/** Removes the empty line at the end, without which a header is the same. */
function trimEnd(header: Buffer): Buffer {
  let end = header.length;
  while (end > 0 && (header[end - 1] === 10 || header[end - 1] === 13)) end -= 1;
  return header.subarray(0, end);
}

/** The name of a mailbox: each account and folder has a position of its own. */
export function mailboxName(mail: Pick<MailBlock, 'account' | 'kind'>, folder: string): string {
  return `${mail.kind}:${mail.account}/${folder}`;
}
