// Control characters without tab and line feed, line and paragraph separators, and whatever is drawn as nothing: direction
// and zero-width marks, fillers, tags, variation selectors (but the one that makes a sign an emoji), the blank Braille
// pattern. They can move a cursor, recolour a terminal, hide a text, or make a line read differently from what it is.
const UNSAFE =
  /(?![\n\t]|(?<=\p{Extended_Pictographic})\ufe0f)[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/gu;
/** CSI, string and two-character sequences of ECMA-48. */
const ESCAPE_SEQUENCE =
  // oxlint-disable-next-line no-control-regex
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;

/**
 * Makes a text from outside safe to print: removes escape sequences, control, zero-width and direction characters.
 * Line feeds and tabs stay.
 */
export function clearControl(text: string): string {
  return text.replaceAll(ESCAPE_SEQUENCE, '').replaceAll(UNSAFE, '');
}

/** The same on one line: a space for each line feed and tab. */
export function clearLine(text: string): string {
  return clearControl(text).replaceAll(/[\n\t]/g, ' ');
}

// What GitHub's runner passes over before and within the mark of a command: white space, and what it does not compare.
const PASSED_OVER = String.raw`[\p{C}\p{Mn}\p{Default_Ignorable_Code_Point}]*`;
/** A line that begins with two colons, and the older mark anywhere in a line; the first sign of each is looked for first. */
const COMMAND_OF_RUNNER = new RegExp(
  `:(?<=(?:^|[\\v\\f\\x1c-\\x1e\\x85])[\\s\\p{C}\\p{Mn}\\p{Default_Ignorable_Code_Point}]*:)(?=${PASSED_OVER}:)|#(?=${PASSED_OVER}#${PASSED_OVER}\\[)`,
  'gmu',
);
/** What the printers of findings make, one escaped line each. */
const ANNOTATION = /^::(?:error|warning) /;

/**
 * A text without what the runner of GitHub's actions would obey: `::add-mask::` at the beginning of a line,
 * `##[error]` anywhere (github.com/actions/runner, ActionCommand.cs). The sign becomes its escape in JSON, so that JSON
 * stays the same; `annotations` leaves those of our own.
 */
export function withoutCommands(text: string, { annotations = false } = {}): string {
  const clear = (part: string): string =>
    part.replaceAll(COMMAND_OF_RUNNER, (sign) => (sign === ':' ? '\\u003a' : '\\u0023'));
  if (!annotations) return clear(text);
  return text
    .split('\n')
    .map((line) => (ANNOTATION.test(line) ? line : clear(line)))
    .join('\n');
}

/** Shows a text to somebody who judges it: a sign that cannot be seen becomes its number, as `[U+202E]`. */
export function showHidden(text: string): string {
  const number = (sign: string): string =>
    (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, (sign) => `[U+${number(sign)}]`);
}

/** A text between tags: the three characters to which HTML, XML and Slack's text give a meaning. */
export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A text anywhere in HTML or XML, also as the value of an attribute in double quotes. */
export const escapeHtml = (text: string): string => escapeText(text).replaceAll('"', '&quot;');

/** A span of time in the two largest units that matter: `3 d 4 h`, `12 min`, `0.4 s`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  const hours = Math.floor(seconds / 3600);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
