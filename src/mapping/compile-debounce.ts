import { say } from '../finding.ts';
import { checkDebounceKey } from './check-dedupe.ts';
import type { CompiledTemplate, DebounceSettings } from './compiled-mapping.ts';
import type { Path } from '../document/document.ts';
import type { Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

/** Where it is not said how long the first event may wait at most. */
const MAX_SECONDS_FACTOR = 10;

interface DebouncedMapping {
  readonly source: MappingSource;
  readonly reporter: Reporter;
}

/** `debounce` of a mapping; undefined where it has none, or one that was reported. */
export function compileDebounce(
  { source, reporter }: DebouncedMapping,
  templateAt: (path: Path) => CompiledTemplate | undefined,
): DebounceSettings | undefined {
  const { debounce } = source;
  if (debounce === undefined) return undefined;
  const { seconds, maxSeconds = seconds * MAX_SECONDS_FACTOR } = debounce;
  if (maxSeconds < seconds) {
    reporter.report(['debounce', 'maxSeconds'], {
      code: 'INVALID_DEBOUNCE',
      message: say`debounce.maxSeconds must be at least debounce.seconds (${seconds}), found ${maxSeconds}`,
      hint: say`write maxSeconds: ${seconds} or more, or leave it out: it is then ${seconds * MAX_SECONDS_FACTOR}`,
    });
  }
  checkUnit({ source, reporter });
  checkDebounceKey({ source, reporter });
  const key = templateAt(['debounce', 'key']);
  return key === undefined ? undefined : { key, seconds, maxSeconds };
}

const MS = 1_000;
const MINUTE = 60;
const HOUR = 3_600;

/** Whole thousands of seconds that are no hours are mostly milliseconds: 3000 s are 50 min. */
function checkUnit({ source: { debounce }, reporter }: DebouncedMapping): void {
  const key = (['seconds', 'maxSeconds'] as const).find((each) => isMilliseconds(debounce?.[each]));
  const found = key === undefined ? undefined : debounce?.[key];
  if (key === undefined || found === undefined) return;
  reporter.report(['debounce', key], {
    severity: 'warning',
    code: 'DEBOUNCE_SECONDS_LONG',
    message: say`${found} s are ${Math.round(found / MINUTE)} min, and the run waits for so long: the unit is seconds`,
    hint: say`write ${key}: ${found / MS}`,
  });
}

const isMilliseconds = (value = 0): boolean => value >= 2 * MS && value % MS === 0 && value % HOUR !== 0;
