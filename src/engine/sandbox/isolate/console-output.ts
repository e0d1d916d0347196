import { printValue } from './text-encoding.ts';
import type { CurrentCall } from './pins.ts';

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

/** Length in UTF-8 of well-formed text. */
function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) bytes += unit > 0x7ff ? (unit >= 0xd800 && unit <= 0xdfff ? 1 : 2) : 1;
  }
  return bytes;
}
