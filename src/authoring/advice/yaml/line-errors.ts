/** Slips of a line that YAML cannot read, each with the line to write: signs that are missing, of other languages, or in a text that needs quotes. */
import { type BrokenLine, type LineError, KEY_LINE, placeIn } from './broken-line.ts';
import { SECRET_KEY } from '../../../base/telemetry/telemetry.ts';
import { shorten } from '../../../base/document/document.ts';
import { singleQuoted } from '../../../base/document/facts.ts';

/** Longer values are not repeated in a hint. */
const MAX_SHOWN = 200;

/** `path:github`, also with the wide colon of another keyboard. */
export function missingBlank(line: BrokenLine): LineError | undefined {
  const [, head = '', key = '', colon = '', rest = ''] =
    /^(\s*(?:- +)?)([A-Za-z_][\w-]*)(:(?![\s/:])|：\s*)(\S.*)$/.exec(line.line) ?? [];
  if (key === '') return undefined;
  const hint = SECRET_KEY.test(key)
    ? `write ${key}: and a space before the value`
    : `write ${key}: ${shorten(rest.trimEnd())}`;
  const place = placeIn(line, head.length + key.length, colon.length);
  return {
    message: colon.startsWith(':') ? 'a space is missing behind the colon' : '： is not the colon of YAML',
    at: place,
    hint,
    edit: { at: place, text: ': ' },
  };
}

/** Quotes in a text that stands in the same quotes, or before its end. */
export function quotesWithin(line: BrokenLine): LineError | undefined {
  const [, head = '', key = '', value = ''] = KEY_LINE.exec(line.line) ?? [];
  const quote = value.charAt(0);
  if ((quote !== "'" && quote !== '"') || isQuoted(value)) return undefined;
  const isOpen = !value.slice(1).includes(quote);
  const isWhole = value.length > 1 && value.endsWith(quote);
  const text = isOpen ? value.slice(1) : isWhole ? withoutEscapes(value.slice(1, -1), quote) : value;
  if (text.includes('\\') || / #/.test(text)) return undefined;
  const written = singleQuoted(text);
  const place = placeIn(line, head.length, value.length);
  const isSecret = SECRET_KEY.test(key);
  return {
    message: isOpen
      ? `the text of ${key} begins with a quote, and has none at its end`
      : `the text of ${key} ends at a quote within it`,
    at: place,
    hint: isSecret || written.length > MAX_SHOWN ? WITHIN : `write ${key}: ${written}`,
    ...(isSecret ? {} : { edit: { at: place, text: written } }),
  };
}

const WITHIN = 'put the whole text in single quotes, and write a single quote within it twice';

const isQuoted = (value: string): boolean => /^(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*")\s*(?:#.*)?$/.test(value);

const withoutEscapes = (text: string, quote: string): string =>
  quote === "'" ? text.replaceAll("''", "'") : text.replaceAll('\\"', '"');

/** `[claude, {{prompt}}]`: in brackets, too, two braces are a map. */
export function templateInFlow(line: BrokenLine): LineError | undefined {
  const found = /(?<=[[,:]\s*)\{\{[^{}"']*\}\}(?=\s*[,\]}])/.exec(line.line);
  if (found === null || /^\s*[\w.-]+:\s*\{\{/.test(line.line)) return undefined;
  const [text] = found;
  const place = placeIn(line, found.index, text.length);
  return {
    message: `${shorten(text)} is a map in YAML`,
    at: place,
    hint: `put it in quotes: '${shorten(text)}'`,
    edit: { at: place, text: `'${text}'` },
  };
}
