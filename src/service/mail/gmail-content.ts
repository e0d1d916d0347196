import { isUtf8 } from 'node:buffer';
import { defined } from '../../base/json.ts';
import { field, listField, textField } from '../../base/outgoing/outgoing.ts';
import { textOfCharset } from './mail-charset.ts';
import type { MailAttachment, MailContent } from './source.ts';

const MAX_PARTS = 200;

/** The texts and the list of attachments of a message as the Gmail API gives it (`format=full`). */
export function gmailContent(message: unknown): Extract<MailContent, { kind: 'parts' }> {
  const payload = field(message, 'payload');
  const header = headerOf(payload);
  const { text, html, attachments } = partsOf(payload);
  const snippet = textField(message, 'snippet');
  const found = text ?? (html === undefined ? snippet : undefined);
  return {
    kind: 'parts',
    header,
    attachments,
    ...defined({ text: found, html }),
  };
}

interface Parts {
  text?: string | undefined;
  html?: string | undefined;
  readonly attachments: MailAttachment[];
}

/** The first text, the first HTML and the attachments, whatever lies in what. */
function partsOf(payload: unknown): Parts {
  const parts: Parts = { attachments: [] };
  const open: unknown[] = [payload];
  for (let seen = 0; open.length > 0 && seen < MAX_PARTS; seen += 1) {
    const part = open.shift();
    open.unshift(...listField(part, 'parts'));
    const type = textField(part, 'mimeType') ?? '';
    const name = textField(part, 'filename') ?? '';
    const body = field(part, 'body');
    if (type.startsWith('multipart/')) continue;
    if (name !== '' || textField(body, 'attachmentId') !== undefined) {
      const size = field(body, 'size');
      parts.attachments.push({ name, type, sizeBytes: typeof size === 'number' ? size : 0 });
    } else if (type === 'text/plain') parts.text ??= decodeText(part);
    else if (type === 'text/html') parts.html ??= decodeText(part, true);
  }
  return parts;
}

/** Names in lower case; the first of several counts. */
function headerOf(payload: unknown): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const header of listField(payload, 'headers')) {
    const name = textField(header, 'name')?.toLowerCase();
    const value = textField(header, 'value');
    if (name !== undefined && value !== undefined) found[name] ??= value;
  }
  return found;
}

/** Gmail gives most texts in UTF-8 whatever the sender's charset; what is no UTF-8 is read by the charset. */
function decodeText(part: unknown, isHtml = false): string {
  const bytes = Buffer.from(textField(field(part, 'body'), 'data') ?? '', 'base64url');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const charset = /charset="?([\w.:-]+)/i.exec(headerOf(part)['content-type'] ?? '')?.[1];
  const declared = charset === undefined || /^utf-?8$/i.test(charset) ? undefined : charset;
  const text = textOfCharset(bytes, declared, isHtml);
  if (text !== undefined) return text;
  return bytes.toString('latin1');
}
