import type { GatewaySettings } from '../config/config.ts';

export type ActiveHours = NonNullable<GatewaySettings['heartbeat']['activeHours']>;

/**
 * Says whether a moment lies in the active hours of its time zone: from the first minute (included) to the last
 * (excluded). Hours that end before they begin span midnight; equal ones mean the whole day.
 */
export function isActiveAt(hours: ActiveHours | undefined, atMs: number): boolean {
  if (hours === undefined) return true;
  const from = minutesOf(hours.from);
  const to = minutesOf(hours.to);
  const now = minutesOf(
    new Intl.DateTimeFormat('en-GB', {
      timeZone: hours.timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).format(atMs),
  );
  if (from === to) return true;
  return from < to ? from <= now && now < to : now >= from || now < to;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
