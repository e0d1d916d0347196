/* What `debounce` does, in the words of explain, the log and the listing of requests. */
import { say, write, type Sentence } from '../../finding.ts';
import type { CompiledMapping } from '../../mapping/mapping.ts';

const MINUTE = 60;

/** `1800 s (30 min)`. */
export function spanOf(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds} s`;
  const minutes = seconds / MINUTE;
  const shown = minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 6) / 10} h`;
  return `${seconds} s (${shown})`;
}

/** The key of a cool-down, which is what people mean who wait for the first run. */
export function coolDownText({ debounce, dedupe }: CompiledMapping): Sentence | undefined {
  // A fixed key would leave out all that comes in that time, whatever it is about.
  if (debounce === undefined || debounce.key.literal !== undefined) return undefined;
  const { key, seconds } = debounce;
  const both = dedupe === undefined ? 'debounce' : 'debounce and of the dedupe that is there';
  return say`to act on the first event at once, and then on none of its key for ${spanOf(seconds)}, ${write(`dedupe: { key: '${key.source}', ttlSeconds: ${seconds} }`, `in place of ${both}`)}`;
}

/** Waits after which people look where the run is, and those that are longer than they mean, in seconds. */
const NOTED_WAIT = 120;
const LONG_WAIT = 1_800;

/** Of whole thousands that are no hours, which are mostly milliseconds. */
export function unitText({ debounce }: CompiledMapping): Sentence | undefined {
  const { seconds } = debounce ?? { seconds: 0 };
  const isMs = seconds > LONG_WAIT && seconds % 1_000 === 0 && seconds % 3_600 !== 0;
  return isMs
    ? say`the unit is seconds: for ${seconds / 1_000} s ${write(`seconds: ${seconds / 1_000}`)}`
    : undefined;
}

/** What to write where the wait is so long that it may not be meant. */
export const longWaitText = (mapping: CompiledMapping): Sentence | undefined =>
  (mapping.debounce?.seconds ?? 0) < NOTED_WAIT ? undefined : (unitText(mapping) ?? coolDownText(mapping));
