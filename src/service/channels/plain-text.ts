/*
 * Text of which nothing is formatting (a notification, or a reply whose formatting was refused), for platforms that
 * read Markdown whatever they are asked to do. Each character with a meaning is escaped, so that no link has another
 * name than its address. Addresses are left as they are: platforms take them for links before they read escapes.
 */

/** Zero width: what stands on both sides of it is no name any more, and looks the same. */
const BREAK = '\u200b';
const ADDRESS = /\bhttps?:\/\/[^\s<>`]+/g;
/** What starts a list, a heading or a rule at the beginning of a line: behind `1` of `1.`, before the rest. */
const LINE_START = /^([ \t]*)(?:(\d{1,9})([.)])(?=\s|$)|([-+=#]))/gm;

/** Discord knows a backslash before any punctuation; `<` begins a mention, a time or an emoji. */
export function escapeDiscord(text: string): string {
  return escapeWith(text, /[\\`*_[\]#~|><]/g);
}

/**
 * GitHub reads HTML too, and finds names and numbers after it has read the escapes: only what stands between a mark and
 * what follows it keeps them apart.
 */
export function escapeGithub(text: string): string {
  return escapeWith(text, /[\\`*_[\]~|><&$]|[@#](?=\w)/g, (mark) =>
    mark === '@' || mark === '#' ? mark + BREAK : `\\${mark}`,
  );
}

/** WhatsApp knows no escapes: a mark of formatting is kept from what it would format. */
export function escapeWhatsapp(text: string): string {
  return text.replaceAll(/(?<![\p{L}\p{N}])[*_~`>]|[*_~`](?![\p{L}\p{N}])/gu, `$&${BREAK}`);
}

/** Keeps `@name` from notifying somebody, where it is not part of an address. */
export function breakMentions(text: string): string {
  return text.replaceAll(/(?<![\p{L}\p{N}])@(?=\w)/gu, `$&${BREAK}`);
}

function escapeWith(
  text: string,
  special: RegExp,
  escapeOne = (mark: string): string => `\\${mark}`,
): string {
  let out = '';
  let reached = 0;
  const escape = (part: string): string => part.replaceAll(special, escapeOne);
  for (const { 0: address, index } of text.matchAll(ADDRESS)) {
    out += escape(text.slice(reached, index)) + address;
    reached = index + address.length;
  }
  return (out + escape(text.slice(reached))).replaceAll(LINE_START, escapeLineStart);
}

function escapeLineStart(
  _whole: string,
  indent: string,
  digits: string | undefined,
  dot: string | undefined,
  mark: string | undefined,
): string {
  return digits === undefined ? `${indent}\\${mark ?? ''}` : `${indent}${digits}\\${dot ?? ''}`;
}
