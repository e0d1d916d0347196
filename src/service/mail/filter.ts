import type { MailBlock } from '../../engine/config/config.ts';
import type { MailMessage } from './message-payload.ts';

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
  const address = (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim().toLowerCase();
  const pattern = wanted.trim().toLowerCase();
  return pattern.startsWith('@') ? address.endsWith(pattern) : address === pattern;
}
