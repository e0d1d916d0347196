import type { TimestampUnit } from './scheme.ts';

/** RFC 3339, as Zendesk, Twitch and Box write the time of signing. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const WHOLE_NUMBER = /^\d{1,13}$/;

/** Seconds since the epoch; undefined where the text is not written so. */
export function readTime(text: string, unit: TimestampUnit = 'seconds'): number | undefined {
  if (unit !== 'iso8601') {
    if (!WHOLE_NUMBER.test(text)) return undefined;
    return unit === 'milliseconds' ? Number(text) / 1_000 : Number(text);
  }
  const ms = DATE_TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms / 1_000;
}

export function writeTime(nowMs: number, unit: TimestampUnit = 'seconds'): string {
  if (unit === 'iso8601') return new Date(nowMs).toISOString();
  return String(unit === 'milliseconds' ? nowMs : Math.floor(nowMs / 1_000));
}

/** How a time is written, whatever the settings say: of digits their number tells it, in this and the next century. */
export function unitOf(text: string): TimestampUnit | undefined {
  if (DATE_TIME.test(text)) return 'iso8601';
  return /^\d{10}$/.test(text) ? 'seconds' : /^\d{13}$/.test(text) ? 'milliseconds' : undefined;
}
