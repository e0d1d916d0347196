/**
 * Template text before Handlebars reads it. OpenClaw writes `messages[0].from` and JavaScript `message['from']`, where
 * Handlebars wants `messages.[0].from` and `message.[from]`: that spelling is put in, inside expressions only, and
 * every offset can be led back to the text as written.
 */
export interface TemplateSource {
  /** What Handlebars parses. */
  readonly text: string;
  /** Number of expressions, those inside others included: parsing takes about a millisecond for each level. */
  readonly expressions: number;
  /** Offset in the template as written of a 1-based line and 0-based column in `text`, as Handlebars counts them. */
  offsetAt(line: number, column: number): number;
  /** Offset in the template as written of an offset in `text`. */
  originalOffset(offset: number): number;
}

/** A dot put in before `at`, or the character there left out. */
interface Edit {
  readonly at: number;
  readonly kind: 'dot' | 'drop';
}

export function readTemplateSource(template: string): TemplateSource {
  const { edits, expressions } = scan(template);
  const text = applyEdits(template, edits);
  const lineStarts = [0];
  for (const match of text.matchAll(/\r\n?|\n/g)) lineStarts.push(match.index + match[0].length);
  const originalOffset = (offset: number): number =>
    Math.min(Math.max(offset - shiftAt(edits, offset), 0), template.length);
  return {
    text,
    expressions,
    originalOffset,
    offsetAt: (line, column) => originalOffset((lineStarts[line - 1] ?? text.length) + column),
  };
}

function applyEdits(template: string, edits: readonly Edit[]): string {
  let text = '';
  let from = 0;
  for (const { at, kind } of edits) {
    text += kind === 'dot' ? `${template.slice(from, at)}.` : template.slice(from, at);
    from = kind === 'dot' ? at : at + 1;
  }
  return text + template.slice(from);
}

/** By how much an offset in the edited text is ahead of the same place in the template. */
function shiftAt(edits: readonly Edit[], offset: number): number {
  let shift = 0;
  for (const { at, kind } of edits) {
    // Where the edit stands in the edited text: a dot counts from behind it on, a dropped character from where it was.
    const isBefore = kind === 'dot' ? at + shift < offset : at + shift <= offset;
    if (!isBefore) break;
    shift += kind === 'dot' ? 1 : -1;
  }
  return shift;
}

interface Scan {
  readonly edits: Edit[];
  expressions: number;
}

/** Edits for brackets that follow a name or another bracket directly; comments and quoted texts are left alone. */
function scan(template: string): Scan {
  const found: Scan = { edits: [], expressions: 0 };
  let at = template.indexOf('{{');
  while (at !== -1) {
    const comment = /^\{\{~?!(--)?/.exec(template.slice(at, at + 6));
    const escaped = template[at - 1] === '\\' && template[at - 2] !== '\\';
    if (comment !== null)
      at = skipPast(template, comment[1] === undefined ? '}}' : '--', at + comment[0].length);
    else at = escaped ? at + 2 : scanExpression(template, at + 2, found);
    at = template.indexOf('{{', at);
  }
  return found;
}

/** Returns the offset after the expression that starts at `from`. */
function scanExpression(template: string, from: number, found: Scan): number {
  let at = from;
  found.expressions += 1;
  while (at < template.length && !template.startsWith('}}', at)) {
    const character = template[at];
    if (character === '"' || character === "'") at = skipPast(template, character, at + 1);
    else if (character === '[') at = scanBracket(template, at, found.edits);
    else {
      if (character === '(') found.expressions += 1;
      at += 1;
    }
  }
  return at;
}

/** Returns the offset after the bracket that opens at `at`. */
function scanBracket(template: string, at: number, edits: Edit[]): number {
  const close = template.indexOf(']', at);
  if (close === -1) return template.length;
  if (/[\w$\]-]/.test(template[at - 1] ?? '')) editBracket(template.slice(at + 1, close), at, edits);
  return close + 1;
}

function editBracket(inside: string, at: number, edits: Edit[]): void {
  const isQuoted = /^(["'])[^"']*\1$/.test(inside);
  if (!isQuoted && /["'\n]/.test(inside)) return;
  edits.push({ at, kind: 'dot' });
  if (!isQuoted) return;
  edits.push({ at: at + 1, kind: 'drop' }, { at: at + inside.length, kind: 'drop' });
}

function skipPast(template: string, end: string, from: number): number {
  const found = template.indexOf(end, from);
  return found === -1 ? template.length : found + end.length;
}
