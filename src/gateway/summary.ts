/** What a summary says of a run or its outbox; `ok` is not spelled out. */
export type SummaryStatus =
  'ok' | 'error' | 'timeout' | 'dead' | 'dropped' | 'delivery failed' | 'callback failed';

const MAX_SUMMARY_CHARS = 2_000;
const MAX_NAME_CHARS = 500;
const DEFAULT_NAME = 'Hook';

/**
 * The line a run leaves in the main session: `Hook NAME: text`, or `Hook NAME (status): text`; at most 2,000 UTF-16
 * units with its prefix and note. The note stands after the text and is never cut.
 */
export function summaryText(name: string, status: SummaryStatus, text: string, note?: string): string {
  const shown = cut(oneLine(name) || DEFAULT_NAME, MAX_NAME_CHARS);
  const prefix = status === 'ok' ? `Hook ${shown}: ` : `Hook ${shown} (${status}): `;
  const suffix = note === undefined ? '' : ` (${note})`;
  const body = text.trim() === '' ? 'no reply' : text.trim();
  return prefix + cut(body, MAX_SUMMARY_CHARS - prefix.length - suffix.length) + suffix;
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

/** Cuts to a number of UTF-16 units without leaving half of a surrogate pair. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
