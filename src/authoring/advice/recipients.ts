/**
 * Turns recipients as people copy them (addresses of a browser, mentions, words of OpenClaw) into the form
 * of their channel.
 */
import type { MappingFacts } from '../../engine/mapping/facts.ts';

type WrongRecipient = MappingFacts['INVALID_RECIPIENT'];

/** The forms are tried in this order; the first that the channel accepts was meant. */
const FORMS: readonly ((written: string) => string | undefined)[] = [
  // `channel:C0123`, `<#C0123|general>`, `<@!123>`, `@name`, `#name`
  (text) => /^(?:[a-z]+:)+(.+)$/i.exec(text)?.[1],
  (text) => /^<#!?(\w+)(?:\|[^>]*)?>$/.exec(text)?.[1],
  (text) => user(/^<@!?(\d+)>$/.exec(text)?.[1]),
  (text) => /^<@!?(\w+)(?:\|[^>]*)?>$/.exec(text)?.[1],
  (text) => /^[@#](\S+)$/.exec(text)?.[1],
  (text) => (/^[\w-]+$/.test(text) ? `#${text}` : undefined),
  (text) => (/^[A-Za-z]\w+$/.test(text) ? `@${text}` : undefined),
  // Addresses: https://t.me/name, https://app.slack.com/client/T01/C01, https://web.telegram.org/a/#-100123
  (text) => lastOf(text),
  (text) => at(lastOf(text)),
  // Phone numbers: 0049…, and WhatsApp's own 4915…@c.us
  (text) => /^00([1-9][\d ().-]+)$/.exec(text)?.[1]?.replace(/^/, '+'),
  (text) => /^(\d{7,15})@(?:c\.us|s\.whatsapp\.net)$/.exec(text)?.[1]?.replace(/^/, '+'),
  // A topic of a chat: -100123/45, -100123_45, -100123#45, -100123:45
  (text) => topic(/^(-?\d+|@\w+)[/_#:](\d+)$/.exec(text)),
  (text) => (/^[a-z]?[a-z\d]{6,}$/i.test(text) ? text.toUpperCase() : undefined),
];

const user = (id: string | undefined): string | undefined => (id === undefined ? undefined : `user:${id}`);
const at = (name: string | undefined): string | undefined => (name === undefined ? undefined : `@${name}`);
const lastOf = (text: string): string | undefined =>
  /^(?:https?:\/\/|t\.me\/).*[/#@]([\w-]+)\/?$/.exec(text)?.[1];
const topic = (found: RegExpExecArray | null): string | undefined =>
  found === null ? undefined : `${found[1] ?? ''}:topic:${found[2] ?? ''}`;

/** Returns undefined where no form is certain. */
function otherForm(to: string, isRight: (recipient: string) => boolean): string | undefined {
  if (to.length > MAX_CHARS) return undefined;
  for (const form of FORMS) {
    const other = form(to.trim());
    if (other !== undefined && other !== to && isRight(other)) return other;
  }
  return undefined;
}

const MAX_CHARS = 300;

/** Says what to write for a recipient that its channel does not accept; undefined where nothing is known. */
export function recipientHint({ to, isRecipient }: WrongRecipient): string | undefined {
  const other = otherForm(to, isRecipient);
  return other === undefined ? undefined : `write to: ${JSON.stringify(other)}`;
}

const EXAMPLES = ['#general', '-1001234567890', '+15551234567', '123456789012345678', 'owner/repository#123'];

/** Shows how a recipient looks on a channel. */
export const exampleRecipient = (isRecipient: WrongRecipient['isRecipient']): string =>
  EXAMPLES.find(isRecipient) ?? '…';
