import { signal } from '@preact/signals';

/** The current time, which is used for how long ago something was. */
export const clock = signal(Date.now());
setInterval(() => (clock.value = Date.now()), 10_000);

/** Returns midnight before a time, in the time zone of the browser. */
export function dayOf(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

export function formatDay(at: number): string {
  const ago = Math.round((dayOf(clock.value) - dayOf(at)) / 86_400_000);
  const date = new Date(at).toLocaleDateString([], { weekday: 'short', day: 'numeric', month: 'short' });
  return ago === 0 ? `Today, ${date}` : ago === 1 ? `Yesterday, ${date}` : date;
}

/** Says a minute, such as "yesterday 13:40". */
export function formatMinute(at: number): string {
  const day = formatDay(at);
  return `${/^(?:Today|Yesterday)/.exec(day)?.[0].toLowerCase() ?? day} ${formatTime(at).slice(0, 5)}`;
}

export function formatTime(at: number): string {
  return new Date(at).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
}

export function formatDate(at: number): string {
  return new Date(at).toLocaleString([], { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });
}

/** Says how long a text or a body is; one without a length was not read. */
export function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return 'not read';
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

export function formatMs(ms: number): string {
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Says how long ago a time was, in its largest unit. */
export function formatAgo(at: number): string {
  const seconds = Math.max(0, Math.round((Math.max(clock.value, Date.now()) - at) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`;
}

export function count(number: number, noun: string, many = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : many}`;
}
