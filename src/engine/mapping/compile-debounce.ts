import { say } from '../../base/finding.ts';
import type { CompiledTemplate, DebounceSettings } from './compiled-mapping.ts';
import type { Path } from '../../base/document/document.ts';
import type { CheckedNames } from './check-names.ts';

/** Where it is not said how long the first event may wait at most. */
const MAX_SECONDS_FACTOR = 10;

/** `debounce` of a mapping; undefined where it has none, or one that was reported. */
export function compileDebounce(
  { source, reporter }: Pick<CheckedNames, 'source' | 'reporter'>,
  templateAt: (path: Path) => CompiledTemplate | undefined,
): DebounceSettings | undefined {
  const { debounce } = source;
  if (debounce === undefined) return undefined;
  const { seconds, maxSeconds = seconds * MAX_SECONDS_FACTOR, keep } = debounce;
  if (maxSeconds < seconds) {
    reporter.report(['debounce', 'maxSeconds'], {
      code: 'INVALID_DEBOUNCE',
      message: say`debounce.maxSeconds must be at least debounce.seconds (${seconds}), found ${maxSeconds}`,
      hint: say`write maxSeconds: ${seconds} or more, or leave it out: it is then ${seconds * MAX_SECONDS_FACTOR}`,
    });
  }
  if (source.approve !== undefined) {
    reporter.report(['debounce'], {
      code: 'INVALID_DEBOUNCE',
      message: say`a run cannot wait for further events and for somebody's approval`,
      hint: say`remove debounce or approve`,
    });
  }
  const key = templateAt(['debounce', 'key']);
  return key && { key, seconds, maxSeconds, ...(keep === 'latest' ? { keep } : {}) };
}
