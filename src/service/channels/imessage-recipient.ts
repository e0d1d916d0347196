import { parsePhone } from './recipient.ts';

/** Someone or some chat on iMessage. */
export type ImessageRecipient =
  | { readonly kind: 'address'; readonly address: string; readonly service: 'auto' | 'imessage' | 'sms' }
  | { readonly kind: 'chat-id'; readonly id: number }
  | { readonly kind: 'chat-guid'; readonly guid: string }
  | { readonly kind: 'chat-identifier'; readonly identifier: string };

/** Reads the forms of a recipient; undefined where it is none of them. */
export function parseImessageRecipient(to: string): ImessageRecipient | undefined {
  const text = to.trim();
  const chat = /^(chat_id|chat_guid|chat_identifier):(\S{1,300})$/.exec(text);
  if (chat) {
    const [, form, value = ''] = chat;
    if (form === 'chat_guid') return { kind: 'chat-guid', guid: value };
    if (form === 'chat_identifier') return { kind: 'chat-identifier', identifier: value };
    return /^\d{1,15}$/.test(value) ? { kind: 'chat-id', id: Number(value) } : undefined;
  }
  const [, prefix, bare = ''] = /^(?:(imessage|sms|auto):)?(.*)$/s.exec(text) ?? [];
  const address = /^[^\s@:;]{1,64}@[^\s@:;]{1,190}\.[^\s@:;]{2,}$/.test(bare)
    ? bare
    : parsePhone(bare, 'imessage');
  if (address === undefined) return undefined;
  return { kind: 'address', address, service: prefix === 'imessage' || prefix === 'sms' ? prefix : 'auto' };
}
