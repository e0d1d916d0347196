/**
 * A mailbox notification may hold the same letter several times: once per label or folder, and again as a mailing
 * list's copy. This keeps one of each, joins what belongs to one thread, and leaves out what machines write to machines.
 */
import { defineTransform } from 'sluice';

interface Mail {
  id: string;
  messageId?: string;
  threadId?: string;
  from: string;
  subject?: string;
  snippet?: string;
  body?: string;
  date?: string;
}

interface Batch {
  source?: string;
  messages: Mail[];
}

const AUTOMATIC = /^(mailer-daemon|postmaster|no-?reply|do-?not-?reply)@/i;

export default defineTransform<Batch>(({ payload }) => {
  const letters = new Map<string, Mail>();
  for (const mail of payload.messages) {
    const key = keyOf(mail);
    const known = letters.get(key);
    // Of two copies the longer one has the text.
    if (known === undefined || textOf(mail).length > textOf(known).length) letters.set(key, mail);
  }
  const wanted = [...letters.values()].filter((mail) => !AUTOMATIC.test(addressOf(mail.from)));
  console.debug(`${payload.messages.length} notified, ${letters.size} different, ${wanted.length} kept`);
  if (wanted.length === 0) return null;

  const threads = Object.groupBy(wanted, threadOf);
  return Object.entries(threads).map(([thread, mails = []]) => ({
    name: `Mail from ${[...new Set(mails.map(({ from }) => addressOf(from)))].join(', ')}`.slice(0, 200),
    sessionKey: `hook:mail:${thread}`.slice(0, 200),
    message: mails
      .map((mail) => `From: ${mail.from}\nSubject: ${mail.subject ?? '(none)'}\n\n${textOf(mail)}`)
      .join('\n\n---\n\n'),
  }));
});

function keyOf(mail: Mail): string {
  return (
    mail.messageId?.trim() ||
    [addressOf(mail.from), plainSubject(mail), mail.date ?? '', textOf(mail).slice(0, 200)].join('\n')
  );
}

/** Without a thread's id only the same sender's letters of one subject belong together: strangers share nothing. */
function threadOf(mail: Mail): string {
  if (mail.threadId !== undefined) return mail.threadId;
  const subject = plainSubject(mail);
  return subject === '' ? mail.id : `${addressOf(mail.from)} ${subject}`;
}

function textOf(mail: Mail): string {
  return (mail.body ?? mail.snippet ?? '').trim().slice(0, 8000);
}

function addressOf(from: string): string {
  return (/<([^<>]+)>\s*$/.exec(from)?.[1] ?? from).trim().toLowerCase();
}

function plainSubject(mail: Mail): string {
  return (
    (mail.subject ?? '')
      .replace(/^(\s*(re|fwd?|aw|wg)\s*:)+/i, '')
      // It becomes part of a session key, which must be printable.
      .replace(/[\s\p{C}]+/gu, ' ')
      .trim()
      .toLowerCase()
  );
}
