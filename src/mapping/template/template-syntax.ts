import { quoted, say, type Sentence } from '../../finding.ts';
import Handlebars from 'handlebars';
import type { Finding, Place } from '../../document/document.ts';
import type { MappingFacts } from '../finding-facts.ts';
import type { TemplateSource } from './template-source.ts';

interface SyntaxContext {
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

interface Said {
  readonly message: Sentence;
  readonly facts?: MappingFacts['TEMPLATE_SYNTAX'];
}

/** What Handlebars itself says of a tree that its grammar takes. */
function refusal(message: string): Said {
  const plain = message.replace(/ - \d+:\d+$/, '').replace("doesn't", 'does not');
  const [, opened, closed = ''] = /^(\S+) does not match (\S+)$/.exec(plain) ?? [];
  if (opened === undefined) return { message: quoted(plain) };
  const facts = { wrong: 'close', block: opened } as const;
  return { message: say`the block {{#${opened}}} is closed by {{/${closed}}}`, facts };
}

/** A text that the grammar does not take: the lexer knows where it stopped. */
function stopFinding(message: string, { text, placeOf }: SyntaxContext): Finding {
  const { lexer } = (Handlebars as unknown as { readonly Parser?: { readonly lexer?: Lexer } }).Parser ?? {};
  const matched = lexer?.matched ?? '';
  const found = lexer?.match ?? '';
  // Where a closing is missing, what is open helps more than the end of the text.
  const open = found === '' ? findOpen(text.text) : undefined;
  if (open !== undefined) {
    const { block, start, end } = open;
    const at = placeOf(text.originalOffset(start), text.originalOffset(end));
    if (block !== undefined)
      return {
        ...BROKEN,
        message: say`the block {{#${block}}} is not closed`,
        at,
        facts: { wrong: 'close', block },
      };
    return { ...BROKEN, message: UNCLOSED, at, facts: { wrong: 'open', text: text.text, stop: start } };
  }
  const stop = matched.length - found.length;
  const start = text.originalOffset(stop);
  const at = placeOf(start, Math.max(text.originalOffset(matched.length), start + 1));
  const where = { text: text.text, stop };
  const got = /got '(\w+)'/.exec(message)?.[1] ?? 'INVALID';
  if (got !== 'EOF' && !text.text.slice(stop).includes('}}'))
    return { ...BROKEN, message: UNCLOSED, at, facts: { wrong: 'open', ...where } };
  const facts = { wrong: 'stop', got, found, ...where } as const;
  return { ...BROKEN, message: MESSAGES[got] ?? unexpected(got, found), at, facts };
}

const UNCLOSED = say`the template ends inside an expression`;

interface Open {
  readonly start: number;
  readonly end: number;
  /** Absent for an expression. */
  readonly block?: string;
}

/** The innermost block, or the expression, that is still open where the text ends; O(n). */
function findOpen(text: string): Open | undefined {
  const open: Open[] = [];
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
