import { quoted, say, type Sentence } from '../../../base/finding.ts';
import Handlebars from 'handlebars';
import type { Finding, Place } from '../../../base/document/document.ts';
import type { MappingFacts } from '../finding-facts.ts';

interface SyntaxContext {
  readonly source: string;
  readonly text: TemplateSource;
  readonly placeOf: (start: number, end: number) => Place;
}

/** Where Handlebars' generated lexer stopped. Not in its types; absent, the finding points at the template's start. */
interface Lexer {
  readonly matched?: string;
  readonly match?: string;
}

/** Turns what Handlebars' parser threw into a finding at the place where it stopped. */
export function syntaxFinding(error: unknown, context: SyntaxContext): Finding {
  const { message = '', lineNumber, column, endColumn } = error as Partial<Handlebars.Exception>;
  if (typeof lineNumber !== 'number' || typeof column !== 'number') return stopFinding(message, context);
  const { text, placeOf } = context;
  const start = text.offsetAt(lineNumber, column);
  const end = typeof endColumn === 'number' ? text.offsetAt(lineNumber, endColumn) : start + 1;
  return { ...BROKEN, ...refusal(message), at: placeOf(start, Math.max(end, start + 1)) };
}

const BROKEN = { severity: 'error', code: 'TEMPLATE_SYNTAX' } as const;

interface SyntaxMessage {
  readonly message: Sentence;
  readonly facts?: MappingFacts['TEMPLATE_SYNTAX'];
}

/** What Handlebars itself says of a tree that its grammar takes. */
function refusal(message: string): SyntaxMessage {
  const plain = message.replace(/ - \d+:\d+$/, '').replace("doesn't", 'does not');
  const [, opened, closed = ''] = /^(\S+) does not match (\S+)$/.exec(plain) ?? [];
  if (opened === undefined) return { message: quoted(plain) };
  const facts = { wrong: 'close', block: opened } as const;
  return { message: say`the block {{#${opened}}} is closed by {{/${closed}}}`, facts };
}

/** A text that the grammar does not take: the lexer knows where it stopped. */
function stopFinding(message: string, { source, text, placeOf }: SyntaxContext): Finding {
  const { lexer } = (Handlebars as unknown as { readonly Parser?: { readonly lexer?: Lexer } }).Parser ?? {};
  const matched = lexer?.matched ?? '';
  const found = lexer?.match ?? '';
  const stop = text.originalOffset(matched.length - found.length);
  // Where a closing is missing, what is open helps more than the end of the text.
  const open = found === '' ? findOpen(source) : undefined;
  if (open?.block !== undefined) {
    const { block, start, end } = open;
    const facts = { wrong: 'close', block } as const;
    return { ...BROKEN, message: say`the block {{#${block}}} is not closed`, at: placeOf(start, end), facts };
  }
  const start = open?.start ?? source.lastIndexOf('{{', stop);
  const { lacks, end } = readTag(source, Math.max(start, 0));
  const got = /got '(\w+)'/.exec(message)?.[1] ?? 'INVALID';
  // A sign that the grammar knows and does not take there says more.
  if (lacks !== undefined && start >= 0 && /^(?:INVALID|CLOSE|EOF)$/.test(got)) {
    const facts = { wrong: 'tag', lacks } as const;
    return { ...BROKEN, message: LACKS[lacks], at: placeOf(start, end), facts };
  }
  const at = placeOf(stop, Math.max(text.originalOffset(matched.length), stop + 1));
  const sign = found === '' || got === 'INVALID' ? (source[stop] ?? '') : found;
  const facts = { wrong: 'stop', got, found: sign } as const;
  return { ...BROKEN, message: MESSAGES[got] ?? unexpected(got, sign), at, facts };
}

type MissingSign = Extract<NonNullable<MappingFacts['TEMPLATE_SYNTAX']>, { readonly wrong: 'tag' }>['lacks'];

const LACKS: Readonly<Record<MissingSign, Sentence>> = {
  braces: say`the template ends inside an expression`,
  quote: say`a quote of an expression is not closed`,
  bracket: say`a ] is missing in an expression`,
  parenthesis: say`a ) is missing in an expression`,
  blank: say`a helper stands before its values, with a blank between them`,
  'no-comma': say`a comma stands between the values of a helper, which are separated by blanks`,
};

/** The expression that begins at an offset: where it ends, or the end of its line, and what is missing in it. */
function readTag(source: string, start: number): { readonly end: number; readonly lacks?: MissingSign } {
  const line = source.indexOf('\n', start);
  const next = source.indexOf('{{', start + 2 + (/^\{*/.exec(source.slice(start + 2))?.[0].length ?? 0));
  const limit = Math.min(line === -1 ? source.length : line, next === -1 ? source.length : next);
  const quoteEnd = (at: number): number => source.indexOf(source[at] ?? '', at + 1);
  let depth = 0;
  let lacks: MissingSign | undefined;
  for (let at = start + 2; at < source.length; at += 1) {
    const sign = source[at];
    const close = source.indexOf('}}', at);
    if (sign === '"' || sign === "'") {
      const end = quoteEnd(at);
      if (end === -1) return { end: close === -1 ? limit : close + 2, lacks: 'quote' };
      at = end;
    } else if (sign === '[') {
      const end = source.indexOf(']', at);
      if (end === -1 || (close !== -1 && close < end)) lacks ??= 'bracket';
      else at = end;
    } else if (sign === '(') {
      if (/\w/.test(source[at - 1] ?? '')) lacks ??= 'blank';
      depth += 1;
    } else if (sign === ')') depth -= 1;
    else if (sign === ',') lacks ??= 'no-comma';
    else if (at === close) {
      const missing = lacks ?? (depth > 0 ? 'parenthesis' : undefined);
      return { end: at + 2, ...(missing === undefined ? {} : { lacks: missing }) };
    }
    if (at >= limit && next !== -1 && at >= next) break;
  }
  return { end: limit, lacks: 'braces' };
}

interface OpenTag {
  readonly start: number;
  readonly end: number;
  /** Absent for an expression. */
  readonly block?: string;
}

/** The innermost block, or the expression, that is still open where the text ends; O(n). */
function findOpen(text: string): OpenTag | undefined {
  const open: OpenTag[] = [];
  const tag = /\{\{(?:!--[\s\S]*?--\}\}|~?([#^/]?)\s*([\w-]*)([^}]*)(\}\})?)/g;
  for (const match of text.matchAll(tag)) {
    const [whole, kind, block = '', , closing] = match;
    if (kind === undefined) continue;
    const start = match.index;
    if (closing === undefined) return { start, end: start + 2 };
    if (kind === '/') open.pop();
    else if (block !== '' && (kind === '#' || kind === '^'))
      open.push({ start, end: start + whole.length, block });
  }
  return open.at(-1);
}

function unexpected(got: string, found: string): Sentence {
  const text = JSON.stringify(found.slice(0, 80));
  if (got !== 'INVALID') return say`unexpected ${text}`;
  return say`unexpected ${found === '' ? 'character' : text} in an expression`;
}

const ELSE_OUTSIDE = say`{{else}} is outside of a block`;

/** By the parser's name of the token that it did not expect. */
const MESSAGES: Readonly<Record<string, Sentence>> = {
  EOF: say`the template ends inside a block`,
  OPEN_ENDBLOCK: say`this closes a block that is not open`,
  INVERSE: ELSE_OUTSIDE,
  OPEN_INVERSE_CHAIN: ELSE_OUTSIDE,
  CLOSE_UNESCAPED: say`}}} closes nothing but {{{`,
  CLOSE: say`a name is missing before }}`,
};

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
interface DotEdit {
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

function applyEdits(template: string, edits: readonly DotEdit[]): string {
  let text = '';
  let from = 0;
  for (const { at, kind } of edits) {
    text += kind === 'dot' ? `${template.slice(from, at)}.` : template.slice(from, at);
    from = kind === 'dot' ? at : at + 1;
  }
  return text + template.slice(from);
}

/** By how much an offset in the edited text is ahead of the same place in the template. */
function shiftAt(edits: readonly DotEdit[], offset: number): number {
  let shift = 0;
  for (const { at, kind } of edits) {
    // Where the edit stands in the edited text: a dot counts from behind it on, a dropped character from where it was.
    const isBefore = kind === 'dot' ? at + shift < offset : at + shift <= offset;
    if (!isBefore) break;
    shift += kind === 'dot' ? 1 : -1;
  }
  return shift;
}

interface TemplateScan {
  readonly edits: DotEdit[];
  expressions: number;
}

/** Edits for brackets that follow a name or another bracket directly; comments and quoted texts are left alone. */
function scan(template: string): TemplateScan {
  const found: TemplateScan = { edits: [], expressions: 0 };
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
function scanExpression(template: string, from: number, found: TemplateScan): number {
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
function scanBracket(template: string, at: number, edits: DotEdit[]): number {
  const close = template.indexOf(']', at);
  if (close === -1) return template.length;
  if (/[\w$\]-]/.test(template[at - 1] ?? '')) editBracket(template.slice(at + 1, close), at, edits);
  return close + 1;
}

function editBracket(inside: string, at: number, edits: DotEdit[]): void {
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
