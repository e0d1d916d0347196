import { HookError } from '../../../base/errors.ts';

/** What a format stands for here; everything else in it is printed as it is, without quotes. */
const DATE_TOKENS = /yyyy|MMM|MM|dd|EEE|HH|mm|ss/g;

/** Numbers below are seconds since the epoch (until the year 5138), others milliseconds or finer. */
const FIRST_MILLISECONDS = 100_000_000_000;

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export interface DateOptions {
  /** Letters `yyyy MM MMM dd EEE HH mm ss` stand for parts of the time; absent: ISO 8601 to the second. */
  readonly format: string | undefined;
  /** IANA name. */
  readonly timeZone: string;
}

/** Formats an ISO 8601 text or a number since the epoch; what is no time stays as it is. */
export function formatDate(value: string | number, { format, timeZone }: DateOptions): string {
  const at = timeOf(value);
  if (at === undefined || Number.isNaN(at.getTime())) return String(value);
  const day = typeof value === 'string' && DAY.test(value.trim());
  if (day && format === undefined) return value.trim();
  // A day of the calendar is the same in every zone.
  const offsetMs = day ? 0 : offsetOf(at, timeZone);
  // The time shifted so that its UTC fields read as the local ones.
  const local = new Date(at.getTime() + offsetMs);
  if (Number.isNaN(local.getTime())) return String(value);
  const iso = local.toISOString();
  if (format === undefined) return `${iso.slice(0, -5)}${offsetText(offsetMs)}`;
  const parts: Readonly<Record<string, string>> = {
    yyyy: iso.slice(0, iso.indexOf('-', 1)),
    MM: iso.slice(-19, -17),
    MMM: MONTHS[local.getUTCMonth()] ?? '',
    dd: iso.slice(-16, -14),
    EEE: WEEKDAYS[local.getUTCDay()] ?? '',
    HH: iso.slice(-13, -11),
    mm: iso.slice(-10, -8),
    ss: iso.slice(-7, -5),
  };
  return format.replaceAll(DATE_TOKENS, (letters) => parts[letters] ?? letters);
}

/** The time that a value is; undefined, or without a time, for what is none. */
function timeOf(value: string | number): Date | undefined {
  return typeof value === 'number' ? fromNumber(value) : (fromText(value) ?? fromDigits(value));
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function isTimeZone(name: string): boolean {
  try {
    return name !== '' && new Intl.DateTimeFormat('en-US', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/** As large as milliseconds never are: micro- and nanoseconds of our time have 16 and 19 digits. */
const FIRST_MICROSECONDS = 100_000_000_000_000;
const FIRST_NANOSECONDS = 100_000_000_000_000_000;

function fromNumber(value: number): Date {
  const size = Math.abs(value);
  if (size < FIRST_MILLISECONDS) return new Date(value * 1000);
  const perMs = size < FIRST_MICROSECONDS ? 1 : size < FIRST_NANOSECONDS ? 1_000 : 1_000_000;
  return new Date(Math.trunc(value / perMs));
}

/** A number since the epoch that was sent as a text, as Slack does: in seconds, milliseconds or finer. */
function fromDigits(text: string): Date | undefined {
  return /^1\d{9}(?:\.\d{1,9}|\d{3}|\d{6}|\d{9})?$/.test(text.trim()) ? fromNumber(Number(text)) : undefined;
}

/** Only ISO 8601: other texts are read differently from one engine and time zone to the next. */
function fromText(text: string): Date | undefined {
  const match = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i.exec(
    text.trim(),
  );
  // JavaScript takes 30 February for the 2nd of March.
  if (match === null || !isDay(text.trim().slice(0, 10))) return undefined;
  const iso = text.trim().replace(' ', 'T').replace(',', '.').toUpperCase();
  const zoned =
    match[1] === undefined && iso.includes('T') ? `${iso}Z` : iso.replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
  return new Date(zoned.includes('T') ? zoned : iso);
}

function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** What a zone's clocks are ahead of UTC at a time, in milliseconds. */
function offsetOf(at: Date, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  const match = /^GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(offsetName(at, timeZone));
  if (match === null) return 0;
  const [, sign, hours, minutes, seconds = '0'] = match;
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -ms : ms;
}

/** The same as `Intl` writes it, such as `GMT+02:00`. */
function offsetName(at: Date, timeZone: string): string {
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    return format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  } catch {
    throw new HookError(
      'invalid_field',
      'the template helper date needs a time zone, and the text that the request gives it is no time zone',
    );
  }
}

function offsetText(offsetMs: number): string {
  if (offsetMs === 0) return 'Z';
  const minutes = Math.trunc(Math.abs(offsetMs) / 60_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}
