// Control characters without tab and line feed, C1 controls, line and paragraph separators, zero-width and
// direction marks, the byte order mark and the tags block: what can move a cursor, recolour a terminal, or make a
// line read differently from what it is.
const UNSAFE = /(?![\n\t])[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
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

/** A text between tags: the three characters to which HTML, XML and Slack's text give a meaning. */
export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A text anywhere in HTML or XML, also as the value of an attribute in double quotes. */
export const escapeHtml = (text: string): string => escapeText(text).replaceAll('"', '&quot;');
