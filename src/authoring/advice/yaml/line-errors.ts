/** Explains slips of a line that YAML cannot read, each with what to write. A possible secret is not repeated. */
import { namesSecretText } from '../../../base/telemetry/telemetry.ts';
import { singleQuoted } from '../../../base/document/facts.ts';
import { say, type Place, type SourceText, shorten } from '../../../base/finding.ts';
import type { Advice } from '../rule.ts';

export interface BrokenLine {
  readonly source: SourceText;
  readonly lineStart: number;
  readonly line: string;
}

const KEY_LINE = /^(\s*(?:- +)?([\w.-]+): +)(\S.*?)\s*$/;
const MAX_SHOWN = 200;

export function lineAt(source: SourceText, offset: number): BrokenLine {
  const { text } = source;
  const lineStart = text.lastIndexOf('\n', Math.max(0, offset - 1)) + 1;
  const newline = text.indexOf('\n', lineStart);
  return { source, lineStart, line: text.slice(lineStart, newline === -1 ? undefined : newline) };
}

const placeIn = ({ source, lineStart }: BrokenLine, column: number, length: number): Place => ({
  source,
  start: lineStart + column,
  end: lineStart + column + length,
});

function slip(at: Place, message: string, hint: string, text?: string): Advice {
  const edit = text === undefined ? undefined : { at, text };
  return { at, message: say`invalid YAML: ${message}`, hint, edit };
}

/** Matches `path:github`, also with the wide colon of another keyboard. */
export function missingBlank(line: BrokenLine): Advice | undefined {
  const [, head = '', key = '', colon = '', rest = ''] =
    /^(\s*(?:- +)?)([A-Za-z_][\w-]*)(:(?![\s/:])|：\s*)(\S.*)$/.exec(line.line) ?? [];
  if (key === '') return undefined;
  return slip(
    placeIn(line, head.length + key.length, colon.length),
    colon.startsWith(':') ? 'a space is missing behind the colon' : '： is not the colon of YAML',
    namesSecretText(key)
      ? `write ${key}: and a space before the value`
      : `write ${key}: ${shorten(rest.trimEnd())}`,
    ': ',
  );
}

/** Matches quotes in a text that stands in the same quotes, or before its end. */
export function quotesWithin(line: BrokenLine): Advice | undefined {
  const [, head = '', key = '', value = ''] = KEY_LINE.exec(line.line) ?? [];
  const quote = value.charAt(0);
  const isQuoted = /^(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*")\s*(?:#.*)?$/.test(value);
  if ((quote !== "'" && quote !== '"') || isQuoted) return undefined;
  const isOpen = !value.slice(1).includes(quote);
  const isWhole = value.length > 1 && value.endsWith(quote);
  const text = isOpen ? value.slice(1) : isWhole ? withoutEscapes(value.slice(1, -1), quote) : value;
  if (text.includes('\\') || / #/.test(text)) return undefined;
  const written = singleQuoted(text);
  const isSecret = namesSecretText(key);
  return slip(
    placeIn(line, head.length, value.length),
    isOpen
      ? `the text of ${key} begins with a quote, and has none at its end`
      : `the text of ${key} ends at a quote within it`,
    isSecret || written.length > MAX_SHOWN
      ? 'put the whole text in single quotes, and write a single quote within it twice'
      : `write ${key}: ${written}`,
    isSecret ? undefined : written,
  );
}

const withoutEscapes = (text: string, quote: string): string =>
  quote === "'" ? text.replaceAll("''", "'") : text.replaceAll('\\"', '"');

/** Explains `[claude, {{prompt}}]` and `{ port: ${PORT} }`: such braces are a map in brackets, too. */
export function templateInFlow(line: BrokenLine): Advice | undefined {
  const found = /(?<=[[,:]\s*)(?:\{\{[^{}"']*\}\}|\$\{\w+\})(?=\s*[,\]}])/.exec(line.line);
  if (found === null || /^\s*[\w.-]+:\s*\{\{/.test(line.line)) return undefined;
  const [text] = found;
  return slip(
    placeIn(line, found.index, text.length),
    `${shorten(text)} is a map in YAML`,
    `put it in quotes: '${shorten(text)}'`,
    `'${text}'`,
  );
}

/** Explains a value in one line that is a text only in quotes. */
export function unquotedText(line: BrokenLine): Advice | undefined {
  const [, head = '', key = '', rest = ''] = KEY_LINE.exec(line.line) ?? [];
  // A comment behind the value is not part of it.
  const value = rest.replace(/\s+#.*$/, '');
  const reason = reasonOf(value);
  if (reason === undefined) return undefined;
  const isSecret = namesSecretText(key);
  const shown = isSecret || value.length > MAX_SHOWN ? '' : `: ${key}: ${singleQuoted(value)}`;
  const isObject = shown !== '' && /^[a-z]\w*: [^{}"']+$/.test(value);
  const object = isObject ? `; where ${key} has keys and no text, in braces: ${key}: { ${value} }` : '';
  return slip(
    placeIn(line, head.length, value.length),
    `the value of ${key} ${reason}`,
    `put the whole value in quotes${shown}${object}`,
    isSecret || isObject ? undefined : singleQuoted(value),
  );
}

function reasonOf(value: string): string | undefined {
  if (/^["'|>]/.test(value)) return undefined;
  if (value.startsWith('{{')) return 'begins with {{, which is a map in YAML';
  if (/^[@`%*]/.test(value)) return `begins with ${value.charAt(0)}, which YAML keeps for itself`;
  if (/^[[{]/.test(value)) return undefined;
  return /:(\s|$)/.test(value) ? 'has ": " in it, which makes a key in YAML' : undefined;
}

/** Explains a block (`key: |`) whose lines are not indented deeper than its key. */
export function shallowBlock(broken: BrokenLine): Advice | undefined {
  const { source, lineStart, line } = broken;
  const opener = source.text.slice(0, lineStart).trimEnd().split('\n').at(-1) ?? '';
  const [, indent = '', key] = /^(\s*(?:- +)?)([\w.-]+): *[|>][-+\d]*(?: +#.*)?$/.exec(opener) ?? [];
  const own = /^ */.exec(line)?.[0].length ?? 0;
  if (key === undefined || own > indent.length) return undefined;
  return slip(
    placeIn(broken, own, Math.max(line.length - own, 1)),
    `the text of ${key} is not indented deeper than the key`,
    `indent every line of the text by two spaces more than ${key}`,
  );
}

/** Explains a value that YAML reads as a comment: `to: #alerts`. */
export function findCommentValue({ source, start }: Place): string | undefined {
  const { line } = lineAt(source, start);
  const [, key, comment] = /^\s*(?:- +)?([\w.-]+): +(#\S[^#]*?)\s*$/.exec(line) ?? [];
  if (key === undefined || comment === undefined || namesSecretText(key)) return undefined;
  return `put it in quotes, as what begins with # is a comment in YAML: ${key}: '${comment.replaceAll("'", "''").slice(0, MAX_SHOWN)}'`;
}
