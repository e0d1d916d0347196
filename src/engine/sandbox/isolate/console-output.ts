import type { CurrentCall } from './current-call.ts';
import { printValue, utf8Length } from './print-value.ts';

/** A console that keeps its lines for the reply: 8,192 characters a line, the call's bytes in all. */
export function makeConsole(current: CurrentCall): Record<string, (...values: unknown[]) => void> {
  const write = (level: string, values: unknown[]) => {
    const { logs, maxLogBytes } = current;
    if (logs.bytes >= maxLogBytes) {
      logs.dropped += 1;
      return;
    }
    let text = '';
    for (let index = 0; index < values.length && index < 20 && text.length < 8192; index += 1) {
      text += (index === 0 ? '' : ' ') + printValue(values[index]).slice(0, 8192);
    }
    text = text.slice(0, 8192).toWellFormed();
    logs.bytes += utf8Length(text) + 16;
    if (logs.bytes > maxLogBytes) logs.dropped += 1;
    else logs.lines.push({ level, text });
  };
  const method =
    (level: string) =>
    (...values: unknown[]) =>
      write(level, values);
  const log = method('log');
  return {
    log,
    info: method('info'),
    warn: method('warn'),
    error: method('error'),
    debug: method('debug'),
    trace: method('trace'),
    dir: log,
    table: log,
    group: log,
    groupCollapsed: log,
    groupEnd: () => undefined,
    assert: (condition: unknown, ...values: unknown[]) => {
      if (!condition) write('error', ['Assertion failed:', ...values]);
    },
  };
}
