/** A day: no delay that is asked for is taken to be longer. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** Milliseconds of a `Retry-After` value (seconds or an HTTP date), at most a day. */
export function parseRetryAfter(value: string | null | undefined): number | undefined {
  if (value === null || value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return retryDelay(waitMs);
}

/** A delay a platform asked for, in whole milliseconds within a day; undefined where it is no number. */
export function retryDelay(ms: number | undefined): number | undefined {
  if (ms === undefined || !Number.isFinite(ms)) return undefined;
  return Math.min(Math.max(Math.ceil(ms), 0), MAX_RETRY_AFTER_MS);
}
