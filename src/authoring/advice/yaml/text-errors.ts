/** Texts that YAML reads as something else: without quotes, with a backslash in them, or as a comment. */
import { SECRET_KEY } from '../../../base/telemetry/telemetry.ts';
import { singleQuoted } from '../../../base/document/facts.ts';
import type { Place, SourceText } from '../../../base/finding.ts';
import { type BrokenLine, KEY_LINE, lineAt, placeIn, type LineError } from './broken-line.ts';

/** Longer values are not repeated in a hint. */
const MAX_SHOWN = 80;

/** A value in one line that is a text only in quotes. */
export function unquotedText(broken: BrokenLine): LineError | undefined {
  const [, head = '', key = '', rest = ''] = KEY_LINE.exec(broken.line) ?? [];
  // A comment behind the value is none of it.
  const value = rest.replace(/\s+#.*$/, '');
  const reason = reasonOf(value);
  if (reason === undefined) return undefined;
  const at = placeIn(broken, head.length, value.length);
  const quoted = singleQuoted(value);
  const isSecret = SECRET_KEY.test(key);
  const isShown = !isSecret && value.length <= MAX_SHOWN;
  return {
    message: `the value of ${key} ${reason}`,
    at,
    hint: isShown ? `put the whole value in quotes: ${key}: ${quoted}` : 'put the whole value in quotes',
    ...(isSecret ? {} : { edit: { at, text: quoted } }),
  };
}

function reasonOf(value: string): string | undefined {
  if (/^["'|>]/.test(value)) return undefined;
  if (value.startsWith('{{')) return 'begins with {{, which is a map in YAML';
  if (/^[@`]/.test(value)) return `begins with ${value.charAt(0)}, which YAML keeps for itself`;
  if (value.startsWith('%')) return 'begins with %, which YAML keeps for itself';
  if (/^[[{]/.test(value)) return undefined;
  return /:(\s|$)/.test(value) ? 'has ": " in it, which makes a key in YAML' : undefined;
}

/** A backslash in double quotes that begins no escape of YAML: of a path of Windows, or of a pattern. */
export function escapeError(source: SourceText, offset: number): LineError {
  const { lineStart, line } = lineAt(source, offset);
  const quoted = quotedAround(line, offset - lineStart);
  const text = quoted?.[1];
  // What YAML would have read as an escape may be meant as one.
  const isPlain = text !== undefined && !/\\["\\/0abefnrtvNLP_xuU\s]/.test(text);
  const start = lineStart + (quoted?.index ?? 0);
  const isSecret = SECRET_KEY.test(line.slice(0, quoted?.index));
  return {
    message: `invalid escape sequence ${source.text.slice(offset, offset + 2)}`,
    at: { source, start: offset, end: offset + 2 },
    hint: 'put the text in single quotes, where a backslash is only a backslash, or write it twice (\\\\): in double quotes it begins an escape',
    ...(isPlain && !isSecret
      ? { edit: { at: { source, start, end: start + text.length + 2 }, text: singleQuoted(text) } }
      : {}),
  };
}

/** The text in double quotes around a column of a line. */
function quotedAround(line: string, column: number): RegExpExecArray | undefined {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].find(
    ({ 0: text, index }) => index < column && column < index + text.length,
  );
}

/** A value that YAML takes for a comment: `to: #alerts`. */
export function findCommentValue({ source, start }: Place): string | undefined {
  const { line } = lineAt(source, start);
  const [, key, comment] = /^\s*(?:- +)?([\w.-]+): +(#\S[^#]*?)\s*$/.exec(line) ?? [];
  if (key === undefined || comment === undefined || SECRET_KEY.test(key)) return undefined;
  return `put it in quotes, as what begins with # is a comment in YAML: ${key}: '${comment.replaceAll("'", "''").slice(0, MAX_SHOWN)}'`;
}
