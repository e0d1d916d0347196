/*
 * Agents answer in Markdown; Telegram, Slack and WhatsApp want their own notations. Only what is plainly meant is
 * converted: fenced code, `code`, **bold**, ~~strike~~, [links](https://…) and headings (as bold lines). Everything
 * else is text and is escaped, so no reply can mention a group, open a tag or make the platform refuse it.
 */
import { escapeHtml, escapeText } from '../../base/telemetry/telemetry.ts';

interface Notation {
  text(text: string): string;
  code(text: string): string;
  block(text: string, language: string): string;
  bold(inner: string): string;
  strike(inner: string): string;
  link(inner: string, url: string): string;
}

const BLOCK = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^\n`]*\n([\s\S]*?)(?:^ {0,3}\1[`~]*[ \t]*$|(?![\s\S]))/gm;
const INLINE =
  /`([^`\n]+)`|\*\*(?=\S)([^\n]{0,2000}?\S)\*\*|~~(?=\S)([^\n]{0,2000}?\S)~~|\[([^[\]\n]{1,500})\]\((https?:\/\/[^\s()<>]{1,1500})\)/g;
const HEADING = /^ {0,3}#{1,6} +(\S[^\n]*?)(?: +#+)?$/;
/** Marks inside marks: `**[a](https://b)**` is two deep. */
const MAX_DEPTH = 3;

const telegramHtml: Notation = {
  text: escapeText,
  code: (text) => `<code>${escapeText(text)}</code>`,
  block: (text, language) =>
    language === ''
      ? `<pre>${escapeText(text)}</pre>`
      : `<pre><code class="language-${escapeText(language).replaceAll('"', '')}">${escapeText(text)}</code></pre>`,
  bold: (inner) => `<b>${inner}</b>`,
  strike: (inner) => `<s>${inner}</s>`,
  link: (inner, url) => `<a href="${escapeHtml(url)}">${inner}</a>`,
};

const slackMrkdwn: Notation = {
  text: escapeText,
  code: (text) => `\`${escapeText(text)}\``,
  block: (text) => `\`\`\`\n${escapeText(text)}\n\`\`\``,
  bold: (inner) => `*${inner}*`,
  strike: (inner) => `~${inner}~`,
  link: (inner, url) => `<${escapeText(url).replaceAll('|', '%7C')}|${inner}>`,
};

const whatsappNotation: Notation = {
  text: (text) => text,
  code: (text) => `\`${text}\``,
  block: (text) => `\`\`\`\n${text}\n\`\`\``,
  bold: (inner) => `*${inner}*`,
  strike: (inner) => `~${inner}~`,
  link: (inner, url) => `${inner} (${url})`,
};

/** WhatsApp's notation: never longer than the Markdown. */
export function toWhatsapp(markdown: string): string {
  return convert(markdown, whatsappNotation);
}

/** Telegram's HTML; undefined where the text has nothing to format. */
export function toTelegramHtml(markdown: string): string | undefined {
  const html = convert(markdown, telegramHtml);
  return html === escapeText(markdown) ? undefined : html;
}

/** Slack's mrkdwn, with its control characters escaped. */
export function toSlackMrkdwn(markdown: string): string {
  return convert(markdown, slackMrkdwn);
}

function convert(markdown: string, notation: Notation): string {
  let out = '';
  let reached = 0;
  for (const match of markdown.matchAll(BLOCK)) {
    const [whole, , language = '', content = ''] = match;
    out += convertLines(markdown.slice(reached, match.index), notation);
    out += notation.block(content.replace(/\n$/, ''), language);
    reached = match.index + whole.length;
  }
  return out + convertLines(markdown.slice(reached), notation);
}

function convertLines(text: string, notation: Notation): string {
  return text
    .split('\n')
    .map((line) => {
      const heading = HEADING.exec(line)?.[1];
      return heading === undefined
        ? convertInline(line, notation, 0)
        : notation.bold(convertInline(heading.replaceAll('**', ''), notation, 1));
    })
    .join('\n');
}

function convertInline(text: string, notation: Notation, depth: number): string {
  if (depth >= MAX_DEPTH) return notation.text(text);
  let out = '';
  let reached = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, bold, strike, label, url] = match;
    out += notation.text(text.slice(reached, match.index));
    if (code !== undefined) out += notation.code(code);
    else if (bold !== undefined) out += notation.bold(convertInline(bold, notation, depth + 1));
    else if (strike !== undefined) out += notation.strike(convertInline(strike, notation, depth + 1));
    else out += notation.link(convertInline(label ?? '', notation, depth + 1), url ?? '');
    reached = match.index + whole.length;
  }
  return out + notation.text(text.slice(reached));
}
