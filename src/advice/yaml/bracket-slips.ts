/** Brackets and braces that are not closed, or by another sign than opened them: the value with those that are missing. */
import { SECRET_KEY } from '../../telemetry/telemetry.ts';
import { type BrokenLine, type YamlSlip, lineBelow, linesAbove, placeIn } from './broken-line.ts';

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };
/** Longer values are not repeated in a hint. */
const MAX_SHOWN = 300;
/** More lines above are not looked at. */
const MAX_LINES = 50;

/** The value in the line, or in the nearest above that has brackets, in one line each. */
export function brackets(broken: BrokenLine): YamlSlip | undefined {
  const line = lineOfBrackets(broken);
  const [, head = '', key = '', value = ''] =
    /^(\s*(?:- +)?([\w.-]+): +)([[{].*?)\s*$/.exec(line?.line ?? '') ?? [];
  if (line === undefined || key === '' || /\s#|\{\{/.test(value)) return undefined;
  // Brackets over several lines may be closed below.
  if (goesOn(line)) return undefined;
  const closed = withClosing(value);
  if (closed === undefined || closed === value) return undefined;
  const at = placeIn(line, head.length, value.length);
  const isSecret = SECRET_KEY.test(line.line);
  return {
    message: `the brackets of ${key} are not closed as they are opened`,
    at,
    hint:
      isSecret || closed.length > MAX_SHOWN
        ? 'close each [ with ] and each { with }'
        : `write ${key}: ${closed}`,
    ...(isSecret ? {} : { edit: { at, text: closed } }),
  };
}

function lineOfBrackets(broken: BrokenLine): BrokenLine | undefined {
  return [broken, ...linesAbove(broken, MAX_LINES)].find(({ line }) => /:\s+[[{]/.test(line));
}

/** Whether the next line is indented deeper. */
function goesOn(line: BrokenLine): boolean {
  const next = lineBelow(line)?.line ?? '';
  return next.search(/\S/) > line.line.replace(/- /g, '  ').search(/\S/);
}

/** The text with the signs that are missing; undefined where one is too much, or a quote is open. */
function withClosing(text: string): string | undefined {
  const open: string[] = [];
  let written = '';
  for (const part of text.match(/'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|[^'"]/g) ?? []) {
    if (Object.hasOwn(CLOSING, part)) open.push(CLOSING[part] ?? '');
    if (part === '}' || part === ']') {
      if (!open.includes(part)) return undefined;
      while (open.at(-1) !== part) written += open.pop() ?? '';
      open.pop();
    }
    written += part;
  }
  const isRead = (text.replaceAll(/'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"/g, '').match(/['"]/g) ?? []).length === 0;
  return isRead ? written + open.toReversed().join('') : undefined;
}
