/** Control, format (bidi, zero-width) and unassigned-to-text characters, line separators, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const UNPRINTABLES = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** Words of printable ASCII with one space between: already one line. */
const ONE_LINE = /^[!-~]+(?: [!-~]+)*$/;

/**
 * Brings text to one line: white space becomes single spaces, other control and format characters go, the ends are
 * trimmed, and at most `maxChars` UTF-16 units are kept.
 */
export function oneLine(text: string, maxChars: number): string {
  if (text.length <= maxChars && ONE_LINE.test(text)) return text;
  // What lies far behind the limit cannot come into it, unless nearly everything before it is dropped.
  const near = text.length > maxChars * 8 ? text.slice(0, maxChars * 8) : text;
  const line = near.replaceAll(/\s+/g, ' ').replaceAll(UNPRINTABLES, '').trim();
  return cutText(line, maxChars);
}

/** Whether text holds no control, format or line-breaking character. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/**
 * Cuts text to at most `maxChars` UTF-16 units, at a grapheme boundary, with `…` as the last character where something
 * was cut. A single grapheme longer than the limit is cut inside, between code points.
 */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const room = maxChars - 1;
  let end = 0;
  for (const { index, segment } of new Intl.Segmenter().segment(text.slice(0, maxChars + 64))) {
    if (index + segment.length > room) break;
    end = index + segment.length;
  }
  if (end === 0) end = isHighSurrogate(text.charCodeAt(room - 1)) ? room - 1 : room;
  return `${text.slice(0, end)}…`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
